"""What a traced iteration leaves for its timeline: files in a folder, of the first one only."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from dvsim.core.probe import Record
    from dvsim.emulation.settings import Traces

CARDS = "cards.json"
BATCHES = "batches.csv"
BRIDGE = "bridge-{receiver}.csv"
"""What vicrun traced, when each batch was queued, and the intervals of each bridge."""


def trace_options(traces: Traces | None) -> dict[str, str | int]:
    """Return the options of vicrun that make it trace."""
    if traces is None or any(traces.folder.iterdir()):
        return {}
    return {"--trace": str(traces.folder / CARDS), "--trace-limit": traces.limit}


def leave_bridges(traces: Traces | None, files: Mapping[int, Path]) -> None:
    """Keep the statistics of the bridges, by receiver."""
    if traces is None:
        return
    for receiver, path in files.items():
        record = traces.folder / BRIDGE.format(receiver=receiver)
        if not record.exists():
            shutil.copyfile(path, record)


def leave_batches(traces: Traces | None, record: Record) -> None:
    """Keep when the batches of an iteration over TCP began and were queued."""
    if traces is not None and not (traces.folder / BATCHES).exists():
        pd.DataFrame(record._asdict()).to_csv(traces.folder / BATCHES, index=False)
