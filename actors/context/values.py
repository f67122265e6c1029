"""Everything that a prefix is built from. Each value is said by some section, or it is not here."""

from dataclasses import dataclass

from actors.context.snapshot import Snapshot
from actors.history import Origin


@dataclass(frozen=True, slots=True)
class SkillInfo:
    """A skill of the catalogue; `is_from_project` marks one that the workspace brings along."""

    name: str
    description: str
    path: str
    is_from_project: bool = False


@dataclass(frozen=True, slots=True)
class MemoryInfo:
    """The project's memory folder and the text of its index, None where there is none."""

    directory: str
    index: str | None = None


@dataclass(frozen=True, slots=True)
class OutputStyle:
    """How the agent is to write. `origin` says whose file it is: user, project file or host."""

    name: str
    text: str
    origin: Origin = Origin.USER


@dataclass(frozen=True, slots=True)
class DesktopContext:
    """What a graphical front end makes of links and comments, in its own sentences."""

    front_end: str
    links: str
    comments: str


@dataclass(frozen=True, slots=True)
class TypePrompt:
    """The prompt of a subagent's type. `origin` says whose file it is: host, user or project file."""

    text: str
    origin: Origin = Origin.HOST


@dataclass(frozen=True, slots=True)
class ContextValues:
    """What a builder is given for one turn.

    `model` is the full name of the model that runs this step. `instructions`
    are the agent's own, written by the program that started it;
    `system_prompt` is for the custom-prompt variant alone, `type_prompt` and
    `injects_agents_md` are for subagents. `has_skill_tool` says whether the
    model sees the Skill tool. `max_tokens` asks for the short form and bounds
    it; None builds everything.
    """

    snapshot: Snapshot
    model: str
    instructions: str = ""
    system_prompt: str | None = None
    type_prompt: TypePrompt | None = None
    injects_agents_md: bool = True
    skills: tuple[SkillInfo, ...] = ()
    has_skill_tool: bool = False
    memory: MemoryInfo | None = None
    output_style: OutputStyle | None = None
    language: str | None = None
    desktop: DesktopContext | None = None
    max_tokens: int | None = None
