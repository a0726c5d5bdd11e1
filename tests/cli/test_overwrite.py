"""Is a report that is there kept, unless the command says that it may be replaced?"""

import pytest
from harness.in_process import dvsim

SHORT = ("--scale", "0.001", "--replications", "1", "--workers", "1")
GOAL = "num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n"


@pytest.fixture
def there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.goal").write_text(GOAL)

    def put(name):
        (tmp_path / name).write_text("old")
        return tmp_path / name

    return put


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        (("run", "h3/fdr-8", *SHORT), "page.html"),
        (("run", "h3/fdr-8", *SHORT), "page.md"),
        (("run", "h3/fdr-8", *SHORT), "page.csv"),
        (("run", "h3/fdr-8", *SHORT), "page.parquet"),
        (("run", "h3/fdr-8", *SHORT), "page"),
        (("sweep", "h3/fdr-8", "--vary", "message_bytes=8,64", *SHORT), "page.html"),
        (("validate", "h3", *SHORT), "page.html"),
        (("compare", "runs/a", "runs/b"), "page.html"),
        (("replay", "two.goal"), "page.html"),
        (("topology", "--preset", "dv202"), "page.html"),
        (("topology", "--preset", "dv202"), "page.graphml"),
    ],
)
def test_a_report_that_is_there_is_kept(typed, name, there, tmp_path):
    page = there(name)
    done = dvsim(*typed, "--report", name)
    assert done.returncode == 2
    assert name in done.stderr and "--overwrite" in done.stderr
    assert page.read_text() == "old"
    assert not (tmp_path / "runs").exists() and not (tmp_path / "sweeps").exists()


@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_figures_that_are_there_are_kept(form, there, tmp_path):
    there(f"page-rate-8.{form}")
    done = dvsim("run", "h3/fdr-8", *SHORT, "--report", f"page.{form}")
    assert done.returncode == 2 and f"page-rate-8.{form}" in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(("form", "name"), [((), "report.html"), (("--format", "md"), "report.md")])
def test_the_usual_name_of_a_report_is_kept_too(form, name, there, tmp_path):
    assert dvsim("run", "h3/fdr-8", *SHORT).returncode == 0
    assert dvsim("report", "h3/fdr-8", *form).returncode == 0
    first = (tmp_path / name).read_bytes()
    page = there(name)
    refused = dvsim("report", "h3/fdr-8", *form)
    assert refused.returncode == 2 and name in refused.stderr
    assert page.read_text() == "old"
    assert dvsim("report", "h3/fdr-8", *form, "--overwrite").returncode == 0
    assert page.read_bytes() != b"old" and len(page.read_bytes()) > len(first) / 2


@pytest.mark.parametrize(
    "typed",
    [("replay", "two.goal"), ("topology", "--preset", "dv202"), ("run", "h3/fdr-8", *SHORT)],
)
@pytest.mark.parametrize("first", [True, False])
def test_it_is_replaced_where_that_is_said(typed, first, there):
    page = there("page.html")
    more = ("--overwrite", "--report", "page.html")
    done = dvsim(*typed, *(more if first else (*more[1:], more[0])))
    assert done.returncode == 0, done.stderr
    assert page.read_text() != "old"


def test_what_is_no_file_is_not_kept(there):
    done = dvsim("topology", "--preset", "dv202", "--format", "json", "--report", "/dev/null")
    assert done.returncode in (0, 2) and "--overwrite" not in done.stderr
