"""``dvsim replay``: a program's trace over fabrics, side by side."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dvsim.cli.options import MADE, Output, json_option, page_option
from dvsim.cli.terminal import complain, say, say_json, tell, typed_text
from dvsim.errors import Argument, ScenarioError

NUMBERS = {
    "time_ns": "ns",
    "traced_ns": "ns",
    "ranks": "1",
    "operations": "1",
    "messages": "1",
    "bytes": "B",
    "collective_messages": "1",
    "collective_bytes": "B",
    "lost_words": "1",
    "repeated_messages": "1",
}
"""What a replay counts, with units."""

if TYPE_CHECKING:
    from dvsim.kinds.workload.replay import Replay
    from dvsim.table.reply import Reply


@click.command()
@click.argument("trace", type=click.Path(path_type=Path), metavar="TRACE")
@click.option(
    "--fabric",
    default="dv,fdr",
    metavar="NAME,...",
    help="dv202 to dv216, dv (the smallest with enough ports), fdr, aries, loggops, or a card.  "
    "[default: dv,fdr]",
)
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a number of the fabrics: L, o, g, G, O and S of LogGOPS; o, O, S, L, rate, "
    "planes, link, fidelity (flow or cycle), dma_slow and landing (memory or sram) of a Data "
    "Vortex. Repeatable.",
)
@click.option(
    "--compute",
    default="measured",
    metavar="HOW",
    help="Time of computation: measured, zero, or a factor.  [default: measured]",
)
@click.option(
    "--placement",
    default="linear",
    metavar="HOW",
    help="Ports of the ranks: linear, random, or a list: 0,2,4.  [default: linear]",
)
@click.option("--straggler", metavar="RANK:FACTOR", help="This rank computes FACTOR times as long.")
@click.option(
    "--fault",
    "faults",
    multiple=True,
    metavar="SPEC",
    help="Fault of a Data Vortex: dead plane=K, dead port=P plane=K, dead level=L switch=S up=U "
    "plane=K, dead port=P, slow port=P by=F, lossy port=P chance=X [again=TIME]. Repeatable.",
)
@click.option(
    "--seed", default=1, show_default=True, help="Seed of a random placement and of losses."
)
@click.option(
    "--trace",
    "page",
    type=Output(),
    metavar="FILE.json[.gz]",
    help="A timeline of the first fabric, for ui.perfetto.dev." + MADE,
)
@click.option(
    "--fit",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Fit the LogGOPS numbers of the first fabric to the times of another trace, or to the "
    "output of osu_latency or osu_bw. Repeatable.",
)
@click.option(
    "--card",
    type=Output(),
    metavar="FILE.toml",
    help="Write the fitted numbers as a card, for --fabric." + MADE,
)
@page_option("A page with where the time goes, when ranks end, and sizes of messages.")
@click.option(
    "--matrix", is_flag=True, help="Also print how many bytes each rank sends to each other."
)
@click.option(
    "--goal",
    type=Output(),
    metavar="FILE",
    help="Write the replayed operations as a GOAL schedule." + MADE,
)
@json_option
def replay(
    trace: Path,
    fabric: str,
    overrides: tuple[str, ...],
    page: Path | None,
    card: Path | None,
    report: Path | None,
    matrix: bool,
    goal: Path | None,
    as_json: bool,
    **asked: Any,  # noqa: ANN401 - as in click
) -> None:
    """Replay a traced program over other networks: how long it takes, and where the time goes.

    TRACE is a file, a folder or a tar of either, in any format of docs/workload-formats.md. All
    fabrics are compared with the first. With --json each fabric is a point.

    Example: dvsim replay program.goal --fabric dv,fdr,loggops --set S=16KiB
    """
    from dvsim.atomic import write_output
    from dvsim.kinds.workload.session import replays
    from dvsim.kinds.workload.text import answer, matrix_table

    given: dict[str, str] = {}
    for key, value in map(_pair, overrides):
        if key in given:
            message = f"is given twice: {key}={given[key]} and {key}={value}"
            raise ScenarioError.at(Argument("overrides"), message, key)
        given[key] = value
    if card is not None and not asked["fit"]:
        raise click.UsageError("--card writes what --fit found; there is no --fit")
    replayed = replays(trace, fabric, given, **asked)
    if card is not None:
        from dvsim.scenario.render import card_toml

        write_output(card, card_toml(replayed[0].fabric.card).encode())
    if goal is not None:
        from dvsim.kinds.workload.readers.goal import write_goal

        schedule = io.StringIO()
        write_goal(replayed[0].graph, schedule)
        write_output(goal, schedule.getvalue().encode())
    if page is not None:
        _write(page, replayed[0])
    if report is not None:
        from dvsim.kinds.workload.page import replay_page
        from dvsim.view.html import write

        write(report, replay_page(replayed, typed_text()))
    if as_json:
        say_json(_reply(replayed))
        return
    tell(answer(replayed), indent=2)
    if matrix:
        tell([matrix_table(replayed[0])], indent=2)
    if card is not None:
        say(f"  card in {card}; use it as --fabric {card}")
    if report is not None:
        say(f"  report: {report}")
    if page is not None:
        say(f"  timeline of {replayed[0].fabric.name} in {page}")


def _reply(replayed: Sequence[Replay]) -> Reply:
    from dvsim.table.reply import Reply, against

    ranks: list[dict[str, Any]] = []
    found, base = Reply.of(ranks=ranks), None
    for replay in replayed:
        told = replay.plain()
        numbers = {("", name): told.pop(name) for name in NUMBERS}
        numbers |= {("parts", name): value for name, value in told.pop("parts_ns").items()}
        numbers |= {("skipped", name): value for name, value in told.pop("skipped").items()}
        error = told.pop("flow_error") or {}
        numbers |= {("flow_error", name): value for name, value in error.items()}
        ends = told.pop("finish_ns")
        point = found.at("sim", told, scenario=told.pop("trace"), kind="workload")
        ranks += [{"point": point, "rank": n, "ns": ns} for n, ns in enumerate(ends)]
        for (component, name), value in numbers.items():
            unit = "ns" if component == "parts" else NUMBERS.get(name, "1")
            metric = name.removesuffix("_ns")
            row = found.add(point, metric, value, component=component, n=1, unit=unit)
            if name == "time_ns" and base is not None:
                against(row, base, "ratio", replay.time_ns / replayed[0].time_ns)
            base = row if base is None else base
    return found


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise click.UsageError(f"--set wants KEY=VALUE, not '{text}'")
    return key.strip(), value.strip()


def _write(page: Path, replay: Replay) -> None:
    from dvsim.emulation.trace.perfetto import LIMIT, most_events, write_trace
    from dvsim.emulation.trace.timeline import Timeline
    from dvsim.kinds.workload.replay import add_replay

    timeline = Timeline(most_events(LIMIT))
    add_replay(timeline, replay)
    about = {"clock": "simulated time", "trace": replay.graph.name, "fabric": replay.fabric.name}
    for line in write_trace(page, timeline, about | {"command": typed_text()}).sampled:
        complain(f"{page}: {line} is kept")
