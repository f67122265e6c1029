"""Pieces of an answer a second out of bytes, in both wire formats, against parsing the same JSON alone."""

import json
from collections.abc import Callable, Iterator
from functools import partial

from pydantic import JsonValue

from benchmarks.harness import Contender, Contest, Measurement, Shown, Stopwatch
from providers.anthropic.decode import AnthropicDecoder
from providers.failures import Asked
from providers.openai_chat.decode import ChatDecoder
from providers.sse import SseDecoder
from providers.wire import AnswerDecoder

_N_PIECES = 5_000
_PIECE = "a few words "
_ASKED = Asked("bench", "http://bench.invalid/v1")
_LARGE_CHUNK_BYTES = 4_096
Payload = dict[str, JsonValue]


def measurements() -> Iterator[Measurement]:
    yield _contest("Anthropic Messages", list(_anthropic()), lambda: AnthropicDecoder(_ASKED, "bench"))
    yield _contest("OpenAI Chat Completions", list(_openai_chat()), lambda: ChatDecoder(_ASKED, "bench"))


def _contest(title: str, payloads: list[Payload], decoder_of: Callable[[], AnswerDecoder]) -> Contest:
    texts = [json.dumps(payload) for payload in payloads]
    if "type" not in payloads[0]:
        texts.append("[DONE]")
    events = [_event(payload) for payload in payloads] + (
        [b"data: [DONE]\n\n"] if texts[-1] == "[DONE]" else []
    )
    whole = b"".join(events)
    large = [whole[at : at + _LARGE_CHUNK_BYTES] for at in range(0, len(whole), _LARGE_CHUNK_BYTES)]
    return Contest(
        f"{title}, pieces of text a second",
        (
            Contender("json.loads alone", partial(_parsed, [text for text in texts if text != "[DONE]"])),
            Contender("an event in each chunk", partial(_decoded, events, decoder_of)),
            Contender(f"chunks of {_LARGE_CHUNK_BYTES:,} bytes", partial(_decoded, large, decoder_of)),
        ),
        Shown.RATE,
    )


def _parsed(texts: list[str]) -> float:
    with Stopwatch() as watch:
        for text in texts:
            json.loads(text)
    return watch.seconds / _N_PIECES


def _decoded(chunks: list[bytes], decoder_of: Callable[[], AnswerDecoder]) -> float:
    sse, decoder = SseDecoder(), decoder_of()
    with Stopwatch() as watch:
        for chunk in chunks:
            for event in sse.feed(chunk):
                decoder.feed(event)
        decoder.close()
    return watch.seconds / _N_PIECES


def _event(payload: Payload) -> bytes:
    name = payload.get("type")
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(payload)}\n\n".encode()


def _anthropic() -> Iterator[Payload]:
    usage: Payload = {"input_tokens": 10, "output_tokens": 1}
    message: Payload = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "bench",
        "usage": usage,
    }
    yield {"type": "message_start", "message": message}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    for _ in range(_N_PIECES):
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": _PIECE}}
    yield {"type": "content_block_stop", "index": 0}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn"},
        "usage": {"output_tokens": _N_PIECES},
    }
    yield {"type": "message_stop"}


def _openai_chat() -> Iterator[Payload]:
    def chunk(delta: Payload, finish_reason: str | None = None) -> Payload:
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1_800_000_000,
            "model": "bench",
            "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}],
        }

    yield chunk({"role": "assistant", "content": ""})
    for _ in range(_N_PIECES):
        yield chunk({"content": _PIECE})
    yield chunk({}, "stop")
