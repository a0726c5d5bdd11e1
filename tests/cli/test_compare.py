"""Does `dvsim compare` put kept runs side by side, say what differs, and refuse what cannot be?

It is what docs/emulated-runs.md shows.
"""

import json
import os

import pytest
from harness.built import built, counters_of
from harness.in_process import dvsim
from harness.replies import Told

from dvsim.contract.load import load
from dvsim.session import run_scenarios
from dvsim.study.folder import run_folder
from dvsim.study.lookup import folders_of
from dvsim.study.number_text import estimate_texts
from dvsim.study.store import first_of, load_result, write_result
from dvsim.table.compare import side_by_side
from dvsim.table.manifest import Manifest
from dvsim.view.comparison import sides_of
from dvsim.view.overlaid import distribution, series

SCENARIO = load("h3/fdr-8", ["workload.messages=20_000"])
LARGER = load("h3/fdr-256", ["workload.messages=20_000"])


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A folder with two simulated runs, and one that says that it is emulated."""
    root = tmp_path_factory.mktemp("kept") / "runs"
    first, second = run_scenarios([SCENARIO, LARGER], out=root, replications=2, workers=1)
    question = {"clusters": 2, "nodes": 1, "promise": "at most once"}
    whole = first.sides["samples"]
    faster = whole.assign(duration_ps=whole["duration_ps"] // 2)
    emulated = built(
        first.scenario,
        faster[faster["replication"] == 1].reset_index(drop=True),
        counters_of(first_of(first, 1)),
        Manifest.model_validate(
            first.manifest.plain()
            | {"backend": "emu", "replications": 1, "emulated": {"question": question}}
        ),
    )
    folder = run_folder(root, SCENARIO, first.manifest.version, 1, "emu", question)
    return root, first, second, write_result(emulated, folder)


def mean_of(run, column):
    return run.by_metric[column, 0, "messages.mean"].value


def test_the_newest_run_of_each_backend_stands_beside_the_other(kept):
    root, first, _, emulated = kept
    done = dvsim("compare", "h3/fdr-8", "--runs", root)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("1  sim  h3/fdr-8: ")
    assert lines[3].startswith("2  emu  h3/fdr-8, emulated: ")
    assert lines[1].startswith(f"  {first.rate}, ")
    assert lines[4].startswith(f"  {emulated.rate}, ") and lines[4].endswith(" times 1")
    assert str(first.folder) in lines[2] and str(emulated.folder) in lines[5]
    differs = next(line for line in lines if line.split()[:1] == ["backend"])
    assert differs.split() == ["backend", "sim", "emu"]
    means = [line.split() for line in lines if line.split()[:1] == ["mean"]]
    assert len(means) == 2  # r1 and r2
    for column, words in zip(("r1", "r2"), means, strict=True):
        known = first.by_metric[column, 0, "messages.mean"]
        assert words[1:3] == list(estimate_texts(known.value, known.half))
        assert words[3] == f"{mean_of(emulated, column):,.0f}"
        assert words[4] == "–"  # one replication has no interval
        ratio = mean_of(emulated, column) / mean_of(first, column)
        assert float(words[5]) == pytest.approx(ratio, rel=5e-3)
        assert words[6:] == []
    assert "  2/1: no interval" in lines


def test_other_message_sizes_are_said_and_compared_by_bytes_too(kept):
    root, first, second, _ = kept
    done = dvsim("compare", first.folder, second.folder, "--runs", root)
    assert done.returncode == 0, done.stderr
    assert ["workload.message_bytes", "8", "256"] in map(str.split, done.stdout.splitlines())
    (line,) = [line for line in done.stdout.splitlines() if line.split()[:1] == ["MB/s"]]
    (other,) = [line for line in done.stdout.splitlines() if line.split()[:1] == ["msg/s"]]
    (messages, spread), (payload, same) = (words.split()[-3::2] for words in (other, line))
    assert float(payload) == pytest.approx(32 * float(messages), rel=0.01)
    assert spread == same and spread.endswith("%")
    assert "2/1: paired over replications: seed 1 drew the same numbers for both" in done.stdout
    assert [
        line for line in done.stdout.splitlines() if len(line) > 100 and "/runs/" not in line
    ] == []


def test_runs_are_named_by_what_differs(tmp_path):
    asked = ["h3/fdr-8", "--scale", "0.0005", "--workers", "1", "--out", tmp_path]
    for more in (
        ["--replications", "2"],
        ["--replications", "2", "--set", "system.publisher.processes=4"],
        ["--replications", "2", "--seed", "2"],
    ):
        assert dvsim("run", *asked, *more).returncode == 0
    done = dvsim("compare", "h3/fdr-8", "--last", "3", "--runs", tmp_path)
    assert done.returncode == 0, done.stderr
    names = [line.split("  ")[2] for line in done.stdout.splitlines() if "  sim  " in line]
    assert [name.split(": ")[0] for name in names] == [
        "h3/fdr-8, seed 1",
        "h3/fdr-8 with 4 processes",
        "h3/fdr-8, seed 2",
    ]


def test_json_has_every_value_with_its_interval(kept):
    root, first, second, emulated = kept
    folders = [first.folder, second.folder, emulated.folder]
    done = dvsim("compare", *folders, "--runs", root, "--json")
    told = Told(done.stdout)
    assert [run["backend"] for run in told.facts["results"]] == ["sim", "sim", "emu"]
    assert [point["origin"] for point in told.points] == ["sim", "sim", "emu"]

    def rows(metric):
        own = told.of(metric, component="r1")
        assert [row["result"] for row in own] == [0, 1, 2]
        return own

    one, two, three = rows("messages.mean")
    assert one["unit"] == "1/s" and one["low"] < one["value"] < one["high"]
    assert three["low"] == three["high"] and (one["n"], three["n"]) == (2, 1)
    assert (one["against"], one["ratio"], one["verdict"]) == (None, None, None)
    assert (two["against"], two["by"], two["verdict"]) == (0, "paired", "falls")
    assert two["change_low"] < two["ratio"] < two["change_high"] < 1
    assert (three["change_low"], three["change_high"], three["by"]) == (None, None, "")
    share = rows("messages.empty")[1]
    assert share["ratio"] is None and share["difference"] is not None
    assert [item["what"] for item in told.facts["differences"]][:2] == ["backend", "scenario"]


def test_the_page_overlays_distributions_and_series(kept, tmp_path):
    root, _, _, _ = kept
    page = tmp_path / "compared.html"
    done = dvsim("compare", "h3/fdr-8", "--runs", root, "--report", page)
    assert done.stdout.splitlines()[-1] == f"report: {page}"
    text = page.read_text(encoding="utf-8")
    assert "2 runs side by side" in text
    for name in ("distribution-0", "distribution-1", "series-0", "series-1", "forest-0"):
        assert f'id="{name}"' in text
    assert text.count("1 h3/fdr-8") > 4 and text.count("2 h3/fdr-8, emulated") > 4


def test_a_page_of_text_has_the_numbers_of_the_terminal(kept, tmp_path):
    root, first, second, _ = kept
    page = tmp_path / "compared.md"
    asked = ("compare", first.folder, second.folder, "--runs", root, "--report", page)
    lines = dvsim(*asked).stdout.splitlines()
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# 2 runs side by side\n")
    (rate,) = [line.split(maxsplit=5) for line in lines if line.split()[:1] == ["msg/s"]]
    assert f"| {' | '.join(rate)} |" in text
    assert "\n## Distributions\n" in text and "Distributions" not in lines


def test_a_distribution_is_of_steps_and_a_single_average_is_a_point(kept):
    _, first, _, other = kept
    found = side_by_side([first, other])
    drawn = distribution(sides_of(found), "r1", "messages", "d")
    assert drawn.frame["line"].nunique() == 2
    assert (drawn.frame.groupby("line")["y"].last() == 1).all()
    drawn = series(
        sides_of(found), "r1", "messages", "s"
    )  # four samples: fewer than an average has
    assert drawn.described["layer"][-1]["mark"]["type"] == "point"


def test_what_cannot_be_compared(kept, tmp_path):
    root, first, _, _ = kept
    cases = {
        ("h3/fdr-9",): "h3/fdr-9: no such folder, and no kept run of that name in",
        ("h3/fdr-256",): "h3/fdr-256: a comparison needs two runs; here is one:",
        (first.folder, first.folder): "a comparison needs two runs; here is one:",
        ("h3/dv-8",): f"h3/dv-8: no kept run of it in {root}; 'dvsim run h3/dv-8' makes one",
        (tmp_path,): f"{tmp_path}: is a folder without a run",
    }
    for names, message in cases.items():
        done = dvsim("compare", *names, "--runs", root)
        assert (done.returncode, message in done.stderr) == (2, True), done.stderr
    near = dvsim("compare", "h3/fdr-9", "--runs", root)
    assert "did you mean 'h3/fdr-8'?" in near.stderr or "'h3/fdr-256'?" in near.stderr
    assert dvsim("compare", "x", "--runs", tmp_path / "nowhere").returncode == 2


def test_two_runs_of_one_scenario(kept, tmp_path):
    """A name is the newest of each backend; --last takes what was made last, the older first."""
    _, first, second, _ = kept
    import shutil

    root = tmp_path / "runs"
    for run in (first, second):
        shutil.copytree(run.folder, root / "mine" / run.folder.name)
    one = dvsim("compare", "mine", "--runs", root)
    assert one.returncode == 2
    assert f"also kept: {root / 'mine'}/" in one.stderr
    assert "name two, or take --last 2, the two that were made last" in one.stderr
    both = dvsim("compare", "mine", "--runs", root, "--last", "2")
    assert both.returncode == 0, both.stderr
    started = [run.manifest.started for run in (first, second)]
    shown = both.stdout.index(first.folder.name) < both.stdout.index(second.folder.name)
    assert started[0] == started[1] or shown == (started[0] < started[1])
    many = dvsim("compare", "mine", "--runs", root, "--last", "3")
    assert many.returncode == 2 and "--last: 2 of mine are kept in" in many.stderr


def test_runs_of_one_second_are_in_the_order_in_which_they_were_kept(tmp_path):
    scenario = load("h3/fdr-256", ["workload.messages=100"])
    made = []
    for seed in (1, 2, 3):
        how = {"seed": seed, "replications": 1, "out": tmp_path, "workers": 1}
        made += [run.folder for run in run_scenarios([scenario], **how)]
    for order in (made, made[::-1]):
        for number, folder in enumerate(order):
            path = folder / "manifest.json"
            manifest = json.loads(path.read_text("utf-8"))
            path.write_text(json.dumps(manifest | {"started": "2026-11-20T12:00:00+00:00"}))
            os.utime(path, ns=(0, number))
        assert folders_of("h3/fdr-256", tmp_path, 2) == order[1:]
        assert folders_of("h3/fdr-256", tmp_path) == order[2:]


def test_where_nothing_is_shared_the_metrics_of_each_are_named(kept):
    root, _, _, _ = kept
    study = load("switch/zero-load", ["traffic.slots=100"])
    run_scenarios([study], out=root, replications=2, workers=1)
    done = dvsim("compare", "h3/fdr-256", "switch/zero-load", "--runs", root)
    assert done.returncode == 2
    assert "they share no metrics: h3/fdr-256" in done.stderr
    assert "has delivered_rate (1/s), payload_rate (B/s), " in done.stderr
    assert "; switch/zero-load" in done.stderr and "throughput (packets/slot/input)" in done.stderr


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A sweep of two points, the same with one other point, and the runs below them."""
    folder = tmp_path_factory.mktemp("swept")
    few = ("--scale", "0.002", "--replications", "2", "--workers", "1")
    keep = ("--out", folder / "runs", "--sweeps", folder / "sweeps")
    sizes = [("8", "256"), ("8", "2048")]
    for values in sizes:
        vary = f"workload.message_bytes={','.join(values)}"
        done = dvsim("sweep", "h3/fdr-8", "--vary", vary, *few, *keep)
        assert done.returncode == 0, done.stderr
    return folder, sorted((folder / "sweeps" / "h3").iterdir())


