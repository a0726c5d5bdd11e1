"""Files, lines and numbers of traces, and what is said where one is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NoReturn

from dvsim.errors import ScenarioError
from dvsim.scenario import bounds

MOST_BYTES = 1 << 34
"""Of one file of a trace."""

MOST_NAMED = 20  # ranks in a message
LONGEST = 40  # characters of a word in a message


def refuse(path: Path | str, line: int | None, message: str, key: str = "") -> NoReturn:
    """Raise what is wrong with a line of a file, or with the file."""
    raise ScenarioError.at(path, message, key, line=line)


def refuse_gaps(path: Path, what: str, ranks: Collection[int]) -> None:
    """Refuse a trace that has nothing of some ranks below the last."""
    last = max(ranks)
    lack = list(islice((str(rank) for rank in range(last) if rank not in ranks), MOST_NAMED))
    if lack:
        named = f"rank{'s' * (len(lack) > 1)} {', '.join(lack)}"
        others = last + 1 - len(ranks) - len(lack)
        more = f" and {others} more" if others else ""
        refuse(path, None, f"has no {what} of {named}{more}, but of rank {last}")


@contextmanager
def of_rank(rank: int, count: Callable[[], int], what: str) -> Iterator[None]:
    """Name the rank, and the place in it, in errors that name no key of their own.

    Args:
        rank: Whose file or lines are read.
        count: Gives how many operations of the rank have been read, in the words of its format:
            `what`.
    """
    try:
        yield
    except ScenarioError as error:
        key = f"rank {rank}, {what} {count()}"
        named = [fault if fault.key else replace(fault, key=key) for fault in error.faults]
        raise ScenarioError(named) from None


def shown(word: str) -> str:
    """Return a word for a message, cut where it is long."""
    return repr(word if len(word) <= LONGEST else word[: LONGEST - 1] + "…")


def data_of(path: Path) -> bytes:
    """Return the bytes of a file."""
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            refuse(path, None, f"has {size} bytes; a file of a trace has at most {MOST_BYTES}")
        return path.read_bytes()
    except OSError as error:
        refuse(path, None, f"cannot be read: {error.strerror or error}")


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text that are not empty, each with its number, from 1."""
    text = data_of(path).decode("utf-8", "replace")
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped:
            yield number, stripped


def whole(word: str, path: Path, line: int, what: str) -> int:
    """Return a whole number that is not negative, also of a word like 1e6."""
    value = number(word, path, line, what)
    if value > bounds.SIZE:
        refuse(path, line, f"{what} must be at most {bounds.SIZE}, is {shown(word)}")
    return round(value)


def number(word: str, path: Path, line: int, what: str) -> float:
    """Return a number that is not negative."""
    try:
        value = float(word)
    except ValueError:
        refuse(path, line, f"{what} must be a number, is {shown(word)}")
    if not 0 <= value < float("inf"):
        refuse(path, line, f"{what} must not be negative, is {shown(word)}")
    return value


def integer(word: str, path: Path, line: int, what: str) -> int:
    """Return a whole number of at most 64 bits, also a negative one."""
    try:
        value = int(word)
    except ValueError:
        refuse(path, line, f"{what} must be a whole number, is {shown(word)}")
    if not -(1 << 63) <= value < 1 << 63:
        refuse(path, line, f"{what} must have at most 64 bits, is {shown(word)}")
    return value


def picoseconds(seconds: float, path: Path, line: int) -> int:
    """Return a time in picoseconds."""
    if not seconds * 1e12 <= bounds.TIME:
        refuse(path, line, f"computes for {seconds:g} s; at most {bounds.TIME / 1e12:g} s")
    return round(seconds * 1e12)


def files_of_ranks(path: Path, name: re.Pattern[str], prefix: str) -> list[Path]:
    """Return the files in the folder of one whose names have a prefix, in the order of ranks.

    Args:
        path: Returned alone if there are none.
        name: Its first group is the prefix, its second the rank.
        prefix: Of the names.
    """
    numbered = [
        (int(match[2]), other)
        for other in path.parent.iterdir()
        if (match := name.fullmatch(other.name)) and match[1] == prefix and other.is_file()
    ]
    return [other for _, other in sorted(numbered)] or [path]
