"""Who an agent is, as far as a damaged store tells: by its log, its line in the listing, its children."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from actors.address import Address, AgentId, address
from actors.envelope import SenderRole
from actors.errors import BadAddress
from actors.records import AgentOpened, AgentRole, EnvelopeAccepted, SnapshotTaken
from host.store.survey import Found
from host.store.wreck import Row

_UNKNOWN_NAME = "recovered"


@dataclass(frozen=True, slots=True)
class Hints:
    """What is kept of an agent until all are known; `opened` is the first record of its log."""

    agent_id: AgentId
    opened: AgentOpened | None
    raw: Row | None
    cwd: str | None
    parent_name: str | None

    @classmethod
    def of(cls, found: Found) -> "Hints":
        cwd = parent_name = None
        for kept in found.verdict.kept:
            match kept.record:
                case SnapshotTaken(snapshot=snapshot) if isinstance(seen := snapshot.get("cwd"), str):
                    cwd = cwd or seen
                case EnvelopeAccepted(envelope=sent) if sent.sender_role is SenderRole.COORDINATOR:
                    parent_name = parent_name or sent.sender
                case _:
                    pass
        return cls(found.agent_id, found.opened, found.raw, cwd, parent_name)


@dataclass(slots=True)
class Identities:
    """The first record of every agent that can be kept, parents before children.

    `remade` are those whose own was lost; `left_out` are agents of which
    nothing tells who they are. `cwd` is taken where none is known, `now_s` for times.
    """

    cwd: str
    now_s: float
    opened: dict[AgentId, AgentOpened] = field(default_factory=dict)
    remade: set[AgentId] = field(default_factory=set)
    left_out: tuple[AgentId, ...] = ()

    @classmethod
    def of(cls, hints: Iterable[Hints], *, cwd: str, now_s: float) -> "Identities":
        known = {one.agent_id: one for one in hints}
        found = cls(cwd, now_s)
        for one in known.values():
            found._place(one.agent_id, known, ())
        found.left_out = tuple(agent_id for agent_id in known if agent_id not in found.opened)
        return found

    def _place(self, agent_id: AgentId, known: Mapping[AgentId, Hints], below: tuple[AgentId, ...]) -> None:
        """The agent behind its parent and its root."""
        if agent_id in self.opened or agent_id in below:
            return
        hints = known.get(agent_id)
        opened = None if hints is None else self._told(hints, known)
        if opened is None:
            return
        way = (*below, agent_id)
        parent_id = opened.parent_id
        if opened.root_id != agent_id:
            self._place_or_make(opened.root_id, opened, known, way, is_root=True)
            if parent_id is None or parent_id in way:  # a circle: damage as well
                opened = replace(opened, parent_id=opened.root_id)
            elif parent_id != opened.root_id:
                self._place_or_make(parent_id, opened, known, way, is_root=False)
        if agent_id in self.remade and not opened.cwd:
            opened = replace(opened, cwd=self._cwd_for(opened))
        self.opened[agent_id] = opened

    def _place_or_make(
        self,
        agent_id: AgentId,
        child: AgentOpened,
        known: Mapping[AgentId, Hints],
        way: tuple[AgentId, ...],
        *,
        is_root: bool,
    ) -> None:
        self._place(agent_id, known, way)
        if agent_id in self.opened:
            return
        self.remade.add(agent_id)
        hints, child_hints = known.get(agent_id), known.get(child.agent_id)
        name = None
        if child.parent_id == agent_id and child_hints is not None:
            name = child_hints.parent_name
        self.opened[agent_id] = AgentOpened(
            agent_id=agent_id,
            name=_name(name),
            role=AgentRole.MAIN if is_root else AgentRole.SUBAGENT,
            root_id=child.root_id,
            parent_id=None if is_root else child.root_id,
            spec={},
            cwd=(hints.cwd if hints is not None else None) or child.cwd or self.cwd,
            at=child.at,
        )

    def _told(self, hints: Hints, known: Mapping[AgentId, Hints]) -> AgentOpened | None:
        """What its log or else its line in the listing says."""
        if hints.opened is not None:
            return hints.opened
        raw = hints.raw
        if raw is None or not isinstance(root_id := raw.get("root_id"), str):
            return None
        self.remade.add(hints.agent_id)
        is_root = root_id == hints.agent_id
        parent_id = raw.get("parent_id")
        at = raw.get("created_at")
        return AgentOpened(
            agent_id=hints.agent_id,
            name=_name(raw.get("name")),
            role=_role(raw.get("role"), is_root=is_root),
            root_id=AgentId(root_id),
            parent_id=None if is_root else AgentId(parent_id if isinstance(parent_id, str) else root_id),
            spec={},
            cwd=hints.cwd or "",
            at=at if isinstance(at, float) else self.now_s,
        )

    def _cwd_for(self, opened: AgentOpened) -> str:
        above = [self.opened[one].cwd for one in (opened.parent_id, opened.root_id) if one in self.opened]
        return next((cwd for cwd in above if cwd), self.cwd)


def _name(found: object) -> Address:
    try:
        return address(found) if isinstance(found, str) else Address(_UNKNOWN_NAME)
    except BadAddress:
        return Address(_UNKNOWN_NAME)


def _role(found: object, *, is_root: bool) -> AgentRole:
    try:
        role = AgentRole(str(found))
    except ValueError:
        role = AgentRole.MAIN
    return role if is_root or role is not AgentRole.MAIN else AgentRole.SUBAGENT
