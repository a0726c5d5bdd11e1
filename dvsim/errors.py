"""Every mistake a user can make, as one small tree of exceptions.

::

    DvsimError            exit 1
    ├── ScenarioError     exit 2   a scenario, card or option is wrong; carries all its faults
    ├── RunFailed         exit 1   the run itself could not finish
    ├── OutputError       exit 1   a result could not be written
    ├── CriterionFailed   exit 3   the run is good, a declared criterion does not hold
    └── PointsFailed      exit 4   some points of a sweep failed, the others are good

The message texts are an interface: tests pin them. The command line turns a `DvsimError` into
text on stderr and its `exit_code`; anything else is a defect of dvsim and keeps its traceback.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from numbers import Integral
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LONGEST_KEY = 200  # characters that are shown


class DvsimError(Exception):
    """A mistake that the user can repair; `exit_code` is what the command line returns."""

    exit_code = 1

    def by_option(self, options: Mapping[str, str]) -> str:
        """Return the text, which names the options of these arguments instead of them."""
        return by_option(self.args[0] if isinstance(self.args[0], Advice) else str(self), options)


class Argument(str):
    """The name of an argument, where a fault has that of a file: it is the call that is wrong.

    The command line says the option that gives this argument.

    >>> print(Argument("seed").fault("-1 is negative"))
    seed: -1 is negative
    """

    __slots__ = ()

    def fault(self, message: str, hint: str | None = None) -> Fault:
        """Return a fault of this argument."""
        return Fault(self, None, "", message, hint)

    def whole(self, value: int, least: int, most: int) -> Iterator[Fault]:
        """Yield the fault of a value that is no whole number from `least` to `most`."""
        if isinstance(value, bool) or not isinstance(value, Integral):
            yield self.fault(f"{value!r} is not a whole number")
        elif value < 0:
            yield self.fault(f"{value} is negative")
        elif value < least:
            yield self.fault(f"{value} is less than {least}")
        elif value > most:
            yield self.fault(f"{value} is more than {most}")


class Advice(str):
    """A text of parts; where one of them is an `Argument`, the command line says its option.

    >>> again = Advice("run it again with ", Argument("force"))
    >>> print(again)
    run it again with force
    >>> print(by_option(again, {"force": "--force"}))
    run it again with --force
    """

    parts: tuple[str, ...]

    def __new__(cls, *parts: str) -> Advice:
        """Join the parts, and those of each that is an advice itself."""
        text = super().__new__(cls, "".join(parts))
        text.parts = tuple(piece for part in parts for piece in _parts(part))
        return text


def by_option(text: str, options: Mapping[str, str]) -> str:
    """Return a text with the option of each `Argument` in it."""
    return "".join(
        options.get(part, f"--{part.replace('_', '-')}") if isinstance(part, Argument) else part
        for part in _parts(text)
    )


def _parts(text: str) -> tuple[str, ...]:
    return text.parts if isinstance(text, Advice) else (text,)


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong in one place.

    Args:
        file: Path as the user gave it, a name, or an `Argument`.
        line: Line in that file, counted from 1; None where there is none.
        key: Dotted key, such as ``system.card.sram``; empty for the file as a whole.
        message: What is wrong; an `Advice` if it names arguments.
        hint: The nearest valid spelling, if there is one.

    >>> print(Fault("a.toml", 7, "workload.mesages", "unknown key", "messages"))
    a.toml:7: workload.mesages: unknown key; did you mean 'messages'?
    """

    file: str
    line: int | None
    key: str
    message: str
    hint: str | None = None

    def __str__(self) -> str:
        """Return ``file:line: key: message; did you mean …?``, always on one line."""
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        key = self.key if len(self.key) <= LONGEST_KEY else f"{self.key[: LONGEST_KEY - 1]}…"
        parts = [where, key, self.message] if key else [where, self.message]
        hint = f"; did you mean '{self.hint}'?" if self.hint else ""
        return (": ".join(parts) + hint).replace("\n", "\\n")

    def by_option(self, options: Mapping[str, str]) -> Fault:
        """Return the fault in words of the command line."""
        file, message = by_option(self.file, options), by_option(self.message, options)
        return replace(self, file=file, message=message)


def nearest(text: str, known: Iterable[str], least: float | None = None) -> str | None:
    """Return the known text that was probably meant, for `Fault.hint`.

    Args:
        text: What was written.
        known: What could have been.
        least: How alike the two must be, from 0 to 1. None: 0.6; 0.5 if `text` has two letters, of
            which one may be wrong.

    >>> nearest("mesages", ["messages", "size"]), nearest("x", ["messages"])
    ('messages', None)
    """
    least = least or (0.5 if len(text) < 3 else 0.6)
    return next(iter(get_close_matches(text, list(known), 1, least)), None)


class ScenarioError(DvsimError):
    """A scenario, card or option is wrong; `faults` has everything found, in file order."""

    exit_code = 2

    def __init__(self, faults: Iterable[Fault]) -> None:
        # the same card may be used twice: each fault is said once
        self.faults: tuple[Fault, ...] = tuple(dict.fromkeys(faults))
        super().__init__("\n".join(map(str, self.faults)))

    @classmethod
    def at(
        cls,
        where: str | Path,
        message: str,
        key: str = "",
        *,
        line: int | None = None,
        hint: str | None = None,
    ) -> ScenarioError:
        """Return the error of one fault; `where` is its file or argument, see `Fault`."""
        file = where if isinstance(where, str) else str(where)
        return cls([Fault(file, line, key, message, hint)])

    def by_option(self, options: Mapping[str, str]) -> str:
        """Return the faults, which name the options of these arguments instead of them."""
        return str(ScenarioError(fault.by_option(options) for fault in self.faults))

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[tuple[Fault, ...]]]:
        """Pickle by the faults, so that a worker process can raise one."""
        return type(self), (self.faults,)


class RunFailed(DvsimError):  # noqa: N818 - reads as a sentence where it is raised
    """The run could not finish."""


class OutputError(DvsimError):
    """A result could not be written: no permission, a full disk, a folder in the way."""


class ArgumentError(ValueError):
    """An argument of a call is wrong: that which `argument` names.

    >>> print(ArgumentError("slots", "must be at least 1, is 0"))
    slots must be at least 1, is 0
    >>> print(ArgumentError("hot", "must be from 0 to 11, is 12", "an output in hot"))
    an output in hot must be from 0 to 11, is 12
    """

    def __init__(self, argument: str, message: str, about: str = "") -> None:
        """Say of an argument, or of what it holds, what is wrong with it."""
        super().__init__(argument, message, about)
        self.argument = argument

    def __str__(self) -> str:
        """Return the whole text."""
        argument, message, about = self.args
        return f"{about or argument} {message}"


class CriterionFailed(DvsimError):  # noqa: N818
    """The run is good, but a criterion that was declared before it does not hold."""

    exit_code = 3


class PointsFailed(DvsimError):  # noqa: N818
    """Some points of a sweep failed; the others are done, and all are in its table."""

    exit_code = 4
