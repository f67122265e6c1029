"""What can be a workflow, and which arguments fit it."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from host import Run, workflow
from host.errors import ArgumentsInvalid, WorkflowInvalid


@dataclass(frozen=True)
class Scope:
    folder: Path
    depth: int = 1


@workflow
async def review(run: Run, paths: list[str], scope: Scope, *, limit: int = 5) -> None:
    """Reviews paths.

    And more.
    """


def test_a_workflow_has_the_name_and_the_first_line_of_its_function() -> None:
    assert (review.name, review.description) == ("review", "Reviews paths.")


def test_arguments_become_the_types_of_the_parameters() -> None:
    bound = review.bind({"paths": ["a"], "scope": {"folder": "docs"}, "limit": "7"})
    assert bound == {"paths": ["a"], "scope": Scope(Path("docs")), "limit": 7}


def test_every_problem_with_the_arguments_is_named() -> None:
    with pytest.raises(ArgumentsInvalid) as caught:
        review.bind({"paths": ["a", 3], "limits": 7, "limit": "many"})
    text = str(caught.value)
    assert "do not fit the workflow review:" in text
    assert "- limits: there is no such parameter; there are: paths, scope, limit" in text
    assert "- paths.1: Input should be a valid string; got 3" in text
    assert "- scope: it is missing" in text
    assert "- limit: Input should be a valid integer" in text


def test_a_run_may_be_without_annotation() -> None:
    @workflow
    async def plain(run, n: int):  # type: ignore[no-untyped-def]  # as authors write it
        return n

    assert plain.bind({"n": 3}) == {"n": 3}
    assert plain.checked("anything") == "anything"


def test_what_cannot_be_a_workflow_says_why() -> None:
    async def no_run() -> None: ...

    async def untyped(run: Run, paths) -> None: ...  # type: ignore[no-untyped-def]  # the point

    async def many(run: Run, *paths: str) -> None: ...

    def sync(run: Run) -> None: ...

    for function, reason in (
        (no_run, "no_run takes none"),
        (untyped, "the parameter paths of the workflow untyped has no annotation"),
        (many, r"many has the parameter \*paths"),
        (sync, "a workflow is an async function; sync is none"),
    ):
        with pytest.raises(WorkflowInvalid, match=reason):
            workflow(function)  # type: ignore[arg-type]  # the point of the test


def test_an_annotation_that_cannot_be_checked_says_which() -> None:
    class Opaque: ...

    @workflow
    async def odd(run: Run, thing: Opaque) -> None: ...

    with pytest.raises(WorkflowInvalid, match="the parameter thing of the workflow odd has a type"):
        odd.bind({"thing": 1})

    @workflow
    async def lost(run: Run, thing: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821 - the point

    with pytest.raises(WorkflowInvalid, match="an annotation of the workflow lost cannot be resolved"):
        lost.bind({"thing": 1})
