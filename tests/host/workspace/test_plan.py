"""What a plan decides from records and sights, without a disk."""

import pytest

from actors.records import FileChanging, FileState
from host.errors import RestoreRefused
from host.workspace.plan import (
    Found,
    Obstacle,
    PathChanges,
    PlannedFile,
    RestorePlan,
    Sight,
    Standing,
    by_path,
    folders_of,
    judged,
    merged,
)

OLD = FileState("old", 0o644, "art1")


def changing(
    path: str = "/f", before: FileState | None = OLD, after: str = "new", at: float = 0.0, *folders: str
) -> FileChanging:
    return FileChanging("call_1", path, before, after, at, folders)


def found(sha256: str, mode: int = 0o644, size: int = 3) -> Found:
    return Found(sha256, mode, size, (1, 2))


def judge(sight: Sight, *changes: FileChanging, hindrance: str | None = None) -> PlannedFile:
    [path] = by_path(changes)
    return judged(path, sight, hindrance, max_kept_bytes=10)


def test_what_is_wanted_is_what_stood_there_before_the_first_change() -> None:
    changes = [changing("/b", None, "1"), changing("/a"), changing("/b", FileState("1", 0o600), "2")]
    assert by_path(changes) == (
        PathChanges("/b", None, frozenset({None, "1", "2"})),
        PathChanges("/a", OLD, frozenset({"old", "new"})),
    )


@pytest.mark.parametrize(
    ("sight", "standing"),
    [
        (found("old"), Standing.AS_WANTED),
        (found("old", 0o755), Standing.READY),
        (found("new"), Standing.READY),
        (found("new", 0o755), Standing.READY),
        (found("theirs"), Standing.CONFLICT),
        (found("theirs", size=10), Standing.CONFLICT),
        (found("theirs", size=11), Standing.IMPOSSIBLE),
        (found("new", size=11), Standing.READY),
        (None, Standing.CONFLICT),
        (Obstacle("is a folder now"), Standing.IMPOSSIBLE),
    ],
)
def test_what_is_seen_decides_how_an_old_file_stands(sight: Sight, standing: Standing) -> None:
    line = judge(sight, changing())
    assert line.standing is standing
    assert bool(line.reason) is (standing in (Standing.CONFLICT, Standing.IMPOSSIBLE))


@pytest.mark.parametrize(
    ("sight", "standing"),
    [
        (None, Standing.AS_WANTED),
        (found("new"), Standing.READY),
        (found("theirs"), Standing.CONFLICT),
        (Obstacle("is a folder now"), Standing.IMPOSSIBLE),
    ],
)
def test_what_is_seen_decides_how_a_new_file_stands(sight: Sight, standing: Standing) -> None:
    assert judge(sight, changing(before=None)).standing is standing


def test_a_change_that_was_recorded_and_never_made_is_no_conflict() -> None:
    second = changing(before=FileState("new", 0o644, "art2"), after="newer")
    assert judge(found("new"), changing(), second).standing is Standing.READY
    assert judge(found("old"), changing()).standing is Standing.AS_WANTED
    created_again = changing(before=None, after="newer")
    assert judge(None, changing(), created_again).standing is Standing.READY


def test_what_cannot_be_written_matters_only_where_something_is_to_be_done() -> None:
    assert judge(found("old"), changing(), hindrance="is locked").standing is Standing.AS_WANTED
    line = judge(found("new"), changing(), hindrance="is locked")
    assert (line.standing, line.reason) == (Standing.IMPOSSIBLE, "is locked")


def test_folders_go_from_the_inside_to_the_outside() -> None:
    changes = [changing("/a/b/f", None, "x", 0.0, "/a", "/a/b"), changing("/c/f", None, "x", 0.0, "/c", "/a")]
    assert folders_of(changes) == ("/a/b", "/a", "/c")


def test_logs_are_merged_by_time_and_each_keeps_its_order() -> None:
    one = [changing("/1", at=1.0), changing("/2", at=5.0), changing("/3", at=2.0), changing("/4", at=6.0)]
    other = [changing("/x", at=3.0), changing("/y", at=5.0), changing("/z", at=5.5)]
    assert [change.path for change in merged([one, other])] == ["/1", "/x", "/2", "/3", "/y", "/z", "/4"]


def plan_of(**standings: Standing) -> RestorePlan:
    return RestorePlan(
        tuple(
            PlannedFile(f"/{name}", OLD, None, standing, f"is {name}") for name, standing in standings.items()
        )
    )


def test_a_plan_with_a_conflict_is_refused_unless_overwriting_is_asked_for() -> None:
    plan = plan_of(fine=Standing.READY, theirs=Standing.CONFLICT, same=Standing.AS_WANTED)
    with pytest.raises(RestoreRefused) as refusal:
        plan.check(overwrite=False)
    assert (refusal.value.conflicts, refusal.value.impossible) == ({"/theirs": "is theirs"}, {})
    assert "\n/theirs is theirs\n" in str(refusal.value)
    plan.check(overwrite=True)
    assert plan.changed_paths == ("/fine", "/theirs")


def test_what_is_impossible_is_refused_in_any_case() -> None:
    plan = plan_of(gone=Standing.IMPOSSIBLE, theirs=Standing.CONFLICT)
    with pytest.raises(RestoreRefused) as refusal:
        plan.check(overwrite=True)
    assert (refusal.value.conflicts, refusal.value.impossible) == ({}, {"/gone": "is gone"})
    with pytest.raises(RestoreRefused) as refusal:
        plan.check(overwrite=False)
    assert list(refusal.value.conflicts) == ["/theirs"]
    assert "overwrite" not in str(refusal.value)
