"""What `callboard check` does: reads the file, asks the core, shows what it says."""

import os
import sys
from collections.abc import Callable
from dataclasses import replace

from actors.checking import Question, Report, histories_of, judge
from actors.errors import BadInput
from host.cli.boundary import ExitCode
from host.cli.check_view import report_lines, report_values, total_line
from host.cli.output import one_line, put, put_json, visible
from host.cli.view import Line
from providers.catalog import Catalog
from providers.model import Dialect, ModelProfile

_PROVIDERS = {
    "anthropic": (Dialect.ANTHROPIC,),
    "openai": (Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES),
    "local": (),
}
_UNNAMED = "a model that is not named"


def check_file(
    file: str, dialects: tuple[str, ...], model: str | None, *, force_mcs: bool, as_json: bool
) -> ExitCode:
    """Shows the reports on all histories of a file; `FAILED` where something would be refused.

    Raises:
        BadInput: the file or the model is none.
    """
    question = _question(tuple(map(Dialect, dialects)), model, force_mcs=force_mcs)
    text = _text_of(file)
    try:
        found = histories_of(text)
    except BadInput as error:
        raise BadInput(f"{_name_of(file)}: {one_line(str(error), 1_000)}") from error
    show = _show_json if as_json else _shown_to_people(file, n_histories=len(found.histories))
    reports = []
    for report in judge(found, question):
        show(report)
        reports.append(report.is_refused)
    if not as_json and len(reports) > 1:
        put(total_line(len(reports), sum(reports)) + "\n")
    return ExitCode.FAILED if any(reports) else ExitCode.DONE


def _name_of(file: str) -> str:
    return "standard input" if file == "-" else visible(file)


def _show_json(report: Report) -> None:
    for value in report_values(report):
        put_json(value)


def _shown_to_people(file: str, *, n_histories: int) -> Callable[[Report], None]:
    name = _name_of(file)
    written = _painted if _has_colour() else _plain

    def show(report: Report) -> None:
        if n_histories == 1:
            put("".join(map(written, report_lines(report, name))))
        elif report.complaints or report.repairs:
            # Of many histories those that are as they should be need no words.
            put("".join(map(written, (*report_lines(report, f"{name}, line {report.place.line}"), Line("")))))

    return show


def _plain(line: Line) -> str:
    return f"{line.text}\n"


def _painted(line: Line) -> str:
    from rich.style import Style

    return f"{Style.parse(line.tone.value).render(line.text)}\n" if line.tone.value else _plain(line)


def _has_colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"


def _text_of(file: str) -> str:
    try:
        if file == "-":
            data = sys.stdin.buffer.read()
        else:
            with open(file, "rb") as opened:
                data = opened.read()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise BadInput(f"{_name_of(file)}: a transcript wanted, but it cannot be read: {reason}") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput(f"{_name_of(file)}: line {line}: UTF-8 wanted, got other bytes") from error


def _question(dialects: tuple[Dialect, ...], model: str | None, *, force_mcs: bool) -> Question:
    catalog = Catalog()
    chosen = None if model is None else _chosen(catalog, model)

    def profile_of(dialect: Dialect, named: str | None) -> ModelProfile:
        if chosen is not None:
            profile = chosen[1]
        else:
            provider = "anthropic" if dialect is Dialect.ANTHROPIC else "openai"
            profile = catalog.profile(provider, named or _UNNAMED)
        return replace(profile, mid_conversation_system=True) if force_mcs else profile

    return Question(profile_of, dialects, () if chosen is None else _PROVIDERS[chosen[0]])


def _chosen(catalog: Catalog, model: str) -> tuple[str, ModelProfile]:
    """The provider and the facts of a model, by its name with or without the provider."""
    provider, _, name = model.partition(":")
    if name and provider in _PROVIDERS:
        return provider, catalog.profile(provider, name)
    for known in _PROVIDERS:
        profile = catalog.profile(known, model)
        if not profile.is_assumed:
            return known, profile
    providers = ", ".join(f"{known}:NAME" for known in _PROVIDERS)
    raise BadInput(
        f"--model: a model of the catalogue wanted (`callboard model list`), or any other as {providers};"
        f" got {model!r}"
    )
