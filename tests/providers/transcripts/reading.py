"""Reads a JSON value as the command reads a file."""

import json

from pydantic import JsonValue

from providers.transcripts import (
    Body,
    Document,
    Messages,
    Note,
    Single,
    Transcript,
    documents_of,
    parts_of,
    shown_path,
    transcript_of,
)


def transcript(value: JsonValue) -> Transcript:
    """The one conversation in a JSON document."""
    (document,) = documents_of(json.dumps(value))
    assert isinstance(document, Document)
    parts = parts_of(document.value, (0,))
    assert len(parts) == 1
    match parts[0]:
        case Single() as single:
            return transcript_of([single])
        case Body() | Messages() as part:
            return transcript_of(part)


def notes(value: JsonValue) -> list[tuple[str, str, bool]]:
    """Rule, place and verdict of everything that was noted."""
    return [told(note) for note in transcript(value).reading.notes]


def told(note: Note) -> tuple[str, str, bool]:
    return note.rule.value, shown_path(note.path), note.is_refused


def paths(value: JsonValue) -> list[str]:
    """The place of every message that was read."""
    return [shown_path(read.path) for read in transcript(value).reading.messages]
