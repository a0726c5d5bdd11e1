"""Does `dvsim run` answer, keep its answer, and fail cleanly? As a process where that matters."""

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness.in_process import dvsim
from harness.patience import patience
from harness.replies import Told

from dvsim.study.store import load_result

DVSIM = [sys.executable, "-m", "dvsim"]
SMALL = ["h3/fdr-8", "--scale", "0.01", "--replications", "2", "--workers", "1"]


def process(*arguments, **options):
    """Run a command as a process of its own."""
    return subprocess.run(
        [*DVSIM, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=patience(300),
        **options,
    )


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A small run: what the command said, and the folder of runs with the run in it."""
    out = tmp_path_factory.mktemp("kept")
    done = dvsim("run", *SMALL, "--out", out)
    assert done.returncode == 0, done.stderr
    (folder,) = result_folders(out)
    return done, out, folder


@pytest.fixture
def copied(kept, tmp_path):
    """The same, in a folder that may be changed."""
    done, out, folder = kept
    shutil.copytree(out, tmp_path / "copied")
    return done, tmp_path / "copied", tmp_path / "copied" / folder.relative_to(out)


def result_folders(out):
    return sorted(path.parent for path in Path(out).rglob("manifest.json"))


def leftovers(out):
    return [path for path in Path(out).rglob("*") if path.name.startswith(".")]


@pytest.fixture(scope="module")
def verbose(kept):
    """All that is printed of the small run."""
    return dvsim("run", *SMALL, "--out", kept[1], "--verbose").stdout


def test_the_answer_comes_first_and_is_all(kept):
    done, _, folder = kept
    title, answer, asked, where = done.stdout.splitlines()
    run = load_result(folder)
    assert title == "h3/fdr-8: H3, FDR InfiniBand, 8 B messages"
    payload = f"{run.amount('payload_rate').value / 1e6:.2f} MB/s"
    assert answer == f"  {run.rate}, {payload} (all receivers). Limit: {run.limit}"
    assert "200,000 messages of 8 B in each of 2 iterations, 0.01 of what h3/fdr-8 sends" in asked
    assert where == f"  kept in {folder}"


def test_prints_the_statistics_of_the_paper_and_keeps_a_folder(kept, verbose):
    done, _, folder = kept
    assert verbose.startswith(done.stdout)
    words = [line.split()[0] for line in verbose.splitlines() if line.strip()]
    wanted = ["count", "mean", "std", "min", "25%", "50%", "75%", "90%", "95%", "99%", "max"]
    assert [word for word in words if word in wanted] == wanted
    assert sorted(path.name for path in folder.iterdir()) == [
        "manifest.json",
        "samples.parquet",
        "scenario.toml",
        "values.parquet",
    ]
    assert "runs" in done.stderr


def test_published_values_stand_beside_the_simulated_ones(verbose):
    (mean,) = [line for line in verbose.splitlines() if line.split()[:1] == ["mean"]]
    assert "150,302.4" in mean and "142,114.5" in mean  # 8B_r1 and 8B_r2 in the paper


@pytest.mark.parametrize("fidelity", ["cycle", "flow"])
def test_a_run_over_the_data_vortex_says_what_its_fabric_was(tmp_path, fidelity):
    options = ["--replications", "1", "--workers", "1", "--out", str(tmp_path)]
    sets = ["--set", "workload.messages=1000", "--set", f"system.fidelity={fidelity}"]
    done = dvsim("run", "h3/dv-8", *sets, *options, "--verbose")
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("  fabric:")]
    assert line.startswith(f"  fabric: {fidelity} fidelity")
    page = tmp_path / "report.html"
    (folder,) = result_folders(tmp_path)
    assert dvsim("report", str(folder), "--report", str(page)).returncode == 0
    assert f"{fidelity} fidelity" in page.read_text(encoding="utf-8")


def test_the_same_question_is_answered_from_its_folder(kept):
    first, out, folder = kept
    stamp = (folder / "manifest.json").stat().st_mtime_ns
    second = dvsim("run", *SMALL, "--out", out)
    assert second.stdout == first.stdout
    assert (folder / "manifest.json").stat().st_mtime_ns == stamp
    assert second.stderr == ""


def test_force_runs_again_to_the_same_bytes(copied):
    _, out, folder = copied
    before = {name: (folder / name).read_bytes() for name in ("samples.parquet", "values.parquet")}
    stamp = (folder / "manifest.json").stat().st_mtime_ns
    done = dvsim("run", *SMALL, "--out", out, "--force")
    assert done.returncode == 0, done.stderr
    assert (folder / "manifest.json").stat().st_mtime_ns != stamp
    assert {name: (folder / name).read_bytes() for name in before} == before


def test_the_resolved_scenario_of_a_folder_repeats_the_run(tmp_path):
    dvsim("run", *SMALL, "--out", str(tmp_path / "a"), "--set", "system.publisher.processes=4")
    (folder,) = result_folders(tmp_path / "a")
    again = dvsim(
        "run",
        str(folder / "scenario.toml"),
        "--replications",
        "2",
        "--workers",
        "1",
        "--out",
        str(tmp_path / "b"),
    )
    assert again.returncode == 0, again.stderr
    (repeated,) = result_folders(tmp_path / "b")
    name = "samples.parquet"
    assert (repeated / name).read_bytes() == (folder / name).read_bytes()


def test_another_seed_is_another_run(kept, tmp_path):
    dvsim("run", *SMALL, "--out", tmp_path, "--seed", "2")
    (other,) = result_folders(tmp_path)
    assert other.name != kept[2].name
    name = "samples.parquet"
    assert (kept[2] / name).read_bytes() != (other / name).read_bytes()


def test_json_is_one_object_with_manifest_and_estimates(kept):
    done = dvsim("run", *SMALL, "--out", kept[1], "--json")
    told = Told(done.stdout)
    (run,) = told.facts["results"]
    assert run["scenario"] == "h3/fdr-8"
    assert run["manifest"]["seed"] == 1
    assert {row["component"] for row in told.of("messages.mean")} == {"r1", "r2"}
    rate, payload = (told.one(name, component="system") for name in ("rate", "payload_rate"))
    assert (rate["unit"], payload["unit"], rate["n"]) == ("1/s", "B/s", run["replications"])
    assert payload["value"] == pytest.approx(8 * rate["value"])
    busiest = max(row["value"] for row in told.of("utilisation", component="broker"))
    assert rate["busy"] == pytest.approx(busiest) and run["changed"] == []


def test_a_campaign_gives_one_report(tmp_path):
    report = tmp_path / "report.html"
    done = dvsim(
        "run", "h3/published", "--scale", "0.0005", "--replications", "1", "--workers", "1",
        "--out", str(tmp_path / "runs"), "--report", str(report),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(result_folders(tmp_path / "runs")) == 10
    head, columns, *rows, sentence, kept, said = done.stdout.splitlines()
    assert head.startswith("10 runs with 0.0005 of the messages of their scenarios; whole messages")
    assert columns.split() == ["run", "message", "msg/s", "±", "payload", "×", "TCP", "limit"]
    assert [row.split()[0] for row in rows][:3] == ["h3/dv-8", "h3/fdr-8", "h3/dv-256"]
    assert len(rows) == 10
    assert sentence.startswith("  Like for like, in whole messages over all receivers, the Data")
    for size in ("8 B", "256 B", "2 KiB", "8 KiB", "128 KiB"):
        assert f"at {size}" in sentence
    assert kept == f"  kept in {tmp_path / 'runs' / 'h3'}" and said == f"report: {report}"
    text = report.read_text(encoding="utf-8")
    assert "h3/dv-131072" in text and "h3/fdr-131072" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["h3/dv-7"], "h3/dv-7: no such scenario; did you mean"),
        ([*SMALL, "--set", "workload.mesages=5"], "--set: workload.mesages: unknown key"),
        ([*SMALL, "--set", "system.card.rate=4.4 GHz"], "system.card.rate: "),
        ([*SMALL, "--set", "workload.messages=0"], "workload.messages: "),
        ([*SMALL, "--set", "workload.message_bytes=-8"], "workload.message_bytes: "),
        ([*SMALL, "--set", "system.card=no-such-card"], "system.card: "),
        (
            ["h3/dv-131072", "--set", "system.card.sram=1 KiB"],
            "must fit in the card's SRAM of 1024 B",
        ),
        (["h3/dv-8", "--set", "system.receivers=5"], "is 5; with their senders they need 10 nodes"),
        (["h3/dv-8", "--set", "probe.kind=batch"], "is sampled by 'interval'"),
        ([*SMALL, "--set", "loop=open"], "messages_per_second: missing; an open loop has an"),
        ([*SMALL, "--set", "workload.messages_per_second=5"], "a closed loop has no offered load"),
        ([*SMALL, "--replications", "0"], "--replications: 0 is less than 1"),
        ([*SMALL, "--seed", "-1"], "--seed: -1 is negative"),
        ([*SMALL, "--scale", "0"], "--scale: 0 is not above 0"),
        ([*SMALL, "--replicatoins", "2"], "No such option"),
    ],
)
def test_wrong_input_is_said_and_nothing_is_written(arguments, message, tmp_path):
    done = dvsim("run", *arguments, "--out", str(tmp_path))
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_folder_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    done = dvsim("run", *SMALL, "--out", str(tmp_path / "file" / "runs"))
    assert done.returncode == 2
    assert f"cannot write {tmp_path / 'file' / 'runs'}" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_full_folder_leaves_no_half_written_result(tmp_path):
    def limit_file_size():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    # what counts lines would write its counts into a file, too
    env = {key: text for key, text in os.environ.items() if not key.startswith("COVERAGE_")}
    done = process("run", *SMALL, "--out", str(tmp_path), preexec_fn=limit_file_size, env=env)
    assert done.returncode == 1, done.stderr
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert result_folders(tmp_path) == []
    assert leftovers(tmp_path) == []


def test_the_same_scenario_is_run_and_printed_once(tmp_path):
    done = dvsim("run", "h3/fdr-8", *SMALL, "--out", str(tmp_path))
    assert done.stdout.count("h3/fdr-8: ") == 1
    assert "done: 2/2 runs" in done.stderr  # two iterations, two replications


def test_one_replication_has_no_interval(tmp_path):
    done = dvsim("run", *SMALL, "--replications", "1", "--out", str(tmp_path), "--verbose")
    (mean,) = [line.split() for line in done.stdout.splitlines() if line.split()[:1] == ["mean"]]
    assert mean[2] == mean[5] == "-"
    assert "±" not in done.stdout.splitlines()[1]
    assert "1 replication, which says nothing about the spread between runs" in done.stdout


def test_an_edited_run_folder_is_not_believed(copied):
    _, out, folder = copied
    with (folder / "scenario.toml").open("a") as file:
        file.write("# mine\n")
    done = dvsim("run", *SMALL, "--out", out)
    assert done.returncode == 1
    assert done.stderr.endswith("run it again with --force or delete it\n")
    assert dvsim("run", *SMALL, "--out", out, "--force").returncode == 0


@pytest.mark.parametrize(
    ("report", "message"),
    [("", "the name of the file is empty"), (".", "File '.' is a directory")],
)
def test_a_report_that_is_no_file_is_refused_before_the_run(report, message, tmp_path):
    done = dvsim("run", *SMALL, "--out", str(tmp_path), "--report", report)
    assert done.returncode == 2
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_empty_name_is_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = dvsim("run", *SMALL, "--out", "")
    assert done.returncode == 2
    assert "the name of the folder is empty" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_report_can_go_to_a_pipe(kept, tmp_path):
    link = tmp_path / "stdout"  # a defect would replace it: never name a device itself here
    link.symlink_to("/dev/stdout")
    done = process("run", *SMALL, "--out", str(kept[1]), "--report", str(link))
    assert done.stdout.startswith("<!DOCTYPE html>")
    assert done.stdout.endswith(f"report: {link}\n")
    assert link.is_symlink()


# --- streams that nobody reads ---------------------------------------------------------------


def redirected(how, *arguments):
    command = ["bash", "-c", f'"$@" {how}', "-", *DVSIM, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=patience(300)
    )


@pytest.mark.parametrize(
    ("how", "workers"), [(">&-", "1"), ("2>&-", "1"), ("<&- >&- 2>&-", "2"), ("2>/dev/full", "1")]
)
def test_a_closed_stream_does_not_fail_a_run(kept, how, workers, tmp_path):
    done = redirected(how, "run", *SMALL, "--workers", workers, "--out", str(tmp_path))
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    (folder,) = result_folders(tmp_path)
    assert sorted(path.suffix for path in folder.iterdir()).count(".parquet") == 2
    for name in ("samples.parquet", "values.parquet"):  # and so by two workers as by none
        assert (folder / name).read_bytes() == (kept[2] / name).read_bytes()


@pytest.mark.parametrize(
    ("how", "code"), [(">&-", 0), ("2>&-", 0), (">/dev/full", 1), ("> /dev/full 2>&1", 1)]
)
def test_a_list_that_nobody_can_read_is_no_defect(how, code):
    done = redirected(how, "list")
    assert done.returncode == code
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("how", ["2>&-", "2>/dev/full"])
def test_an_error_that_nobody_can_read_keeps_its_exit_code(how):
    assert redirected(how, "run", "h3/dv-7").returncode == 2
