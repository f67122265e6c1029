"""Notices when a model repeats itself: the same call with the same input, three times in a row."""

import json

from providers.model import ToolCall

SAME_IN_A_ROW = 3
MAX_REMINDERS = 3


class RepetitionWatch:
    """Counts equal calls in a row within one turn; at most three reminders come of it."""

    def __init__(self) -> None:
        self._last: tuple[str, str] | None = None
        self._n_same = 0
        self._n_reminders = 0

    def reset(self) -> None:
        """Something new came in (a steer, a notification): counting starts anew."""
        self._last = None
        self._n_same = 0

    def saw(self, call: ToolCall) -> str | None:
        """The text of a reminder if this call makes one due."""
        key = (call.name, json.dumps(call.input, sort_keys=True))
        self._n_same = self._n_same + 1 if key == self._last else 1
        self._last = key
        if self._n_same < SAME_IN_A_ROW or self._n_reminders >= MAX_REMINDERS:
            return None
        self._n_same = 0
        self._n_reminders += 1
        return (
            f"{call.name} was called {SAME_IN_A_ROW} times in a row with the same input. Its result will not "
            "change by asking again: use what you have, try something else, or say what is in the way."
        )
