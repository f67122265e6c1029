"""The whole demonstration with the model on this machine."""

import time
from functools import partial

import anyio
import pytest

from host.demo import DemoEvent, play_demo
from host.demo.events import AgentAnswered, Claimed, DemoStarted, RecordChosen
from providers.install import install, is_installed

pytestmark = [pytest.mark.real, pytest.mark.slow]

LIMIT_S = 180.0


@pytest.fixture(scope="module", autouse=True)
def installed_model() -> None:
    if not is_installed():
        anyio.run(install, print)


def test_every_claim_holds_within_three_minutes(real_backend: str) -> None:
    events: list[DemoEvent] = []
    settings = {"model": "local:smollm2-135m"}
    began_s = time.monotonic()
    ended = anyio.run(partial(play_demo, events.append, settings), backend=real_backend)
    assert time.monotonic() - began_s < LIMIT_S
    broken = [event for event in events if isinstance(event, Claimed) and not event.holds]
    assert broken == []
    assert ended.n_broken == 0
    assert isinstance(events[0], DemoStarted)
    assert sum(isinstance(event, RecordChosen) for event in events) == events[0].n_pages
    answers = [event for event in events if isinstance(event, AgentAnswered)]
    assert any(answer.usage.cache_read_tokens > 0 for answer in answers)
    assert not any(answer.usage.is_estimated for answer in answers)
