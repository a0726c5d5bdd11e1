"""``dvsim bridge``: vicbridge, compiled if need be."""

from __future__ import annotations

import click

from dvsim.cli.terminal import become, say

OWN = ("--path", "-h", "--help")


class Passing(click.Command):
    """A command with options of its own in the first place only; all else is another's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the others' arguments as they are."""
        own = 1 if args[:1] and args[0] in OWN else 0
        rest = args[own + 1 :] if args[own : own + 1] == ["--"] else args[own:]
        return super().parse_args(ctx, [*args[:own], "--", *rest])


@click.command("bridge", cls=Passing)
@click.option("--path", is_flag=True, help="Print where vicbridge is, and do not run it.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ARGUMENT]...")
def bridge(path: bool, arguments: tuple[str, ...]) -> None:
    """Run vicbridge, which carries messages between emulated cards and RabbitMQ.

    The first run compiles it, which needs librabbitmq-dev. Its own options: dvsim bridge -- --help.
    It is a program on a card, so it runs in a job:

    dvsim emulate -n 2 -- ./program : dvsim bridge --credentials FILE --url URL
    """
    from dvsim.broker.compile_bridge import vicbridge

    program = str(vicbridge())
    if path:
        say(program)
    else:
        become([program, *arguments])
