"""Names of living agents. Later a directory shared by several hosts stands here."""

from collections.abc import Collection, Iterator

from actors.address import MAX_LENGTH, Address, AgentId, address
from actors.errors import UnknownRecipient
from host.errors import NameTaken
from host.living import Living


class Directory:
    """One agent for each name, one for each id."""

    def __init__(self) -> None:
        self._by_id: dict[AgentId, Living] = {}
        self._by_name: dict[Address, Living] = {}
        self._claimed: set[Address] = set()

    def claim(self, name: str) -> Address:
        """Keeps a name for an agent that is being started.

        Raises:
            NameTaken: another agent has it.
        """
        wanted = address(name)
        if wanted in self._by_name or wanted in self._claimed:
            raise NameTaken(f"an agent named {wanted!r} lives on this host already; names are unique")
        self._claimed.add(wanted)
        return wanted

    def claim_like(self, stem: str) -> Address:
        """Keeps the name, or a similar one if another agent has it."""
        return self.claim(self.unused(stem))

    def unused(self, stem: str) -> str:
        """`stem`, or `stem-2`, `stem-3`, … whichever no agent has."""
        n = 1
        name = stem
        while name in self._by_name or name in self._claimed:
            n += 1
            name = f"{stem[: MAX_LENGTH - len(str(n)) - 1]}-{n}"
        return name

    def release(self, name: Address) -> None:
        """Gives a claimed name up: the agent was not started after all."""
        self._claimed.discard(name)

    def add(self, living: Living) -> None:
        self._claimed.discard(living.name)
        self._by_id[living.id] = living
        self._by_name[living.name] = living

    def remove(self, living: Living) -> None:
        self._by_id.pop(living.id, None)
        if self._by_name.get(living.name) is living:
            del self._by_name[living.name]

    def get(self, name_or_id: str) -> Living | None:
        """By id or by name, None if nobody has it. Ids first: nobody can take another's id for a name."""
        return self._by_id.get(AgentId(name_or_id)) or self._by_name.get(Address(name_or_id))

    def by_id(self, agent_id: AgentId) -> Living:
        """The living agent of this id.

        Raises:
            UnknownRecipient: it does not live here.
        """
        living = self._by_id.get(agent_id)
        if living is None:
            raise UnknownRecipient(f"no agent with the id {agent_id} lives on this host")
        return living

    def find(self, name_or_id: str) -> Living:
        """By name or by id.

        Raises:
            UnknownRecipient: and which names there are.
        """
        living = self.get(name_or_id)
        if living is None:
            known = ", ".join(sorted(self._by_name)) or "none"
            raise UnknownRecipient(f"no agent named {name_or_id!r} lives on this host; there are: {known}")
        return living

    def tree(self, root_id: AgentId) -> tuple[Living, ...]:
        """A root and all its descendants, oldest first."""
        return tuple(living for living in self._by_id.values() if living.root_id == root_id)

    def roots(self) -> tuple[Living, ...]:
        """Every agent without parent, oldest first."""
        return tuple(living for living in self._by_id.values() if living.parent_id is None)

    def find_from(self, sender: Living, name_or_id: str) -> Living:
        """As `find`, but whom an agent's own session calls so comes first.

        A resumed subagent whose name is taken here answers to its old name for those of its session.
        """
        for living in self.tree(sender.root_id):
            if living.logged_name == name_or_id:
                return living
        return self.find(name_or_id)

    def below(self, tops: Collection[Living]) -> tuple[Living, ...]:
        """These and all their descendants, oldest first."""
        found = {living.id for living in tops}
        for living in self._by_id.values():  # a parent is older than its children
            if living.parent_id in found:
                found.add(living.id)
        return tuple(living for living in self._by_id.values() if living.id in found)

    def __iter__(self) -> Iterator[Living]:
        return iter(tuple(self._by_id.values()))
