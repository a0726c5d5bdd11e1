"""A run of known samples, kept in a folder."""

from datetime import UTC, datetime
from pathlib import Path

from run_builder import counters, samples

from dvsim._version import __version__
from dvsim.contract.load import load
from dvsim.study.folder import run_folder
from dvsim.study.manifest import build_manifest, run_facts
from dvsim.study.run import Run
from dvsim.study.store import write_result

SCENARIO = load("h3/fdr-8", ["workload.messages=40"])
ASKED = (__version__, 1, "sim")


def make_run(rate=10):
    table = samples({(1, 1, 0): [rate, rate + 1], (1, 2, 0): [5, 6]})
    counted = counters(
        {("broker.1", "queued"): 20, ("run", "simulated_s"): 2.5, ("run", "events"): 7}
    )
    manifest = build_manifest(
        SCENARIO.name,
        version=__version__,
        seed=1,
        replications=1,
        backend="sim",
        command=["dvsim", "run", "h3/fdr-8"],
        started=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        wall_s=0.5,
        known=run_facts(SCENARIO, counted),
    )
    return Run(SCENARIO, 1, 1, "sim", None, manifest, table, counted)


def keep(root: Path) -> Run:
    """Write it where the answer to its question belongs."""
    return write_result(make_run(), run_folder(root, SCENARIO, *ASKED))
