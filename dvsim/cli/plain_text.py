"""Texts for people: without control characters, and in lines that fit."""

from __future__ import annotations

import re
import textwrap

_INDENT, WIDTH = "  ", 100  # of sentences

# control characters but the line feed, and those that turn the direction of the text around them
_CONTROL = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    r"""Return a text with its control characters spelled out; a file may hold any.

    >>> print(plain("a\x1b[31mtitle"))
    a\x1b[31mtitle
    """
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def wrapped(text: str) -> list[str]:
    """Break a sentence below a heading into lines, but not between a figure and its unit."""
    lines = textwrap.wrap(_glued(text), WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)
    return [line.replace("\xa0", " ") for line in lines]


def _glued(text: str) -> str:
    return re.sub(r"(?<=\d) (?=[%±]|[KkMGT]?i?B\b|[mun]?s\b)|(?<=[±x]) (?=\d)", "\xa0", text)


def folded(line: str, width: int) -> str:
    """Return a line as lines of at most `width` characters that begin with its blanks.

    What belongs to a figure stays with it.
    """
    blanks = len(line) - len(line.lstrip())
    more = " " * (blanks + 2)
    filler = textwrap.TextWrapper(width, subsequent_indent=more)
    filler.break_long_words = filler.break_on_hyphens = False  # a path stays whole
    return filler.fill(_glued(line)).replace("\xa0", " ") or line
