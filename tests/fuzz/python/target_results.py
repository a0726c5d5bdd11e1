"""Folders of results from somebody else, or from a disk that lies: as `dvsim report` reads them."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pandas as pd
from case_files import Files
from damage import DAMAGE, apply, damaged, document_of
from hypothesis import strategies as st
from targets import Target

from dvsim.contract.load import load
from dvsim.errors import DvsimError
from dvsim.evidence.validation import validate
from dvsim.session import run_scenarios
from dvsim.study.store import load_result
from dvsim.table.result import Result
from dvsim.view import write_results

ASKED: Mapping[str, tuple[str, Sequence[str]]] = {
    "cards": ("h3/dv-8", ["workload.messages=2000"]),
    "tcp": ("h3/fdr-8", ["workload.messages=2000", "probe.batch=100"]),
    "switch": ("switch/load-latency", ["traffic.slots=60", "traffic.warmup=5"]),
    "messaging": ("zeromq/throughput", ["workload.messages=200"]),
}


@cache
def good() -> Mapping[str, Path]:
    """Return a folder of each kind of result, made now and gone with this process."""
    root = Path(tempfile.mkdtemp(prefix="dvsim-good-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    folders = {}
    for kind, (name, settings) in ASKED.items():
        asked = {"replications": 2, "workers": 1, "out": root}
        (result,) = run_scenarios([load(name, settings)], **asked)
        assert result.folder is not None
        folders[kind] = result.folder
    return folders


@cache
def loaded(kind: str) -> Result:
    """Return what a good folder holds."""
    return load_result(good()[kind])


def read_result(files: Files, folder: Path) -> str:
    """Read a damaged folder and tell its results; without a new seal they are as they were."""
    document = document_of(files)
    kind = document.get("of") if document.get("of") in good() else "tcp"
    place = folder / good()[kind].name  # a folder is named by what was asked
    try:
        apply(document, good()[kind], place)
    except (OSError, TypeError, ValueError, AttributeError, KeyError):
        return "no damage that can be done"
    result = load_result(place)
    if not document.get("sealed"):
        same(result, loaded(kind))
    judged = validate([result]) if result.sampled else None
    write_results(folder / "report.md", [result], judged, "dvsim report", "md")
    return f"{kind} {type(result).__name__}"


def same(result: Result, before: Result) -> None:
    """Assert that a result is what was written: scenario, question and tables."""
    for one in (result, before):
        assert one.folder is not None
    asked = [(one.scenario, one.seed, one.replications) for one in (result, before)]
    assert asked[0] == asked[1], f"another question: {asked}"
    tables = [(one.values, *one.sides.values()) for one in (result, before)]
    for own, was in zip(*tables, strict=True):
        pd.testing.assert_frame_equal(own, was)


def result_seeds() -> list[Files]:
    """Return folders without damage."""
    return [{DAMAGE: json.dumps({"of": kind}).encode()} for kind in ASKED]


def changed(pool: Sequence[Files]) -> st.SearchStrategy[Files]:
    """Return damaged folders; what was heard before does not make them any worse."""
    return damaged(good())


TARGETS = {"result": Target(result_seeds, read_result, (DvsimError,), changed)}
