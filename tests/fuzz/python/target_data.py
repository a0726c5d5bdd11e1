"""Data of a laboratory, packets of a trace, published tables, what emulated programs leave."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from case_changes import mutated
from case_files import Files, lay
from targets import Target

import dvsim
from dvsim.consistency import examine
from dvsim.contract.load import load
from dvsim.emulation.stats import COLUMNS, Stats
from dvsim.emulation.trace.runs import emulated_timeline
from dvsim.errors import DvsimError, RunFailed, ScenarioError
from dvsim.evidence.lab.read import read_lab
from dvsim.scenario import find
from dvsim.scenario.reference import read_csv
from dvsim.view.sensitivity import ENDS, ORDERS, sensitivity_figures
from dvsim.view.sensitivity import FILE as SENSITIVITY

LAB_FILES = Path(__file__).parents[2] / "unit" / "lab_files"
META = b"""\
[lab]
unit = "msg/s"
sample = "batch 10000"
message_bytes = 256
loop = "closed"
origin = "measured"
fitted = ["r1:8", 2048]
counts = { fdr-ipoib = "messages" }
tolerance = { mean = 0.1 }
"""
SUMMARY = b"""\
transport,message_bytes,column,statistic,value
dv,8,r1,count,5
dv,8,r1,mean,2.5000
dv,8,r1,std,1.25
dv,8,r1,50%,2
dv,8,r1,max,1.5e3
dv,16,r1,mean,2.5
"""
WIDE = b"message_bytes,count,mean (us),std,min,50%,99%,max\n8,100,2.5,1,0.5,2.4,9,12\n"
RAW = b"run,message_bytes,rate (msg/s)\n1,256,9000.5\n1,256,9100\n2,256,8000\n2,256,8100.25\n"
BENCHMARK = b"""\
{"workload": "one", "driver": "RabbitMQ", "messageSize": 1024, "consumeRate": [1000.5, 998.0],
 "publishRate": [1001.0], "aggregatedEndToEndLatencyAvg": 3.5, "aggregatedEndToEndLatency99pct": 9,
 "aggregatedPublishLatencyMax": 20.25}
