"""``dvsim topology``: the nodes and links of a switch, or the switches and ports of a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dvsim.cli.options import FormFile, report_option
from dvsim.cli.terminal import say, typed_text

if TYPE_CHECKING:
    from dvsim.fabric.topology import Topology

FORMATS = ("graphml", "json", "dot", "html")
OWN = ("height", "angles", "injecting", "crossing", "exit")  # options of a switch of one's own


@click.command("topology")
@click.option("--preset", metavar="NAME", help="A network: dv202 to dv216, 4 to 65,536 ports.")
@click.option(
    "--height", type=int, metavar="H", help="Heights of a switch of your own, a power of two."
)
@click.option("--angles", type=int, metavar="A", help="Angles of that switch.")
@click.option(
    "--injecting",
    metavar="N|A,A,...",
    help="How many angles have inputs, or which.  [default: all]",
)
@click.option("--crossing", metavar="NAME", help="Wiring: brc, xor or random.  [default: brc]")
@click.option(
    "--exit", metavar="NAME", help="Where packets leave: at their angle, or any.  [default: angle]"
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="html is a picture.  [default: by the ending of FILE, or graphml]",
)
@report_option(
    "The file to write; its ending chooses the format.  [default: stdout]",
    FormFile(FORMATS),
    "page",
)
def topology(
    preset: str | None,
    form: str | None,
    page: Path | None,
    **own: Any,  # noqa: ANN401 - as in click
) -> None:
    """Write the topology of a switch or a network as a graph, or draw it.

    The graph of a switch, or of a preset with one level, has every node and link. The graph of a
    preset with more levels has the ports and switches of one of its planes.

    Example: dvsim topology --preset dv206 --report dv206.html
    """
    given = {key: own[key] for key in OWN if own[key] is not None}
    ending = "" if page is None else page.suffix.removeprefix(".").lower()
    form = form or ("html" if ending == "htm" else ending) or "graphml"
    if form == "html" and page is None:
        message = "--format html writes a page of 5 MB: name its file with --report FILE"
        raise click.UsageError(message)
    try:
        topology = _found(preset, given)
        if form == "html" and page is not None:
            _draw(topology, page)
            return
        graph = topology.graph()
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    from dvsim.fabric.topology import FORMATS as WRITERS

    lines = WRITERS[form](graph)
    if page is None:
        for line in lines:
            click.echo(line)
    else:
        from dvsim.view.html import write

        write(page, "".join(f"{line}\n" for line in lines))
        say(page)


def _found(preset: str | None, given: dict[str, object]) -> Topology:
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
    try:
        numbers = [int(part) for part in text.rstrip(",").split(",")]
    except ValueError:
        raise ValueError(
            f"--injecting must be a number of angles, or angles such as 0,2, is {text!r}"
        ) from None
    return numbers if "," in text else numbers[0]


def _draw(topology: Topology, page: Path) -> None:
    from dvsim.fabric.topology.choose import nearest
    from dvsim.view.html import write
    from dvsim.view.topology import MOST_NODES, topology_page

    switch = topology.switch
    if switch.nodes > MOST_NODES:
        raise ValueError(
            f"a switch of {switch.nodes:,} nodes is too large to draw: at most {MOST_NODES:,}; "
            f"nearest: {nearest(switch, MOST_NODES)}"
        )
    tree = None if topology.network is None else topology.graph()
    write(page, topology_page(topology.title, switch.graph(), tree, typed_text()))
    say(page)
