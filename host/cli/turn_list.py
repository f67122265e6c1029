"""The turns of a session as lines, and which of them is meant. Pure."""

from collections.abc import Sequence

from pydantic import JsonValue

from actors.errors import BadInput
from actors.records import TurnId, TurnStop
from host.cli.columns import table
from host.cli.output import one_line
from host.cli.stored import moment
from host.outline import TurnOutline

_COLUMNS = ("turn", "began", "ended", "files", "what it began with")
_TEXT, _AT_RIGHT = 4, {0, 3}
_TEXT_CELLS = 200
_WORDS = {TurnStop.LOST: "cut off"}


def turn_index(ids: Sequence[TurnId], wanted: str | None) -> int:
    """The place of a turn: by its number from 1, or from -1 for the last, by its id or the beginning of it.

    None is the last one.

    Raises:
        BadInput: there is no such turn, or several are meant.
    """
    if not ids:
        raise BadInput("the session has no turn")
    if wanted is None:
        return len(ids) - 1
    if (number := _number(wanted)) is not None:
        place = number - 1 if number > 0 else len(ids) + number
        if number == 0 or not 0 <= place < len(ids):
            raise BadInput(
                f"no turn {wanted}: the session has {_turns(len(ids))}, counted from 1, or -1 for the last"
            )
        return place
    found = [place for place, turn_id in enumerate(ids) if turn_id == wanted]
    found = found or [place for place, turn_id in enumerate(ids) if wanted and turn_id.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if found:
        raise BadInput(f"{len(found)} turns begin with {wanted!r}; name one by its number or its whole id")
    raise BadInput(
        f"no turn {one_line(wanted, 60)!r}: a number as the list of turns shows it wanted, or the turn's id"
    )


def _number(text: str) -> int | None:
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None


def _turns(number: int) -> str:
    return "1 turn" if number == 1 else f"{number:,} turns"


def turn_table(turns: Sequence[TurnOutline], width: int) -> list[str]:
    """A line for each turn below a head, at most `width` cells wide if that can be."""
    rows = [_cells(number, turn) for number, turn in enumerate(turns, 1)]
    return table(_COLUMNS, rows, width=width, elastic=_TEXT, at_right=_AT_RIGHT)


def turn_rows(turns: Sequence[TurnOutline]) -> list[str]:
    """A line for each turn, with its id in front of what it began with, parted by tabs."""
    rows = [(_cells(number, turn), turn.turn_id) for number, turn in enumerate(turns, 1)]
    return ["\t".join((*cells[:_TEXT], turn_id, *cells[_TEXT:])) for cells, turn_id in rows]


def turn_json(number: int, turn: TurnOutline) -> JsonValue:
    return {
        "number": number,
        "turn": turn.turn_id,
        "at": turn.at,
        "stop": None if turn.stop is None else turn.stop.value,
        "text": turn.text,
        "from_user": turn.is_from_user,
        "files": list(turn.paths),
    }


def ended(turn: TurnOutline) -> str:
    """How a turn ended, in words."""
    if turn.stop is None:
        return "not yet"
    return _WORDS.get(turn.stop, turn.stop.value.replace("_", " "))


def beginning(turn: TurnOutline, limit: int) -> str:
    """What it began with, on a line of at most `limit` cells; in brackets where no user said it."""
    return one_line(turn.text, limit) if turn.is_from_user else f"({one_line(turn.text, max(limit - 2, 1))})"


def _cells(number: int, turn: TurnOutline) -> tuple[str, ...]:
    n_files = len(turn.paths)
    text = beginning(turn, _TEXT_CELLS)
    return str(number), moment(turn.at), ended(turn), str(n_files) if n_files else "", text
