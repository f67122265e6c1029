from pathlib import Path

import pytest

from actors.errors import BadInput, ToolInputInvalid
from actors.tools import ToolOutput, bounded, builtin_tools
from providers.model import FileBlock, ImageBlock, TextBlock
from tests.actors.tools.fakes import FakeHost, context_in

IMAGE = ImageBlock("image/png", "data:image/png;base64,")


async def read(host: FakeHost | None, **sent: str | int) -> ToolOutput:
    return await builtin_tools()["ReadArtifact"].run(context_in(Path("/"), host), dict(sent))


async def test_a_result_at_the_limit_stays_whole() -> None:
    host = FakeHost()
    assert await bounded("x" * 30_000, host) == "x" * 30_000
    assert not host.artifacts


async def test_a_result_over_the_limit_keeps_head_tail_and_the_way_to_the_rest() -> None:
    host = FakeHost()
    text = "".join(f"{number:08}\n" for number in range(4_000))
    short = str(await bounded(text, host))
    head, rest = short.split("\n\n[…", 1)
    _, tail = rest.split("…]\n\n")
    assert text.startswith(head)
    assert text.endswith(tail)
    assert "ReadArtifact(id='art1', offset=5000)" in rest
    assert f"{len(text) - len(head) - len(tail):,} of {len(text):,} characters" in rest
    assert host.artifacts["art1"].decode() == text
    assert len(short) < 11_000


async def test_the_texts_of_blocks_are_bounded_together_and_images_stay() -> None:
    host = FakeHost()
    blocks = (TextBlock("a" * 20_000), IMAGE, FileBlock("text/plain", text="b" * 20_000))
    short = await bounded(blocks, host)
    assert isinstance(short, tuple)
    assert isinstance(short[0], TextBlock)
    assert short[1:] == (IMAGE,)
    assert host.artifacts["art1"] == b"a" * 20_000 + b"\n" + b"b" * 20_000
    few = (TextBlock("a"), IMAGE)
    assert await bounded(few, host) == few


async def test_an_artifact_is_read_part_by_part_to_its_end() -> None:
    text = "äöü😀" * 15_000
    host = FakeHost(artifacts={"art1": text.encode()})
    parts: list[str] = []
    while sum(map(len, parts)) < len(text):
        answer = str((await read(host, id="art1", offset=sum(map(len, parts)))).content)
        part, note = answer.rsplit("\n[", 1)
        assert len(answer) <= 30_000
        assert ("go on with offset=" in note) == (sum(map(len, parts)) + len(part) < len(text))
        parts.append(part)
    assert "".join(parts) == text
    assert len(parts) == 3


async def test_a_reference_that_leads_nowhere_is_refused() -> None:
    host = FakeHost(artifacts={"art1": b"abc"})
    with pytest.raises(BadInput, match="there is no artifact 'art2'"):
        await read(host, id="art2")
    with pytest.raises(BadInput, match="has 3 characters; there is nothing at offset 3"):
        await read(host, id="art1", offset=3)
    with pytest.raises(ToolInputInvalid, match="limit"):
        await read(host, id="art1", limit=100_000)
    with pytest.raises(BadInput, match="needs a host"):
        await read(None, id="art1")
