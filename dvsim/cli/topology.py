"""``dvsim topology``: the nodes and links of a switch, or the switches and ports of a network."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dvsim.cli.options import Page
from dvsim.cli.terminal import say

if TYPE_CHECKING:
    from dvsim.fabric.topology import Topology

FORMATS = ("graphml", "json", "dot", "html")


@click.command("topology")
@click.option("--preset", metavar="NAME", help="A network: dv202 to dv216, 4 to 65,536 ports.")
@click.option("--height", type=int, metavar="H", help="A switch of one's own: its heights.")
@click.option("--angles", type=int, metavar="A", help="And its angles.")
@click.option(
    "--injecting",
    metavar="N|A,A,...",
    help="How many angles have inputs, or which.  [default: all]",
)
@click.option("--crossing", metavar="NAME", help="brc, xor or random.  [default: brc]")
@click.option("--exit", "leave", metavar="NAME", help="angle or any.  [default: angle]")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="graphml",
    show_default=True,
    help="html is a picture that can be turned.",
)
@click.option("-o", "--output", type=Page(), help="The file to write.  [default: stdout]")
def topology(
    preset: str | None,
    height: int | None,
    angles: int | None,
    injecting: str | None,
    crossing: str | None,
    leave: str | None,
    form: str,
    output: Path | None,
) -> None:
    """Write the topology of a switch or a network as a graph, or draw it.

    A switch, or a preset with one level of switches, is written node by node with its links; a
    preset with more levels as the ports and switches of one of its planes.

    Example: dvsim topology --preset dv206 --format html -o dv206.html
    """
    own: dict[str, object] = {
        "height": height,
        "angles": angles,
        "injecting": injecting,
        "crossing": crossing,
        "exit": leave,
    }
    given = {key: value for key, value in own.items() if value is not None}
    if form == "html" and output is None:
        raise click.UsageError("--format html writes a page of 5 MB: name its file with -o FILE")
    try:
        found = _found(preset, given)
        if form == "html" and output is not None:
            _draw(found, output)
            return
        graph = found.graph()
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    from dvsim.fabric.topology import FORMATS as WRITERS

    lines = WRITERS[form](graph)
    if output is None:
        for line in lines:
            click.echo(line)
    else:
        from dvsim.report.page import write

        write(output, "".join(f"{line}\n" for line in lines))
        say(output)


def _found(preset: str | None, given: dict[str, object]) -> Topology:
    """Return what is meant, by preset or by height and angles."""
    from dvsim.fabric.topology import of_preset, of_switch

    if preset is not None:
        if given:
            raise ValueError(f"--preset says all of the switch: --{next(iter(given))} is too much")
        return of_preset(preset)
    if "height" not in given or "angles" not in given:
        raise ValueError("name a --preset, or --height and --angles")
    if "injecting" in given:
        given["injecting"] = _injecting(str(given["injecting"]))
    return of_switch(**given)  # type: ignore[arg-type]


def _injecting(text: str) -> int | list[int]:
    """Read how many angles inject, or which: one number, or several with commas."""
    try:
        numbers = [int(part) for part in text.rstrip(",").split(",")]
    except ValueError:
        raise ValueError(
            f"--injecting must be a number of angles, or angles such as 0,2, is {text!r}"
        ) from None
    return numbers if "," in text else numbers[0]


def _draw(found: Topology, output: Path) -> None:
    """Write the picture."""
    from dvsim.fabric.topology.choose import nearest
    from dvsim.report.cylinders import MOST_NODES
    from dvsim.report.topology import write_topology

    switch = found.switch
    if switch.nodes > MOST_NODES:
        raise ValueError(
            f"a switch of {switch.nodes:,} nodes is too large to draw: at most {MOST_NODES:,}; "
            f"nearest: {nearest(switch, MOST_NODES)}"
        )
    tree = None if found.network is None else found.graph()
    command = shlex.join(["dvsim", *sys.argv[1:]])
    write_topology(output, found.title, switch.graph(), tree, command)
    say(output)
