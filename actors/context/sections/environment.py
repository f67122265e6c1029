"""Where the agent is, and which model runs this step; the model's name stands nowhere else."""

from actors.context.quoting import one_line
from actors.context.section import CacheHint, GoesTo, Section
from actors.context.values import ContextValues


def env_info(values: ContextValues) -> Section:
    seen = values.snapshot
    body = "\n".join(
        (
            f"Working directory: {one_line(seen.cwd)}",
            f"Git repository: {'yes' if seen.is_git_repository else 'no'}",
            f"Platform: {one_line(seen.platform)}",
            f"Shell: {one_line(seen.shell or 'unknown')}",
            f"OS version: {one_line(seen.os_version)}",
            f"Model: {one_line(values.model)}",
        )
    )
    return _section(body, is_bare=False)


def short_env_info(values: ContextValues) -> Section:
    """The same on one line."""
    seen = values.snapshot
    git = "a git repository" if seen.is_git_repository else "no git repository"
    shell = f"shell {seen.shell}" if seen.shell else "shell unknown"
    facts = (seen.cwd, git, seen.platform, shell, seen.os_version, f"model {values.model}")
    return _section(f"Environment: {', '.join(map(one_line, facts))}.", is_bare=True)


def _section(body: str, *, is_bare: bool) -> Section:
    return Section("env_info", "Environment", body, GoesTo.SYSTEM, CacheHint.DYNAMIC, is_bare=is_bare)
