"""Mutants of C, token by token.

No parser: what a token cannot be told from its neighbours (a star of a declaration, the brace of
an initializer) gives mutants that do not compile, and those are not counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from mutant import Mutant

TOKEN = re.compile(
    r"""(?P<skip>\s+|/\*.*?\*/|//[^\n]*|^[ \t]*\#(?:\\\n|[^\n])*)
      | (?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
      | (?P<number>(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[uUlLfF]*)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<op><<=|>>=|\.\.\.|->|\+\+|--|&&|\|\||<<|>>|[-+*/%&|^<>=!]=|.)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
SWAPS = {
    "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"),
    "==": ("!=",), "!=": ("==",), "&&": ("||",), "||": ("&&",),
    "+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "%": ("*",),
    "&": ("|",), "|": ("&",), "^": ("|",), "<<": (">>",), ">>": ("<<",),
    "+=": ("-=",), "-=": ("+=",), "*=": ("/=",), "/=": ("*=",), "%=": ("*=",), "&=": ("|=",),
    "|=": ("&=",), "^=": ("|=",), "<<=": (">>=",), ">>=": ("<<=",), "++": ("--",), "--": ("++",),
}  # fmt: skip
KINDS = {
    "relational": ("<", "<=", ">", ">=", "==", "!="),
    "logical": ("&&", "||"),
    "arithmetic": ("+", "-", "*", "/", "%", "+=", "-=", "*=", "/=", "%=", "++", "--"),
    "bitwise": ("&", "|", "^", "<<", ">>", "&=", "|=", "^=", "<<=", ">>="),
}
KIND = {op: kind for kind, ops in KINDS.items() for op in ops}
ALSO_UNARY = ("+", "-", "*", "&")
NO_OPERAND = ("return", "case", "else", "sizeof")
HEADS = ("if", "while", "for", "switch")


class Token(NamedTuple):
    """A piece of the source that is neither space nor comment."""

    start: int
    text: str
    kind: str


def tokens(source: str) -> list[Token]:
    """Return what the compiler reads, without lines of the preprocessor."""
    found = TOKEN.finditer(source)
    return [Token(m.start(), m[0], str(m.lastgroup)) for m in found if m.lastgroup != "skip"]


def mutants(path: str, source: str) -> Iterator[Mutant]:
    """Yield every mutant of a file."""
    all_tokens = tokens(source)
    closing = matching(all_tokens)
    for number, token in enumerate(all_tokens):
        before = all_tokens[number - 1] if number else Token(0, ";", "op")
        for new, kind in in_place(token, before):
            yield Mutant(path, token.start, token.text, new, kind)
        if token.text in ("if", "while") and all_tokens[number + 1].text == "(":
            first, last = all_tokens[number + 1].start + 1, all_tokens[closing[number + 1]].start
            held = source[first:last]
            yield Mutant(path, first, held, f"!({held})", "condition negated")
        if begins_statement(number, all_tokens, closing):
            yield from of_statement(path, source, all_tokens, number)


def in_place(token: Token, before: Token) -> Iterator[tuple[str, str]]:
    """Yield what may stand in the place of one token, and the kind of that change."""
    after_operand = before.text in (")", "]") or (
        before.kind in ("name", "number") and before.text not in NO_OPERAND
    )
    if token.text == "!":
        yield "", "negation removed"
    elif token.text in SWAPS and (after_operand or token.text not in ALSO_UNARY):
        for new in SWAPS[token.text]:
            yield new, KIND[token.text]
    elif token.kind == "number":
        yield f"({token.text} + 1)", "constant"
        yield f"({token.text} - 1)", "constant"


def matching(all_tokens: list[Token]) -> dict[int, int]:
    """Return, for each opening parenthesis, the number of its closing one, and the reverse."""
    found, open_ones = {}, []
    for number, token in enumerate(all_tokens):
        if token.text == "(":
            open_ones.append(number)
        elif token.text == ")" and open_ones:
            first = open_ones.pop()
            found[first], found[number] = number, first
    return found


def begins_statement(number: int, all_tokens: list[Token], closing: dict[int, int]) -> bool:
    """Return whether a token is the first of something that may be left out."""
    if number == 0 or all_tokens[number].text in ("{", "}", ";", "else", "enum", *HEADS):
        return False
    before = all_tokens[number - 1]
    if before.text == ")":
        return all_tokens[closing[number - 1] - 1].text in HEADS
    if before.text == ";":  # not one of the head of a loop
        depth = 0
        for token in reversed(all_tokens[:number]):
            depth += (token.text == ")") - (token.text == "(")
            if depth < 0 or token.text in ("{", "}"):
                return depth >= 0
        return False
    return before.text in ("{", "}", "else")


def of_statement(path: str, source: str, all_tokens: list[Token], number: int) -> Iterator[Mutant]:
    """Yield the deletion of a statement, and of a return another value."""
    first = all_tokens[number]
    last = next((t for t in all_tokens[number:] if t.text in (";", "{", "}")), first)
    if last.text != ";":
        return
    held = source[first.start : last.start]
    yield Mutant(path, first.start, held, "", "statement deleted")
    value = held.removeprefix("return").strip()
    if first.text == "return" and value:
        new = "1" if value in ("0", "NULL", "DVSIM_OK") else "0"
        yield Mutant(path, first.start, held, f"return {new}", "return value")
