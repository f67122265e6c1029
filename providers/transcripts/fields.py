"""Careful reading of what others wrote: whatever is not as it should be is noted, and reading goes on."""

from collections.abc import Collection, Iterator

from pydantic import JsonValue

from providers.model import CacheMark, Role, ToolSpec
from providers.reading import JsonObject, parse_json
from providers.transcripts.model import Item, Note, NoteRule, Path

_MAX_SHOWN = 60
_KINDS: dict[type, str] = {
    type(None): "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "an object",
}


def kind_of(value: JsonValue) -> str:
    """What sort of JSON value it is, in words."""
    return _KINDS[type(value)]


def shown(value: JsonValue) -> str:
    """A value for a message to a person: a short text in quotes, else its sort."""
    if not isinstance(value, str):
        return kind_of(value)
    return repr(value if len(value) <= _MAX_SHOWN else value[:_MAX_SHOWN] + "…")


class Notes:
    """Gives fields of the type that is wanted, and collects what they were instead."""

    def __init__(self) -> None:
        self._notes: list[Note] = []

    def all(self) -> tuple[Note, ...]:
        return tuple(self._notes)

    def add(
        self, rule: NoteRule, path: Path, text: str, *, is_refused: bool = True, is_whole: bool = False
    ) -> None:
        self._notes.append(Note(rule, path, text, is_refused, is_whole))

    def object(self, value: JsonValue, path: Path, wanted: str) -> JsonObject | None:
        """The value if it is an object, which `wanted` names."""
        if isinstance(value, dict):
            return value
        self.add(NoteRule.WRONG_TYPE, path, f"{wanted} wanted, got {kind_of(value)}")
        return None

    def objects(self, value: JsonValue, path: Path, wanted: str) -> Iterator[tuple[Path, JsonObject]]:
        """The objects of a list; nothing where it is absent or null."""
        if value is None:
            return
        if not isinstance(value, list):
            self.add(NoteRule.WRONG_TYPE, path, f"a list wanted, got {kind_of(value)}")
            return
        for at, element in enumerate(value):
            if (found := self.object(element, (*path, at), wanted)) is not None:
                yield (*path, at), found

    def text(self, fields: JsonObject, key: str, path: Path) -> str:
        """A text that has to be there; empty where it is not."""
        value = fields.get(key)
        if isinstance(value, str):
            return value
        if value is None:
            self.add(NoteRule.MISSING, path, f"{key} is missing")
        else:
            self.add(NoteRule.WRONG_TYPE, (*path, key), f"{key}: a text wanted, got {kind_of(value)}")
        return ""

    def optional_text(self, fields: JsonObject, key: str, path: Path) -> str | None:
        """A text that need not be there."""
        return None if fields.get(key) is None else self.text(fields, key, path)

    def flag(self, fields: JsonObject, key: str, path: Path) -> bool | None:
        value = fields.get(key)
        if value is None or isinstance(value, bool):
            return value
        self.add(NoteRule.WRONG_TYPE, (*path, key), f"{key}: a boolean wanted, got {kind_of(value)}")
        return None

    def role(self, fields: JsonObject, path: Path, roles: dict[str, Role]) -> Role:
        """The role; of a message without a known one a user's, so that nothing in it is lost."""
        value = fields.get("role")
        if isinstance(value, str) and value in roles:
            return roles[value]
        if value is None:
            self.add(NoteRule.MISSING, path, "role is missing")
        else:
            known = ", ".join(roles)
            self.add(
                NoteRule.UNKNOWN_ROLE, path, f"there is no role {shown(value)}; read as user; known: {known}"
            )
        return Role.USER

    def known_keys(self, fields: JsonObject, path: Path, known: Collection[str], *, is_refused: bool) -> None:
        """Notes what a message has beside what its format knows."""
        if others := [key for key in fields if key not in known]:
            told = ", ".join(shown(key) for key in others[:5])
            self.add(
                NoteRule.UNKNOWN_KEY, path, f"a message has no such field: {told}", is_refused=is_refused
            )

    def type_of(self, fields: JsonObject, path: Path) -> str:
        """The type of a block, part or item; empty where it has none."""
        return self.text(fields, "type", path)

    def unknown_type(self, name: str, path: Path, *, is_refused: bool = False) -> str:
        """Notes a type that is not read here; gives the text that stands for it."""
        if name:
            what = "does not belong here" if is_refused else "is not known here and was not judged"
            text = f"the type {shown(name)} {what}"
            self.add(NoteRule.UNKNOWN_TYPE, path, text, is_refused=is_refused)
        return f"[{name or 'something'} was here]"

    def cache_mark(self, fields: JsonObject, path: Path) -> CacheMark | None:
        """The cache mark of a block; one of no known form counts as a plain one."""
        value = fields.get("cache_control")
        if value is None:
            return None
        ttl = value.get("ttl") if isinstance(value, dict) else None
        if not isinstance(value, dict) or value.get("type") != "ephemeral" or ttl not in (None, "5m", "1h"):
            self.add(
                NoteRule.CACHE_MARK,
                (*path, "cache_control"),
                "cache_control: type 'ephemeral' wanted, with a ttl of '5m', '1h' or none",
            )
        match ttl:
            case "5m":
                return CacheMark("5m")
            case "1h":
                return CacheMark("1h")
            case _:
                return CacheMark()

    def arguments(self, fields: JsonObject, key: str, path: Path) -> JsonValue:
        """The value of a JSON text; the text itself where it is none, which no format takes.

        No text at all is what many servers write for a call without arguments.
        """
        value = fields.get(key)
        if not isinstance(value, str):
            if value is None:
                self.add(NoteRule.MISSING, path, f"{key} is missing")
                return {}
            text = f"{key}: the text of a JSON object wanted, got {kind_of(value)}"
            self.add(NoteRule.WRONG_TYPE, (*path, key), text)
            return value
        if not value:
            return {}
        try:
            return parse_json(value)
        except ValueError as error:
            # Not refused by this note: the text stays as it is, and so the rule about arguments finds it.
            text = f"{key} is no JSON ({error}): {shown(value)}"
            self.add(NoteRule.ARGUMENTS_TEXT, (*path, key), text, is_refused=False)
            return value

    def tool(self, fields: JsonObject, schema_key: str, path: Path) -> ToolSpec:
        """A tool as the model sees it; one without a schema takes no arguments."""
        schema = fields.get(schema_key)
        if schema is None:
            schema = {"type": "object", "properties": {}}
        found = self.object(schema, (*path, schema_key), "a JSON schema")
        description = self.optional_text(fields, "description", path) or ""
        return ToolSpec(self.text(fields, "name", path), description, dict(found or {}))


def items_of(value: JsonValue, path: Path, notes: Notes) -> list[Item]:
    """The elements of a list with their places."""
    if isinstance(value, list):
        return [((*path, at), element) for at, element in enumerate(value)]
    notes.add(NoteRule.WRONG_TYPE, path, f"a list of messages wanted, got {kind_of(value)}")
    return []
