import random

import pytest

from actors.permission import PermissionClass
from actors.tools import Tool, builtin_tools, tool_order

READ, EDIT, EXECUTE, AGENT = (
    PermissionClass.READ,
    PermissionClass.EDIT,
    PermissionClass.EXECUTE,
    PermissionClass.AGENT,
)


def test_the_built_in_tools_and_what_they_may_do() -> None:
    told = {name: (tool.permission, tool.is_read_only) for name, tool in builtin_tools().items()}
    assert told == {
        "Agent": (AGENT, False),
        "Bash": (EXECUTE, False),
        "Edit": (EDIT, False),
        "Glob": (READ, True),
        "Grep": (READ, True),
        "Read": (READ, True),
        "ReadArtifact": (READ, True),
        "SendMessage": (AGENT, False),
        "Write": (EDIT, False),
    }
    assert list(told) == sorted(told)


def test_only_agents_are_declared_safe_beside_others() -> None:
    assert [name for name, tool in builtin_tools().items() if tool.is_parallel_safe] == ["Agent"]


@pytest.mark.parametrize("name", list(builtin_tools()))
def test_every_parameter_that_is_not_plain_is_described(name: str) -> None:
    properties = builtin_tools()[name].input_schema["properties"]
    assert isinstance(properties, dict)
    for parameter, schema in properties.items():
        assert isinstance(schema, dict)
        assert "description" in schema or schema["type"] == "boolean", parameter


@pytest.mark.parametrize(
    ("name", "sent", "subject"),
    [
        ("Bash", {"command": "git status"}, "git status"),
        ("Read", {"path": "a/./b/../c"}, "a/c"),
        ("Write", {"path": "/etc/passwd", "content": ""}, "/etc/passwd"),
        ("Edit", {"path": "../x"}, "../x"),
        ("Glob", {"pattern": "*"}, "."),
        ("Grep", {"pattern": "x", "path": "src/"}, "src"),
        ("Agent", {"type": "explore"}, "explore"),
        ("Agent", {}, None),
        ("SendMessage", {"to": "helper"}, "helper"),
    ],
)
def test_permission_patterns_see_what_a_call_is_about(
    name: str, sent: dict[str, str], subject: str | None
) -> None:
    assert builtin_tools()[name].subject(dict(sent)) == subject


def test_a_path_in_the_home_directory_is_seen_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/u")
    assert builtin_tools()["Write"].subject({"path": "~/x"}) == "/home/u/x"


def test_tools_are_listed_by_name_and_those_of_servers_last() -> None:
    run = builtin_tools()["Read"].run
    names = ["Agent", "Write", "mcp__a__x", "mcp__b__a"]
    tools = [Tool(name, "", {}, run) for name in names]
    random.Random(3).shuffle(tools)
    assert [tool.name for tool in tool_order(tools)] == names