def test_the_point_of_a_sweep_with_its_values_stands_beside_a_run(swept):
    folder, sweeps = swept
    (run,) = [
        path
        for path in (folder / "runs" / "h3" / "fdr-8").iterdir()
        if load_result(path).scenario.workload.message_bytes == 8
    ]
    done = dvsim("compare", run, sweeps[0], "--json")
    assert done.returncode == 0, done.stderr
    found = Told(done.stdout)
    assert [one["backend"] for one in found.facts["results"]] == ["sim", "sweep"]
    same, other = found.of("delivered_rate", result=1)  # the first is of the same run
    assert (same["ratio"], same["change_low"], same["by"]) == (1, 1, "paired")
    assert (same["message_bytes"], same["verdict"], other["against"]) == (8, "equal", None)
    text = dvsim("compare", run, sweeps[0], "--report", folder / "page.html").stdout
    assert "  1 point is in all of them." in text.splitlines()
    assert "  2/1: paired over replications: seed 1 drew the same numbers for both" in text
    page = (folder / "page.html").read_text("utf-8")
    assert "2 results side by side" in page


def test_a_run_has_its_own_value_of_a_number_of_a_card_that_a_sweep_varies(tmp_path):
    few = ("--scale", "0.002", "--replications", "2", "--workers", "1")
    keep = ("--out", tmp_path / "runs")
    sweep = ("sweep", "h3/fdr-8", "--vary", "processes=2,4", *few, *keep)
    assert dvsim(*sweep, "--sweeps", tmp_path / "sweeps").returncode == 0
    assert dvsim("run", "h3/fdr-8", "--set", "processes=1", *few, *keep).returncode == 0
    (kept,) = (tmp_path / "sweeps" / "h3").iterdir()
    refused = dvsim("compare", "h3/fdr-8", kept, "--runs", tmp_path / "runs")
    assert refused.returncode == 2 and "is at processes 1;" in refused.stderr
    assert (
        dvsim("run", "h3/fdr-8", "--set", "processes=4", "--seed", "2", *few, *keep).returncode == 0
    )
    text = dvsim("compare", "h3/fdr-8", kept, "--runs", tmp_path / "runs").stdout
    assert "  1 point is in all of them." in text.splitlines()
    assert "system.publisher.processes" not in text  # the sweep has no one value of it


