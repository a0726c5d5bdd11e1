"""Is like compared with like, and the rest refused or said to be left out?"""

import numpy as np
import pytest
from lab_data import META, run_with

from dvsim.contract.load import load
from dvsim.errors import ScenarioError
from dvsim.evidence.lab.judge import judge
from dvsim.evidence.lab.match import chosen
from dvsim.evidence.lab.read import read_lab
from dvsim.evidence.lab.simulated import in_intervals
from dvsim.session import run_scenarios
from dvsim.study.table import plain_lines
from dvsim.view.lab import lab_page, lab_sections
from dvsim.view.markdown import markdown
from dvsim.view.terminal import lines


def read(folder, text, meta=META, name="lab.csv"):
    (folder / name).write_text(text)
    if meta:
        (folder / name).with_suffix(".toml").write_text(meta)
    return read_lab(folder / name)


def runs_with(means):
    """A run for each size, whose batches all have one rate."""
    return [
        run_with(np.full(20, float(mean)), size, name=f"h3/fdr-{size}")
        for size, mean in means.items()
    ]


def table(means):
    return "message_bytes,mean,50%\n" + "".join(f"{s},{m},{m}\n" for s, m in means.items())


def test_each_size_is_compared_with_its_run_and_the_rest_is_said(tmp_path):
    data = read(tmp_path, table({8: 1000, 64: 500, 4096: 100}))
    result = judge(runs_with({8: 1050, 64: 600}), data)
    rows = {case.simulated.message_bytes: case.row("mean") for case in result.cases}
    assert rows[8].ratio == pytest.approx(1.05, rel=1e-6)
    assert rows[8].verdict == "pass"
    assert rows[64].verdict == "fail"
    assert result.missing == (("rate, 4,096 B", "no run with messages of 4,096 B"),)


def test_nothing_in_common_is_an_error_with_the_nearest_size(tmp_path):
    data = read(tmp_path, table({100: 1000}))
    with pytest.raises(ScenarioError, match=r"none of its cases .*did you mean '64 B'\?"):
        judge(runs_with({8: 1, 64: 1, 1024: 1}), data)


@pytest.mark.parametrize("meta", ['[lab]\nunit = "msg/s"\n', META.replace("10000", "500")])
def test_quantiles_of_unlike_samples_are_refused_before_anything_runs(tmp_path, meta):
    data = read(tmp_path, table({8: 1000}), meta)
    (run,) = runs_with({8: 1000})
    for ask in (lambda: chosen([run.scenario], data, None), lambda: judge([run], data)):
        with pytest.raises(ScenarioError, match="taken mean compares only means"):
            ask()
    (case,) = judge([run], data, "mean").cases
    assert case.rows["statistic"].tolist() == ["mean"]
    (case,) = judge([run], data, "same").cases
    assert case.rows["statistic"].tolist() == ["mean", "50%"]


def test_batches_are_counted_again_in_the_intervals_of_a_laboratory(tmp_path):
    meta = META.replace("batch 10000", "interval 1 s")
    data = read(tmp_path, table({8: 25_000}), meta)
    run = run_with(np.full(400, 20_000.0), 8)  # half a second each
    (case,) = judge([run], data).cases
    assert case.row("50%").simulated == pytest.approx(20_000)
    assert case.simulated.model.size == 200
    assert "counted again in intervals of 1 s" in case.simulated.notes[0]
    short = run_with(np.full(10, 20_000.0), 8)
    with pytest.raises(ScenarioError, match="shorter than interval 1 s; give a larger scale"):
        judge([short], data)


def test_counting_again_keeps_every_message():
    rng = np.random.default_rng(1)
    duration = rng.uniform(0.1, 0.9, 100)
    start = np.cumsum(duration) - duration + np.arange(100) * 0.01  # with gaps
    counts = rng.integers(0, 50, 100).astype(float)
    whole = start[-1] + duration[-1] - start[0]
    rates = in_intervals(start, duration, counts, whole / 7)
    assert rates.sum() * whole / 7 == pytest.approx(counts.sum())


def test_what_was_fitted_is_marked(tmp_path):
    means = {8: 1000.0, 64: 900.0, 1024: 100.0}
    data = read(tmp_path, table(means), META + "fitted = [8, 1024]\n")
    result = judge(runs_with(means), data)
    assert {case.simulated.message_bytes: case.split for case in result.cases} == {
        8: "fitted",
        64: "held out",
        1024: "fitted",
    }


def test_what_is_called_fitted_and_is_not_in_the_data_is_said(tmp_path):
    means = {8: 1000.0, 64: 900.0}
    data = read(tmp_path, table(means), META + "fitted = [8, 'r7:8', 46]\n")
    named = [text for text in judge(runs_with(means), data).limits if "[lab]" in text]
    assert [text.partition(",")[0] for text in named] == ["r7:8", "46"]


