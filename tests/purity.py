"""Finds what a pure module must not do: read a clock, draw numbers, open something, wait."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

_CALLS = frozenset({"open", "input", "print", "exec", "eval", "__import__", "breakpoint"})
_METHODS = frozenset(
    {
        "now",
        "utcnow",
        "today",
        "open",
        "read_text",
        "read_bytes",
        "write_text",
        "write_bytes",
        "unlink",
        "mkdir",
    }
)
_WAITS = (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await)


@dataclass(frozen=True, slots=True)
class Impurity:
    line: int
    what: str


def impurities(source: str, banned: frozenset[str]) -> tuple[Impurity, ...]:
    """Everything impure in a module's source, in the order of its lines.

    `banned` are dotted names; importing one, or anything below it, is impure.
    """
    found = (
        Impurity(node.lineno, what)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.stmt | ast.expr)
        for what in _judge(node, banned)
    )
    return tuple(sorted(found, key=lambda impurity: impurity.line))


def _judge(node: ast.AST, banned: frozenset[str]) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (f"import {a.name}" for a in names if _is_banned(a.name, banned))
        case ast.ImportFrom(module=str(module), names=names):
            yield from (
                f"from {module} import {a.name}" for a in names if _is_banned(f"{module}.{a.name}", banned)
            )
        case ast.Call(func=ast.Name(id=name)) if name in _CALLS:
            yield f"{name}()"
        case ast.Call(func=ast.Attribute(attr=name)) if name in _METHODS:
            yield f".{name}()"
        case _ if isinstance(node, _WAITS):
            yield "async"


def _is_banned(name: str, banned: frozenset[str]) -> bool:
    parts = name.split(".")
    return any(".".join(parts[:n]) in banned for n in range(1, len(parts) + 1))
