"""All benches one after the other, and their ratios as one table: build/bench/table.md and .json.

A bench that fails does not lose the rows of the others, nor those that it had: it is named under
the table, and the exit code is 1.

    bench/table.py [BENCH …]      such as: switch bridge
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rows import ROWS, short

import dvsim
from dvsim.core.vortex import simd

HERE = Path(__file__).resolve().parent
OUT = HERE.parent / "build" / "bench"
BENCHES: Mapping[str, tuple[str, ...]] = {
    "table1": (),
    "startup": (),
    "switch": (),
    "network": (),
    "workload": ("300",),  # iterations of 64 ranks, of 1,000
    "workload_reach": (),
    "emulator": (),
    "hosts": (),
    "message": (),
    "bridge": ("3",),  # pairs, of 5 if it is asked alone
    "closing_loop": ("2",),  # rounds, of 4
    "sweep": ("--times", "1"),
    "report": (),
    "roofline": (),
}
"""What is run, with what makes all of it last as long as a long break."""
LIMIT_S = 1200  # of one bench: it hangs


def measured(script: Path, arguments: Sequence[str], kept: Path) -> dict[str, Any]:
    """Run a bench, its output going where ours goes, and return its rows and how it went."""
    command = [sys.executable, str(script), *arguments]
    shown = f"{script.parent.name}/{script.name} {' '.join(arguments)}".strip()
    load, started = os.getloadavg()[0], time.perf_counter()
    print(f"\n== {shown}", flush=True)
    kept.write_text("", "utf-8")
    try:
        env = {**os.environ, ROWS: str(kept)}
        code = subprocess.run(command, env=env, check=False, timeout=LIMIT_S).returncode
        failed = f"exit code {code}" if code else ""
    except subprocess.TimeoutExpired:
        failed = f"no end after {LIMIT_S} s"
    rows = [json.loads(line) for line in kept.read_text("utf-8").splitlines()]
    kept.unlink()
    took = time.perf_counter() - started
    if not rows and not failed:
        failed = "no rows"
    return {"command": shown, "load": load, "seconds": took, "failed": failed, "rows": rows}


def machine() -> dict[str, Any]:
    """Return what the figures depend on besides the code."""
    lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": names[0] if names else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "instruction set": simd(),
        "memory": f"{memory:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "dvsim": dvsim.__version__,
    }


def as_markdown(document: Mapping[str, Any]) -> str:
    """Return the table for people."""
    about = ", ".join(f"{name} {value}" for name, value in document["machine"].items())
    lines = [f"# How fast: ratios of one run, {document['date']}", "", about, ""]
    lines += ["| subject | ratio | spread | against, in the same run | better |"]
    lines += ["|---|---:|---|---|---|"]
    for bench in document["benches"]:
        for row in bench["rows"]:
            low, high = row["low"], row["high"]
            runs = f"{row['runs']} runs"
            spread = "one run" if low is None else f"{short(low)} .. {short(high)}, {runs}"
            cells = row["subject"], short(row["ratio"]), spread, row["against"], row["better"]
            lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "| command | seconds | load before | |", "|---|---:|---:|---|"]
    for bench in document["benches"]:
        failed = f"**failed: {bench['failed']}**" if bench["failed"] else ""
        took, load = f"{bench['seconds']:.0f}", f"{bench['load']:.1f}"
        lines.append(f"| `{bench['command']}` | {took} | {load} | {failed} |")
    return "\n".join(lines) + "\n"


def run(benches: Mapping[str, Sequence[str]], folder: Path, out: Path) -> list[str]:
    """Run benches of a folder, write the table after each, and return which failed."""
    out.mkdir(parents=True, exist_ok=True)
    document: dict[str, Any] = {"date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"}
    document |= {"machine": machine(), "benches": []}
    for name, arguments in benches.items():
        found = measured(folder / f"{name}.py", arguments, out / f".rows-{name}")
        document["benches"].append(found)
        text = json.dumps(document, indent=1, ensure_ascii=False)
        (out / "table.json").write_text(text + "\n", "utf-8")
        (out / "table.md").write_text(as_markdown(document), "utf-8")
    return [bench["command"] for bench in document["benches"] if bench["failed"]]


def main() -> None:
    """Run all benches, or those that are named."""
    asked = sys.argv[1:] or list(BENCHES)
    if unknown := [name for name in asked if name not in BENCHES]:
        sys.exit(f"table.py: no bench '{unknown[0]}'; there are {', '.join(BENCHES)}")
    failed = run({name: BENCHES[name] for name in asked}, HERE, OUT)
    print(f"\n{(OUT / 'table.md').read_text('utf-8')}\n{OUT}/table.md, table.json")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
