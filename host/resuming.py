"""Stored sessions that live again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import anyio

from actors.address import Address, AgentId
from actors.agent import Agent
from actors.records import AgentState, TurnEnded
from actors.roles.prefix import prefix_source
from actors.tools.model import Tool
from host.crew import ENDED, Crew
from host.errors import UnknownSession
from host.living import Living
from host.recovery import goal_told_again, turn_that_started
from host.revival import Archive, Stored
from host.store.ports import Lease


@dataclass(frozen=True, slots=True)
class Resuming:
    """Brings sessions back. `can_ask` tells whether a person can be asked about an agent's calls now."""

    crew: Crew
    can_ask: Callable[[Living], bool]

    async def resume(
        self,
        root_id: AgentId,
        tools: Sequence[Tool],
        agent: Agent | None,
        asks_again: bool | None = None,
        *,
        at_rest: bool = False,
    ) -> tuple[Living, ...]:
        """A stored session with all its agents, the root first, as far as their logs go.

        A turn that was cut off ends as lost, or goes on where it had come to a
        person's permission and `asks_again` (by default: where a person can be
        asked now); an agent whose type restarts goes on behind it. What waits
        in the mailboxes is still there, and parents hear what they have not yet
        heard of their children. `agent` replaces the stored definition of the
        root. `at_rest` lets none of them begin a turn; the caller lets them go.

        Raises:
            UnknownSession: the store has none of this id.
            SessionBusy: somebody else has it.
            StoreDamaged: a log cannot be read.
            NameTaken: an agent that lives here has the root's name (others take a similar one).
        """
        store = self.crew.store
        if not await store.agents(root_id):
            raise UnknownSession(f"the store has no session {root_id}")
        lease = await store.lease(root_id)
        try:
            return await self.revive(lease, tools, agent, asks_again, at_rest=at_rest)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await lease.release()
            raise

    async def revive(
        self,
        lease: Lease,
        tools: Sequence[Tool],
        agent: Agent | None,
        asks_again: bool | None = None,
        claimed: Address | None = None,
        *,
        at_rest: bool = False,
    ) -> tuple[Living, ...]:
        """As `resume`, under a lease that the caller releases if this fails.

        The name of the root may be `claimed` already.
        """
        crew = self.crew
        archive = Archive(crew.store, crew.surroundings, crew.services)
        rows = await crew.store.agents(lease.root_id)
        found = [await archive.load(row.agent_id, tools, agent) for row in rows]
        crew.check_still_wanted(None)
        kept, taken_back = _of_the_history(found)
        tree = self._enlist(kept, False if at_rest else asks_again, claimed)
        tree[0].lease = lease
        for one in taken_back:
            parent = None if one.opened.parent_id is None else crew.directory.get(one.opened.parent_id)
            if parent is not None:
                parent.actor.mailbox.forget_task(one.opened.agent_id)
        for living in tree:
            if at_rest:
                living.actor.hold()
            crew.supervisor.go(living)
        return tree

    def _enlist(
        self, found: Sequence[Stored], asks_again: bool | None, claimed: Address | None
    ) -> tuple[Living, ...]:
        """All of them or none."""
        crew = self.crew
        prefixes = [prefix_source(one.opened.role, one.agent, one.snapshot) for one in found]
        modes = [crew.mode_given_to(one.agent, one.fold.mode) for one in found]
        root_name = claimed or crew.directory.claim(found[0].agent.name)
        tree: list[Living] = []
        for one, prefix, mode in zip(found, prefixes, modes, strict=True):
            name = crew.directory.claim_like(one.agent.name) if tree else root_name
            renamed = replace(one, opened=replace(one.opened, name=name))
            state = one.fold.state
            living = crew.supervisor.enlist(renamed, prefix, mode)
            living.state = state if state in ENDED else AgentState.IDLE
            tree.append(living)
            due = one.due if one.fold.turn is None else self._with_its_turn(one, living, asks_again).due
            crew.supervisor.report_due(living, due)
        again = goal_told_again(found[0].fold, crew.services.ids, crew.services.clock)
        goes_on = found[0].fold.turn is not None and not tree[0].is_newly_lost
        if again and not goes_on:
            tree[0].actor.parts.ledger.submit(*again)
        return tuple(tree)

    def _with_its_turn(self, one: Stored, living: Living, asks_again: bool | None) -> Stored:
        """What becomes of a turn that was cut off: it goes on, or it is lost, and maybe begun anew."""
        if one.waits_for_person and (self.can_ask(living) if asks_again is None else asks_again):
            assert one.fold.turn is not None, "a call of it waits"
            living.actor.reopen(one.fold.turn)
            return one.going_on()
        living.is_newly_lost = True
        living.actor.parts.ledger.submit(*one.closing)
        lost = next(record for record in one.closing if isinstance(record, TurnEnded))
        if one.may_start_again and self.crew.supervisor.start_again(living, lost):
            return one.going_on()
        if living.parent_id is not None:
            self.crew.standing.end(living, AgentState.LOST, "the host stopped while it worked")
        return one


def _of_the_history(found: Sequence[Stored]) -> tuple[tuple[Stored, ...], tuple[Stored, ...]]:
    """Those that belong to the session still, and those that a turn had started which was taken back."""
    kept: dict[AgentId, Stored] = {}
    taken_back: list[Stored] = []
    for one in found:  # a parent is older than its children
        parent_id, turn_id = one.opened.parent_id, turn_that_started((one.opened,))
        if parent_id is None or (parent_id in kept and turn_id not in kept[parent_id].fold.removed_turns):
            kept[one.opened.agent_id] = one
        else:
            taken_back.append(one)
    return tuple(kept.values()), tuple(taken_back)
