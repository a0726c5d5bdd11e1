"""Does `dvsim run --trace` write a timeline beside results that are what they were without it?"""

import pytest
from harness.in_process import dvsim
from trace_rules import check_trace, load_trace

SMALL = ["h3/dv-8", "--scale", "0.0005", "--replications", "2", "--workers", "1"]


def results(out):
    names = ("samples.parquet", "values.parquet", "scenario.toml")
    return {path.name: path.read_bytes() for path in out.rglob("*") if path.name in names}


def test_the_results_are_the_same_bytes_with_and_without(tmp_path):
    trace = tmp_path / "t.json.gz"
    alone = dvsim("run", *SMALL, "--out", str(tmp_path / "alone"))
    traced = dvsim("run", *SMALL, "--out", str(tmp_path / "traced"), "--trace", str(trace))
    assert traced.returncode == 0, traced.stderr
    assert len(results(tmp_path / "alone")) == 3
    assert results(tmp_path / "alone") == results(tmp_path / "traced")
    assert traced.stdout.replace("traced", "alone") == alone.stdout
    found = load_trace(trace)
    check_trace(found)
    facts = found["metadata"]
    assert [facts[name] for name in ("scenario", "seed", "replication", "iteration")] == [
        "h3/dv-8", 1, 1, 1,
    ]  # fmt: skip
    assert f"trace: {trace}: " in traced.stderr and "replication 1, iteration 1" in traced.stderr
    first = trace.read_bytes()
    kept = dvsim("run", *SMALL, "--out", str(tmp_path / "traced"), "--trace", str(trace))
    assert "iterations" not in kept.stderr  # the answer was kept, the timeline is made again
    assert trace.read_bytes() == first


def test_the_limit_is_kept_and_said(tmp_path):
    trace = tmp_path / "t.json"
    asked = ["--trace", str(trace), "--trace-limit", "40 kB", "--out", str(tmp_path)]
    done = dvsim("run", *SMALL, "--scale", "0.005", *asked)
    assert trace.stat().st_size <= 40_000
    assert "trace: not every event fits into --trace-limit; kept: " in done.stderr
    assert check_trace(load_trace(trace)) and load_trace(trace)["metadata"]["sampled"]


def test_of_a_study_the_first_point_is_traced(tmp_path):
    trace = tmp_path / "t.json"
    done = dvsim("run", "switch/record", "--out", str(tmp_path), "--trace", str(trace),
                 "--replications", "1")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert check_trace(load_trace(trace))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["h3/dv-8", "h3/dv-16"], "--trace: is of one scenario; 2 were named: h3/dv-8, h3/dv-16"),
        (
            ["switch/load-latency"],
            "switch/load-latency: cannot be traced: records nothing; give it a table",
        ),
        (["h3/dv-8", "--trace-limit", "3 apples"], "--trace-limit: 'apples' is not a unit of size"),
        (["h3/dv-8", "--trace-limit", "3 kB"], "at least 20 kB"),
    ],
)
def test_what_cannot_be_traced_is_refused_before_it_runs(tmp_path, arguments, said):
    asked = ["--trace", str(tmp_path / "t"), "--out", str(tmp_path / "runs")]
    done = dvsim("run", *arguments, *asked)
    assert done.returncode == 2
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_limit_without_a_trace_is_refused():
    done = dvsim("run", "h3/dv-8", "--trace-limit", "1 MB")
    assert done.returncode == 2 and "--trace-limit goes with --trace" in done.stderr


def test_a_trace_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    asked = ["--trace", str(tmp_path / "file" / "t.json"), "--out", str(tmp_path / "runs")]
    done = dvsim("run", *SMALL, *asked)
    assert done.returncode == 2
    assert f"'{tmp_path / 'file'}' is not a directory" in done.stderr
