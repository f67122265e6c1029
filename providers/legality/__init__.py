"""What a provider would refuse: `check` a request before it is sent.

Written from the wire formats alone. Nothing here knows how a request came
about, so that it can judge those who make one. Each rule is a function that
says in its docstring what the wire wants and where that is written: the
provider's own words of refusal, [docs] its documentation, [sdk] the types of
its SDK.
"""

from providers.legality.finding import Finding
from providers.legality.rules import RULES, check

__all__ = ["RULES", "Finding", "check"]
