"""``dvsim emulate``: run a program once per emulated card, or say how to compile one.

Thin: a card becomes parameters, and the launcher, vicrun, takes this process over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dvsim.cli.names import complete_cards
from dvsim.cli.options import MADE, Output
from dvsim.cli.terminal import become
from dvsim.cli.tracing import bytes_of
from dvsim.errors import ScenarioError, nearest
from dvsim.scenario.find import FABRIC_CARD, card_names

if TYPE_CHECKING:
    from dvsim.scenario.types import Card

PARAMETERS = (
    *("sram", "group_counters", "fifo_words", "dma_entries", "dma_setup", "pcie_rate"),
    *("pio_write", "pio_read", "pio_rate", "poll_mirror", "fifo_pop", "send_words"),
    *("port_rate", "planes", "switch_angles", "link"),
)
"""What vicrun takes from a card, in base units."""

PASSED = (
    *("mode", "seed", "reorder", "trace", "if_killed", "kill_after", "serve", "join"),
    *("hosts", "hosts_file", "launch_with", "interface", "host_timeout"),
)
FLAGS = ("mpi", "check", "stats", "spread", "prefix")
"""Options that vicrun has by the same names, those with a value and those without."""


@click.command("emulate", context_settings={"allow_interspersed_args": False})
@click.option("-n", "cards", metavar="N", help="Number of cards.")
@click.option("--mode", metavar="MODE", help="functional (default) or timed.")
@click.option(
    "--card",
    default=FABRIC_CARD,
    show_default=True,
    shell_complete=complete_cards("vortex"),
    help="Sizes and costs of the cards: a card of kind vortex.",
)
@click.option("--seed", metavar="S", help="Seed of all random numbers.")
@click.option("--reorder", metavar="SEED", help="Packets arrive in a random order.")
@click.option(
    "--fault",
    "faults",
    multiple=True,
    metavar="SPEC",
    help="Fault to cause; SPEC see above. Repeatable.",
)
@click.option("--if-killed", metavar="WHAT", help="end (default), leave or restart[:TIMES].")
@click.option(
    "--kill-after",
    metavar="TIME",
    help="Kill what still runs so long after a signal; 0: never.  [default: 10s]",
)
@click.option("--serve", metavar="SOCKET", help="Programs may join the job while it runs.")
@click.option("--join", metavar="SOCKET", help="PROGRAM joins the job that serves there.")
@click.option("--place", metavar="K", help="With --join: on card K of the job.")
@click.option("--hosts", metavar="A:N,B:M", help="On several hosts: N cards on A, then M on B.")
@click.option("--hosts-file", metavar="FILE", help="The same, a line 'A N' for each host.")
@click.option(
    "--launch-with", metavar="COMMAND", help="How to run a command on {host}; default ssh."
)
@click.option("--interface", metavar="NAME", help="Network interface between the hosts.")
@click.option("--host-timeout", metavar="TIME", help="After this silence a host counts as lost.")
@click.option("--mpi", is_flag=True, help="PROGRAM is an MPI program (MPICH, Intel MPI).")
@click.option("--check", is_flag=True, help="Report packets that a counter did not expect.")
@click.option("--stats", is_flag=True, help="Print what each card did, on stderr at the end.")
@click.option(
    "--trace",
    metavar="FILE",
    type=Output(),
    help="Timeline of calls and packets, for ui.perfetto.dev." + MADE,
)
@click.option(
    "--trace-limit",
    metavar="SIZE",
    help="Its largest size, such as '50 MB'; more events are thinned.",
)
@click.option("--spread", is_flag=True, help="Timed mode: run on all cores, not on one.")
@click.option("--prefix", is_flag=True, help="Each line of output begins with its card.")
@click.option("--cflags", is_flag=True, help="Print the compiler's flags for vic.h.")
@click.option("--libs", is_flag=True, help="Print the linker's flags for libvic.")
@click.option("--prefix-dir", is_flag=True, help="Print the folder of include, lib and bin.")
@click.argument(
    "program",
    nargs=-1,
    type=click.UNPROCESSED,
    metavar="[--] PROGRAM [ARGUMENT]... [: [-n N] PROGRAM...]...",
)
def emulate(
    program: tuple[str, ...],
    cflags: bool,
    libs: bool,
    prefix_dir: bool,
    trace_limit: str | None,
    **given: Any,  # noqa: ANN401 - as in click
) -> None:
    """Run PROGRAM on N emulated cards, one process each.

    The program calls vic.h: cc $(dvsim emulate --cflags) program.c $(dvsim emulate --libs).
    Returns the first exit code that is not 0, 128 + n for signal n, and leaves no process behind.
    Without Python on the path: $(dvsim emulate --prefix-dir)/bin/vicrun does the same.

    Several programs of one job: -n 2 -- ./a x : -n 3 ./b : ./c; an argument ':' is written '::'.
    PROGRAM - makes an empty card, on which another program may join later (--serve).

    SPEC is fifo-depth=N, fifo-drop=P, dma-slow=F, extra-polls=P, 'stall card=K at=TIME for=TIME'
    or 'kill card=K at=TIME'; times count from the start, such as 5ms.

    --if-killed says what happens when a program is killed or returns an exit code other than 0.
    end: the job ends, and all others get VIC_EPEER. leave: the others go on as if it had closed
    its card. restart[:TIMES]: it starts again on its card, until it has lived less than 1 s TIMES
    times in a row (default 5; 0: no limit).
    """
    from dvsim.native import emulator_prefix

    root = emulator_prefix()
    if cflags or libs or prefix_dir:  # for a compiler on one line, the folder on another
        flags = [f"-I{root / 'include'}"] if cflags else []
        flags += [f"-L{root / 'lib'}", f"-Wl,-rpath,{root / 'lib'}", "-lvic"] if libs else []
        for line in [" ".join(flags)] * bool(flags) + [str(root)] * prefix_dir:
            click.echo(line)
        return
    if not program:
        raise click.UsageError("say what to run: dvsim emulate -n 4 -- PROGRAM [ARGUMENT]...")
    options = {"-n": given["cards"], "--card": given["place"]}
    options |= {f"--{name.replace('_', '-')}": given[name] for name in PASSED}
    if trace_limit is not None:  # vicrun counts bytes
        plain = trace_limit.isascii() and trace_limit.isdigit()
        options |= {"--trace-limit": trace_limit if plain else str(bytes_of(trace_limit))}
    command = [str(root / "bin" / "vicrun")]
    for name, value in options.items():
        command += [] if value is None else [name, str(value)]  # an empty one is vicrun's to refuse
    command += [text for fault in given["faults"] for text in ("--fault", fault)]
    command += [f"--{name}" for name in FLAGS if given[name]]
    joins = given["join"] is not None  # the job has its own card
    parameters = [] if joins else _parameters(given["card"])
    if given["trace"] is not None:
        if given["trace"].suffix == ".gz":
            message = "--trace: vicrun does not compress; name it FILE.json, then gzip it"
            raise click.UsageError(message)
        from dvsim.atomic import make_parent

        make_parent(given["trace"])
    become([*command, *parameters, "--", *program])


def _parameters(name: str) -> list[str]:
    from dvsim.contract.load import load_card

    card: Card = load_card(name)
    if card.kind != "vortex":
        near = nearest(name, card_names(kind="vortex"))
        message = f"is a {card.kind} card; an emulated card needs one of kind vortex"
        raise ScenarioError.at(name, message, hint=near)
    return [text for key in PARAMETERS for text in ("--set", f"{key}={int(card[key])}")]
