"""``dvsim run --trace``: a timeline of the first replication, beside the results."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from dvsim.cli.options import MADE, Output, with_options
from dvsim.cli.terminal import complain
from dvsim.errors import ScenarioError

if TYPE_CHECKING:
    from dvsim.cli.options import RunOptions
    from dvsim.emulation.settings import Emulation
    from dvsim.scenario.spec import Spec
    from dvsim.table.result import Result

LIMIT = "50 MB"
FEW = 3  # thinned rows that are named
LEAST = 20_000  # bytes of a file that shows anything


class Trace(NamedTuple):
    """The file that is asked for, and its size at most."""

    path: Path
    limit: int


def trace_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``--trace`` and ``--trace-limit`` to a verb, which gets them in one as ``trace``."""

    @functools.wraps(command)
    def packed(trace: Path | None, trace_limit: str | None, **given: Any) -> None:  # noqa: ANN401 - as in click
        asked = None if trace is None else Trace(trace, _size(trace_limit or LIMIT))
        if asked is None and trace_limit is not None:
            raise click.UsageError("--trace-limit goes with --trace")
        command(trace=asked, **given)

    return with_options(
        packed,
        click.option(
            "--trace",
            type=Output(),
            metavar="FILE.json[.gz]",
            help="A timeline of the first replication, for ui.perfetto.dev." + MADE,
        ),
        click.option(
            "--trace-limit",
            metavar="SIZE",
            help="Largest size of the timeline, before compression; beyond it only every "
            f"2nd, 4th … event is kept.  [default: {LIMIT}]",
        ),
    )


def bytes_of(text: str) -> int:
    """Read ``--trace-limit``."""
    from dvsim.scenario.units import parse

    try:
        size = parse(text, "size")
    except ValueError as error:
        raise click.UsageError(f"--trace-limit: {error}") from error
    return int(size)


def _size(text: str) -> int:
    size = bytes_of(text)
    if size < LEAST:
        raise click.UsageError(f"--trace-limit: {text} show nothing; at least {LEAST // 1000} kB")
    return size


def run_traced(
    options: RunOptions, scenarios: Sequence[Spec], how: str | Emulation, trace: Trace
) -> Result:
    """Run a scenario and write its timeline; an emulated one is run anew, to have one."""
    from dvsim.emulation.trace.runs import check_traceable

    if len(scenarios) > 1:
        named = ", ".join(scenario.name for scenario in scenarios[:3])
        message = f"is of one scenario; {len(scenarios)} were named: {named} …"
        raise ScenarioError.at("--trace", message)
    check_traceable(scenarios[0])
    with _traces(how, trace.limit) as backend:
        (run,) = options.run(scenarios, backend)
        _write(trace, run, backend)
    return run


@contextmanager
def _traces(how: str | Emulation, limit: int) -> Iterator[str | Emulation]:
    if isinstance(how, str):
        yield how
        return
    from dvsim.emulation.settings import Traces

    with tempfile.TemporaryDirectory(prefix="dvsim-trace-") as folder:
        yield replace(how, traces=Traces(Path(folder), limit))


def _write(trace: Trace, run: Result, how: str | Emulation) -> None:
    from dvsim.emulation.trace import write_trace
    from dvsim.emulation.trace.perfetto import most_events
    from dvsim.emulation.trace.runs import emulated_timeline, simulated_timeline

    capacity = most_events(trace.limit)
    if isinstance(how, str) or how.traces is None:
        timeline, facts = simulated_timeline(run.scenario, run.seed, capacity)
    else:
        timeline, facts = emulated_timeline(run.scenario, how.traces.folder, capacity)
    about = {"version": run.manifest.version, **facts}
    written = write_trace(trace.path, timeline, about, trace.limit)
    first = f"{facts['point']}; replication 1" if "point" in facts else "replication 1"
    first += ", iteration 1" if "iteration" in facts else ""
    complain(f"trace: {trace.path}: {written.events:,} events of {first}; for ui.perfetto.dev")
    few = len(written.sampled) <= FEW
    rows = written.sampled if few else [f"{len(written.sampled)} rows, which the file names"]
    if rows:
        complain(f"trace: not every event fits into --trace-limit; kept: {'; '.join(rows)}")
