"""Do the notebooks still find what they say, and do their pages show it?"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import matplotlib
import pandas as pd
import pytest

from dvsim import session
from dvsim.session import run_scenarios

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "model"))
import claim_runs  # noqa: E402

RUN = ROOT / "analysis" / "run.py"
NOTEBOOKS = sorted(
    path.stem for path in RUN.parent.glob("*.py") if path.stem not in ("run", "house")
)
SMALL = """\
# %% [markdown]
# # Small
#
# Text & more.

# %%
import matplotlib.pyplot as plt
import pandas as pd

table = pd.DataFrame({"size": [8, 256], "rate": [1234.5678, None], "what": ["a|b", "c"]})
plt.plot([1, 2])
plt.title("up", loc="left")
print("printed")
table

# %%
assert table["size"].sum() == 264, "the sum"
"""


def run(*arguments):
    """Run the command as a user would; a warning is an error as everywhere in the tests."""
    return subprocess.run(
        [sys.executable, "-W", "error", str(RUN), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )


@pytest.fixture(scope="module")
def notebooks():
    """The command as a function: its libraries are loaded once for all notebooks."""
    path, environment = [*sys.path], {**os.environ}
    spec = importlib.util.spec_from_file_location("notebooks", RUN)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    with matplotlib.rc_context(), pd.option_context("display.float_format", None):
        spec.loader.exec_module(module)
        yield module.main
    sys.path[:] = path
    os.environ.clear()
    os.environ.update(environment)
    for name in ("notebooks", "house"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_holds(notebooks, name, tmp_path, monkeypatch):
    """What its claims and the page of all claims rest on is simulated once (tests/model)."""
    if name in claim_runs.CAMPAIGNS:
        claim_runs.runs_of(name)

    def keep(scenarios, **how):
        return run_scenarios(scenarios, **how | {"out": claim_runs.kept()})

    monkeypatch.setattr(session, "run_scenarios", keep)
    assert notebooks([name, "--scale", "0.05", "--out", str(tmp_path)]) == 0
    page = (tmp_path / f"{name}.md").read_text("utf-8")
    shown = "".join(part.partition("</details>")[2] for part in page.split("<details"))
    assert "| --- |" in shown
    assert "<matplotlib" not in shown and "Text(" not in shown, "a cell ends with a bare object"
    assert "nan" not in shown.split()
    figures = {line.partition("](")[2].rstrip(")") for line in shown.splitlines() if "![" in line}
    assert figures == {path.name for path in tmp_path.glob("*.svg")}
    if name != "h3-table2":  # tables only
        assert figures


def test_a_page_has_text_tables_figures_and_what_was_printed(notebooks, tmp_path):
    (tmp_path / "small.py").write_text(SMALL, "utf-8")
    assert notebooks([str(tmp_path / "small.py"), "--out", str(tmp_path)]) == 0
    page = (tmp_path / "small.md").read_text("utf-8")
    assert page.startswith("# Small\n\nText & more.\n")
    assert "| size | rate | what |" in page
    assert "| 8 | 1,235 | a\\|b |" in page
    assert "| 256 |  | c |" in page
    assert "```text\nprinted\n```" in page
    assert "![up](small-1.svg)" in page
    book = json.loads((tmp_path / "small.ipynb").read_text("utf-8"))
    assert [cell["cell_type"] for cell in book["cells"]] == ["markdown", "code", "code"]
    shown = [kind for output in book["cells"][1]["outputs"] for kind in output["data"]]
    assert {"text/markdown", "image/svg+xml"} <= set(shown)


def test_equal_numbers_give_equal_bytes(tmp_path):
    (tmp_path / "small.py").write_text(SMALL, "utf-8")
    for out in ("a", "b"):
        assert run(tmp_path / "small.py", "--out", tmp_path / out).returncode == 0
    pages = [
        {path.name: path.read_bytes() for path in (tmp_path / out).iterdir()} for out in ("a", "b")
    ]
    assert pages[0] == pages[1] and len(pages[0]) == 3


def test_a_finding_that_does_not_hold_is_exit_code_3_with_its_line(notebooks, tmp_path, capsys):
    (tmp_path / "small.py").write_text(SMALL.replace("== 264", "== 265"), "utf-8")
    assert notebooks([str(tmp_path / "small.py"), "--out", str(tmp_path)]) == 3
    told = capsys.readouterr().err
    assert 'small.py", line 17' in told
    assert "the sum" in told
    assert not (tmp_path / "small.md").exists()


def test_a_cell_that_fails_is_exit_code_1(tmp_path):
    (tmp_path / "small.py").write_text("# %%\n1 / 0\n", "utf-8")
    assert run(tmp_path / "small.py", "--out", tmp_path).returncode == 1


def test_an_unknown_notebook_is_exit_code_2_and_all_others_are_named_and_described(tmp_path):
    done = run("why-64k", "--out", tmp_path)
    assert done.returncode == 2
    assert "no notebook why-64k; there are" in done.stderr
    assert sorted(done.stderr.partition("there are ")[2].strip().split(", ")) == NOTEBOOKS
    described = (RUN.parent / "README.md").read_text("utf-8")
    assert all(f"`{name}.py`" in described for name in NOTEBOOKS)
