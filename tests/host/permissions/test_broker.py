from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
import pytest
from anyio.abc import TaskGroup

from actors.address import AgentId
from actors.errors import LogFailed
from actors.events import PermissionSettled, PermissionWanted
from actors.ports import PermissionAnswer, PermissionQuestion
from host.errors import UnknownQuestion
from host.permissions import (
    DeniedBy,
    HumanAnswer,
    OpenQuestion,
    PermissionBroker,
    PermissionMode,
    Policy,
    RuleSet,
    Scope,
    parse_rule,
)
from tests.host.permissions.questions import CWD, question

YES, NO = HumanAnswer(True), HumanAnswer(False, reason="not today")


class Listing:
    """A surface on which people see questions and answer through the attachment."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.withdrawn: list[str] = []

    async def ask(self, question: OpenQuestion) -> HumanAnswer:
        self.seen.append(question.question.agent_path)
        try:
            await anyio.sleep_forever()
            raise AssertionError("for ever has an end")
        finally:
            self.withdrawn.append(question.question.agent_path)


class Stubborn:
    """A surface that finishes what it began, cancelled or not."""

    async def ask(self, question: OpenQuestion) -> HumanAnswer:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(10)
        return YES


@dataclass
class Console:
    """A surface with a person who takes a while for each question."""

    answers: Callable[[OpenQuestion], HumanAnswer]
    delay_s: float = 1.0
    n_asked: int = 0
    seen: list[OpenQuestion] = field(default_factory=list)

    async def ask(self, question: OpenQuestion) -> HumanAnswer:
        self.n_asked += 1
        self.seen.append(question)
        await anyio.sleep(self.delay_s)
        return self.answers(question)


def broker(
    mode: PermissionMode = PermissionMode.DEFAULT,
    rules: RuleSet | None = None,
    real_path: Callable[[str], str] = lambda path: path,
    emit: Callable[[PermissionWanted | PermissionSettled], None] = lambda _: None,
) -> PermissionBroker:
    policy = Policy(mode, rules or RuleSet(), CWD)
    return PermissionBroker(lambda _: policy, real_path=real_path, emit=emit)


class Asking:
    """Questions asked side by side, and what came of each."""

    def __init__(self, to: PermissionBroker, tasks: TaskGroup) -> None:
        self._to, self._tasks = to, tasks
        self.answers: dict[str, PermissionAnswer] = {}

    async def ask(self, *questions: PermissionQuestion) -> None:
        for one in questions:
            self._tasks.start_soon(self._decide, one)
            await anyio.wait_all_tasks_blocked()

    async def _decide(self, one: PermissionQuestion) -> None:
        self.answers[f"{one.agent_path}:{one.subject}"] = await self._to.decide(one)


async def test_what_the_mode_lets_pass_asks_nobody() -> None:
    assert (await broker().decide(question("Read", "a"))).is_allowed


async def test_where_nobody_can_be_asked_the_answer_is_no_with_that_reason() -> None:
    asked = broker()
    answer = await asked.decide(question("Bash", "make"))
    assert not answer.is_allowed
    assert "nobody can be asked" in answer.reason
    assert [d.denied_by for d in asked.denials.all()] == [DeniedBy.NOBODY]


async def test_a_surface_answers_after_an_hour() -> None:
    asked = broker()
    with asked.attach(Console(lambda _: YES, delay_s=3600)):
        assert (await asked.decide(question("Bash", "make"))).is_allowed


async def test_the_reason_of_a_person_reaches_the_model() -> None:
    asked = broker()
    with asked.attach(Console(lambda _: NO)):
        answer = await asked.decide(question("Bash", "make"))
    assert not answer.is_allowed
    assert "not today" in answer.reason


async def test_seven_questions_are_answered_out_of_order_two_levels_deep() -> None:
    asked, listing = broker(), Listing()
    paths = ["main", "main/a", "main/b", "main/a/x", "main/a/y", "main/b/x", "other"]
    async with anyio.create_task_group() as tasks:
        asking = Asking(asked, tasks)
        with asked.attach(listing) as attachment:
            await asking.ask(*(question("Bash", f"run {n}", path) for n, path in enumerate(paths)))
            assert [q.question.agent_path for q in attachment.questions()] == paths
            for n in (3, 0, 6, 1, 5, 2, 4):
                number = {q.question.subject: q.id for q in attachment.questions()}[f"run {n}"]
                attachment.answer(number, YES if n % 2 else NO)
            await anyio.wait_all_tasks_blocked()
    got = {key: answer.is_allowed for key, answer in asking.answers.items()}
    assert got == {f"{path}:run {n}": bool(n % 2) for n, path in enumerate(paths)}
    assert asked.questions() == ()
    assert sorted(listing.withdrawn) == sorted(paths)


async def test_a_question_is_answered_once() -> None:
    asked = broker()
    async with anyio.create_task_group() as tasks:
        asking = Asking(asked, tasks)
        with asked.attach(Listing()) as attachment:
            await asking.ask(question("Bash", "make"))
            (open_question,) = attachment.questions()
            attachment.answer(open_question.id, NO)
            with pytest.raises(UnknownQuestion):
                attachment.answer(open_question.id, YES)
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(UnknownQuestion):
                attachment.answer(open_question.id, YES)
    assert not asking.answers["main:make"].is_allowed


async def test_only_an_attached_surface_may_answer_and_only_for_its_agents() -> None:
    asked = broker()
    async with anyio.create_task_group() as tasks:
        asking = Asking(asked, tasks)
        with asked.attach(Listing()) as all_agents:
            with asked.attach(Listing(), "main/a") as left:
                pass
            with asked.attach(Listing(), "main/a") as near:
                await asking.ask(question("Bash", "make", "main/ab"))
                (open_question,) = all_agents.questions()
                for stranger in (left, near):
                    with pytest.raises(UnknownQuestion):
                        stranger.answer(open_question.id, YES)
                all_agents.answer(open_question.id, YES)
                await anyio.wait_all_tasks_blocked()
    assert asking.answers["main/ab:make"].is_allowed


async def test_the_nearest_surface_is_asked() -> None:
    asked, far, near, newer = broker(), Console(lambda _: NO), Console(lambda _: NO), Console(lambda _: YES)
    with asked.attach(far), asked.attach(near, "main/a"), asked.attach(newer, "main/a"):
        assert (await asked.decide(question("Bash", "make", "main/a/x"))).is_allowed
    assert (far.n_asked, near.n_asked, newer.n_asked) == (0, 0, 1)


async def test_a_question_moves_on_when_its_surface_leaves() -> None:
    asked, far, near = broker(), Listing(), Listing()
    async with anyio.create_task_group() as tasks:
        asking = Asking(asked, tasks)
        with asked.attach(far):
            with asked.attach(near, "main"):
                await asking.ask(question("Bash", "make"))
                assert (far.seen, near.seen) == ([], ["main"])
            await anyio.wait_all_tasks_blocked()
            assert (far.seen, near.withdrawn) == (["main"], ["main"])
        await anyio.wait_all_tasks_blocked()
        assert "nobody" in asking.answers["main:make"].reason


async def test_a_surface_that_left_cannot_answer_any_more() -> None:
    asked = broker()
    async with anyio.create_task_group() as tasks:
        asking = Asking(asked, tasks)
        with asked.attach(Stubborn()):
            await asking.ask(question("Bash", "make"))
    assert not asking.answers["main:make"].is_allowed


async def test_of_two_answers_the_first_holds() -> None:
    asked = broker()
    async with anyio.create_task_group() as tasks:
        asking = Asking(asked, tasks)
        with asked.attach(Stubborn()) as attachment:
            await asking.ask(question("Bash", "make"))
            attachment.answer(attachment.questions()[0].id, NO)
            await anyio.sleep(20)
    assert not asking.answers["main:make"].is_allowed


async def test_cancelling_withdraws_the_question() -> None:
    events: list[PermissionWanted | PermissionSettled] = []
    asked, listing = broker(emit=events.append), Listing()
    with asked.attach(listing):
        with anyio.move_on_after(5):
            await asked.decide(question("Bash", "make"))
        assert asked.questions() == ()
    assert listing.withdrawn == ["main"]
    assert [type(event) for event in events] == [PermissionWanted, PermissionSettled]
    assert not asked.denials.all()


async def test_an_answer_for_the_session_is_remembered_for_that_agent() -> None:
    asked, console = broker(), Console(lambda _: HumanAnswer(True, Scope.SESSION))
    with asked.attach(console):
        for path in ("main", "main", "main/child"):
            assert (await asked.decide(question("Bash", "make | tee log", path))).is_allowed
    assert console.n_asked == 2


async def test_an_answer_once_is_not_remembered() -> None:
    asked, console = broker(), Console(lambda _: YES)
    with asked.attach(console):
        await asked.decide(question("Bash", "make"))
        await asked.decide(question("Bash", "make"))
    assert console.n_asked == 2
    assert asked.grants() == ()


async def test_a_wide_answer_settles_the_equal_questions_that_wait() -> None:
    asked = broker()
    async with anyio.create_task_group() as tasks:
        asking = Asking(asked, tasks)
        with asked.attach(Listing()) as attachment:
            commands = ("git log", "git status", "git log; rm x")
            await asking.ask(*(question("Bash", c, f"main/{n}") for n, c in enumerate(commands)))
            first, *_ = attachment.questions()
            attachment.answer(first.id, HumanAnswer(True, Scope.TREE, parse_rule("Bash(git:*)")))
            await anyio.wait_all_tasks_blocked()
            (left,) = attachment.questions()
            assert left.question.subject == "git log; rm x"
            attachment.answer(left.id, NO)
    assert [asking.answers[f"main/{n}:{c}"].is_allowed for n, c in enumerate(commands)] == [True, True, False]


async def test_a_standing_refusal_answers_the_next_question() -> None:
    asked, console = broker(), Console(lambda _: HumanAnswer(False, Scope.TREE, reason="never"))
    with asked.attach(console):
        await asked.decide(question("Bash", "make", "main/a"))
        answer = await asked.decide(question("Bash", "make", "main/b"))
    assert (answer.is_allowed, console.n_asked) == (False, 1)
    assert "never" in answer.reason


async def test_a_new_mode_settles_open_questions_when_reconsidered() -> None:
    modes = {AgentId("id-of-main"): PermissionMode.DEFAULT}
    asked = PermissionBroker(lambda agent: Policy(modes[agent], RuleSet(), CWD))
    async with anyio.create_task_group() as tasks:
        asking = Asking(asked, tasks)
        with asked.attach(Listing()):
            await asking.ask(question("Bash", "make"))
            modes[AgentId("id-of-main")] = PermissionMode.BYPASS
            asked.reconsider()
            await anyio.wait_all_tasks_blocked()
    assert asking.answers["main:make"].is_allowed


async def test_a_link_inside_the_working_directory_opens_nothing_outside() -> None:
    linked = broker(PermissionMode.ACCEPT_EDITS, real_path=lambda path: path.replace("/link/", "/../../etc/"))
    assert (await linked.decide(question("Edit", "src/a"))).is_allowed
    assert not (await linked.decide(question("Edit", "link/passwd"))).is_allowed


async def test_a_granted_path_stays_granted_where_links_are() -> None:
    console = Console(lambda _: HumanAnswer(True, Scope.SESSION))
    linked = broker(real_path=lambda path: path.replace("/work/", "/mnt/disk/"))
    with linked.attach(console):
        await linked.decide(question("Edit", "a.txt"))
        assert (await linked.decide(question("Edit", f"{CWD}/a.txt"))).is_allowed
    assert console.n_asked == 1


@pytest.mark.parametrize("subject", ["a\0b", "\ud800", "x" * 100_000])
async def test_a_path_that_cannot_be_one_is_no_crash(subject: str) -> None:
    asked = PermissionBroker(lambda _: Policy(PermissionMode.ACCEPT_EDITS, RuleSet(), CWD))
    await asked.decide(question("Edit", subject))


async def test_denials_are_found_by_tool_and_arguments() -> None:
    asked = broker(PermissionMode.BYPASS, RuleSet(deny=(parse_rule("Bash(rm:*)"),)))
    for path in ("main/a", "main/a", "main/b"):
        await asked.decide(question("Bash", "rm x", path))
    found = asked.denials.of("Bash", {"subject": "rm x"})
    assert [d.agent_path for d in found] == ["main/a", "main/b"]
    assert found[0].denied_by is DeniedBy.RULE
    assert asked.denials.of("Bash", {"subject": "rm y"}) == ()


async def test_a_surface_that_fails_does_not_leave_its_question_open() -> None:
    def broken(_: OpenQuestion) -> HumanAnswer:
        raise RuntimeError("the terminal is gone")

    asked = broker()
    with asked.attach(Console(broken)), pytest.raises(RuntimeError, match="terminal"):
        await asked.decide(question("Bash", "make"))
    assert asked.questions() == ()


async def test_a_question_is_in_the_log_before_anybody_sees_it() -> None:
    console, told = Console(lambda _: YES), list[str]()

    async def record(asked_about: PermissionQuestion, summary: str) -> None:
        await anyio.sleep(5)
        assert (console.n_asked, told) == (0, [])
        told.append(f"{asked_about.tool}: {summary}")

    asked = PermissionBroker(
        lambda _: Policy(PermissionMode.DEFAULT, RuleSet(), CWD),
        record=record,
        emit=lambda event: told.append(type(event).__name__),
    )
    with asked.attach(console):
        assert (await asked.decide(question("Bash", "ls"))).is_allowed
    assert told == ["Bash: ls", "PermissionWanted", "PermissionSettled"]


async def test_a_question_that_cannot_be_logged_is_not_asked() -> None:
    console, told = Console(lambda _: YES), list[str]()

    async def record(_asked_about: PermissionQuestion, _summary: str) -> None:
        raise LogFailed("the disk is full")

    asked = PermissionBroker(
        lambda _: Policy(PermissionMode.DEFAULT, RuleSet(), CWD),
        record=record,
        emit=lambda event: told.append(type(event).__name__),
    )
    with asked.attach(console), pytest.raises(LogFailed):
        await asked.decide(question("Bash", "ls"))
    assert (console.n_asked, told, asked.questions()) == (0, [], ())
