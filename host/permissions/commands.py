"""The text of a shell command, read as far as rules need it.

Two readings, each wrong on its safe side: `is_plain` says yes only to text that a shell takes as one command
and nothing else; `parts` finds every command that the text may run, and rather one too many. Neither is a
sandbox: what a permitted program does, and what a name computed at run time stands for, no text can tell.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

_OPERATORS = ";&|()<>\n"
_ACTIVE = _OPERATORS + "`$"
_ACTIVE_IN_DOUBLE_QUOTES = "`$"
_REDIRECTION = "\0"
_STARTERS = frozenset(
    {
        "!",
        ".",
        "ash",
        "bash",
        "builtin",
        "busybox",
        "case",
        "chroot",
        "command",
        "coproc",
        "dash",
        "do",
        "doas",
        "elif",
        "else",
        "env",
        "eval",
        "exec",
        "find",
        "fish",
        "flock",
        "if",
        "ionice",
        "ksh",
        "nice",
        "nohup",
        "parallel",
        "setsid",
        "sh",
        "source",
        "stdbuf",
        "strace",
        "sudo",
        "then",
        "time",
        "timeout",
        "trap",
        "unbuffer",
        "until",
        "watch",
        "while",
        "xargs",
        "zsh",
        "{",
    }
)
_MAX_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Part:
    """One command: its words without quotes, assignments in front and redirections.

    `starts_another` says that the first word runs what follows it (`sudo`,
    `env`, `xargs`, a shell): any later word may be a command too.
    """

    words: tuple[str, ...]
    starts_another: bool


def is_plain(command: str) -> bool:
    """Whether a shell runs this as one command: no operator, substitution, expansion or redirection.

    Unbalanced quotes, control characters and escaped line ends are not plain.
    """
    quote = ""
    position = 0
    while position < len(command):
        character = command[position]
        if character < " " and character != "\t":
            return False
        if quote == "'":
            quote = "" if character == "'" else quote
        elif character == "\\":
            position += 1
            if position == len(command) or command[position] < " ":
                return False
        elif quote == '"':
            if character in _ACTIVE_IN_DOUBLE_QUOTES:
                return False
            quote = "" if character == '"' else quote
        elif character in _ACTIVE:
            return False
        elif character in "'\"":
            quote = character
        position += 1
    return not quote


def parts(command: str) -> tuple[Part, ...]:
    """Every command that this text may run, also inside substitutions and in texts handed to a shell."""
    return tuple(dict.fromkeys(_parts(command, _MAX_DEPTH)))


def _parts(text: str, depth: int) -> Iterator[Part]:
    for piece in _pieces(text):
        words = _words(piece)
        while words and _is_assignment(words[0]):
            words = words[1:]
        if not words:
            continue
        starts_another = base_name(words[0]) in _STARTERS
        yield Part(words, starts_another)
        if starts_another and depth > 0:
            for word in words[1:]:
                if any(character.isspace() or character in _ACTIVE for character in word):
                    yield from _parts(word, depth - 1)


def base_name(word: str) -> str:
    """The program that a first word names, without its folder."""
    return word.rpartition("/")[2] or word


def _pieces(text: str) -> Iterator[str]:
    """The text cut at every operator outside quotes.

    Quotes inside a substitution are not those outside of it; where there is one, the text is cut at every
    operator, quoted or not, as well.
    """
    text = text.replace("\\\n", "").replace(_REDIRECTION, " ")
    yield from _pieces_outside_quotes(text)
    if "`" in text or "$(" in text:
        for piece in re.split(r"[;&|()\n`]", text):
            yield piece.replace("<", f" {_REDIRECTION} ").replace(">", f" {_REDIRECTION} ")


def _pieces_outside_quotes(text: str) -> Iterator[str]:
    piece: list[str] = []
    quote = ""
    is_escaped = False
    for character in text:
        if is_escaped or (quote == "'" and character != "'"):
            is_escaped = False
        elif character == "\\":
            is_escaped = True
        elif quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "<>":
            piece.append(f" {_REDIRECTION} ")
            continue
        elif character in _OPERATORS:
            yield "".join(piece)
            piece = []
            continue
        piece.append(character)
    yield "".join(piece)


def _words(piece: str) -> tuple[str, ...]:
    """Words without quotes and redirections; text that no shell could read is split at blanks."""
    try:
        words = shlex.split(piece)
    except ValueError:
        words = re.sub(r"[\\'\"]", "", piece).split()
    kept: list[str] = []
    is_target = False
    for word in words:
        if word == _REDIRECTION:
            is_target = True
        elif is_target:
            is_target = False
        else:
            kept.append(word)
    return tuple(kept)


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.rstrip("+").isidentifier()
