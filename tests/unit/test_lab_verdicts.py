"""Are runs put beside measurements as their samples, sums and units ask for?"""

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from harness.replies import Told
from lab_data import run_with
from run_builder import run_of, samples, vortex_scenario

from dvsim.cli.calibrate import calibrate
from dvsim.cli.main import cli
from dvsim.contract.load import load_card
from dvsim.errors import ScenarioError
from dvsim.evidence.calibration.search import search
from dvsim.evidence.lab.judge import judge
from dvsim.evidence.lab.match import chosen
from dvsim.evidence.lab.read import read_lab
from dvsim.evidence.lab.simulated import in_intervals

POLL_PS = 5_001_000_000


def laid(folder, text, meta="", name="lab.csv"):
    (folder / name).write_text(text)
    if meta:
        (folder / name).with_suffix(".toml").write_text(f"[lab]\n{meta}")
    return read_lab(folder / name)


def polled(first, second=None):
    """A run over cards whose two receivers got so many messages in each poll of 5.001 ms."""
    table = samples({(1, 1, 1): first, (1, 1, 2): second or first})
    table["duration_ps"] = np.int64(POLL_PS)
    place = table["index"].to_numpy(np.int64)
    table["start_ps"] = (place - place.min()) * POLL_PS
    scenario = vortex_scenario(256)
    probe = replace(scenario.probe, interval_ps=POLL_PS)
    return run_of(replace(scenario, probe=probe, reference=None), table)


@pytest.mark.parametrize("interval", [5.5, 7.5, 10, 10.002, 100])
def test_any_longer_interval_is_counted_again(tmp_path, interval):
    run = polled([1000] * 400)
    rate = 1000 / 5.001e-3
    text = f"message_bytes,mean (msg/s),50% (msg/s)\n256,{rate},{rate}\n"
    (case,) = judge([run], laid(tmp_path, text, f'sample = "interval {interval} ms"\n')).cases
    assert case.row("50%").simulated == pytest.approx(rate, rel=1e-9)
    assert case.row("mean").verdict == case.row("50%").verdict == "pass"


def test_a_shorter_interval_is_refused_without_a_wrong_advice(tmp_path):
    text = "message_bytes,mean (msg/s),50% (msg/s)\n256,5,5\n"
    data = laid(tmp_path, text, 'sample = "interval 1 ms"\n')
    with pytest.raises(ScenarioError) as caught:
        chosen([polled([1] * 400).scenario], data, None)
    assert "interval 5.001 ms" in str(caught.value)
    assert "write sample" not in str(caught.value)


def test_an_interval_in_which_nothing_came_is_exactly_zero(tmp_path):
    run = polled(([7919] * 3 + [0] * 97) * 20)
    for interval in (10.002, 15.003, 10, 33):
        text = "message_bytes,mean (msg/s),50% (msg/s)\n256,5,5\n"
        data = laid(tmp_path, text, f'sample = "interval {interval} ms"\n')
        model = judge([run], data).cases[0].simulated.model
        assert model[model > 0].min() > 1
        assert np.mean(model == 0) > 0.9
    third = 1 / 3
    starts = np.arange(300) * third
    counts = np.tile([10.0, 0.0, 0.0], 100)
    rates = in_intervals(starts, np.full(300, third), counts, third)
    assert (rates == 0).sum() == 200


def test_a_sum_over_receivers_is_compared_with_the_sum(tmp_path):
    run = polled([1000] * 400, [3000] * 400)
    text = f"message_bytes,mean (msg/s)\n256,{4000 / 5.001e-3}\n"
    (case,) = judge([run], laid(tmp_path, text, 'column = "sum"\n')).cases
    assert case.row("mean").ratio == pytest.approx(1)
    (case,) = judge([run], laid(tmp_path, text, 'column = "r2"\n', "b.csv")).cases
    assert case.row("mean").ratio == pytest.approx(0.75)
    line = "id: a, time: {}.000s, sent: 1 msg/s, received: 799840 msg/s\n"
    log = "".join(line.format(second) for second in (1, 2, 3))
    data = laid(tmp_path, log, 'column = "sum"\nmessage_bytes = 256\n', "a.log")
    (case,) = judge([run], data).cases
    assert case.row("50%").ratio == pytest.approx(1, rel=1e-6)


