"""Tells an agent what became of a task that it started."""

import contextlib

from actors.address import HOST
from actors.draft import Draft
from actors.envelope import EnvelopeId, EnvelopeKind, SenderRole
from actors.errors import ActorStopped, NotDelivered
from actors.notification import TaskReport, notification_body
from actors.ports import Services
from actors.records import AgentState, TurnEnded, TurnStop
from host.living import Living
from providers.model import Usage

_STATE_AFTER = {
    TurnStop.DONE: AgentState.COMPLETED,
    TurnStop.CANCELLED: AgentState.CANCELLED,
    TurnStop.LOST: AgentState.LOST,
}


def state_after(turn: TurnEnded) -> AgentState:
    """What a subagent is behind this turn."""
    return _STATE_AFTER.get(turn.stop, AgentState.FAILED)


def report_id(about: str) -> EnvelopeId:
    """The id of the one report about a turn, or about a message that no turn will take."""
    return EnvelopeId(f"report-{about}")


def turn_report(child: Living, turn: TurnEnded) -> TaskReport:
    """What a turn came to."""
    return _report(child, state_after(turn), turn.text, turn.error, turn.usage)


def loss_report(child: Living, state: AgentState, reason: str) -> TaskReport:
    """No turn has ended, and none will."""
    return _report(child, state, "", reason, Usage())


def _report(child: Living, state: AgentState, result: str, error: str | None, usage: Usage) -> TaskReport:
    return TaskReport(
        task_id=child.id,
        call_id=child.call_id,
        name=child.name,
        status=state,
        summary=f"{child.description or child.name}: {state.value}",
        result=result,
        error=error,
        usage=usage,
    )


async def notify(services: Services, mother: Living, envelope_id: EnvelopeId, report: TaskReport) -> None:
    """Puts the notification into the mother's mailbox; waits while that is full.

    Of one id only the first counts. A mother that stops meanwhile finds the
    report due when it is resumed.
    """
    draft = Draft(
        id=envelope_id,
        sender=HOST,
        sender_role=SenderRole.HOST,
        kind=EnvelopeKind.NOTIFICATION,
        body=notification_body(report),
        sent_at=services.clock.now_s(),
        task_id=report.task_id,
    )
    with contextlib.suppress(ActorStopped, NotDelivered):
        await mother.actor.mailbox.put(draft)
