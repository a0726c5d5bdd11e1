"""A process that gets no more memory: is it said what needed how much, and nothing kept?"""

import errno
import os
import subprocess
import sys

import pytest
from harness.in_process import dvsim

SPARE = 300_000_000  # bytes beside what Python has after its imports
RUN = f"""
import resource, sys
from pathlib import Path
import dvsim.kinds.switch.model, dvsim.core.network, dvsim.core.vortex, dvsim.session
import pandas, pyarrow
from dvsim.cli.main import main

pages = int(Path("/proc/self/statm").read_text().split()[0])
most = pages * resource.getpagesize() + {SPARE}
resource.setrlimit(resource.RLIMIT_AS, (most, most))
sys.argv[0] = "dvsim"
main()
"""
HEAD = 'kind = "switch"\ntitle = "big"\nquestion = "how big?"\nsource = "nowhere"\n'
OFFER = "[traffic]\nload = 0.1\nslots = 10\n"


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ("[switch]\nheight = 131_072\nangles = 64\n", "the switch"),
        ('[network]\npreset = "dv216"\n', "the network"),
    ],
)
def test_what_does_not_fit_says_what_it_needs(tmp_path, table, what):
    (tmp_path / "big.toml").write_text(HEAD + table + OFFER)
    words = ["run", "big.toml", "--replications", "1", "--workers", "1"]
    done = subprocess.run(
        [sys.executable, "-c", RUN, *words],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert f"big: {what} needs " in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.rglob("manifest.json"))


@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOSPC, errno.EACCES])
@pytest.mark.parametrize(
    "verb",
    [
        ("run", "h3/dv-256", "--replications", "100"),
        ("sweep", "switch/load-latency", "--vary", "load=0.1,0.2", "--replications", "2"),
        ("run", "switch/load-latency", "--replications", "2"),
    ],
)
def test_no_shared_memory_for_several_processes(monkeypatch, tmp_path, verb, number):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("multiprocessing.synchronize._multiprocessing.SemLock", refuse)
    monkeypatch.setattr("dvsim.pool.START_S", 0)  # else what is quick needs no processes
    monkeypatch.chdir(tmp_path)
    done = dvsim(*verb, "--scale", "0.002", "--workers", "2")
    assert done.returncode == 1, done.stderr
    (line,) = [text for text in done.stderr.splitlines() if "/dev/shm" in text]
    assert os.strerror(number) in line and "DVSIM_WORKERS=1" in line and "KiB" in line
    assert "Traceback" not in done.stderr