def test_ratios_and_their_order_are_asked_for_between_sizes(tmp_path):
    data = read(tmp_path, table({8: 1000, 64: 500, 1024: 490}))
    result = judge(runs_with({8: 400, 64: 500, 1024: 510}), data)
    first, second = result.ratios.itertuples()
    assert first.lab == pytest.approx(0.5)
    assert (first.ratio_ok, first.order_ok) == (False, False)
    assert second.order_ok is None  # 2 % apart: nobody asks which is larger


def test_runs_of_two_kinds_are_two_series(tmp_path):
    """Without a column that tells them apart, either kind is asked for the ratio of the sizes."""
    runs = [
        run_with(np.full(20, 1000.0 / size), size, name=f"{family}-{size}")
        for family in ("a", "b")
        for size in (8, 64)
    ]
    result = judge(runs, read(tmp_path, "size,mean\n8,125\n64,15.625\n"))
    assert result.ratios["simulated"].tolist() == pytest.approx([0.125, 0.125], rel=1e-4)
    assert len({case.name for case in result.cases}) == 4


def test_tolerances_of_the_laboratory_are_used(tmp_path):
    loose = META + "[lab.tolerance]\nmean = 0.5\nmedian = 0.5\n"
    for meta, passed in ((META, False), (loose, True)):
        result = judge(runs_with({8: 1400}), read(tmp_path, table({8: 1000}), meta))
        assert result.passed is passed
    assert result.declared == ("mean", "median")


def test_what_data_cannot_show_depends_on_what_they_say(tmp_path):
    told = META + 'loop = "open"\nwarmup = "first 10 s"\nfitted = []\n'
    few, many = (
        " ".join(judge(runs_with({8: 1000}), read(tmp_path, table({8: 1000}), meta)).limits)
        for meta in (told, META)
    )
    assert "measured in open loop, simulated in closed loop" in few
    assert "warm-up" in many
    assert "warm-up" not in few
    assert "agreement may be a fit" in many
    assert "agreement may be a fit" not in few


@pytest.fixture(scope="module")
def zeromq():
    return run_scenarios([load("zeromq/latency")], replications=2, out=None)[0]


def test_a_study_of_messaging_is_asked_by_its_keys(tmp_path, zeromq):
    text = "client,message_bytes,mean (us),50% (us),95% (us)\nraw-tcp,8,20,20,30\n"
    result = judge([zeromq], read(tmp_path, text, ""))
    (case,) = result.cases
    assert case.rows["statistic"].tolist() == ["mean", "50%"]
    table_ = zeromq.estimates()
    points = [
        point
        for point in range(len(zeromq.scenario.points))
        if zeromq.scenario.at(point).workload.message_bytes == 8
        and zeromq.scenario.at(point).cards["client"].name == "raw-tcp"
    ]
    own = table_[(table_["point"] == points[0]) & (table_["metric"] == "latency")]["value"]
    assert case.row("mean").simulated == pytest.approx(float(own.iloc[0]) * 1e-6)
    assert case.distances is None


def test_a_case_that_fits_several_points_says_in_what_they_differ(tmp_path, zeromq):
    data = read(tmp_path, "message_bytes,mean (us),50% (us)\n8,20,20\n", "")
    with pytest.raises(
        ScenarioError, match=r"which differ in client \(.*; give the data a column 'client'"
    ):
        judge([zeromq], data)


def test_a_scenario_that_cannot_answer_is_refused_before_it_runs(tmp_path):
    data = read(tmp_path, table({8: 1000}))
    with pytest.raises(ScenarioError, match="none of its cases was simulated"):
        chosen([load("switch/load-latency")], data, None)
    with pytest.raises(ScenarioError, match=r"none of its cases.*did you mean '\d+ B'\?"):
        chosen([load("zeromq/latency")], read(tmp_path, table({7: 1000})), None)


def test_all_of_it_is_text(tmp_path):
    rng = np.random.default_rng(1)
    text = "rate (msg/s)\n" + "\n".join(map(str, rng.normal(1000, 50, 500).tolist())) + "\n"
    data, runs = read(tmp_path, text), [run_with(rng.normal(1000, 50, 5000), 8)]
    result = judge(runs, data)
    assert result.passed
    told = list(plain_lines(lines(lab_sections(result, data))))
    assert told[0].startswith("against lab.csv: PASS, 4 of 4 criteria hold")
    assert ["source", "not stated"] in [line.split(maxsplit=1) for line in told]
    page = markdown(lab_page(runs, result, data))
    texts = [line.strip() for line in told if line.startswith("  ") and "  " not in line.strip()]
    assert len(texts) > 8
    assert not [text for text in texts if text not in page]  # a page says the same words
