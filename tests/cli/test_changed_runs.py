"""Is a run that was changed named by it, set beside the unchanged one, and not judged?"""

import pytest
from harness.in_process import dvsim
from harness.replies import Told

from dvsim.study.changes import changes_of
from dvsim.study.store import load_result

SMALL = ["h3/fdr-8", "--scale", "0.002", "--replications", "2", "--workers", "1"]
SET = ["--set", "system.publisher.processes=4"]
NAME = "h3/fdr-8 with 4 processes"


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The changed run, with its page, where the unchanged one is not kept."""
    out = tmp_path_factory.mktemp("changed")
    page = out / "page.html"
    done = dvsim("run", *SMALL, *SET, "--out", out, "--report", page)
    assert done.returncode == 0, done.stderr
    return done.stdout, out, page


def test_the_title_says_what_was_set(alone):
    assert alone[0].startswith(f"{NAME}\n")
    assert "times h3/fdr-8" not in alone[0]


def test_it_is_not_held_against_what_was_published(alone):
    text = alone[2].read_text(encoding="utf-8")
    assert "published columns are reproduced" not in text
    assert "claims of the source" not in text
    assert "Nothing was compared with published data" in text
    done = dvsim("run", *SMALL, *SET, "--out", alone[1], "--verbose")
    assert " mean " in done.stdout and "published" not in done.stdout


def test_the_report_of_kept_runs_does_not_judge_it_either(alone, tmp_path):
    (folder,) = [path.parent for path in alone[1].rglob("manifest.json")]
    done = dvsim("report", folder, "--report", tmp_path / "page.md")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "page.md").read_text()
    assert "Nothing was compared with published data" in text
    assert text.startswith(f"# {NAME}\n")


def test_the_unchanged_run_is_made_if_that_is_asked_and_used_if_it_is_kept(tmp_path):
    first = dvsim("run", *SMALL, *SET, "--out", tmp_path, "--baseline")
    assert first.returncode == 0, first.stderr
    *_, said = first.stdout.splitlines()
    assert said.startswith(f"{NAME}: ") and " times h3/fdr-8, which gives " in said
    again = dvsim("run", *SMALL, *SET, "--out", tmp_path)
    assert again.stdout.splitlines()[-1] == said
    assert again.stderr == ""  # both were kept
    folders = [path.parent for path in tmp_path.rglob("scenario.toml")]
    (base,) = [folder for folder in folders if not changes_of(load_result(folder).scenario).said]
    (base / "scenario.toml").write_text("damaged")
    alone = dvsim("run", *SMALL, *SET, "--out", tmp_path)
    assert alone.returncode == 0, alone.stderr
    assert " times h3/fdr-8" not in alone.stdout


def test_json_says_what_was_changed_and_has_the_unchanged_run(tmp_path):
    done = dvsim("run", *SMALL, *SET, "--out", tmp_path, "--baseline", "--json")
    told = Told(done.stdout)
    assert [one["changed"] for one in told.facts["results"]] == [["4 processes"], []]
    row, base = told.of("rate")
    assert (row["against"], row["other"], base["against"]) == (base["point"], base["value"], None)
    assert row["change_low"] < row["ratio"] < row["change_high"] and row["by"] == "paired"
    assert row["ratio"] == pytest.approx(row["value"] / base["value"], rel=0.05)
    said = dvsim("run", *SMALL, *SET, "--out", tmp_path).stdout.splitlines()[-1]
    assert f": {row['ratio']:.2f}"[:5] in said  # the same ratio


def test_json_has_each_metric_of_a_study_beside_the_unchanged_one(tmp_path):
    asked = ["switch/zero-load", "--scale", "0.005", "--replications", "2", "--workers", "1"]
    asked += ["--set", "traffic.load=0.2", "--out", tmp_path, "--baseline", "--json"]
    told = Told(dvsim("run", *asked).stdout)
    assert [one["changed"] for one in told.facts["results"]] == [["load 0.2"], []]
    for row in told.of("throughput", result=0):
        assert row["change_low"] < row["ratio"] < row["change_high"] and row["by"] == "paired"


def test_with_a_precision_the_ratio_is_as_precise(tmp_path):
    asked = [word for word in SMALL if word not in ("--replications", "2")]
    asked += [*SET, "--out", tmp_path, "--baseline", "--precision"]
    done = dvsim("run", *asked, "10%", "--json")
    assert done.returncode == 0, done.stderr
    told = Told(done.stdout)
    times, _ = told.of("rate")
    known = told.facts["precision"]
    assert [one["what"] for one in known] == ["ratio", "ratio"]
    assert len({run["replications"] for run in told.facts["results"]}) == 1
    assert times["change_high"] / times["ratio"] - 1 == pytest.approx(known[0]["share"])
    assert known[0]["share"] <= 0.1
    *_, last = dvsim("run", *asked, "0.1").stdout.splitlines()
    assert last.startswith(f"{NAME}: ratio ± ") and last.endswith(" replications")


def test_a_study_is_set_beside_the_unchanged_one(tmp_path):
    asked = ["switch/zero-load", "--scale", "0.005", "--replications", "2", "--workers", "1"]
    asked += ["--set", "traffic.load=0.2", "--out", tmp_path]
    done = dvsim("run", *asked, "--baseline")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("switch/zero-load with load 0.2\n")
    assert "  traffic.load  0.01  0.2" in done.stdout
