"""Questions as the tests ask them."""

from actors.address import Address, AgentId
from actors.history import Authority
from actors.permission import PermissionClass
from actors.ports import PermissionQuestion

CWD = "/work/project"
_CLASSES = {
    "Read": PermissionClass.READ,
    "Grep": PermissionClass.READ,
    "Edit": PermissionClass.EDIT,
    "Bash": PermissionClass.EXECUTE,
    "SendMessage": PermissionClass.AGENT,
    "lookup": PermissionClass.OWN,
}


def question(tool: str, subject: str | None = None, agent_path: str = "main") -> PermissionQuestion:
    return PermissionQuestion(
        agent_id=AgentId(f"id-of-{agent_path}"),
        agent_path=agent_path,
        call_id="call-1",
        tool=tool,
        permission=_CLASSES[tool],
        is_read_only=_CLASSES[tool] is PermissionClass.READ,
        input={"subject": subject},
        subject=subject,
        authority=Authority.USER,
        caused_by=(Address("user"),),
    )
