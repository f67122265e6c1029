"""The histories in a text: cases of our own format, and transcripts in those of providers."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from actors.errors import BadInput
from actors.history import Entry, EntryId, MessageEntry, Origin, authority_of
from actors.projection.case_format import Case, read_case
from providers.model import Dialect, Role, ToolSpec
from providers.transcripts import (
    Broken,
    LineFinder,
    Note,
    NoteRule,
    Path,
    ReadMessage,
    Single,
    Transcript,
    documents_of,
    parts_of,
    transcript_of,
)


@dataclass(frozen=True, slots=True)
class EntryPaths:
    """Where an entry stands, and where each of its calls and blocks does."""

    own: Path
    calls: tuple[Path, ...] = ()
    blocks: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class History:
    """One conversation, entry by entry as it was stored, with the place of each.

    `dialect` None is our own format; `case` is then what the file says of it.
    """

    entries: tuple[Entry, ...]
    paths: tuple[EntryPaths, ...]
    path: Path
    n_items: int
    tools: tuple[ToolSpec, ...] = ()
    notes: tuple[Note, ...] = ()
    dialect: Dialect | None = None
    is_certain: bool = False
    is_request: bool = False
    model: str | None = None
    name: str | None = None
    case: Case | None = None

    @property
    def is_continued(self) -> bool:
        """Does it go on from what lies with the provider, which nobody here can see?"""
        return any(note.rule is NoteRule.KEPT_ELSEWHERE for note in self.notes)


@dataclass(frozen=True, slots=True)
class Found:
    """What a text holds, and who knows its lines."""

    histories: tuple[History, ...]
    lines: LineFinder


@dataclass(slots=True)
class _Collector:
    """Puts documents together to histories: messages that follow each other are one."""

    found: list[History] = field(default_factory=list)
    singles: list[Single] = field(default_factory=list)
    # What is no history waits for the next one, so that every note has one to stand in.
    notes: list[Note] = field(default_factory=list)

    def add(self, history: History) -> None:
        self.flush()
        self._keep(history)

    def flush(self) -> None:
        if self.singles:
            transcript = transcript_of(self.singles)
            self.singles = []
            self._keep(_of_transcript(transcript))

    def close(self) -> None:
        self.flush()
        if self.notes and self.found:
            self._keep(self.found.pop())

    def _keep(self, history: History) -> None:
        notes, self.notes = tuple(self.notes), []
        self.found.append(replace(history, notes=(*history.notes, *notes)) if notes else history)


def histories_of(text: str) -> Found:
    """Every history of a text, in order; what stands between them and is none becomes a note.

    Raises:
        BadInput: there is no history at all; says where and why.
    """
    documents = documents_of(text)
    lines = LineFinder(text, [document.offset for document in documents])
    collector = _Collector()
    for number, document in enumerate(documents):
        if isinstance(document, Broken):
            collector.notes.append(_note(NoteRule.NOT_JSON, (number,), f"this is no JSON: {document.reason}"))
        else:
            _take(document.value, (number,), collector)
    collector.close()
    if not collector.found:
        raise BadInput(_why_nothing(collector.notes, lines))
    return Found(tuple(collector.found), lines)


def _take(value: JsonValue, path: Path, collector: _Collector) -> None:
    if isinstance(value, list) and value and all(map(_is_case, value)):
        for at, case in enumerate(value):
            _take(case, (*path, at), collector)
        return
    if _is_case(value):
        try:
            collector.add(_of_case(read_case(value), path))
        except BadInput as error:
            collector.notes.append(_note(NoteRule.NOT_A_MESSAGE, path, str(error)))
        return
    parts = parts_of(value, path)
    for part in parts:
        if isinstance(part, Single):
            collector.singles.append(part)
        else:
            collector.add(_of_transcript(transcript_of(part)))
    if not parts:
        text = "neither a message nor a request's body nor a case of ours"
        collector.notes.append(_note(NoteRule.NOT_A_MESSAGE, path, text))


def _is_case(value: JsonValue) -> bool:
    inner = value.get("input") if isinstance(value, dict) else None
    return isinstance(inner, dict) and "entries" in inner


def _note(rule: NoteRule, path: Path, text: str) -> Note:
    return Note(rule, path, text, is_refused=True)


def _why_nothing(notes: Sequence[Note], lines: LineFinder) -> str:
    if not notes:
        return "a transcript wanted, got nothing"
    return f"line {lines.line_of(notes[0].path)}: {notes[0].text}"


def _of_case(case: Case, path: Path) -> History:
    inner = (*path, "input", "entries")
    paths = tuple(_case_paths(entry, (*inner, at)) for at, entry in enumerate(case.entries))
    return History(case.entries, paths, path, len(paths), name=case.name, case=case)


def _case_paths(entry: Entry, path: Path) -> EntryPaths:
    if not isinstance(entry, MessageEntry):
        return EntryPaths(path)
    content = entry.message.content
    n_blocks = len(content) if isinstance(content, tuple) else 0
    return EntryPaths(
        path,
        tuple((*path, "tool_calls", number) for number in range(len(entry.message.tool_calls))),
        tuple((*path, "content", number) for number in range(n_blocks)),
    )


_ORIGINS = {
    Role.SYSTEM: Origin.HOST,
    Role.USER: Origin.USER,
    Role.ASSISTANT: Origin.MODEL,
    Role.TOOL: Origin.TOOL,
}


def _of_transcript(transcript: Transcript) -> History:
    reading = transcript.reading
    return History(
        tuple(_entry(at, read) for at, read in enumerate(reading.messages)),
        tuple(EntryPaths(read.path, read.call_paths, read.block_paths) for read in reading.messages),
        transcript.path,
        transcript.n_items,
        reading.tools,
        reading.notes,
        transcript.dialect,
        transcript.is_certain,
        transcript.is_request,
        transcript.model,
        transcript.name,
    )


def _entry(at: int, read: ReadMessage) -> MessageEntry:
    origin = _ORIGINS[read.message.role]
    return MessageEntry(EntryId(f"read-{at}"), read.message, origin, authority_of(origin))
