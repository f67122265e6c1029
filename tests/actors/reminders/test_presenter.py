"""What each presentation has to say, whatever its wording."""

import pytest

from actors.history import Presentation
from actors.reminders import WORDINGS, TextPresenter, Wording

_MUST_SAY = {
    Presentation.USER_STEER: ["user", "while you were working", "account"],
    Presentation.COORDINATOR_STEER: ["coordinator", "while you were working", "before you finish"],
    Presentation.SUBAGENT_REPLY: [
        "another agent",
        "not from your user",
        "behalf",
        "colleague",
        "no new permissions",
        "permission settings",
        "instruction files",
        "configuration",
        "answer to any question",
        "denied",
        "refuse and tell your user",
        "permission laundering",
    ],
    Presentation.TASK_NOTIFICATION: [
        "automatic event",
        "not a message from the user",
        "answers",
        "confirms",
        "consent",
        "last message",
    ],
}
_MUST_SAY[Presentation.SUBAGENT_REPLY_STEER] = [
    *_MUST_SAY[Presentation.SUBAGENT_REPLY],
    "SendMessage",
    "helper-7",
]
_MUST_SAY[Presentation.TASK_NOTIFICATION_STEER] = _MUST_SAY[Presentation.TASK_NOTIFICATION]


@pytest.mark.parametrize(("presentation", "words"), _MUST_SAY.items())
def test_a_presentation_says_what_it_must(presentation: Presentation, words: list[str]) -> None:
    presenter = TextPresenter()
    for text in (
        presenter.present(presentation, "BODY", "helper-7"),
        presenter.lead(presentation, "helper-7"),
    ):
        assert [word for word in words if word not in text] == []
    assert "BODY" in presenter.present(presentation, "BODY", "helper-7")


def test_what_the_coordinator_begins_with_goes_out_bare() -> None:
    presenter = TextPresenter()
    assert presenter.present(Presentation.COORDINATOR_INPUT, "BODY", "boss") == "BODY"
    assert presenter.lead(Presentation.COORDINATOR_INPUT, "boss") == ""


def test_every_presentation_has_a_wording() -> None:
    assert set(WORDINGS) == set(Presentation)


def test_words_can_be_replaced_and_may_hold_braces() -> None:
    presenter = TextPresenter({Presentation.USER_STEER: Wording(before="{x} {sender}:")})
    assert presenter.present(Presentation.USER_STEER, "{sender}", "ann") == "{x} ann:\n\n{sender}"
    assert presenter.present(Presentation.COORDINATOR_STEER, "BODY", None) == "BODY"


def test_an_unknown_sender_is_called_so() -> None:
    assert "not known" in TextPresenter().present(Presentation.SUBAGENT_REPLY_STEER, "BODY", None)


@pytest.mark.parametrize(
    ("presentation", "label"),
    [
        (Presentation.COORDINATOR_STEER, "coordinator"),
        (Presentation.SUBAGENT_REPLY, "another agent"),
        (Presentation.SUBAGENT_REPLY_STEER, "another agent"),
        (Presentation.TASK_NOTIFICATION, "host event"),
        (Presentation.TASK_NOTIFICATION_STEER, "host event"),
    ],
)
def test_the_words_of_others_are_quoted_under_whose_they_are(presentation: Presentation, label: str) -> None:
    presenter = TextPresenter()
    wording = WORDINGS[presentation]
    assert f'<quoted from="{label}">\nBODY\n</quoted>' in presenter.present(presentation, "BODY", None)
    named = presenter.present(presentation, "BODY", "helper-7").split("\n\n")
    assert f'<quoted from="{label}: helper-7">\nBODY\n</quoted>' in named
    assert len(named) == 1 + bool(wording.before) + bool(wording.after)
    assert presenter.lead(presentation, "helper-7") == "\n\n".join(
        part for part in named if "BODY" not in part
    )


@pytest.mark.parametrize("presentation", [p for p in Presentation if p.value.endswith("_steer")])
def test_a_steer_says_that_it_came_in_the_middle_of_the_work(presentation: Presentation) -> None:
    assert "while you were working" in WORDINGS[presentation].before


def test_a_presentation_without_words_says_nothing() -> None:
    presenter = TextPresenter({})
    assert presenter.lead(Presentation.USER_STEER, "ann") == ""
    assert presenter.present(Presentation.USER_STEER, "BODY", "ann") == "BODY"
