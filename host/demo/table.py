"""Third act: a scripted workflow makes a table of the pages, an actor for each."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from actors.records import AgentState
from host.demo.candidates import Candidates, Record, candidates_of
from host.demo.events import RecordChosen, TableJoined
from host.demo.pages import Page, pages_of
from host.demo.stage import Stage
from host.workflows import Run, run_workflow, workflow
from host.workflows.events import AgentEnded, Reported, RunEvent

TITLE = "A scripted workflow makes a table"
NOTE = "Code finds what may stand in a record; the model only chooses, so it cannot make anything up."


@dataclass(frozen=True, slots=True)
class Row:
    page: str
    record: Record


_ROW = TypeAdapter(Row)


@workflow
async def page_table(run: Run, root: Path) -> tuple[Row, ...]:
    """A table of the pages in docs/: title, topic and key sentence of each."""
    async with run.phase("Read"):
        pages = [(page, candidates_of(page.excerpt)) for page in pages_of(root)]
    async with run.phase("Choose"):
        rows = await run.parallel(
            _choose(run, page, candidates) for page, candidates in pages if candidates is not None
        )
    return tuple(rows)


async def _choose(run: Run, page: Page, candidates: Candidates) -> Row:
    actor = run.actor(page.name, persona="You keep the register of a manual.")
    prompt = (
        "Choose for this page its title, its topic and the sentence that says most about it.\n\n"
        f"{page.excerpt}"
    )
    row = Row(page.name, await actor.ask(prompt, returns=candidates.record_type()))
    run.report(row)
    return row


async def play(stage: Stage, root: Path) -> None:
    """Runs the workflow and checks each record against the candidates of its page."""
    n_at_once: list[int] = [0]
    last_end: dict[str, AgentEnded] = {}

    def saw(event: RunEvent) -> None:
        n_at_once.append(len(stage.players()))
        if isinstance(event, AgentEnded):
            last_end[event.label] = event
        elif isinstance(event, Reported):
            stage.show(_chosen(event, last_end))

    outcome = await run_workflow(stage.host, page_table, {"root": root}, saw)
    rows = outcome.value or ()
    stage.show(
        TableJoined(tuple((r.page, r.record.title, r.record.topic, r.record.key_sentence) for r in rows))
    )
    check_rows(stage, root, rows)
    stage.claim(
        "the run completed",
        outcome.state is AgentState.COMPLETED,
        outcome.error or f"{outcome.n_agents} actors, up to {max(n_at_once)} of them at once",
    )
    stage.claim("the end of the run left no agent behind", stage.players() == ())


def _chosen(event: Reported, last_end: dict[str, AgentEnded]) -> RecordChosen:
    """The report of a row, with what the answer before it took."""
    row = _ROW.validate_python(event.item)
    end = last_end[row.page]
    record = row.record
    return RecordChosen(row.page, record.title, record.topic, record.key_sentence, end.usage, end.seconds)


def check_rows(stage: Stage, root: Path, rows: tuple[Row, ...]) -> None:
    """Claims that the rows are those of the pages, and hold nothing that the pages do not."""
    offered = {page.name: candidates_of(page.excerpt) for page in pages_of(root)}
    with_words = [name for name, candidates in offered.items() if candidates is not None]
    stage.claim(
        "every page with words in it has one row, in the order of the pages",
        [row.page for row in rows] == with_words,
        f"{len(rows)} of {len(with_words)}",
    )
    strange = [row.page for row in rows if not _is_offered(offered[row.page], row.record)]
    stage.claim(
        "every title and key sentence is one that code found on the page, every topic one of the list",
        not strange,
        ", ".join(strange),
    )


def _is_offered(candidates: Candidates | None, record: Record) -> bool:
    return candidates is not None and candidates.allow(record)
