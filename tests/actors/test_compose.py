"""A request composed from what is known of the last one is the request composed from nothing."""

from dataclasses import dataclass, field, replace

import pytest

from actors.compose import Composed, Composer
from actors.errors import EmptyReminderBody
from actors.history import Entry, EntryId
from actors.ports import ResolvedModel
from actors.projection import ProjectionOptions, RepairRule
from providers.correction import CorrectedCounter
from providers.model import Message, Role, ToolSpec, Usage
from providers.scripted import ScriptedProvider
from providers.tokens import EstimateCounter
from tests.actors.projection.entries import answer, calls, reminder, result, said, user

_PREFIX: tuple[Entry, ...] = (said(Role.SYSTEM, "You look."), reminder("context_prefix", "The place."))
_WORK: tuple[Entry, ...] = (user("u"), calls("c1"), result("c1"), answer("a"), user("v"), answer("b"))
_OPTIONS = ProjectionOptions(
    apply_cache_control=True, tools=(ToolSpec("Look", "Looks.", {"type": "object"}),)
)


@dataclass
class _Watched:
    """Counts what was counted."""

    counted: list[Message] = field(default_factory=list)
    is_exact: bool = False

    def count_text(self, text: str) -> int:
        return EstimateCounter().count_text(text)

    def count_message(self, message: Message) -> int:
        self.counted.append(message)
        return EstimateCounter().count_message(message)

    def count_tools(self, tools: tuple[ToolSpec, ...]) -> int:
        return EstimateCounter().count_tools(tools)


def _model(counter: CorrectedCounter | None = None) -> ResolvedModel:
    provider = ScriptedProvider([])
    counter = counter or CorrectedCounter(EstimateCounter())
    return ResolvedModel("scripted", provider, provider.profile, counter)


def _composed(
    composer: Composer, history: tuple[Entry, ...], model: ResolvedModel, prefix: tuple[Entry, ...] = _PREFIX
) -> Composed:
    return composer.compose(prefix, history, model, _OPTIONS)


def test_every_step_equals_the_request_composed_from_nothing() -> None:
    composer, model = Composer(), _model()
    for n_entries in range(1, len(_WORK) + 1):
        history = _WORK[:n_entries]
        assert _composed(composer, history, model) == _composed(Composer(), history, model)


def test_prefix_tools_and_conversation_are_counted_apart() -> None:
    model = _model()
    composed = _composed(Composer(), _WORK, model)
    count = EstimateCounter().count_message
    messages = composed.request.messages
    assert composed.size.prefix == sum(map(count, messages[:2]))
    assert composed.size.conversation == sum(map(count, messages[2:]))
    assert composed.size.tools == EstimateCounter().count_tools(_OPTIONS.tools)
    assert composed.n_counted == composed.size.total


def test_what_an_answer_settled_is_counted_once() -> None:
    watched = _Watched()
    composer, model = Composer(), _model(CorrectedCounter(watched))
    _composed(composer, _WORK[:4], model)
    watched.counted.clear()
    composed = _composed(composer, _WORK, model)
    assert watched.counted == list(composed.request.messages[5:])


def test_another_counter_counts_all_of_it() -> None:
    composer = Composer()
    _composed(composer, _WORK, _model())
    watched = _Watched()
    composed = _composed(composer, _WORK, _model(CorrectedCounter(watched)))
    assert len(watched.counted) == len(composed.request.messages)


def test_what_was_learned_of_a_model_corrects_the_sums() -> None:
    counter = CorrectedCounter(EstimateCounter())
    composer, model = Composer(), _model(counter)
    before = _composed(composer, _WORK, model)
    counter.observe(1_000, Usage(2_000))
    after = _composed(composer, _WORK, model)
    assert after.size.conversation == 2 * before.size.conversation
    assert after.n_counted == before.n_counted


def test_a_prefix_that_says_the_same_keeps_what_is_known() -> None:
    watched = _Watched()
    composer, model = Composer(), _model(CorrectedCounter(watched))
    _composed(composer, _WORK, model)
    watched.counted.clear()
    _composed(composer, (*_WORK, user("w")), model, tuple(replace(entry) for entry in _PREFIX))
    assert len(watched.counted) == 2


def test_another_prefix_is_seen() -> None:
    composer, model = Composer(), _model()
    _composed(composer, _WORK, model)
    other = (said(Role.SYSTEM, "You listen."), *_PREFIX[1:])
    assert _composed(composer, _WORK, model, other) == _composed(Composer(), _WORK, model, other)


def test_a_request_that_could_not_be_made_leaves_the_counts_right() -> None:
    composer, model = Composer(), _model()
    _composed(composer, _WORK[:4], model)
    others = (user("a much longer question than the first one"), *_WORK[1:])
    with pytest.raises(EmptyReminderBody):
        _composed(composer, (*others, reminder("date_change", "")), model)
    assert _composed(composer, others, model) == _composed(Composer(), others, model)


def test_what_is_read_otherwise_than_stored_is_told_once() -> None:
    composer, model = Composer(), _model()

    def news(*history: Entry) -> tuple[RepairRule, ...]:
        return composer.news_of(_composed(composer, history, model))

    first, second = (replace(calls("c1"), id=EntryId("one")), replace(calls("c2"), id=EntryId("two")))
    broken = (user("u"), first, answer("a"), user(""))
    assert news(*broken) == (RepairRule.RESULT_MISSING,)
    assert news(*broken) == ()
    assert news(*broken, second, answer("b")) == (RepairRule.RESULT_MISSING,)
    assert news(user("u")) == ()
    assert news(*broken) == (RepairRule.RESULT_MISSING,)


def test_a_request_that_is_composed_twice_before_it_is_sent_is_told_of() -> None:
    composer, model = Composer(), _model()
    history = (user("u"), calls("c1"), answer("a"))
    _composed(composer, history, model)
    assert composer.news_of(_composed(composer, history, model)) == (RepairRule.RESULT_MISSING,)