"""
DERIVED = b"statistic,messages,seconds,rate\nmean,1000,2,500\nmax,1200,2,600\nmin,900,2,450\n"
MESSAGES = b"message_bytes,messages,iterations\n8,20000000,2\n256,1000,1\n"


def parquet(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Return columns as a small Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(pa.table(dict(columns)), sink)
    return sink.getvalue()


def lab_seeds() -> list[Files]:
    """Return a small file of each kind that is read."""
    tables = [{"data.csv": text} for text in (SUMMARY, WIDE, RAW)]
    logs = [{f"data{one.suffix}": one.read_bytes()[:1500]} for one in sorted(LAB_FILES.iterdir())]
    numbers = parquet({"rate (msg/s)": [1.5, 2.0, 9e9], "run": [1, 1, 2]})
    texts = parquet({"latency (us)": ["1", "x"], "size": [None, 8]})
    others = [{"data.json": BENCHMARK}, {"data.parquet": numbers}, {"data.parquet": texts}]
    plain = [{"data.csv": b"rate\n1\n2\n3\n", "data.toml": META}]
    return [*tables, *logs, *others, *plain, *({**one, "data.toml": META} for one in tables)]


def read_measured(files: Files, folder: Path) -> str:
    """Read a file as `dvsim validate --against` does; every number that comes out is one."""
    lay(files, folder)
    data = read_lab(next(folder / name for name in sorted(files) if name != "data.toml"))
    for case in data.cases:
        assert all(np.isfinite(list(case.statistics.values()))), asdict(case)
    return f"{data.form}: {len(data.cases)} cases, {sorted({case.metric for case in data.cases})}"


def consistency_seeds() -> list[Files]:
    """Return tables of the kinds that `dvsim consistency` tells apart."""
    polls = "\n".join(["rate", *(str(n / 0.005001) for n in (7, 12, 13, 29, 40, 41))]).encode()
    return [
        {"data.csv": SUMMARY, "messages.csv": MESSAGES},
        {"data.csv": DERIVED},
        {"data.csv": polls},
        {"data.csv": RAW, "messages.csv": MESSAGES},
        {"data.csv": WIDE},
    ]


def read_consistency(files: Files, folder: Path) -> str:
    """Examine a table as `dvsim consistency` does."""
    lay(files, folder)
    messages = folder / "messages.csv"
    given = messages if messages.exists() else None
    found = examine(folder / "data.csv", messages=given, limits=1e9 if given else None)
    assert not any(np.isnan(one.log10_odds) for one in found), found
    return "; ".join(one.what for one in found) or "nothing"


def read_table(files: Files, folder: Path) -> str:
    """Read published data."""
    lay(files, folder)
    return f"{len(read_csv(folder / 'data.csv'))} rows"


def importance_seeds() -> list[Files]:
    """Return what a sweep says of the importance of two keys."""
    columns = [f"{order}{end}" for order in ORDERS for end in ENDS]
    rows = [["result", "key", *columns], *(["rate", key, *["0.5"] * len(columns)] for key in "ab")]
    return [{SENSITIVITY: "\n".join(map(",".join, rows)).encode()}]


def read_importance(files: Files, folder: Path) -> str:
    """Draw the importance of keys, as `dvsim report --sensitivity` does."""
    lay(files, folder)
    return str(len(sensitivity_figures(folder)))


def published_seeds() -> list[Files]:
    """Return the beginning of a packaged table."""
    text = (find.reference_root() / "h3_message_rates.csv").read_bytes()
    return [{"data.csv": b"\n".join(text.split(b"\n")[:8])}]


def read_packets(files: Files, folder: Path) -> str:
    """Send the packets of a trace through a small switch."""
    lay(files, folder)
    switch = dvsim.Switch(height=4, angles=3)
    run = switch.run(None, 20, pattern="trace", trace=folder / "trace.csv")
    return f"{run.counts.offered > 0}"


def left_seeds() -> list[Files]:
    """Return what programs leave of an emulated iteration over cards, and of one over TCP."""
    rows = "\n".join(",".join(str(n + k) for k in range(len(COLUMNS))) for n in (0, 100))
    stats = f"# clock_ns: 123456789\n{','.join(COLUMNS)}\n{rows}\n".encode()
    cards = b"""\
{"traceEvents": [
 {"ph": "M", "pid": 0, "name": "process_name", "args": {"name": "card 0"}},
 {"ph": "X", "ts": 1.5, "dur": 2, "pid": 0, "tid": 1, "name": "send", "args": {"words": 3}},
 {"ph": "C", "ts": 2, "pid": 1, "tid": 1, "name": "fifo", "args": {"value": 3}},
 {"ph": "i", "ts": 3, "pid": 2, "tid": 1, "name": "packet", "args": {"from": 0}}],
 "metadata": {"start_monotonic_ns": 123456000, "every_nth_event": 2}}
"""
    batches = b"start_ps,duration_ps,pieces,messages\n0,1000,5,5\n1000,2000,5,5\n"
    bridges = {"bridge-1.csv": stats, "bridge-2.csv": stats}
    return [{"cards.json": cards, **bridges}, {"batches.csv": batches}, bridges]


def read_left(files: Files, folder: Path) -> str:
    """Make a timeline of what was left, and counters of what a bridge has counted."""
    lay(files, folder)
    if not {"cards.json", "batches.csv"} & set(files):
        stats = Stats(folder / "bridge-1.csv")
        return f"{len(stats.record(0).start_ps)} {len(stats.counters('bridge.1'))}"
    timeline, facts = emulated_timeline(load("h3/dv-8"), folder, 1 << 20)
    return f"{len(facts)} {timeline.notes} {type(timeline)}"


TARGETS = {
    "lab": Target(lab_seeds, read_measured, (ScenarioError,), mutated),
    "consistency": Target(consistency_seeds, read_consistency, (ScenarioError,), mutated),
    "importance": Target(importance_seeds, read_importance, (DvsimError,), mutated),
    "published": Target(published_seeds, read_table, (DvsimError,), mutated),
    "trace": Target(
        lambda: [{"trace.csv": b"slot,input,output\n0,0,5\n0,1,7\n3,0,11\n9,11,0\n"}],
        read_packets,
        (ValueError,),
        mutated,
    ),
    "left": Target(left_seeds, read_left, (RunFailed,), mutated),
}
