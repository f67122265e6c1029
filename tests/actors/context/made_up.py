"""A made-up repository and everything that an agent in it could be told."""

from actors.context import (
    ContextValues,
    DesktopContext,
    Diagnostic,
    GitState,
    InstructionFile,
    MemoryInfo,
    OutputStyle,
    Prefix,
    Scope,
    SkillInfo,
    Snapshot,
)
from actors.history import Entry, Origin, ReminderEntry
from providers.model import text_of

SNAPSHOT = Snapshot(
    cwd="/home/ada/lighthouse",
    is_git_repository=True,
    platform="linux",
    shell="/bin/zsh",
    os_version="Linux 6.12",
    git=GitState(
        branch="lamp/rotation",
        main_branch="main",
        user="Ada",
        status=" M lamp.py\n?? notes/fog.md",
        commits=("9f1c2ab Turn the lamp slower", "0d4e871 Light the lamp"),
    ),
    local_date="2027-01-15",
    instructions=(
        InstructionFile("/home/ada/.callboard/AGENTS.md", Scope.USER, "Use metric units.\n"),
        InstructionFile(
            "/home/ada/lighthouse/AGENTS.md", Scope.WORKSPACE, "Run `make lamp` first.\n", is_cut=True
        ),
    ),
    diagnostics=(Diagnostic("/home/ada/old/AGENTS.md", "Is a directory"),),
)

SKILLS = (
    SkillInfo("tide", "Looks up the tide.", "/home/ada/.callboard/skills/tide/SKILL.md"),
    SkillInfo("fog", "Sounds the horn.", "/home/ada/lighthouse/skills/fog/SKILL.md", is_from_project=True),
)

PLAIN = ContextValues(SNAPSHOT, "local:small", instructions="Keep the logbook of this lighthouse.")

EVERYTHING = ContextValues(
    SNAPSHOT,
    "local:small",
    instructions="Keep the logbook of this lighthouse.",
    skills=SKILLS,
    has_skill_tool=True,
    memory=MemoryInfo("/home/ada/.callboard/memory/lighthouse", "- [lamp](lamp.md): turns every 12 s"),
    output_style=OutputStyle("Keeper", "Write as a logbook does.", Origin.USER),
    language="Danish",
    desktop=DesktopContext("Callboard Web", "absolute paths open the file", "`::note` marks a line"),
)


def body_of(entry: Entry) -> str:
    return entry.body if isinstance(entry, ReminderEntry) else text_of(entry.message.content)


def whole(prefix: Prefix) -> str:
    """Every entry with who sends it and whether the cache is marked, then the sizes."""
    parts = []
    for entry in prefix.entries:
        if isinstance(entry, ReminderEntry):
            head = f"reminder {entry.source}, cache {entry.cache}"
        else:
            head = f"{entry.message.role}, cache {'mark' if entry.message.cache else None}"
        parts.append(
            f"--- {entry.id}: {head}, origin {entry.origin}, {entry.authority.name}\n{body_of(entry)}"
        )
    parts.append(
        "--- sections\n"
        + "\n".join(
            f"{s.source}: {s.n_characters} characters, {s.form}, {s.cache}, {s.origin}"
            for s in prefix.sections
        )
    )
    return "\n".join(parts) + "\n"
