"""Mutants of Python: `ast` finds the places, the text is changed there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TypeGuard

from mutant import Mutant

COMPARED = {
    ast.Lt: ("<", ("<=", ">=")), ast.LtE: ("<=", ("<", ">")), ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")), ast.Eq: ("==", ("!=",)), ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)), ast.IsNot: ("is not", ("is",)), ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
}  # fmt: skip
COMPUTED = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"), ast.Mod: ("%", "*"), ast.Pow: ("**", "*"), ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"), ast.BitXor: ("^", "|"), ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}  # fmt: skip
BITWISE = ("&", "|", "^", "<<", ">>")
JOINED = {ast.And: ("and", "or"), ast.Or: ("or", "and")}


def mutants(path: str, source: str) -> Iterator[Mutant]:
    """Yield every mutant of a file; annotations and docstrings are left alone."""
    yield from Places(path, source).found(ast.parse(source))


def is_deletable(node: ast.AST) -> TypeGuard[ast.stmt]:
    """Return whether a statement may go; without a plain name it would be an error at once."""
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Assign):
        return not any(isinstance(target, ast.Name | ast.Tuple) for target in node.targets)
    return isinstance(node, ast.AugAssign | ast.Raise | ast.Continue)


class Places:
    """Where a file can be changed."""

    def __init__(self, path: str, source: str) -> None:
        self.path, self.source = path, source
        self.lines = [0]
        for line in source.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))
        self.encoded = [line.encode() for line in source.splitlines(keepends=True)]

    def at(self, line: int, column: int) -> int:
        """Return the offset in characters; `ast` counts columns in bytes."""
        return self.lines[line - 1] + len(self.encoded[line - 1][:column].decode())

    def ends(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return where a node begins and ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)

    def found(self, node: ast.AST) -> Iterator[Mutant]:
        """Yield the mutants of a node and of all below it."""
        yield from self.of(node)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from self.found(child)

    def of(self, node: ast.AST) -> Iterator[Mutant]:
        """Yield the mutants of a node alone."""
        if isinstance(node, ast.Compare | ast.BinOp | ast.BoolOp | ast.AugAssign):
            yield from self.of_operators(node)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            yield from self.instead(node, self.text(node.operand), "negation removed")
        elif isinstance(node, ast.If | ast.While | ast.IfExp):
            yield from self.negated(node.test)
        elif isinstance(node, ast.comprehension):
            for test in node.ifs:
                yield from self.negated(test)
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            for change in ("+", "-"):
                yield from self.instead(node, f"({self.text(node)} {change} 1)", "constant")
        elif isinstance(node, ast.Return) and node.value is not None:
            empty = isinstance(node.value, ast.Constant) and node.value.value is None
            yield from self.instead(node.value, "1" if empty else "None", "return value")
        if is_deletable(node):
            yield from self.instead(node, "pass", "statement deleted")

    def of_operators(
        self, node: ast.Compare | ast.BinOp | ast.BoolOp | ast.AugAssign
    ) -> Iterator[Mutant]:
        """Yield the mutants with another operator."""
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            for left, right, op in zip(operands, operands[1:], node.ops, strict=False):
                old, news = COMPARED[type(op)]
                for new in news:
                    yield from self.between(left, right, old, new, "relational")
        elif isinstance(node, ast.BoolOp):
            for left, right in pairwise(node.values):
                yield from self.between(left, right, *JOINED[type(node.op)], "logical")
        else:
            old, new = COMPUTED[type(node.op)]
            kind = "bitwise" if old in BITWISE else "arithmetic"
            if isinstance(node, ast.BinOp):
                yield from self.between(node.left, node.right, old, new, kind)
            else:
                yield from self.between(node.target, node.value, f"{old}=", f"{new}=", kind)

    def negated(self, test: ast.expr) -> Iterator[Mutant]:
        """Yield the mutant with the opposite of a condition."""
        yield from self.instead(test, f"(not ({self.text(test)}))", "condition negated")

    def text(self, node: ast.expr | ast.stmt) -> str:
        """Return what stands there."""
        start, end = self.ends(node)
        return self.source[start:end]

    def instead(self, node: ast.expr | ast.stmt, new: str, kind: str) -> Iterator[Mutant]:
        """Yield the mutant with something else in place of a node; its lines are kept."""
        start, old = self.ends(node)[0], self.text(node)
        fill = "\n" * (old.count("\n") - new.count("\n"))
        if fill and isinstance(node, ast.expr):
            new = f"({new}{fill})"
        yield Mutant(self.path, start, old, new, kind)

    def between(
        self, left: ast.expr, right: ast.expr, old: str, new: str, kind: str
    ) -> Iterator[Mutant]:
        """Yield the mutant with another operator between two nodes."""
        start, end = self.ends(left)[1], self.ends(right)[0]
        match = re.search(r"\s+".join(map(re.escape, old.split())), self.source[start:end])
        assert match, (self.path, self.source[start:end], old)
        yield Mutant(self.path, start + match.start(), match[0], new, kind)