def test_sweeps_are_matched_by_what_they_vary(swept):
    _, sweeps = swept
    rows = Told(dvsim("compare", *sweeps, "--json").stdout).of("delivered_rate", result=1)
    assert [row["message_bytes"] for row in rows if row["against"] is not None] == [8]
    assert len(rows) == 2


def test_a_number_of_a_card_that_one_sweep_varies_is_known_of_the_other(swept):
    folder, sweeps = swept
    few = ("--scale", "0.002", "--replications", "2", "--workers", "1")
    keep = ("--out", folder / "runs", "--sweeps", folder / "links")
    vary = ("--vary", "system.card.latency=20us,40us")
    done = dvsim("sweep", "h3/fdr-8", *vary, *few, *keep)
    assert done.returncode == 0, done.stderr
    (links,) = (folder / "links" / "h3").iterdir()
    found = Told(dvsim("compare", sweeps[0], links, "--json").stdout)
    same, other = found.of("delivered_rate", result=1)
    assert (same["latency"], same["verdict"], other["against"]) == (20e-6, "equal", None)
    assert (same["value"], same["ratio"]) == (same["other"], 1)


def test_a_report_is_of_one_sweep_alone(swept, tmp_path):
    folder, sweeps = swept
    (run, *_) = (folder / "runs" / "h3" / "fdr-8").iterdir()
    page = tmp_path / "page.html"
    done = dvsim("report", sweeps[0], "--report", page)
    assert (done.returncode, done.stdout) == (0, f"{page}\n"), done.stderr
    assert "<title>h3/fdr-8: 2 points</title>" in page.read_text("utf-8")
    for form in ("csv", "parquet"):
        file = tmp_path / f"page.{form}"
        assert dvsim("report", sweeps[0], "--report", file).returncode == 0
        assert file.read_bytes() == (sweeps[0] / f"points.{form}").read_bytes()
    both = dvsim("report", run, sweeps[0], "--report", tmp_path / "both.md")
    assert (both.returncode, both.stdout) == (2, "")
    assert f"{sweeps[0]}: is a sweep, and {run} a run: a page is of runs and" in both.stderr
    assert f"'dvsim compare {run} {sweeps[0]}' puts them side by side" in both.stderr
    two = dvsim("report", *sweeps)
    assert f"is a sweep, and {sweeps[1]} another:" in two.stderr
    fitted = dvsim("report", sweeps[0], "--sensitivity", folder)
    assert "--sensitivity: the page of a sweep has its own" in fitted.stderr
    assert load_result(sweeps[0]).swept


def test_a_sweep_whose_runs_are_gone_is_compared_all_the_same(swept, tmp_path):
    import shutil

    _, sweeps = swept
    lone = shutil.copytree(sweeps[0], tmp_path / sweeps[0].name)
    manifest = json.loads((lone / "manifest.json").read_text("utf-8"))
    manifest["swept"]["runs"] = str(tmp_path / "gone")
    (lone / "manifest.json").write_text(json.dumps(manifest))
    done = dvsim("compare", sweeps[0], lone, "--json")
    assert done.returncode == 0, done.stderr
    told = Told(done.stdout)
    held = [row for row in told.rows if row["result"] == 1 and row["verdict"]]
    changes = [row["difference" if row["ratio"] is None else "ratio"] for row in held]
    assert changes and set(changes) <= {0, 1}


def test_a_damaged_run_is_no_side_of_a_comparison(kept, tmp_path):
    _, first, second, _ = kept
    import shutil

    broken = shutil.copytree(first.folder, tmp_path / "broken")
    (broken / "samples.parquet").write_bytes(b"")
    done = dvsim("compare", broken, second.folder)
    assert done.returncode == 1
    assert "samples.parquet is truncated or changed" in done.stderr
