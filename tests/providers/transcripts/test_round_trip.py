"""What our encoders write, the readers understand: the same is said, and nothing in it is refused.

The wire loses on purpose: the name of a result's tool, who wrote a thought and
whether a text was one block; neighbouring user messages of Anthropic become
one, cache marks cut them again. Chat Completions joins texts, has no mark and
no flag of a failed result, and shows pictures of results behind them.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from actors.projection import ProjectionOptions, project
from providers.anthropic.encode import encode as encode_anthropic
from providers.legality import check
from providers.model import (
    Block,
    Content,
    Dialect,
    FileBlock,
    Message,
    ReasoningBlock,
    Request,
    Role,
    TextBlock,
    text_of,
)
from providers.openai_chat.encode import encode as encode_chat
from providers.reading import JsonObject
from providers.transcripts import Body, Document, Path, Reading, documents_of, parts_of
from providers.transcripts.anthropic import read_anthropic
from providers.transcripts.model import Item
from providers.transcripts.openai_chat import read_openai_chat
from tests.actors.projection.checks import profile
from tests.actors.projection.histories import READER, Steps, history, steps

Atom: TypeAlias = tuple[object, ...]
_Reader: TypeAlias = Callable[[Sequence[Item], JsonObject, Path], Reading]
_QUICK = settings(max_examples=150, deadline=None, derandomize=True)
_OPTIONS = st.builds(
    ProjectionOptions,
    mid_conversation_system=st.booleans(),
    apply_cache_control=st.booleans(),
    model=st.just(READER),
)


def _blocks(content: Content) -> tuple[Block, ...]:
    return (TextBlock(content),) if isinstance(content, str) else content or ()


def _mark(message: Message) -> Iterator[Atom]:
    if message.cache is not None:
        yield ("mark", message.cache.ttl)


def anthropic_says(messages: Sequence[Message]) -> list[Atom]:
    """What goes over Anthropic's wire, piece by piece: results of a user's turn before all else in it."""
    said: list[Atom] = []
    pictures: list[Atom] = []
    for message in messages:
        if message.role is not Role.TOOL:
            said += pictures
            pictures = []
        match message.role:
            case Role.ASSISTANT:
                said += _answer(message)
            case Role.TOOL:
                kept = tuple(b for b in _blocks(message.content) if not message.is_error or _is_text(b))
                said.append(("result", message.tool_call_id, bool(message.is_error), kept))
                others = [b for b in _blocks(message.content) if b not in kept]
                if others:
                    label = TextBlock(f"[belongs to the result of {message.tool_call_id}]")
                    pictures += [("user", block) for block in (label, *others)]
            case role:
                said += [(role.value, block) for block in _blocks(message.content)]
        said += _mark(message)
    return said + pictures


def _is_text(block: Block) -> bool:
    return isinstance(block, TextBlock)


def _answer(message: Message) -> Iterator[Atom]:
    yield ("assistant",)
    waiting = list(message.tool_calls)
    for n_before, block in enumerate(_blocks(message.content)):
        while waiting and waiting[0].after_block is not None and waiting[0].after_block <= n_before:
            call = waiting.pop(0)
            yield ("call", call.id, call.name, call.input)
        match block:
            case ReasoningBlock(text, signature, data, item_id):
                if signature is not None or (data is not None and item_id is None):
                    yield ("thought", text, signature, data)
            case _:
                yield ("words", block)
    for call in waiting:
        yield ("call", call.id, call.name, call.input)


def chat_says(messages: Sequence[Message]) -> list[Atom]:
    """What goes over the wire of Chat Completions, message by message."""
    n_leading = next((at for at, m in enumerate(messages) if m.role is not Role.SYSTEM), len(messages))
    said: list[Atom] = []
    if n_leading:
        said.append(("system", "\n\n".join(t for m in messages[:n_leading] for t in _texts(m.content))))
    pictures: list[Block] = []
    for message in messages[n_leading:]:
        if message.role is not Role.TOOL and pictures:
            said.append(("user", tuple(pictures)))
            pictures = []
        match message.role:
            case Role.SYSTEM:
                said.append(("system", "\n\n".join(_texts(message.content))))
            case Role.USER:
                said.append(("user", _joined(message.content)))
            case Role.ASSISTANT:
                calls = tuple((call.id, call.name, call.input) for call in message.tool_calls)
                said.append(("assistant", text_of(message.content), calls))
            case Role.TOOL:
                text = "\n".join(_texts(message.content))
                is_marked = bool(message.is_error) and not text.lower().startswith("error")
                said.append(("tool", message.tool_call_id, f"Error: {text}" if is_marked else text))
                for block in _blocks(message.content):
                    if not isinstance(block, TextBlock | FileBlock):
                        label = TextBlock(f"[belongs to the result of {message.tool_call_id}]")
                        pictures += [label, block]
    return [*said, ("user", tuple(pictures))] if pictures else said


def _texts(content: Content) -> list[str]:
    texts = [b.text for b in _blocks(content) if isinstance(b, TextBlock | FileBlock)]
    return [text for text in texts if text]


def _joined(content: Content) -> object:
    blocks = tuple(TextBlock(b.text or "") if isinstance(b, FileBlock) else b for b in _blocks(content))
    is_all_text = all(isinstance(block, TextBlock) for block in blocks)
    return "\n".join(_texts(content)) if is_all_text else blocks


def _read(body: dict[str, JsonValue], reader: _Reader) -> Reading:
    (document,) = documents_of(json.dumps(body))
    assert isinstance(document, Document)
    (part,) = parts_of(document.value, (0,))
    assert isinstance(part, Body)
    messages = part.fields["messages"]
    assert isinstance(messages, list)
    return reader([((0, "messages", at), message) for at, message in enumerate(messages)], part.fields, (0,))


def _sent_and_read(
    taken: Steps, options: ProjectionOptions, dialect: Dialect
) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    sent = project(history(taken), options).messages
    facts = profile(mid_conversation_system=options.mid_conversation_system)
    request = Request(READER, sent)
    if dialect is Dialect.ANTHROPIC:
        reading = _read(encode_anthropic(request, facts), read_anthropic)
    else:
        reading = _read(encode_chat(request, facts), read_openai_chat)
    assert reading.notes == ()
    messages = tuple(read.message for read in reading.messages)
    found = [f for f in check(Request(READER, messages), dialect, facts) if f.kind == "history"]
    assert found == []
    return sent, messages


@_QUICK
@given(steps(40), _OPTIONS)
def test_what_anthropic_is_sent_is_read_as_it_was_meant(taken: Steps, options: ProjectionOptions) -> None:
    sent, read = _sent_and_read(taken, options, Dialect.ANTHROPIC)
    assert anthropic_says(read) == anthropic_says(sent)


@_QUICK
@given(steps(40), _OPTIONS)
def test_what_chat_completions_are_sent_is_read_as_it_was_meant(
    taken: Steps, options: ProjectionOptions
) -> None:
    sent, read = _sent_and_read(taken, options, Dialect.OPENAI_CHAT)
    assert chat_says(read) == chat_says(sent)
