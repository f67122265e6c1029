"""Small changes of a source text, each of which a test should see."""

import ast
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_FUNCTIONS = {"any": "all", "all": "any", "min": "max", "max": "min", "sorted": "list"}
_FREEZES = ("frozenset", "MappingProxyType")
_HAS_ITS_OWN = (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Constant)


@dataclass(frozen=True, slots=True)
class Mutant:
    """The whole text with one change in it."""

    line: int
    before: str
    after: str
    source: str

    def __str__(self) -> str:
        return f"{self.line}: `{' '.join(self.before.split())}` → `{' '.join(self.after.split())}`"


def mutants(source: str) -> Iterator[Mutant]:
    """Every change of this text that is tried, in the order of the text."""
    lines = source.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    text = b"".join(lines)
    tree = ast.parse(source)
    members = _members(tree)
    seen = {source}
    for node in _walk(tree):
        for target, after in _changes(node, members):
            assert target.end_lineno is not None, "parsed from a text"
            assert target.end_col_offset is not None, "parsed from a text"
            start = starts[target.lineno - 1] + target.col_offset
            end = starts[target.end_lineno - 1] + target.end_col_offset
            written = after if isinstance(target, ast.stmt) else f"({after})"
            changed = (text[:start] + written.encode() + text[end:]).decode()
            if changed not in seen:
                seen.add(changed)
                yield Mutant(target.lineno, text[start:end].decode(), after, changed)


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """What decides something: not types, imports, docstrings, errors, nor what only a checker reads."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "pattern", "target", "targets"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.Assert | ast.Import | ast.ImportFrom) or not isinstance(child, ast.AST):
                continue
            is_docstring = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
            is_alias = isinstance(child, ast.AnnAssign) and ast.unparse(child.annotation) == "TypeAlias"
            is_strict = isinstance(child, ast.keyword) and child.arg == "strict"
            if is_docstring or is_alias or is_strict or _never_returns(child):
                continue
            if isinstance(child, ast.Raise | ast.JoinedStr):
                yield child
            else:
                yield from _walk(child)


def _never_returns(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and ast.unparse(node).startswith("assert_never(")


def _members(tree: ast.AST) -> dict[str, list[str]]:
    """The members of enumerations that a text names, by the enumeration."""
    found: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr.isupper():
            names = found.setdefault(node.value.id, [])
            if node.attr not in names:
                names.append(node.attr)
    return found


def _changes(node: ast.AST, members: dict[str, list[str]]) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    if isinstance(node, ast.stmt):
        yield from ((node, after) for after in _statements(node))
    if isinstance(node, ast.expr):
        yield from ((node, after) for after in _expressions(node))
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr.isupper():
        others = members[node.value.id]
        if len(others) > 1:
            yield node, f"{node.value.id}.{others[(others.index(node.attr) + 1) % len(others)]}"
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        if not isinstance(node.test, _HAS_ITS_OWN):
            yield node.test, f"not ({ast.unparse(node.test)})"
        if isinstance(node, ast.If):
            yield from ((node.test, after) for after in ("True", "False"))
    if isinstance(node, ast.comprehension):
        yield from ((test, after) for test in node.ifs for after in ("True", "False"))


def _statements(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.Expr() | ast.Raise():
            yield "pass"
        case ast.Assign() | ast.AugAssign():
            yield "pass"
            if isinstance(node, ast.AugAssign) and type(node.op) in _OPERATORS:
                yield ast.unparse(_with(node, op=_OPERATORS[type(node.op)]()))
        case ast.Return(value=ast.expr()):
            yield "return None"
        case ast.Continue():
            yield from ("pass", "break")
        case ast.Break():
            yield from ("pass", "continue")


def _expressions(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Compare(ops=ops):
            for at, op in enumerate(ops):
                for other in _COMPARISONS[type(op)]:
                    yield ast.unparse(_with(node, ops=[*ops[:at], other(), *ops[at + 1 :]]))
        case ast.BoolOp(op=both, values=values):
            yield from (ast.unparse(_with(node, values=rest)) for rest in _without_one(values))
            yield ast.unparse(_with(node, op=ast.Or() if isinstance(both, ast.And) else ast.And()))
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield ast.unparse(operand)
        case ast.BinOp(left=left, op=operator, right=right):
            yield from (ast.unparse(left), ast.unparse(right))
            if type(operator) in _OPERATORS:
                yield ast.unparse(_with(node, op=_OPERATORS[type(operator)]()))
        case ast.IfExp(body=body, orelse=orelse):
            yield from (ast.unparse(body), ast.unparse(orelse))
        case ast.Constant(value=value):
            yield from _constants(value)
        case ast.JoinedStr():
            yield '""'
        case ast.Call():
            yield from _calls(node)
        case ast.Subscript(slice=ast.Slice() as part):
            for name in ("lower", "upper"):
                if getattr(part, name) is not None:
                    yield ast.unparse(_with(node, slice=_with(part, **{name: None})))
        case ast.Set(elts=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts, ctx=ast.Load()):
            if len(parts) > 1:
                yield from (ast.unparse(_with(node, elts=rest)) for rest in _without_one(parts))
        case ast.Dict(keys=keys, values=values):
            for rest, kept in zip(_without_one(keys), _without_one(values), strict=True):
                yield ast.unparse(_with(node, keys=rest, values=kept))


def _constants(value: object) -> Iterator[str]:
    match value:
        case bool():
            yield repr(not value)
        case int():
            yield from (repr(value + 1), repr(value - 1))
        case str():
            yield repr("" if value else "XX")


def _calls(node: ast.Call) -> Iterator[str]:
    arguments = node.args
    if isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
        yield ast.unparse(_with(node, func=ast.Name(_FUNCTIONS[node.func.id])))
    if len(arguments) == 1 and not node.keywords and ast.unparse(node.func) not in _FREEZES:
        yield ast.unparse(arguments[0].value if isinstance(arguments[0], ast.Starred) else arguments[0])
    if len(arguments) > 1 and ast.unparse(node.func) not in ("min", "max"):
        yield ast.unparse(_with(node, args=[arguments[1], arguments[0], *arguments[2:]]))
        yield ast.unparse(_with(node, args=arguments[:-1]))
    for keyword in node.keywords:
        if keyword.arg != "strict":
            yield ast.unparse(
                _with(node, keywords=[other for other in node.keywords if other is not keyword])
            )


def _without_one(parts: list[Any]) -> Iterator[list[Any]]:
    for at in range(len(parts)):
        yield [*parts[:at], *parts[at + 1 :]]


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = deepcopy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return ast.fix_missing_locations(changed)
