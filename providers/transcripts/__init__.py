"""Transcripts of other tools, read as neutral messages with nothing put right.

One file reads each provider's format; `documents` finds the JSON in a text,
`read` what each document is, `formats` whose format that is, `lines` on which
line an element stands. A reader keeps whatever is wrong as it is, so that
`providers.legality` can find it, and notes what it does not understand.
"""

from providers.transcripts.documents import Broken, Document, documents_of
from providers.transcripts.lines import LineFinder
from providers.transcripts.model import (
    Note,
    NoteRule,
    Path,
    Reading,
    ReadMessage,
    Transcript,
    shown_path,
)
from providers.transcripts.read import Body, Messages, Part, Single, parts_of, transcript_of

__all__ = [
    "Body",
    "Broken",
    "Document",
    "LineFinder",
    "Messages",
    "Note",
    "NoteRule",
    "Part",
    "Path",
    "ReadMessage",
    "Reading",
    "Single",
    "Transcript",
    "documents_of",
    "parts_of",
    "shown_path",
    "transcript_of",
]
