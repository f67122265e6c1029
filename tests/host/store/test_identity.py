"""Who the agents of a damaged store are, told by those that are left."""

from dataclasses import replace

from actors.address import AgentId
from actors.records import AgentOpened, AgentRole
from host.store.identity import Hints, Identities
from tests.host.store.samples import ROOT, opened

CHILD, GRANDCHILD = AgentId("a-child"), AgentId("a-grandchild")
BELOW = opened(CHILD, ROOT)
FURTHER_BELOW = replace(opened(GRANDCHILD, ROOT), parent_id=CHILD)


def identities(*known: AgentOpened) -> Identities:
    hints = [Hints(one.agent_id, one, None, None, None) for one in known]
    return Identities.of(hints, cwd="/fallback", now_s=1.0)


def test_those_who_tell_it_themselves_stand_behind_their_parents() -> None:
    found = identities(FURTHER_BELOW, BELOW, opened())
    assert list(found.opened.values()) == [opened(), BELOW, FURTHER_BELOW]
    assert (found.remade, found.left_out) == (set(), ())


def test_a_lost_parent_is_made_again_between_root_and_grandchild() -> None:
    found = identities(opened(), FURTHER_BELOW)
    assert list(found.opened) == [ROOT, CHILD, GRANDCHILD]
    assert found.remade == {CHILD}
    made = found.opened[CHILD]
    assert (made.role, made.root_id, made.parent_id, made.cwd) == (
        AgentRole.SUBAGENT,
        ROOT,
        ROOT,
        "/somewhere",
    )


def test_a_lost_root_is_made_again_above_its_children() -> None:
    found = identities(BELOW)
    assert list(found.opened) == [ROOT, CHILD]
    assert found.opened[ROOT].role is AgentRole.MAIN


def test_agents_that_name_each_other_as_parents_come_below_the_root() -> None:
    found = identities(opened(), replace(BELOW, parent_id=GRANDCHILD), FURTHER_BELOW)
    parents = {agent_id: one.parent_id for agent_id, one in found.opened.items()}
    assert parents == {ROOT: None, GRANDCHILD: ROOT, CHILD: GRANDCHILD}
