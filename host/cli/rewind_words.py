"""What a rewind would do or has done, in words. Pure."""

from collections.abc import Sequence

from pydantic import JsonValue

from actors.records import FileRestored
from host.cli.amounts import count_text
from host.cli.output import visible
from host.cli.turn_list import beginning
from host.errors import RestoreRefused
from host.outline import TurnOutline
from host.rewinding import RewindPreview, RewindReport
from host.workspace import PlannedFile, Standing

_SHOWN_TURNS = 10
_TEXT_CELLS = 60


def preview_lines(
    preview: RewindPreview,
    turns: Sequence[TurnOutline],
    *,
    keeps_files: bool = False,
    overwrites: bool = False,
) -> list[str]:
    """What would go and which files would be put back; `turns` are all of the session."""
    first = len(turns) - len(preview.turns)
    lines = [f"{_turns(first + 1, len(turns))} would be taken back:"]
    gone = list(enumerate(turns[first:], first + 1))
    lines += [f"  {number}  {beginning(turn, _TEXT_CELLS)}" for number, turn in gone[:_SHOWN_TURNS]]
    if len(gone) > _SHOWN_TURNS:
        lines.append(f"  … and {count_text(len(gone) - _SHOWN_TURNS, 'turn')} more")
    if preview.agents:
        lines.append(f"agents that they had started, and that end with them: {', '.join(preview.agents)}")
    return [*lines, *_file_lines(preview, keeps_files=keeps_files, overwrites=overwrites)]


def _turns(first: int, last: int) -> str:
    return f"turn {first:,}" if first == last else f"turns {first:,} to {last:,}"


def _file_lines(preview: RewindPreview, *, keeps_files: bool, overwrites: bool) -> list[str]:
    plan = preview.files
    if not plan.changed_paths:
        return ["no file has to be put back"]
    if keeps_files:
        return ["files that stay as they are now:", *(f"  {visible(path)}" for path in plan.changed_paths)]
    ready = [file for file in plan.to_put_back if overwrites or file.standing is Standing.READY]
    lines = ["files that would be put back:", *(f"  {_ready(file)}" for file in ready)] if ready else []
    hindered = (*plan.impossible, *(() if overwrites else plan.conflicts))
    if hindered:
        lines += [
            "files in the way:",
            *(f"  {visible(file.path)} {visible(file.reason)}" for file in hindered),
        ]
    return lines


def _ready(file: PlannedFile) -> str:
    notes = ["is removed: it was not there before"] if file.wanted is None else []
    if file.standing is Standing.CONFLICT:
        notes.append(file.reason)
    return visible(file.path) + (f" ({'; '.join(notes)})" if notes else "")


def refusal(error: RestoreRefused, *, overwrite: str, keep: str) -> str:
    """Every path in the way and why, and what can be done: `overwrite` and `keep` are how to ask for each."""
    lines = ["nothing was taken back, and no file was touched:"]
    lines += [
        f"  {visible(path)} {visible(reason)}"
        for path, reason in (error.impossible | error.conflicts).items()
    ]
    if not error.impossible:
        lines.append(f"{overwrite} replaces them; the store keeps what stands there now")
    lines.append(f"{keep} takes back the conversation alone")
    return "\n".join(lines)


def report_lines(report: RewindReport) -> list[str]:
    """What was done, the text of the message aside."""
    lines = [f"took back {count_text(len(report.turns), 'turn')}"]
    if report.stopped:
        lines.append(f"stopped: {', '.join(report.stopped)}")
    if put_back := _put_back(report):
        lines += ["files put back:", *(f"  {_restored(file)}" for file in put_back)]
    if report.left:
        lines += ["files left as they are now:", *(f"  {visible(path)}" for path in report.left)]
    return lines


def _put_back(report: RewindReport) -> list[FileRestored]:
    """Those that were not as they should be anyway."""
    return [file for file in report.files if file.replaced != file.restored]


def _restored(file: FileRestored) -> str:
    return visible(file.path) + (" (removed)" if file.restored is None else "")


def preview_json(preview: RewindPreview) -> dict[str, JsonValue]:
    return {
        "turns": list(preview.turns),
        "text": preview.text,
        "agents": list(preview.agents),
        "files": [_planned_json(file) for file in preview.files.files],
    }


def _planned_json(file: PlannedFile) -> JsonValue:
    return {
        "path": file.path,
        "standing": file.standing.value,
        "is_removed": file.wanted is None,
        "reason": file.reason or None,
    }


def report_json(report: RewindReport) -> dict[str, JsonValue]:
    return {
        "turns": list(report.turns),
        "text": report.text,
        "stopped": list(report.stopped),
        "files": [{"path": file.path, "is_removed": file.restored is None} for file in _put_back(report)],
        "left": list(report.left),
    }
