"""No thread in the async tests here: threads and virtual time do not mix, so these are plain functions."""

import gzip
import hashlib
import threading
from functools import partial

import anyio
import pytest

from providers.correction import CorrectedCounter
from providers.errors import RanksUnavailable
from providers.model import Message, Role, ToolCall, ToolSpec, Usage
from providers.ranks import ensure_ranks, load_ranks, parse_ranks, ranks_if_loaded
from providers.tokens import (
    CountCache,
    EstimateCounter,
    TiktokenCounter,
    counter_for,
)


def counter() -> TiktokenCounter:
    return TiktokenCounter(load_ranks())


def test_hello_world_is_two_known_tokens() -> None:
    assert load_ranks().encode_ordinary("hello world") == [24912, 2375]
    assert counter().count_text("hello world") == 2


def test_a_special_token_in_a_text_is_counted_as_text() -> None:
    assert counter().count_text("<|endoftext|>") > 1
    assert counter().count_text("<|endofprompt|><|im_start|>") > 2


def test_half_a_surrogate_pair_can_be_counted() -> None:
    assert counter().count_text("a\ud800b") >= 3


@pytest.mark.parametrize("character", [" ", "\n", "a", "中", "=", "\x00"])
def test_a_very_long_run_of_one_character_can_be_counted(character: str) -> None:
    assert 0 < counter().count_text(character * 1_000_000) <= 1_000_000


def test_counting_in_chunks_is_off_by_little() -> None:
    text = "The quick brown fox jumps over the lazy dog. " * 4_000
    assert counter().count_text(text) == pytest.approx(len(load_ranks().encode_ordinary(text)), abs=5)


def test_concurrent_first_loads_give_one_encoding(real_backend: str) -> None:
    async def main() -> None:
        found: list[object] = []

        async def load() -> None:
            found.append(await ensure_ranks())

        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(load)
        assert len(set(map(id, found))) == 1
        assert ranks_if_loaded() is found[0]

    anyio.run(main, backend=real_backend)


def test_threads_that_load_at_once_get_one_encoding() -> None:
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(load_ranks())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(map(id, found))) == 1


def test_damaged_ranks_are_refused() -> None:
    with pytest.raises(RanksUnavailable, match="damaged"):
        parse_ranks(b"no gzip")
    with pytest.raises(RanksUnavailable, match="damaged"):
        parse_ranks(gzip.compress(b"IQ== 0\n" * 1000)[:-9])
    with pytest.raises(RanksUnavailable, match="SHA-256"):
        parse_ranks(gzip.compress(b"IQ== 0\n"))


def test_ranks_with_a_line_that_is_none_are_refused() -> None:
    plain = b"IQ== zero\n"
    with pytest.raises(RanksUnavailable, match="line"):
        parse_ranks(gzip.compress(plain), hashlib.sha256(plain).hexdigest())


def test_a_call_counts_its_name_and_arguments() -> None:
    silent = Message(Role.ASSISTANT, "Yes.")
    calling = Message(Role.ASSISTANT, "Yes.", (ToolCall("c1", "Read", {"path": "docs/a.md"}),))
    assert counter().count_message(calling) > counter().count_message(silent) + 3


