"""What does a sweep cost beyond its runs, and do two workers halve it?

1,000 points of a small scenario (InfiniBand, 8 B messages, 1,000 of them, one replication), again
and again in turn, so that a change of the machine's speed touches all alike; the medians count.
CPU time is that of all processes: on a machine that others use too, it says more than the clock.

- a bare loop over the same checked scenarios, which makes the tables of each run and drops them;
- the sweep with one worker: plan, check, run, key results, four files per point, one table;
- the sweep with two workers;
- the same bare work mapped over two processes by ``ProcessPoolExecutor``, the rival;
- a loop over ``dvsim.run``, which is what one would write without a sweep; nothing is kept;
- the sweep again, when all is kept.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from rows import row

import dvsim
from dvsim.contract.find import kind_of
from dvsim.contract.kind import How, Job
from dvsim.kinds.rabbitmq.spec import Scenario
from dvsim.study.sweep import Sweep, prepare, run
from dvsim.study.sweeps.executors import PointTrial
from dvsim.study.sweeps.grid import Point, plan

NAME = "h3/fdr-8"
COMMON = ["workload.messages=1000", "probe.batch=100"]  # --messages replaces the first
CHUNK = 16  # of the rival
BESIDE = (
    ("sweep, 1 worker", "bare loop"),
    ("sweep, 2 workers", "ProcessPoolExecutor, 2"),
    ("sweep, 2 workers", "sweep, 1 worker"),
    ("sweep, 1 worker", "loop over dvsim.run"),
    ("all kept", "bare loop"),
)


def main() -> None:
    """Time all in turn and print medians, overheads and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--messages", type=int, default=1000, help="of a run: how long it takes")
    asked = parser.parse_args()
    COMMON[0] = f"workload.messages={asked.messages}"
    points = _points(asked.points)
    scenarios = [one.scenario for one in _sweep(points).trials if isinstance(one, PointTrial)]
    bare(scenarios[:10])  # imports
    with tempfile.TemporaryDirectory() as root:
        where = Path(root)
        cases: dict[str, Callable[[], object]] = {
            "bare loop": lambda: bare(scenarios),
            "sweep, 1 worker": lambda: sweep(points, where, 1),
            "sweep, 2 workers": lambda: sweep(points, where, 2),
            "ProcessPoolExecutor, 2": lambda: rival(scenarios),
            "loop over dvsim.run": lambda: loop(points),
            "all kept": lambda: kept(points, where),
        }
        taken: dict[str, list[float]] = {name: [] for name in cases}
        worked: dict[str, list[float]] = {name: [] for name in cases}
        for number in range(asked.times):
            for name, work in cases.items():
                before, cpu = time.perf_counter(), cpu_s()
                work()
                taken[name].append(time.perf_counter() - before)
                worked[name].append(cpu_s() - cpu)
                print(f"  {number + 1}: {name}: {taken[name][-1]:.2f} s", flush=True)
    seconds = {name: statistics.median(found) for name, found in taken.items()}
    cpu_seconds = {name: statistics.median(found) for name, found in worked.items()}
    print(
        f"{len(points):,} points of {NAME}, {asked.messages:,} messages, medians of {asked.times}"
    )
    print(f"{'':<24}{'clock':>8}   {'ms/point':>8} {'more':>8}   {'CPU ms/point':>12} {'more':>8}")
    count, base = len(points) / 1000, "bare loop"
    for name, found in seconds.items():
        each, own = found / count, cpu_seconds[name] / count
        over, more = each - seconds[base] / count, own - cpu_seconds[base] / count
        print(
            f"{name:<24}{found:>6.2f} s   {each:>8.2f} {over:>+8.2f}   {own:>12.2f} {more:>+8.2f}"
        )
    for subject, against in BESIDE:
        pairs = [own / other for own, other in zip(taken[subject], taken[against], strict=True)]
        ratio = seconds[subject] / seconds[against]
        row(f"{subject}, time of {len(points):,} points", against, ratio, "less", pairs)


def cpu_s() -> float:
    """Return the CPU time of this process and of those that have ended."""
    each = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in each)


def bare(scenarios: list[Scenario]) -> None:
    """Run scenarios one by one."""
    for scenario in scenarios:
        for _ in kind_of(scenario).made([scenario], Job(How("", 1, 1), 1, False, "", {})):
            pass


def rival(scenarios: list[Scenario]) -> None:
    """Run scenarios in two processes, without keeping anything."""
    parts = [scenarios[at : at + CHUNK] for at in range(0, len(scenarios), CHUNK)]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for _ in pool.map(bare, parts):
            pass


def loop(points: list[Point]) -> None:
    """Ask for one run after the other, as one does in a script."""
    common = dict(text.split("=") for text in COMMON)
    for point in points:
        values = common | dict(point.values)
        how = {key.replace(".", "__"): value for key, value in values.items()}
        dvsim.run(NAME, replications=1, **how)


def sweep(points: list[Point], root: Path, workers: int) -> None:
    """Make a sweep into folders that were not there before."""
    out = Path(tempfile.mkdtemp(dir=root))
    run(_sweep(points), out=out / "runs", sweeps=out / "sweeps", workers=workers)
    (root / "last").unlink(missing_ok=True)
    (root / "last").symlink_to(out)


def kept(points: list[Point], root: Path) -> None:
    """Ask for the last sweep again."""
    out = root / "last"
    run(_sweep(points), out=out / "runs", sweeps=out / "sweeps", workers=1)


def _sweep(points: list[Point]) -> Sweep:
    return prepare(NAME, points, overrides=COMMON, replications=1)


def _points(count: int) -> list[Point]:
    processes = 10
    latencies = f"1 us..{count // processes} us+1 us"
    return plan(
        [f"system.publisher.processes=1..{processes}+1", f"system.card.latency={latencies}"]
    )


if __name__ == "__main__":
    main()