def test_a_column_that_no_run_has_is_refused_with_its_line(tmp_path):
    data = laid(tmp_path, "message_bytes,mean (msg/s)\n256,5\n", 'loop = "open"\ncolumn = "r3"\n')
    for ask in (lambda run: chosen([run.scenario], data, None), lambda run: judge([run], data)):
        with pytest.raises(ScenarioError) as caught:
            ask(polled([1] * 10))
        (fault,) = caught.value.faults
        assert (fault.file, fault.line) == (str(tmp_path / "lab.toml"), 3)
        assert fault.key == "lab.column"
        assert fault.hint in {"r1", "r2"}


def test_what_a_scenario_does_not_measure_is_the_reason_and_no_size(tmp_path):
    data = laid(tmp_path, "message_bytes,latency (us)\n700,5\n")
    with pytest.raises(ScenarioError) as caught:
        chosen([polled([1]).scenario], data, None)
    (fault,) = caught.value.faults
    assert "no latency" in fault.message
    assert fault.hint is None


@pytest.mark.parametrize("factor", [8, 1000, 1024, 1e6, 60, 1 / 8, 1 / 1000])
def test_a_factor_of_units_at_all_sizes_asks_for_the_unit(tmp_path, factor):
    means = {8: 1000.0, 64: 900.0, 1024: 500.0}
    runs = [
        run_with(np.full(20, mean), size, name=f"h3/fdr-{size}") for size, mean in means.items()
    ]
    rows = "".join(f"{size},{mean / factor}\n" for size, mean in means.items())
    result = judge(runs, laid(tmp_path, "message_bytes,mean (msg/s)\n" + rows))
    (question,) = result.questions
    assert "is the unit right?" in question
    odd = rows.replace(f"64,{900 / factor}", "64,900")
    result = judge(runs, laid(tmp_path, "message_bytes,mean (msg/s)\n" + odd, name="odd.csv"))
    assert result.questions == ()


def test_a_search_ends_at_the_best_that_it_has_tried():
    tried = []

    def loss(at):
        tried.append(float(np.sum((at - 0.3) ** 2) + 0.1 * np.cos(20 * at[0])))
        return tried[-1]

    for budget in range(8, 40):
        tried.clear()
        end = search(loss, [0, 0], [-2, -2], [2, 2], starts=2, budget=budget, seed=1)
        assert end.best.loss == min(tried)
        assert len(tried) == end.evaluations <= budget


def test_a_fit_says_what_was_fitted_and_predicts_what_nobody_measured(tmp_path):
    (tmp_path / "lab.csv").write_text(
        "message_bytes,mean (msg/s),99% (msg/s)\n8,20000,30000\n256,19000,29000\n2048,15000,20000\n"
    )
    words = f"h3-bridge --against {tmp_path}/lab.csv --fit 8,2048 --parameter push --as mean"
    words += f" --scenario h3/dv-256 --budget 6 --starts 1 --scale 0.001 --out {tmp_path} --json"
    done = CliRunner().invoke(calibrate, [*words.split(), "--predict", "4 KB", "--predict", "1000"])
    assert done.exit_code == 0, done.output
    found = Told(done.stdout).facts
    assert found["statistics"] == ["mean"]
    source = load_card(tmp_path / "mine-bridge.toml").parameters["push"].source
    assert "mean log error of mean, local" in source
    best = min(
        float(line.rpartition(" ")[2]) for line in done.stderr.splitlines() if "loss" in line
    )
    assert min(found["losses"]) == pytest.approx(best, abs=5e-5)
    large, small = found["predictions"]
    assert ("4,000 B" in large["case"], "1,000 B" in small["case"]) == (True, True)
    assert large["value"] < small["value"]
    known = found["known"]["push.fixed"]
    relative = np.log(small["high"] / small["low"]) / np.log(known["high"] / known["low"])
    assert relative > 0.5  # what the parameter is not known to, the prediction is not known to
    refused = CliRunner().invoke(cli, ["calibrate", *words.split(), "--predict", "four"])
    assert refused.exit_code == 2
