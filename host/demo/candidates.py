"""What a record of a page may hold: found by code, so that a small model only has to choose. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, WithJsonSchema, create_model

MAX_TITLES = 4
MAX_SENTENCES = 4
SENTENCE_CHARACTERS = range(30, 161)

_HEADING = re.compile(r"#{1,6}\s+(.+?)\s*#*\s*$")
_FENCE = ("```", "~~~")
_NO_PROSE = ("|", ">", "- ", "* ", "+ ", "    ", "<", "![")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


class Topic(StrEnum):
    OVERVIEW = "overview"
    GUIDE = "guide"
    MESSAGES = "messages"
    REQUESTS = "requests"
    STORAGE = "storage"
    WORKFLOWS = "workflows"


class Record(BaseModel):
    """What an actor chooses for its page."""

    model_config = ConfigDict(frozen=True)

    title: str
    topic: Topic
    key_sentence: str


@dataclass(frozen=True, slots=True)
class Candidates:
    """Headings and sentences of a page, in their order; neither is ever empty."""

    titles: tuple[str, ...]
    sentences: tuple[str, ...]

    def allow(self, record: Record) -> bool:
        """Whether everything in the record is one of these."""
        return record.title in self.titles and record.key_sentence in self.sentences

    def record_type(self) -> type[Record]:
        """A record that can hold these and nothing else."""
        return create_model(
            "Record",
            __base__=Record,
            title=(_one_of(self.titles), ...),
            key_sentence=(_one_of(self.sentences), ...),
        )


def candidates_of(text: str) -> Candidates | None:
    """What the beginning of a page offers; None for one without words.

    A last sentence that the beginning cuts off is none.
    """
    lines = list(_outside_code(text))
    first = next((line.strip("# ") for line in lines if line.strip("# ")), None)
    if first is None:
        return None
    shortened = (first[: SENTENCE_CHARACTERS.stop - 1],)
    headings = [match[1] for line in lines if (match := _HEADING.match(line))]
    sentences = [s for s in _sentences(lines) if len(s) in SENTENCE_CHARACTERS]
    return Candidates(
        titles=_unique(headings)[:MAX_TITLES] or shortened,
        sentences=_unique(sentences)[:MAX_SENTENCES] or shortened,
    )


def _outside_code(text: str) -> Iterator[str]:
    is_code = False
    for line in text.splitlines():
        if line.lstrip().startswith(_FENCE):
            is_code = not is_code
        elif not is_code:
            yield line


def _sentences(lines: list[str]) -> Iterator[str]:
    paragraph: list[str] = []
    for line in (*lines, ""):
        if line.strip() and not _HEADING.match(line) and not line.startswith(_NO_PROSE):
            paragraph.append(line.strip())
            continue
        for sentence in _SENTENCE_END.split(" ".join(paragraph)):
            if sentence.endswith((".", "!", "?")):
                yield sentence
        paragraph.clear()


def _unique(texts: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _one_of(allowed: tuple[str, ...]) -> Any:
    """A type for pydantic: an enum in the schema even where there is only one to choose."""
    schema = {"type": "string", "enum": list(allowed)}
    return Annotated[str, AfterValidator(partial(_check, allowed)), WithJsonSchema(schema)]


def _check(allowed: tuple[str, ...], value: str) -> str:
    if value not in allowed:
        raise ValueError(f"one of {list(allowed)} wanted")
    return value
