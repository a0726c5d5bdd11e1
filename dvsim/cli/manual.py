"""The manual pages of all verbs, from what ``--help`` says: ``python -m dvsim.cli.manual OUT``.

Pages are in roff with the ``man`` macros; the same version gives the same bytes.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from dvsim._version import __version__
from dvsim.cli.main import cli

SECTION = 1
CODES = {
    "0": "good",
    "1": "the run failed",
    "2": "a scenario or option is wrong",
    "3": "a criterion does not hold",
    "4": "some points failed",
    "128 + n": "ended by signal n",
}


def pages() -> Iterator[tuple[str, str]]:
    """Yield the file name and the text of each page: dvsim.1, dvsim-run.1, dvsim-broker-up.1 …."""
    yield from _pages(cli, click.Context(cli, info_name="dvsim"))


def _pages(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    name = context.command_path.replace(" ", "-")
    yield f"{name}.{SECTION}", "\n".join(_page(command, context, name)) + "\n"
    for verb, within in _verbs(command, context):
        yield from _pages(within, click.Context(within, info_name=verb, parent=context))


def _verbs(command: click.Command, context: click.Context) -> list[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        return []
    found = [(name, command.get_command(context, name)) for name in command.list_commands(context)]
    return [(name, within) for name, within in found if within is not None]


def _page(command: click.Command, context: click.Context, name: str) -> Iterator[str]:
    yield f'.TH "{escaped(name.upper())}" {SECTION} "" "dvsim {__version__}" "dvsim"'
    yield ".SH NAME"
    yield f"{escaped(name)} \\- {escaped(_short(command))}"
    yield ".SH SYNOPSIS"
    yield f".B {escaped(context.command_path)}"
    yield escaped(" ".join(command.collect_usage_pieces(context)))
    yield ".SH DESCRIPTION"
    yield from _paragraphs(command.help or "")
    records = [record for one in command.params if (record := one.get_help_record(context))]
    records = [(term, meaning) for term, meaning in records if meaning]
    if records:
        yield ".SH OPTIONS"
        yield from _terms(records)
    verbs = _verbs(command, context)
    if verbs:
        yield ".SH VERBS"
        yield from _terms([(verb, _short(within)) for verb, within in verbs])
    yield ".SH EXIT STATUS"
    yield from _terms(list(CODES.items()))
    yield ".SH SEE ALSO"
    above = context.parent.command_path.replace(" ", "-") if context.parent else None
    others = [above] if above else [f"{name}-{verb}" for verb, _ in verbs]
    yield escaped(", ".join(f"{other}({SECTION})" for other in [*others, "vicbridge"]))


def _short(command: click.Command) -> str:
    """Return the first sentence about a command."""
    return command.get_short_help_str(limit=200).rstrip(".")


def _paragraphs(text: str) -> Iterator[str]:
    """Yield paragraphs; one that begins with a backspace keeps its lines, as click has it."""
    for block in _clean(text).split("\n\n"):
        lines = block.strip("\n").split("\n")
        kept = lines[0] == "\b"
        yield ".PP"
        if kept:
            yield ".nf"
        yield from (escaped(line if kept else line.strip()) for line in lines[kept:])
        if kept:
            yield ".fi"


def _clean(text: str) -> str:
    return inspect.cleandoc(text).partition("\f")[0]


def _terms(records: list[tuple[str, str]]) -> Iterator[str]:
    for term, meaning in records:
        yield ".TP"
        yield f"\\fB{escaped(term)}\\fR"
        yield escaped(" ".join(meaning.split()))


def escaped(text: str) -> str:
    r"""Return a line that roff prints as it is: hyphens stay hyphens, no line is a request.

    Examples
    --------
    >>> print(escaped("--out C:\\x"), escaped(".gz"), escaped("±"))
    \-\-out C:\ex \&.gz \[u00B1]
    """
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga")
    plain = "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in plain)
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain


def main(arguments: list[str]) -> int:
    """Write all pages into a folder, which is made."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m dvsim.cli.manual FOLDER\n")
        return 2
    folder = Path(arguments[0])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in pages():
            (folder / name).write_text(text, encoding="ascii")
    except OSError as error:
        sys.stderr.write(f"cannot write {folder}: {error.strerror}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
