"""A workflow sorts the pages of a folder by who should read them: the script decides, the agents judge.

Run `python examples/scripted_workflow.py`, or with a folder of yours
`callboard run examples/scripted_workflow.py --args '{"folder": "docs"}'`.
"""

from enum import StrEnum
from pathlib import Path

import anyio

from host import Run, open_host, run_workflow, workflow

BEGINNING_CHARACTERS = 500


class Reader(StrEnum):
    """All that an agent can answer; a model too small to explain can still choose."""

    NEWCOMER = "newcomer"
    USER = "user"
    DEVELOPER = "developer"


@workflow
async def sort_pages(run: Run, folder: Path) -> dict[Reader, list[str]]:
    """The names of the pages, by who should read them."""
    async with run.phase("Judge"):
        pages = pages_in(folder)
        readers = await run.parallel(judge(run, page) for page in pages)
    async with run.phase("Join"):
        run.log(f"{len(pages)} pages")
        judged = list(zip(pages, readers, strict=True))
        return {reader: [page.name for page, chosen in judged if chosen is reader] for reader in Reader}


async def judge(run: Run, page: Path) -> Reader:
    prompt = f"Who should read this page?\n\n{beginning_of(page)}"
    return await run.agent(prompt, returns=Reader, name=page.name)


def pages_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.md"))


def beginning_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")[:BEGINNING_CHARACTERS]


async def main() -> None:
    folder = Path(__file__).parents[1] / "docs"
    async with open_host() as host:
        outcome = await run_workflow(host, sort_pages, {"folder": folder}, print)
        print(outcome.result if outcome.error is None else outcome.error)


if __name__ == "__main__":
    anyio.run(main)
