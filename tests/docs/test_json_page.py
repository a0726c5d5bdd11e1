"""Does the page about ``--json`` say what is printed, and do its commands for R work?"""

from __future__ import annotations

import shutil
import subprocess

import pytest
from harness.in_process import dvsim
from harness.replies import Told
from sessions import ROOT, sessions

from dvsim.table.reply import Facts, Point, Value

PAGE = ROOT / "docs" / "reference" / "json.md"
FEW = ("--scale", "0.001", "--replications", "2", "--workers", "1")


@pytest.mark.parametrize("model", [Point, Value, Facts])
def test_the_page_has_every_column_as_the_schema_describes_it(model):
    page = PAGE.read_text("utf-8")
    for name, column in model.model_fields.items():
        assert f"| `{name}` | {column.description} |" in page


def test_r_reads_it_as_the_page_shows(tmp_path):
    rscript = shutil.which("Rscript")
    if rscript is None:
        pytest.skip("R is not installed")
    done = dvsim("sweep", "switch/zero-load", "--vary", "traffic.load=0.1,0.2", *FEW, "--json",
                 "--out", tmp_path / "runs", "--sweeps", tmp_path / "sweeps")  # fmt: skip
    (tmp_path / "sweep.json").write_text(done.stdout)
    (session,) = (one for one in sessions(PAGE) if "Rscript" in one.commands[0].text)
    command = session.commands[0].text
    how = {"cwd": tmp_path, "capture_output": True, "text": True}
    shown = subprocess.run(command, shell=True, check=False, **how)
    assert shown.returncode == 0, shown.stderr
    assert [line.split()[0] for line in shown.stdout.splitlines()] == ["load", "0.1", "0.2"]
    assert [row["load"] for row in Told(done.stdout).of("throughput")] == [0.1, 0.2]
