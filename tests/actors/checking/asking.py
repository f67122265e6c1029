"""Asks about a text as the command does, with models that need no catalogue."""

from actors.checking import Complaint, Question, Report, histories_of, judge
from providers.model import Dialect, ModelProfile


def reports(text: str, *dialects: Dialect, takes_system: bool = False) -> list[Report]:
    """The reports on all histories of a text, by a model of few talents."""

    def profile_of(dialect: Dialect, name: str | None) -> ModelProfile:
        return ModelProfile(
            name or "nobody",
            200_000,
            8_000,
            mid_conversation_system=takes_system or dialect is not Dialect.ANTHROPIC,
            images=True,
            cache_marks=True,
        )

    return list(judge(histories_of(text), Question(profile_of, dialects)))


def found(report: Report) -> list[tuple[str, str]]:
    """Rule and place of everything that would be refused."""
    return [told(complaint) for complaint in report.complaints if report.counts(complaint)]


def told(complaint: Complaint) -> tuple[str, str]:
    return complaint.rule, complaint.place.path
