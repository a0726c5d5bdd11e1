"""``dvsim``: the verbs, and what becomes of errors.

Only click is imported here. The module of a verb is imported when the verb is called, and imports
what is heavy inside its command, so that ``dvsim --help`` answers at once.
"""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
from types import FrameType
from typing import Any

import click

from dvsim import progress
from dvsim._version import __version__
from dvsim.cli.terminal import complain, discard, open_streams, painter
from dvsim.contract import VERBS as OF_KINDS
from dvsim.errors import DvsimError, nearest

VERBS = {
    "run": "Run scenarios, simulated or emulated, and print the results.",
    "replay": "Say how long a traced program takes on other networks.",
    "sweep": "Run a scenario with many values of its keys; sensitivity.",
    "explore": "Run a scenario around its values, and open a page with sliders.",
    "validate": "Compare the model with published data, claim by claim.",
    "consistency": "Find contradictions in data, and signs of how they were made.",
    "calibrate": "Fit the numbers of a model to emulated runs or measurements.",
    "compare": "Put kept runs side by side, simulated or emulated.",
    "limit": "Find the largest value of a key at which a criterion holds.",
    "report": "Write a page, text, table or figures about kept runs.",
    "topology": "Write a switch or network as a graph, or draw it.",
    "emulate": "Run a C or Python program on emulated cards.",
    "broker": "Start, show and stop private RabbitMQ nodes.",
    "bridge": "Run the bridge between emulated cards and RabbitMQ.",
    "list": "List scenarios, campaigns and cards.",
    "show": "Show a scenario or card, value by value, with sources.",
    "check": "Check scenario and card files; report every fault.",
    "completion": "Print the completion script of bash, zsh or fish.",
}
"""The verbs with their line in the help; each is the command of ``dvsim.cli.<verb>``."""

LOST = (errno.EPIPE, errno.ENOSPC, errno.EIO)
"""Errors of an output that nobody can read any more, which are no defects of dvsim."""


class Ended(KeyboardInterrupt):
    """SIGTERM or SIGHUP, which end a command as Ctrl-C does: tidily, workers first."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class LazyGroup(click.Group):
    """A group that imports a verb when it is called, and turns errors into exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs, in the order of the help."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb, of a kind or of ours."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(OF_KINDS.get(cmd_name, f"dvsim.cli.{cmd_name}"))
        commands = (item for item in vars(module).values() if isinstance(item, click.Command))
        return next(command for command in commands if command.name == cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a verb, or name the nearest one."""
        name = args[0]
        if name not in VERBS and not name.startswith("-") and not ctx.resilient_parsing:
            near = nearest(name, VERBS)
            ctx.fail(f"no such verb '{name}'" + (f"; did you mean '{near}'?" if near else ""))
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
            complain(error.by_option(self._options(ctx)))
            ctx.exit(error.exit_code)
        except KeyboardInterrupt as interrupt:
            ctx.exit(_interrupted(interrupt))

    def _options(self, ctx: click.Context) -> dict[str, str]:
        verb = self.get_command(ctx, ctx.invoked_subcommand or "")
        parameters = verb.params if verb is not None else ()
        return {str(item.name): max(item.opts, key=len) for item in parameters}


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dvsim")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Simulate the Data Vortex network, and messaging middleware on top of it.

    Results go to stdout, progress and errors to stderr. Exit codes: 0 good, 1 the run failed,
    2 a scenario or option is wrong, 3 a criterion does not hold, 4 some points of a sweep failed,
    128 + n ended by signal n.
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False


def main() -> None:
    """Run the command line of this process."""
    try:
        open_streams()
        warn_of_namesake(__file__.rsplit(os.sep, 3)[0])
        progress.painter = painter
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores SIGHUP: so it shall stay
                signal.signal(number, _end)
        try:
            cli(prog_name="dvsim")
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt as interrupt:
        sys.exit(_interrupted(interrupt))
    except OSError as error:
        if error.errno not in LOST:
            raise
        discard(1)
        if error.errno != errno.EPIPE:
            complain(f"cannot write the output: {error.strerror}")
        sys.exit(1)
    finally:
        try:
            sys.stderr.flush()
        except OSError:
            discard(2)


def warn_of_namesake(site: str) -> None:
    """Say that another distribution called `dvsim` is installed in the same folder."""
    for name in sorted(entry.name for entry in os.scandir(site)):
        version = name.removeprefix("dvsim-").removesuffix(".dist-info")
        if name != f"dvsim-{version}.dist-info":
            continue
        complain(
            f"another package, dvsim {version}, is installed in '{site}' too, and their files "
            "overwrite each other: pip uninstall dvsim; pip install --force-reinstall vortexsim"
        )


def _end(number: int, frame: FrameType | None) -> None:
    for other in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(other, signal.SIG_IGN)
    raise Ended(number)


def _interrupted(interrupt: KeyboardInterrupt) -> int:
    number = interrupt.number if isinstance(interrupt, Ended) else signal.SIGINT
    complain(
        "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
    )
    return 128 + number


if __name__ == "__main__":
    main()
