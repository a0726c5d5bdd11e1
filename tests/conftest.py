"""A folder with a small valid scenario and cards of its own; dvsim as a wheel."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import hypothesis
import pytest
from harness import left, once, order, patience, rabbitmq, signals

# no doctests there, and all have one name
collect_ignore_glob = ["conftest.py", "*/conftest.py", "*/run.py", "*/*/run.py"]
ROOT = Path(__file__).parents[1]
# how long an example takes says how crowded the machine is
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")
PLUGINS = (signals, patience, left, once, rabbitmq, order)
SOURCES = ("dvsim", "models", "scenarios", "emulator", "setup.cfg", "setup.py", "pyproject.toml",
           "MANIFEST.in", "README.md", "LICENSE")  # fmt: skip

BASE = """\
abstract = true
title = "base"
question = "how fast?"
source = "nowhere"
loop = "closed"

[workload]
message_bytes = 8
messages = 1_000
iterations = 2

[system]
transport = "data-vortex"
receivers = 2
card = "small-vortex"
bridge = "small-bridge"
broker = "small-broker"

[probe]
kind = "interval"
interval = "5.001 ms"

[probe.columns]
r1 = { receiver = 1, iterations = [1] }
"""

MINE = """\
extends = "base.toml"
title = "mine"

[workload]
message_bytes = "2 KiB"
messages = 500
"""

OVER_TCP = """\
title = "over tcp"
question = "how fast?"
source = "nowhere"
loop = "open"
workload = { message_bytes = 8, messages = 1_000, iterations = 2, messages_per_second = 5e4 }
probe = { kind = "batch", batch = 100 }

[system]
transport = "tcp"
receivers = 2
card = "small-link"
publisher = "small-publisher"
broker = "small-broker"
"""

CARDS: dict[str, dict[str, str | int | float]] = {
    "vortex": {
        "nodes": 4,
        "port_rate": "4 GB/s",
        "link": "20 ns",
        "sram": "1 MiB",
        "group_counters": 8,
        "fifo_words": 16,
        "dma_entries": 16,
        "dma_setup": "1 us",
        "piece_words": 131,
        "vic_to_dram": "1 us + 1 ns/B",
        "vic_scatter": 0.5,
        "pcie_rate": "8 GB/s",
        "ring": "64 KiB",
        "ring_buffers": 2,
        "planes": 32,
        "switch_angles": 6,
        "pio_write": "400 ns",
        "pio_read": "1 us",
        "pio_rate": "0.5 GB/s",
        "poll_mirror": "50 ns",
        "fifo_pop": "10 ns",
        "send_words": 16,
    },
    "link": {"rate": "56 Gb/s", "latency": "20 us", "mtu": "2044 B"},
    "bridge": {
        "threads": 2,
        "sockets": 1,
        "poll_interval": "5.001 ms",
        "convert": "2 us",
        "push": "40 us + 3 ns/B",
        "push_off_heap": "8 us",
        "push_scatter": 0.1,
        "release": "5.001 ms",
        "reaction": "1 ms",
        "stop_scatter": 0,
        "run_spread": 0,
        "mtu": "65536 B",
    },
    "publisher": {
        "processes": 2,
        "publish": "45 us",
        "publish_scatter": 0.02,
        "run_spread": 0,
    },
    "broker": {
        "service": "9 us + 0.5 ns/B",
        "read_cost": "10 us",
        "frame_overhead": "80 B",
        "scatter": 0.4,
        "stall_every": 1_000_000,
        "stall": "120 ms",
        "memory": "100 GB",
        "paging_ratio": 0.5,
        "message_overhead": "700 B",
        "disk_rate": "500 MB/s",
        "run_spread": 0,
    },
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of `harness.order`."""
    order.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Add what holds for all tests.

    Commands start no worker processes unless a test asks for them: the tests fill the cores, and
    a worker costs a second.
    """
    os.environ.setdefault("DVSIM_WORKERS", "1")
    # without kept bytecode every command of a test compiles dvsim anew: a second
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    for plugin in PLUGINS:
        config.pluginmanager.register(plugin)


def card_text(kind: str) -> str:
    """Return a card file: one line per statement, so that line numbers are easy to count."""
    lines = [f'name = "small-{kind}"', f'kind = "{kind}"', f'title = "a small {kind}"']
    for name, value in CARDS[kind].items():
        shown = f'"{value}"' if isinstance(value, str) else value
        lines += [f"[{name}]", f"value = {shown}", 'confidence = "assumed"', 'source = "a test"']
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Desk:
    """A user's folder."""

    path: Path

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def edit(self, name: str, old: str, new: str) -> Path:
        """Change a text that stands in a file exactly once."""
        file = self.path / name
        text = file.read_text("utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {name}"
        file.write_text(text.replace(old, new), "utf-8")
        return file

    def faults(self, name: str, overrides: Sequence[str] = ()) -> list[str]:
        """Return what is said about a scenario, without the name of this folder."""
        from dvsim.contract.load import load
        from dvsim.errors import ScenarioError

        with pytest.raises(ScenarioError) as caught:
            load(self.path / name, overrides)
        return str(caught.value).replace(f"{self.path}/", "").splitlines()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A folder with base.toml, mine.toml (which extends it), tcp.toml and cards/small-*.toml."""
    files = {"base.toml": BASE, "mine.toml": MINE, "tcp.toml": OVER_TCP}
    files |= {f"cards/small-{kind}.toml": card_text(kind) for kind in CARDS}
    (tmp_path / "cards").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    return Desk(tmp_path)


@pytest.fixture(scope="session")
def wheel() -> Path:
    """dvsim as a wheel, built once for all workers."""
    (built,) = once.once("wheel", _build_wheel).glob("*.whl")
    return built


def _build_wheel(out: Path) -> None:
    """Build from a copy, so that the build's own files stay out of the checkout.

    Without vichost, as what is released: libfabric would be that of this system. The C is not
    optimised, which takes a third of the time: what is in the wheel is asked, not how
    fast it is.
    """
    compiler = out / "cc"
    compiler.write_text('#!/bin/sh\nexec cc "$@" -O0\n', "utf-8")
    compiler.chmod(0o755)
    copy = out / "source"
    copy.mkdir()
    for name in SOURCES:
        subprocess.run(["cp", "-r", str(ROOT / name), str(copy)], check=True)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", "--wheel-dir", str(out), str(copy)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False,
        env={**os.environ, "CC": shlex.quote(str(compiler)), "PKG_CONFIG": "false"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    shutil.rmtree(copy)
