"""Tells an agent what became of a task that it started."""

import contextlib

from actors.address import HOST
from actors.envelope import EnvelopeId, EnvelopeKind, SenderRole
from actors.errors import ActorStopped
from actors.mailbox import Draft
from actors.notification import TaskReport, notification_body
from host.crew import Crew
from host.living import Living


async def notify(crew: Crew, mother: Living, report: TaskReport) -> None:
    """Puts the notification into the mother's mailbox; waits while that is full.

    A mother that has stopped needs none: nothing is left to act on it.
    """
    services = crew.services
    draft = Draft(
        id=EnvelopeId(services.ids.new("msg")),
        sender=HOST,
        sender_role=SenderRole.HOST,
        kind=EnvelopeKind.NOTIFICATION,
        body=notification_body(report),
        sent_at=services.clock.now_s(),
        task_id=report.task_id,
    )
    with contextlib.suppress(ActorStopped):
        await mother.actor.mailbox.put(draft)
