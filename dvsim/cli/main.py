"""``dvsim``: the verbs, and what becomes of errors.

Only click is imported here. The module of a verb is imported when the verb is called, and imports
what is heavy inside its command, so that ``dvsim --help`` answers at once.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import sys
from difflib import get_close_matches
from typing import Any

import click

from dvsim._version import __version__
from dvsim.errors import DvsimError

VERBS = {
    "run": "Simulate scenarios and print their columns.",
    "validate": "Compare the model with published data, claim by claim.",
    "report": "Write one HTML page about run folders.",
    "list": "List scenarios, campaigns and cards.",
    "show": "Show a scenario or card, value by value, with sources.",
    "check": "Check scenario and card files; tell every fault.",
}
"""The verbs with their line in the help; each is the command of ``dvsim.cli.<verb>``."""

INTERRUPTED = 130


class LazyGroup(click.Group):
    """A group that imports a verb when it is called, and turns errors into exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs, in the order of the help."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"dvsim.cli.{cmd_name}")
        commands = (item for item in vars(module).values() if isinstance(item, click.Command))
        return next(command for command in commands if command.name == cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a verb, or name the nearest one."""
        name = args[0]
        if name not in VERBS and not name.startswith("-") and not ctx.resilient_parsing:
            near = get_close_matches(name, VERBS, 1)
            ctx.fail(f"no such verb '{name}'" + (f"; did you mean '{near[0]}'?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of verbs without importing any."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - as in click
        """Run a verb: user mistakes are text on stderr, all else keeps its traceback."""
        try:
            return super().invoke(ctx)
        except DvsimError as error:
            click.echo(str(error), err=True)
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dvsim")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Simulate the Data Vortex network, and messaging middleware that rides on it.

    Results go to stdout, progress and errors to stderr. Exit codes: 0 good, 1 the run failed,
    2 a scenario or option is wrong, 3 a criterion does not hold, 130 interrupted.
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False


def main() -> None:
    """Run the command line of this process."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without µ is no error
    try:
        try:
            cli(prog_name="dvsim")
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        sys.exit(INTERRUPTED)
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.ENOSPC):
            raise
        # what is still in the buffer has nowhere to go: do not let the interpreter try again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.ENOSPC:
            click.echo(f"cannot write the output: {error.strerror}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
