"""Commands that are written into a chat. Pure."""

from dataclasses import dataclass

HELP = {
    "/help": "this list",
    "/mode MODE": "what may be done without asking: plan, default, accept-edits, bypass",
    "/model NAME": "the model from the next message on, as provider:model",
    "/turns": "the turns of this session, by their numbers",
    "/rewind [TURN]": "take back the last turn, or all from TURN on, files too",
    "/fork [NAME]": "begin a new session with a copy of this one; the chat stays here",
    "/agents": "the agents of this session and what they do",
    "/quit": "leave; the session stays and `callboard resume` goes on with it",
}


@dataclass(frozen=True, slots=True)
class SlashCommand:
    name: str
    argument: str


def slash_command(line: str) -> SlashCommand | None:
    """The command that a line is; None where it is a message. `//` begins a message with one slash."""
    if not line.startswith("/") or line.startswith("//"):
        return None
    name, _, argument = line[1:].partition(" ")
    # A path is something to talk about, not a command.
    return None if "/" in name else SlashCommand(name.strip().lower(), argument.strip())


def message_of(line: str) -> str:
    """The message that a line is."""
    return line[1:] if line.startswith("//") else line


def line_of(message: str) -> str:
    """The line that is this message."""
    return message if message_of(message) == message and slash_command(message) is None else f"/{message}"
