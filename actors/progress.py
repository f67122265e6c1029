"""How far a turn has come, and which of its limits it has reached."""

from dataclasses import dataclass, field

from actors.agent import Limits
from actors.records import TurnStop
from providers.model import ModelProfile, Usage


@dataclass(slots=True)
class Progress:
    """Counts of one turn. `cost_usd` is None where the model's prices are not known."""

    limits: Limits
    n_steps: int = 0
    n_calls: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None

    def add(self, usage: Usage, profile: ModelProfile) -> None:
        """An answer has come."""
        self.usage = self.usage + usage
        if (cost := cost_usd(usage, profile)) is not None:
            self.cost_usd = (self.cost_usd or 0.0) + cost

    def reached(self) -> TurnStop | None:
        """The limit that forbids another step, if one does."""
        limits = self.limits
        if self.n_steps >= limits.steps:
            return TurnStop.STEP_LIMIT
        if self.n_calls >= limits.tool_calls:
            return TurnStop.TOOL_CALL_LIMIT
        n_tokens = self.usage.total_input_tokens + self.usage.output_tokens
        if limits.tokens is not None and n_tokens >= limits.tokens:
            return TurnStop.TOKEN_LIMIT
        if limits.cost_usd is not None and (self.cost_usd or 0.0) >= limits.cost_usd:
            return TurnStop.COST_LIMIT
        return None


def cost_usd(usage: Usage, profile: ModelProfile) -> float | None:
    """US dollars for one answer; None where the profile has no prices."""
    prices = profile.prices
    if prices is None:
        return None
    return (
        usage.input_tokens * prices.input_usd
        + usage.cache_read_tokens * prices.cache_read_usd
        + usage.cache_write_tokens * prices.cache_write_usd
        + usage.output_tokens * prices.output_usd
    ) / 1_000_000
