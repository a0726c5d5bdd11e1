"""Has each point of a sweep the replications that its precision needs, and the same bytes then?"""

import pytest
from harness.in_process import dvsim
from harness.replies import Told

import dvsim as library
from dvsim.contract.load import load
from dvsim.errors import ScenarioError
from dvsim.session import run_scenarios
from dvsim.study.precision import MOST, reached
from dvsim.study.store import load_result
from dvsim.study.sweep import prepare, run
from dvsim.study.sweeps import executors
from dvsim.study.sweeps.grid import plan
from dvsim.study.swept import by_point

VARY = ["workload.message_bytes=8,2048", "system.publisher.run_spread=0.005,0.03"]
PRECISION = 0.02
NAMES = ("points.parquet", "values.parquet", "points.csv")


@pytest.fixture
def sweep(desk):
    def make(precision=PRECISION):
        return prepare(desk / "tcp.toml", plan(VARY), precision=precision)

    return make


def kept(tmp_path, name):
    return {"out": tmp_path / name / "runs", "sweeps": tmp_path / name / "sweeps"}


def tables(swept):
    return [(swept.folder / name).read_bytes() for name in NAMES]


def test_each_point_is_that_of_a_run_of_the_same_precision(sweep, tmp_path):
    asked = sweep()
    table = by_point(run(asked, workers=1, **kept(tmp_path, "a")))
    assert table["replications"].nunique() > 1  # the points do not need equally many
    for number, one in enumerate(asked.trials):
        (alone,) = run_scenarios(
            [one.scenario], precision=PRECISION, out=tmp_path / "alone", workers=1
        )
        row = table.loc[number]
        assert row["replications"] == alone.replications
        assert row["precision"] == reached([alone])[0].share
        assert row["delivered_rate"] == alone.rate.value
        folder = tmp_path / "a/runs" / row["run"]
        same = folder.relative_to(tmp_path / "a/runs") == alone.folder.relative_to(
            tmp_path / "alone"
        )
        assert same
        for name in ("samples.parquet", "values.parquet", "scenario.toml"):
            assert (folder / name).read_bytes() == (alone.folder / name).read_bytes()


def test_the_same_bytes_for_any_number_of_workers(sweep, tmp_path):
    one = run(sweep(), workers=1, **kept(tmp_path, "one"))
    two = run(sweep(), workers=2, **kept(tmp_path, "two"))
    assert tables(one) == tables(two)
    assert one.folder.name == two.folder.name
    assert load_result(two.folder).asked.precision == PRECISION
    assert two.manifest.replications == one.manifest.replications


def test_what_is_kept_is_not_run_again_and_a_finer_question_goes_on_from_it(
    sweep, tmp_path, monkeypatch
):
    coarse = run(sweep(0.1), workers=1, **kept(tmp_path, "a"))
    done = []
    work = executors.work

    def counted(chunk):
        done.extend((one.number, one.times) for one in chunk.trials)
        return work(chunk)

    monkeypatch.setattr(executors, "work", counted)
    again = run(sweep(0.1), workers=1, **kept(tmp_path, "a"))
    assert done == [] and tables(again) == tables(coarse)
    fine = run(sweep(), workers=1, **kept(tmp_path, "a"))
    needed = zip(by_point(coarse)["replications"], by_point(fine)["replications"], strict=True)
    assert sorted(done) == [
        (number, times) for number, (had, times) in enumerate(needed) if times > had
    ]
    assert done
    assert tables(fine) == tables(run(sweep(), workers=1, **kept(tmp_path, "b")))


def test_a_switch_is_known_as_well_at_each_of_its_points(tmp_path):
    asked = ["traffic.slots=60", "traffic.warmup=0"]
    points = plan(["traffic.load=0.1,0.2"])
    ready = prepare("switch/load-latency", points, overrides=asked, precision=0.1)
    found = by_point(run(ready, workers=1, **kept(tmp_path, "s")))
    half = (found["throughput_high"] - found["throughput"]) / found["throughput"]
    assert found["precision"].tolist() == pytest.approx(half.tolist())
    for _, rows in found.groupby("traffic.load"):
        times = rows["replications"].unique()
        assert len(times) == 1
        assert 3 <= times[0] <= MOST
    scenario = load("switch/load-latency", ["traffic.load=0.1", *asked])
    (alone,) = run_scenarios([scenario], precision=0.1, out=None, workers=1)
    assert found["replications"][0] == alone.replications


def test_a_ping_is_known_by_its_latency_since_it_has_no_rate():
    asked = ["workload.messages=40", "vary=[{message_bytes=[64]}]"]
    scenario = load("zeromq/latency", asked)
    assert scenario.workload.mode == "ping"
    (found,) = run_scenarios([scenario], precision=0.5, out=None, workers=1)
    assert reached([found])[0].what == "latency"


def test_the_verb_says_how_many_there_were_and_what_was_not_reached(desk, monkeypatch):
    monkeypatch.chdir(desk.path)
    words = ["sweep", "tcp.toml", "--workers", "1"]
    words += [word for text in VARY for word in ("--vary", text)]
    done = dvsim(*words, "--precision", "2%")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("tcp: 4 points, seed 1, 3 to ")
    assert " replications of a point, for a precision of 2%; ± is half" in lines[0]
    assert any(line.split()[-2:] == ["replications", "limit"] for line in lines)
    told = Told(dvsim(*words, "--precision", "0.02", "--json").stdout)
    assert told.facts["results"][0]["manifest"]["swept"]["precision"] == 0.02
    assert all(3 <= row["n"] <= MOST for row in told.of("delivered_rate"))
    assert len(told.of("delivered_rate")) == 4
    narrow = dvsim(*words, "--precision", "0.1%")
    said = [line for line in narrow.stdout.splitlines() if "not within 0.1%" in line]
    assert said and all(f" with {MOST} replications, not within" in line for line in said)
    dry = dvsim(*words, "--precision", "2%", "--dry-run").stdout.splitlines()
    assert all(line.endswith("kept") for line in dry[1:-1])
    assert dry[-1].endswith("3 to 30 replications each, for a precision of 2%")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--precision", "5"], "--precision: 5 is not a share from 0.001 to 0.5"),
        (["--precision", "5%", "--replications", "3"], "give it or --replications"),
        (["--precision", "5%", "--quick"], "--quick"),
        (["--precision", "5%", "--sensitivity"], "--precision: has no meaning with --sensitivity"),
    ],
)
def test_what_cannot_be_is_refused(more, said):
    try:
        done = dvsim("sweep", "h3/fdr-8", "--vary", "workload.messages=1000,2000", *more)
    except ScenarioError as error:
        assert said in str(error)
    else:
        assert done.returncode == 2
        assert said in done.stderr


def test_in_python_it_is_asked_for_in_the_same_words(desk):
    swept = library.sweep(desk / "tcp.toml", {"messages": [500, 1000]}, precision=0.3)
    assert by_point(swept)["precision"].max() <= 0.3
    with pytest.raises(TypeError, match="says how many replications"):
        library.sweep(desk / "tcp.toml", {"messages": [500]}, precision=0.3, replications=3)