def test_a_tool_counts_its_schema() -> None:
    tool = ToolSpec("Read", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
    assert counter().count_tools((tool,)) > 10
    assert counter().count_tools(()) == 0
    assert EstimateCounter().count_tools((tool,)) > 10


def test_a_message_is_counted_once() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    cache = CountCache[str](count)
    text = "hello"
    assert [cache(text), cache(text)] == [5, 5]
    assert counted == ["hello"]


def test_equal_messages_that_are_not_the_same_are_counted_each() -> None:
    cache = CountCache[Message](lambda message: 1)
    first, second = Message(Role.USER, "a"), Message(Role.USER, "a")
    assert cache(first) + cache(second) == 2
    assert len(cache) == 2


def test_the_cache_is_bounded_in_entries_and_in_tokens() -> None:
    few = CountCache[Message](lambda message: 1, max_entries=3)
    small = CountCache[Message](lambda message: 40, max_tokens=100)
    for number in range(10):
        few(Message(Role.USER, str(number)))
        small(Message(Role.USER, str(number)))
    assert len(few) == 3
    assert len(small) == 2


def test_a_message_larger_than_the_cache_is_still_counted() -> None:
    cache = CountCache[Message](lambda message: 500, max_tokens=100)
    assert cache(Message(Role.USER, "x")) == 500
    assert len(cache) == 0


def test_the_most_recently_counted_messages_stay() -> None:
    calls: list[Message] = []

    def count(message: Message) -> int:
        calls.append(message)
        return 1

    cache = CountCache[Message](count, max_entries=2)
    old, used, new = (Message(Role.USER, text) for text in "abc")
    for message in (old, used, old, new, old):
        cache(message)
    assert calls == [old, used, new]


@pytest.mark.parametrize(
    ("model", "is_exact"),
    [("gpt-4o", True), ("gpt-5.2", True), ("o3", True), ("gpt-4", False), ("claude-opus-5-5", False)],
)
def test_only_models_known_to_use_the_ranks_are_counted_exactly(model: str, is_exact: bool) -> None:
    assert counter_for(model, load_ranks()).is_exact is is_exact


def test_without_ranks_the_estimate_counts_and_says_so() -> None:
    fallback = counter_for("gpt-4o", None)
    assert fallback.count_text("aaaa") == 2
    assert not fallback.is_exact


def test_a_counter_learns_what_the_provider_counts() -> None:
    counter = CorrectedCounter(EstimateCounter())
    assert counter.corrected(1_000) == 1_000
    counter.observe(1_000, Usage(900, 300, 300))
    assert counter.corrected(1_000) == 1_500
    counter.observe(1_000, Usage(1_000))
    assert 1_000 < counter.corrected(1_000) < 1_500


def test_what_is_learned_changes_no_count() -> None:
    counter = CorrectedCounter(EstimateCounter())
    counter.observe(1_000, Usage(1_500))
    tool = ToolSpec("Look", "Looks.", {"type": "object"})
    assert counter.count_text("a" * 30) == 10
    assert counter.count_message(Message(Role.USER, "a" * 30)) == 10
    assert counter.count_tools((tool,)) == EstimateCounter().count_tools((tool,))


@pytest.mark.parametrize(("reported", "ratio"), [(1_000_000, 2.0), (1, 0.5)])
def test_a_correction_is_bounded(reported: int, ratio: float) -> None:
    counter = CorrectedCounter(EstimateCounter())
    counter.observe(1_000, Usage(reported))
    assert counter.ratio == ratio


@pytest.mark.parametrize(
    ("n_counted", "usage"),
    [(1_000, Usage(3_000, is_estimated=True)), (1_000, Usage(0)), (10, Usage(300))],
)
def test_what_says_nothing_teaches_nothing(n_counted: int, usage: Usage) -> None:
    counter = CorrectedCounter(EstimateCounter())
    counter.observe(n_counted, usage)
    assert counter.ratio == 1.0


def test_counting_again_after_one_new_message_costs_that_message_only() -> None:
    counted: list[Message] = []

    def count(message: Message) -> int:
        counted.append(message)
        return 1

    cache = CountCache[Message](count)
    history = [Message(Role.USER, str(number)) for number in range(1_000)]
    sum(map(cache, history))
    counted.clear()
    history.append(Message(Role.USER, "new"))
    assert sum(map(cache, history)) == 1_001
    assert [message.content for message in counted] == ["new"]


def test_loading_waits_in_a_thread_and_not_in_the_loop(real_backend: str) -> None:
    async def main() -> None:
        n_ticks = 0
        done = anyio.Event()

        async def tick() -> None:
            nonlocal n_ticks
            while not done.is_set():
                n_ticks += 1
                await anyio.sleep(0.005)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(tick)
            await anyio.to_thread.run_sync(partial(parse_ranks, _packed()))
            done.set()
        assert n_ticks > 3

    anyio.run(main, backend=real_backend)


def _packed() -> bytes:
    from importlib import resources

    return resources.files("providers").joinpath("data", "o200k_base.tiktoken.gz").read_bytes()
