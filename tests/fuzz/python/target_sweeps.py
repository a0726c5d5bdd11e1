"""Shards of a sweep from several machines: as `dvsim merge` puts them together and shows them."""

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

from dvsim.cli.sweep_text import chosen, swept_json, swept_lines
from dvsim.errors import DvsimError
from dvsim.report.html import write
from dvsim.report.sweep_page import swept_page
from dvsim.study.sweep_table import SweepResult
from dvsim.study.sweeps.merge import merge_folders
from dvsim.study.sweeps.points import plan
from dvsim.study.sweeps.run import prepare, run
from dvsim.study.sweeps.shard import Shard
from dvsim.study.table import plain_lines

OVERRIDES = ("workload.messages=2000", "probe.batch=100")


@cache
def good() -> Mapping[str, Path]:
    """Return two shards of a sweep of three points, one of which fails."""
    root = Path(tempfile.mkdtemp(prefix="dvsim-good-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    points = plan(["workload.message_bytes=8,64,2048"])
    folders = {}
    for number in (1, 2):
        sweep = prepare("h3/fdr-8", points, overrides=OVERRIDES, replications=2)
        shard = Shard(number, 2)
        part = run(sweep, workers=1, shard=shard, out=root / "runs", sweeps=root / "sweeps")
        assert part.folder is not None
        folders[shard.name] = part.folder
    return folders


@cache
def merged() -> SweepResult:
    """Return what the good shards give."""
    with tempfile.TemporaryDirectory() as folder:
        for name, path in good().items():
            shutil.copytree(path, Path(folder, name))
        return merge_folders([Path(folder, name) for name in good()])


def read_shards(files: Files, folder: Path) -> str:
    """Merge shards of which one is damaged; without a new seal the table is the same as before."""
    document = document_of(files)
    of = document.get("of") if document.get("of") in good() else "1-of-2"
    try:
        for name, path in good().items():
            apply(document if name == of else {}, path, folder / name)
    except (OSError, TypeError, ValueError, AttributeError, KeyError):
        return "no damage that can be done"
    swept = merge_folders([folder / name for name in good()])
    if document.get("page"):
        write(folder / "page.html", swept_page(swept))
    if not document.get("sealed"):
        pd.testing.assert_frame_equal(swept.table, merged().table)
        assert swept.name == merged().name
    lines = list(plain_lines(swept_lines(swept, chosen(swept, ()))))
    json.dumps(swept_json(swept), allow_nan=False)
    return f"{len(lines)} lines"


def shard_seeds() -> list[Files]:
    """Return shards without damage, with a page and without."""
    return [{DAMAGE: json.dumps({"page": page}).encode()} for page in (False, True)]


def changed(pool: Sequence[Files]) -> st.SearchStrategy[Files]:
    """Return damaged shards."""
    return damaged(good())


TARGETS = {"sweep": Target(shard_seeds, read_shards, (DvsimError,), changed)}
