"""Rules: `Tool`, or `Tool(pattern)`, and when one fits a call.

    Bash(git diff:*)     the command is `git diff`, or begins with it and a blank
    Bash(npm run *)      `*` stands for any text
    Bash(git status)     just this command
    Edit(docs/**)        a path below the working directory; `*` stays within a folder, `**` does not
    Read(**/.env)        a path anywhere
    Read(~/.ssh/**)      a path below the home folder; a leading `/` is the root

A rule that allows is read narrowly, one that asks or denies widely: see `allows` and `forbids`.
"""

import posixpath
import re
from dataclasses import dataclass

from actors.permission import PermissionClass
from host.errors import ConfigInvalid
from host.permissions.commands import base_name, is_plain, parts

_RULE = re.compile(r"([A-Za-z_][A-Za-z0-9_.-]*)(?:\((.*)\))?", re.DOTALL)
_PATH_CLASSES = (PermissionClass.READ, PermissionClass.EDIT)


@dataclass(frozen=True, slots=True)
class Rule:
    """`pattern` None fits every call of the tool; `is_literal` takes it without any special character.

    `source` says where the rule comes from, for the reason that is given with it.
    """

    tool: str
    pattern: str | None = None
    source: str = ""
    is_literal: bool = False

    def __str__(self) -> str:
        return self.tool if self.pattern is None else f"{self.tool}({self.pattern})"


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Deny goes before ask, and ask before allow, in whatever order they were written."""

    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """What a rule looks at. `subject` is a command, a path or another text, as the tool's class says."""

    tool: str
    permission: PermissionClass
    subject: str | None
    cwd: str


def parse_rule(text: str, source: str = "", home: str | None = None) -> Rule:
    """The rule that a text stands for; `~/` in front of a pattern becomes the home folder.

    Raises:
        ConfigInvalid: the text is no rule.
    """
    match = _RULE.fullmatch(text.strip())
    if match is None or (match[2] is not None and not match[2].strip()):
        raise ConfigInvalid(
            f"{source + ': ' if source else ''}a permission rule is written Tool or Tool(pattern),"
            f" such as Bash(git diff:*) or Edit(docs/**); got {text!r}"
        )
    pattern = match[2]
    if pattern is not None and pattern.startswith("~/") and home is not None:
        pattern = posixpath.join(home, pattern[2:])
    return Rule(match[1], pattern, source)


def allows(rule: Rule, call: Call) -> bool:
    """Whether the rule covers all that the call does.

    A command has to be one plain command: a pattern never covers what stands
    behind an operator, in a substitution or in a redirection.
    """
    if rule.tool != call.tool:
        return False
    if rule.pattern is None:
        return True
    if call.subject is None:
        return False
    subject = call.subject.strip()
    if rule.is_literal:
        return _is_same(rule.pattern, call)
    if call.permission in _PATH_CLASSES:
        return _fits_path(rule.pattern, subject, call.cwd)
    if call.permission is not PermissionClass.EXECUTE:
        return _fits_text(rule.pattern, subject)
    return subject == rule.pattern or (is_plain(subject) and _fits_text(rule.pattern, subject))


def forbids(rule: Rule, call: Call) -> bool:
    """Whether the rule may concern anything that the call does; for rules that ask or deny.

    One part of a compound command is enough. A call that does not say what it
    is about is concerned by every pattern.
    """
    if rule.tool != call.tool:
        return False
    if rule.pattern is None or call.subject is None:
        return True
    subject = call.subject.strip()
    if rule.is_literal:
        return _is_same(rule.pattern, call)
    if call.permission in _PATH_CLASSES:
        return _fits_path(rule.pattern, subject, call.cwd)
    if _fits_text(rule.pattern, subject):
        return True
    return call.permission is PermissionClass.EXECUTE and _concerns_a_part(rule.pattern, subject)


def absolute(path: str, cwd: str) -> str:
    """A path without `..`, by its text alone: links are the caller's to resolve."""
    joined = posixpath.normpath(posixpath.join(cwd, path))
    return joined[1:] if joined.startswith("//") else joined


def is_inside(path: str, folder: str) -> bool:
    """Whether a path lies below a folder, by its text."""
    return absolute(path, folder).startswith(folder.rstrip("/") + "/")


def _is_same(literal: str, call: Call) -> bool:
    if call.subject is not None and call.permission in _PATH_CLASSES:
        return absolute(literal, call.cwd) == absolute(call.subject, call.cwd)
    return literal == call.subject


def _fits_text(pattern: str, subject: str) -> bool:
    prefix = _prefix_of(pattern)
    if prefix is not None:
        return subject == prefix or subject.startswith((f"{prefix} ", f"{prefix}\t"))
    return re.fullmatch(_any_text(pattern), subject, re.DOTALL) is not None


def _concerns_a_part(pattern: str, command: str) -> bool:
    prefix = _prefix_of(pattern)
    wanted = tuple((prefix if prefix is not None else "").split())
    glob = re.compile(_any_text(pattern), re.DOTALL)
    for part in parts(command):
        starts = range(len(part.words) if part.starts_another else 1)
        if prefix is not None:
            if any(_begins_with(part.words, start, wanted) for start in starts):
                return True
        elif any(glob.fullmatch(text) for text in _texts(part.words, starts)):
            return True
    return False


def _begins_with(words: tuple[str, ...], start: int, wanted: tuple[str, ...]) -> bool:
    if not wanted or words[start] != wanted[0] != base_name(words[start]):
        return False
    return words[start + 1 : start + len(wanted)] == wanted[1:]


def _texts(words: tuple[str, ...], starts: range) -> tuple[str, ...]:
    return tuple(" ".join((base_name(words[start]), *words[start + 1 :])) for start in starts)


def _prefix_of(pattern: str) -> str | None:
    return pattern[:-2].strip() if pattern.endswith(":*") else None


def _any_text(pattern: str) -> str:
    return ".*".join(re.escape(part) for part in pattern.split("*"))


def _fits_path(pattern: str, subject: str, cwd: str) -> bool:
    anchored = pattern if pattern.startswith("**/") else posixpath.join(cwd, pattern)
    if not anchored.startswith("**/"):
        anchored = absolute(anchored, cwd)
    return re.fullmatch(_path_pattern(anchored), absolute(subject, cwd), re.DOTALL) is not None


def _path_pattern(glob: str) -> str:
    """A glob over whole paths: `**` is any number of folders, `*` and `?` stay within one name.

    `docs/**` is the folder itself, too.
    """
    is_absolute = glob.startswith("/")
    names = [name for name in glob.split("/") if name]
    expression = "/" if is_absolute else "/?"
    for index, name in enumerate(names):
        is_last = index == len(names) - 1
        if name == "**" and is_last:
            expression = expression.removesuffix("/") + "(?:/.*)?"
        elif name == "**":
            expression += "(?:[^/]+/)*"
        else:
            escaped = re.escape(name).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
            expression += escaped if is_last else escaped + "/"
    return expression
