"""Kills processes that run agents: `python -m tests.crash.parent FOLDER SEED KILLS BACKEND DURABILITY`.

Everything is imported once, in a process with one thread and no loop, and each
life is a fork of it: hundreds of kills a minute. That shows the order of what
is written and said. It does not show that the disk has it: what a killed
process wrote, the system still has.

A program is a few lives on one store, each killed at a random moment, the last
left to come to rest. Prints a line of JSON at the end: how many kills, and what
was wrong. The choices of a life come from its seed and number, the moment of
its death is printed; played again it is alike, not the same.
"""

import gc
import json
import os
import random
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import NoReturn

import anyio

from actors.address import AgentId
from actors.records import Record
from host.store.ports import AgentRow
from host.store.schema import Durability
from host.store.sqlite import SqliteStore
from tests.crash.cast import Tools
from tests.crash.effects import problems_of_files
from tests.crash.life import REST_WITHIN_S, Life, Plan
from tests.crash.told import facts_in
from tests.crash.verdict import Found, problems_at_rest, problems_behind_a_kill
from tests.host.judging import records_of

N_LIVES = 8


@dataclass(slots=True)
class Tally:
    """What came of all programs."""

    n_kills: int = 0
    n_programs: int = 0
    took_s: float = 0.0
    n_records: int = 0
    problems: list[str] = field(default_factory=list)


def main(folder: Path, seed: int, n_kills: int, backend: str, durability: Durability) -> Tally:
    tally = Tally()
    tools = Tools()
    warm_up(Plan(seed, backend, durability, folder / "warm"), tools)
    began = time.monotonic()
    gc.collect()
    gc.freeze()
    while tally.n_kills < n_kills and not tally.problems:
        place = folder / f"{seed}-{tally.n_programs}"
        plan = Plan(seed * 10_000 + tally.n_programs, backend, durability, place)
        plan.files.mkdir(parents=True)
        run_program(plan, min(N_LIVES, n_kills - tally.n_kills), tools, tally)
        tally.n_programs += 1
    tally.took_s = time.monotonic() - began
    return tally


def run_program(plan: Plan, n_lives: int, tools: Tools, tally: Tally) -> None:
    """So many lives that are killed, and one that comes to rest."""
    dice = random.Random(plan.seed)
    for life in range(n_lives):
        # One in four dies while it opens the store and brings the agents back.
        in_opening = dice.randrange(4) == 0
        after_s = dice.uniform(0, 0.03) if in_opening else dice.uniform(0, 0.1)
        pid = fork(partial(live, plan, life, tools, is_last=False))
        if not in_opening:
            wait_until_it_plays(plan, life)
        time.sleep(after_s)
        os.kill(pid, signal.SIGKILL)
        tally.n_kills += 1
        moment = f"{after_s:.4f} s after {'its start' if in_opening else 'it was open'}"
        where = f"seed {plan.seed} {plan.backend}, life {life} killed {moment}, in {plan.folder}"
        if (status := os.waitpid(pid, 0)[1]) != signal.SIGKILL:
            tally.problems.append(f"{where}: ended by itself with {status}")
        judge_apart(plan, life, is_last=False, where=where, tally=tally)
        if tally.problems:
            return
    where = f"seed {plan.seed} {plan.backend}, the life at rest, in {plan.folder}"
    pid = fork(partial(live, plan, n_lives, tools, is_last=True))
    if (status := wait_for(pid, REST_WITHIN_S + 5)) != 0:
        tally.problems.append(f"{where}: ended with {status}")
    judge_apart(plan, n_lives, is_last=True, where=where, tally=tally)


def wait_until_it_plays(plan: Plan, life: int) -> None:
    """Or until it takes too long, which the judge finds out the reason of."""
    line = f'["Noted", {{"life": {life}, "word": "plays"'.encode()
    deadline = time.monotonic() + 5
    while not (plan.told.exists() and line in plan.told.read_bytes()) and time.monotonic() < deadline:
        time.sleep(0.003)


def fork(work: Callable[[], None]) -> int:
    """A child that does the work and ends with 0, or with 1 where it failed."""
    assert threading.active_count() == 1, "a fork of a process with threads inherits their locks"
    if (pid := os.fork()) == 0:
        end_after(work)
    return pid


def end_after(work: Callable[[], None]) -> NoReturn:
    code = 1
    try:
        work()
        code = 0
    except BaseException:  # noqa: BLE001 - the fork must never run on as its parent
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def wait_for(pid: int, limit_s: float) -> int:
    """The child's exit status; a child that takes longer is killed."""
    deadline = time.monotonic() + limit_s
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return status
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            return os.waitpid(pid, 0)[1]
        time.sleep(0.002)


def live(plan: Plan, number: int, tools: Tools, *, is_last: bool) -> None:
    anyio.run(Life(plan, number, tools, is_last=is_last).run, backend=plan.backend)


def warm_up(plan: Plan, tools: Tools) -> None:
    """A short life in this process, so that those of the forks do not begin with what is made once."""
    plan.files.mkdir(parents=True)
    anyio.run(Life(plan, 0, tools, is_last=True).warm_up, backend=plan.backend)


def judge_apart(plan: Plan, life: int, *, is_last: bool, where: str, tally: Tally) -> None:
    """In a fork: opening the store starts a thread, and this process must have none."""
    pid = fork(partial(judge, plan, life, is_last=is_last))
    if wait_for(pid, 60) != 0:
        tally.problems.append(f"{where}: the judge failed")
        return
    verdict = json.loads((plan.folder / "verdict").read_text())
    tally.n_records += sum(verdict["counts"].values()) if is_last else 0
    tally.problems.extend(f"{where}: {problem}" for problem in verdict["problems"])


def judge(plan: Plan, life: int, *, is_last: bool) -> None:
    path = plan.folder / "verdict"
    before = json.loads(path.read_text())["counts"] if path.exists() else {}
    rows, logs = anyio.run(read, plan.store)
    found = Found(logs, facts_in(plan.told), before, life)
    problems = problems_at_rest(found, rows) if is_last else problems_behind_a_kill(found)
    problems.extend(problems_of_files(logs, plan.files))
    counts = {agent_id: len(log) for agent_id, log in logs.items()}
    path.write_text(json.dumps({"counts": counts, "problems": problems}))


async def read(path: Path) -> tuple[tuple[AgentRow, ...], dict[AgentId, list[Record]]]:
    async with SqliteStore(path) as store:
        rows = await store.agents()
        return rows, {row.agent_id: await records_of(store, row.agent_id) for row in rows}


if __name__ == "__main__":
    folder, seed, n_kills, backend, wanted = sys.argv[1:]
    durability: Durability = "full" if wanted == "full" else "normal"
    result = main(
        Path(folder), int(seed), int(n_kills), backend, "full" if durability == "full" else "normal"
    )
    print(json.dumps(asdict(result)))
