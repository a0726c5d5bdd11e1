"""A run of known samples, kept in a folder."""

from datetime import UTC, datetime
from pathlib import Path

from harness.built import built
from run_builder import counters, samples

from dvsim._version import __version__
from dvsim.contract.load import load
from dvsim.study.folder import run_folder
from dvsim.study.store import write_result
from dvsim.table.manifest import build_manifest, used_by
from dvsim.table.result import Result

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
        counts={"simulated_s": 2.5, "events": 7},
        **used_by(SCENARIO),
    )
    return built(SCENARIO, table, counted, manifest)


def keep(root: Path) -> Result:
    """Write it where the answer to its question belongs."""
    return write_result(make_run(), run_folder(root, SCENARIO, *ASKED))
