"""The folder of a sweep, damaged: as `dvsim report` reads and shows it."""

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

from dvsim.cli.sweep_text import chosen, swept_lines
from dvsim.errors import DvsimError
from dvsim.study.store import load_result
from dvsim.study.sweep import prepare, run
from dvsim.study.sweeps.grid import plan
from dvsim.study.swept import by_point
from dvsim.study.table import plain_lines
from dvsim.table.reply import Reply
from dvsim.view.html import write
from dvsim.view.sweep_page import swept_page

OVERRIDES = ("workload.messages=2000", "probe.batch=100")


@cache
def good() -> Mapping[str, Path]:
    """Return a sweep of three points."""
    root = Path(tempfile.mkdtemp(prefix="dvsim-good-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    points = plan(["workload.message_bytes=8,64,2048"])
    sweep = prepare("h3/fdr-8", points, overrides=OVERRIDES, replications=2)
    swept = run(sweep, workers=1, out=root / "runs", sweeps=root / "sweeps")
    assert swept.folder is not None
    return {"sweep": swept.folder}


def read_sweep(files: Files, folder: Path) -> str:
    """Read a damaged sweep; without a new seal its table is the same as before."""
    document = document_of(files)
    try:
        apply(document, good()["sweep"], folder / "sweep")
    except (OSError, TypeError, ValueError, AttributeError, KeyError):
        return "no damage that can be done"
    swept = load_result(folder / "sweep")
    if document.get("page"):
        write(folder / "page.html", swept_page(swept))
    if not document.get("sealed"):
        undamaged = load_result(good()["sweep"])
        pd.testing.assert_frame_equal(by_point(swept), by_point(undamaged))
        assert swept.name == undamaged.name
    lines = list(plain_lines(swept_lines(swept, chosen(swept, ()))))
    Reply.of(swept).text()
    return f"{len(lines)} lines"


def seeds() -> list[Files]:
    """Return a sweep without damage, with a page and without."""
    return [{DAMAGE: json.dumps({"page": page}).encode()} for page in (False, True)]


def changed(pool: Sequence[Files]) -> st.SearchStrategy[Files]:
    """Return damaged sweeps."""
    return damaged(good())


TARGETS = {"sweep": Target(seeds, read_sweep, (DvsimError,), changed)}
