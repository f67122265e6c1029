"""The JSON form of a snapshot."""

import json
from dataclasses import replace

import pytest
from pydantic import JsonValue

from actors.context import GitState, Snapshot, Unknown, snapshot_from_json, snapshot_to_json
from actors.errors import BadInput
from tests.actors.context.made_up import SNAPSHOT

WHY = Unknown("git is not installed")


@pytest.mark.parametrize(
    "snapshot",
    [
        SNAPSHOT,
        replace(SNAPSHOT, git=None, shell=None, local_date=None, instructions=(), diagnostics=()),
        replace(SNAPSHOT, git=GitState(None, None, None, "", ())),
        replace(SNAPSHOT, git=GitState(WHY, WHY, WHY, WHY, WHY)),
    ],
)
def test_a_snapshot_comes_back_from_its_json_text_as_it_was(snapshot: Snapshot) -> None:
    data = json.loads(json.dumps(snapshot_to_json(snapshot)))
    assert snapshot_from_json(data) == snapshot


def test_data_that_is_no_snapshot_is_refused_with_every_wrong_place() -> None:
    data: dict[str, JsonValue] = {**snapshot_to_json(SNAPSHOT), "cwd": 3, "git": {"branch": ["x"]}}
    with pytest.raises(BadInput, match=r"cwd: .*got 3.*git\.branch"):
        snapshot_from_json(data)


@pytest.mark.parametrize("data", [None, "x", [], {}])
def test_garbage_is_refused(data: JsonValue) -> None:
    with pytest.raises(BadInput, match="stored context snapshot"):
        snapshot_from_json(data)


def test_a_field_of_a_later_version_is_no_obstacle() -> None:
    assert snapshot_from_json({**snapshot_to_json(SNAPSHOT), "phase_of_the_moon": "full"}) == SNAPSHOT
