"""What a person and a program read of a store that was checked or repaired. Pure."""

from collections.abc import Iterator

from pydantic import JsonValue

from host.cli.output import one_line, visible
from host.store.examine import Damage, Examination
from host.store.salvage import Salvage, SalvagedAgent

_WIDTH = 400


def examination_lines(seen: Examination, *, is_repairing: bool) -> Iterator[str]:
    """The summary, then one line for each damage."""
    version = "of an unknown version" if seen.version is None else f"version {seen.version}"
    yield (
        f"{visible(str(seen.path))}: {version}, {_size(seen.size_bytes)},"
        f" {_count(seen.n_sessions, 'session')}, {_count(seen.n_agents, 'agent')},"
        f" {_count(seen.n_records, 'record')}, {_count(seen.n_artifacts, 'artifact')}"
    )
    if not seen.has_hashes and seen.n_agents:
        yield (
            "the records of this version carry no hashes: one that was changed and still can be read is not"
            " noticed"
        )
    if seen.n_skipped:
        yield f"{_count(seen.n_skipped, 'record')} could not be read back in an earlier repair"
    if seen.n_lost_artifacts:
        yield f"{_count(seen.n_lost_artifacts, 'artifact')} could not be read back in an earlier repair"
    if seen.is_sound:
        yield "nothing is damaged"
        return
    n_damages = len(seen.damages)
    yield f"{n_damages} things are damaged:" if n_damages > 1 else "one thing is damaged:"
    for damage in seen.damages:
        yield f"  {_place(damage)}{one_line(damage.what, _WIDTH)}"
    if not is_repairing:
        yield (
            "`callboard doctor --repair` makes a new store of all that can be read, and keeps the damaged one"
        )


def examination_values(seen: Examination) -> Iterator[JsonValue]:
    """One object for each damage, then the summary."""
    for damage in seen.damages:
        yield {
            "damage": damage.what,
            "agent": damage.agent_id,
            "session": damage.session,
            "seq": damage.seq,
            "n_records": damage.n_records,
            "kind": damage.kind,
        }
    yield {
        "store": str(seen.path),
        "is_sound": seen.is_sound,
        "n_damages": len(seen.damages),
        "n_sessions": seen.n_sessions,
        "n_agents": seen.n_agents,
        "n_records": seen.n_records,
        "n_artifacts": seen.n_artifacts,
        "size_bytes": seen.size_bytes,
        "version": seen.version,
        "has_hashes": seen.has_hashes,
        "n_skipped": seen.n_skipped,
        "n_lost_artifacts": seen.n_lost_artifacts,
    }


def salvage_lines(done: Salvage) -> Iterator[str]:
    """What was kept and what is lost."""
    kept = [agent for agent in done.agents if agent.opened is not None]
    yield (
        f"repaired: kept {_count(sum(agent.n_kept for agent in kept), 'record')} of"
        f" {_count(len(kept), 'agent')} and {_count(done.n_artifacts, 'artifact')}"
    )
    for agent in done.agents:
        yield from (f"  {line}" for line in _agent_lines(agent))
    for artifact_id in done.lost_artifacts:
        yield f"  artifact {artifact_id} is lost"
    yield f"the damaged store is kept as {visible(str(done.kept_as))}"


def salvage_values(done: Salvage) -> Iterator[JsonValue]:
    """One object for each agent, then the summary."""
    for agent in done.agents:
        yield {
            "agent": agent.agent_id,
            "session": None if agent.opened is None else agent.opened.root_id,
            "name": None if agent.opened is None else agent.opened.name,
            "is_left_out": agent.opened is None,
            "is_remade": agent.is_remade,
            "n_kept": agent.n_kept,
            "n_skipped": agent.n_skipped,
            "n_unchecked": agent.n_unchecked,
        }
    yield {
        "repaired": str(done.path),
        "kept_as": str(done.kept_as),
        "n_artifacts": done.n_artifacts,
        "lost_artifacts": list(done.lost_artifacts),
    }


def _agent_lines(agent: SalvagedAgent) -> Iterator[str]:
    skipped = _count(agent.n_skipped, "record")
    if agent.opened is None:
        yield f"agent {visible(agent.agent_id)} is left out with {skipped}: nothing tells who it was"
        return
    who = f"{visible(agent.opened.name)} ({visible(agent.agent_id)})"
    if agent.n_skipped:
        yield f"{who}: {skipped} skipped, {agent.n_kept} kept"
    if agent.n_unchecked:
        yield f"{who}: {_count(agent.n_unchecked, 'record')} kept that could not be checked"
    if agent.is_remade:
        yield (
            f"{who}: its definition is lost; it works in {visible(agent.opened.cwd)}, without instructions"
            " and tools of its own"
        )


def _place(damage: Damage) -> str:
    words = []
    if damage.session is not None:
        words.append(f"session {one_line(damage.session, 80)}")
    if damage.agent_id is not None:
        words.append(f"agent {one_line(damage.agent_id, 80)}")
    if damage.seq is not None:
        last = damage.seq + max(damage.n_records, 1) - 1
        places = f"record {damage.seq}" if last == damage.seq else f"records {damage.seq} to {last}"
        words.append(places if damage.kind is None else f"{places} ({one_line(damage.kind, 40)})")
    return f"{', '.join(words)}: " if words else ""


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def _size(n_bytes: int) -> str:
    if n_bytes < 1_000:
        return f"{n_bytes} bytes"
    for unit, divisor in (("kB", 1e3), ("MB", 1e6)):
        if n_bytes < 1_000 * divisor:
            return f"{n_bytes / divisor:.1f} {unit}"
    return f"{n_bytes / 1e9:.1f} GB"
