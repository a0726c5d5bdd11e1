"""Does a card come back from measurements of any form and size, with intervals that are true?

At length that is in docs/tutorials/calibrate.md.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from harness.replies import Told

from dvsim.cli.calibrate import calibrate
from dvsim.contract.load import load, load_card
from dvsim.errors import ScenarioError
from dvsim.evidence.calibration.knobs import knobs_of
from dvsim.evidence.calibration.rows import simulated_rows, trials_of
from dvsim.evidence.calibration.target import Data, target_of, with_card
from dvsim.evidence.calibration.uncertain import uncertain
from dvsim.session import run_scenarios
from dvsim.study.design import Variants
from dvsim.study.execute import Runs, execute

TRUTH = {"push.fixed": 60e6, "push.per_byte": 9e6}  # ps, fs/B; the packaged card has 39.62 us
FLOW = "system.fidelity=flow"  # short runs would go word by word
SIZES = {64: 64, 700: 512, 2048: 2048, 5000: 4096}  # with the scenario that is nearest


def measured(overrides, base="h3/dv-{}", sizes=SIZES, *, scale=0.001, seed=7):
    """Means of two runs of each size, which the model itself gives."""
    for size, near in sizes.items():
        sets = [*overrides, FLOW, f"workload.message_bytes={size}"]
        scenario = load(base.format(near), sets)
        how = {"out": None, "seed": seed, "replications": 2, "scale": scale, "workers": 1}
        (run,) = run_scenarios([scenario], **how)
        table = run.values[run.values["component"] == "r1"]
        means = table.loc[table["metric"] == "messages.mean", "value"]
        yield from ((size, name, float(mean)) for name, mean in zip("ab", means, strict=True))


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A table of a laboratory whose bridge is known."""
    path = tmp_path_factory.mktemp("lab") / "lab.csv"
    rows = measured(["system.bridge.push=60 us + 9 ns/B"])
    lines = [f"{size},{name},{mean:.1f}" for size, name, mean in rows]
    path.write_text("\n".join(["message_bytes,run,mean (msg/s)", *lines, ""]))
    path.with_suffix(".toml").write_text('[lab]\nsource = "bench 3"\nfitted = [64, 2048]\n')
    return path


@pytest.fixture(scope="module")
def fitted(lab, tmp_path_factory):
    """What a calibration of that table prints as JSON, and its card."""
    out = tmp_path_factory.mktemp("cards")
    words = f"h3-bridge --against {lab} --parameter push --budget 32 --starts 1 --scale 0.001"
    words += f" --set {FLOW} --name mine --out {out} --json"
    result = CliRunner().invoke(calibrate, words.split(), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return Told(result.stdout).facts, out / "mine-bridge.toml"


def test_the_parameters_come_back_within_their_intervals(fitted):
    found, path = fitted
    assert found["fitted"] == "a:64,2048; b:64,2048"
    for name, truth in TRUTH.items():
        low, high = found["known"][name]["low"], found["known"][name]["high"]
        assert low < truth < high
        assert high < 2.5 * low  # which is not all that it could be
    assert load_card(path)["push"].fixed_ps == pytest.approx(TRUTH["push.fixed"], rel=0.15)


def test_held_out_sizes_are_named_and_predicted_with_intervals(fitted):
    found, _ = fitted
    assert found["held_out"] == "a:700,5000; b:700,5000"
    held = [one for one in found["predicted"] if one["split"] == "held out"]
    assert [one["case"] for one in held] == [
        f"rate, {size} B, {label}" for size in ("700", "5,000") for label in "ab"
    ]
    for one in held:
        assert one["low"] < one["measured"] < one["high"] < 1.6 * one["low"]
    (errors,) = [one for one in found["errors"] if one["split"] == "held out"]
    assert errors["after"] < 0.5 * errors["before"]


def test_the_card_says_what_it_was_fitted_to(fitted, lab):
    _, path = fitted
    push = load_card(path).parameters["push"]
    digest = hashlib.sha256(lab.read_bytes()).hexdigest()[:16]
    assert push.fitted == f"lab.csv (sha256 {digest}): a:64,2048; b:64,2048 B"
    assert push.confidence == "calibrated"
    for part in ("bench 3", "95 %: push.fixed ", " us to ", "local search from 1 starts; dvsim"):
        assert part in push.source


def test_the_card_predicts_a_size_that_nobody_measured(fitted):
    _, path = fitted
    truth, own = (
        list(measured([f"system.bridge{card}"], sizes={1500: 1024}, seed=11))
        for card in (".push=60 us + 9 ns/B", f"={path}")
    )
    assert own[0][2] == pytest.approx(truth[0][2], rel=0.1)


def test_a_card_of_ones_own_is_fitted_in_the_scenario_that_is_named(lab, tmp_path):
    mine = tmp_path / "mine.toml"
    mine.write_text(
        'extends = "h3-bridge"\n[sockets]\nvalue = 1\nconfidence = "assumed"\nsource = "x"\n'
    )
    card = load_card(mine)
    with pytest.raises(
        ScenarioError, match="no packaged scenario uses 'mine'; name yours, such as"
    ):
        target_of(card, Data((lab,)), "64")
    target = target_of(card, Data((lab,), scenarios=("h3/dv-512",)), "64")
    assert target.role == "bridge"
    assert [one.scenario.workload.message_bytes for one in target.cases[::2]] == list(SIZES)
    assert {one.scenario.name for one in target.cases} == {"h3/dv-512"}
    assert with_card(target.cases[0].scenario, card, card).system.bridge == card


def test_the_nearest_packaged_scenario_is_taken_to_another_size(lab):
    target = target_of(load_card("h3-bridge"), Data((lab,)), "64")
    names = [(one.scenario.name, one.size) for one in target.cases[::2]]
    assert names == [
        ("h3/dv-64", 64),
        ("h3/dv-512", 700),
        ("h3/dv-2048", 2048),
        ("h3/dv-4096", 5000),
    ]
    assert target.cases[2].scenario.reference is None  # that is of 512 B


def test_settings_of_the_laboratory_are_those_of_every_scenario(lab):
    target = target_of(
        load_card("h3-bridge"), Data((lab,), overrides=("system.card.ring=1 MiB",)), "64"
    )
    assert {one.scenario.system.card["ring"] for one in target.cases} == {1 << 20}
    with pytest.raises(ScenarioError, match="unknown key; did you mean 'ring'"):
        target_of(load_card("h3-bridge"), Data((lab,), overrides=("system.card.rng=1 MiB",)), "64")


def test_without_a_word_about_what_to_fit_the_sizes_are_told(lab, tmp_path):
    copy = tmp_path / "copy.csv"
    copy.write_bytes(lab.read_bytes())
    with pytest.raises(ScenarioError) as caught:
        target_of(load_card("h3-bridge"), Data((copy,)), None)
    assert "fit: say what to fit to, for example 64,700,2048; there are a:64, b:64, a:700" in str(
        caught.value
    )


LATENCIES = "min/median/75th/95th/99th consumer latency: 1/2/3/4/5 µs"
LOG = f"""id: test 1, starting consumer #0
id: test 1, time: 1.000s, sent: {{0}} msg/s, received: {{0}} msg/s, {LATENCIES}
id: test 1, time: 2.000s, sent: {{1}} msg/s, received: {{1}} msg/s, {LATENCIES}
id: test 1, sending rate avg: {{0}} msg/s
id: test 1, receiving rate avg: {{0}} msg/s
id: test 1, consumer latency min/median/75th/95th/99th 1/2/3/4/5 µs
"""


def test_perftest_has_a_file_for_each_size(tmp_path):
    files = []
    for size, rate in ((300, 9000), (3000, 5000)):
        path = tmp_path / f"{size}.log"
        path.write_text(LOG.format(rate, rate + 10))
        path.with_suffix(".toml").write_text(f"[lab]\nmessage_bytes = {size}\n")
        files.append(path)
    data = Data(tuple(files), taken="mean", scenarios=("h3/fdr-256",))
    target = target_of(load_card("python-multiprocessing"), data, "300")
    sizes = [(one.size, one.data.path.name) for one in target.cases]
    assert sizes == [(300, "300.log"), (3000, "3000.log")]
    assert target.held_out == {1}
    assert all("has rates at the receivers" in reason for _, reason in target.missing)


def test_a_card_of_several_systems_asks_which_was_measured(lab):
    with pytest.raises(ScenarioError) as caught:
        target_of(load_card("rabbitmq-2018"), Data((lab,)), "64")
    assert str(caught.value).startswith(
        "scenarios: 'rabbitmq-2018' is part of several systems; say what was measured: "
        "h3/dv-8 or h3/fdr-8"
    )
    target = target_of(load_card("rabbitmq-2018"), Data((lab,), scenarios=("h3/fdr-*",)), "64")
    assert (target.role, target.cases[0].scenario.name) == ("broker", "h3/fdr-64")


OMB = {
    "workload": "w",
    "driver": "d",
    "messageSize": 1000,
    "publishRate": [50_000.0, 50_010.0],
    "consumeRate": [49_980.0, 50_020.0],
}
FILES = Path(__file__).parent / "lab_files"


@pytest.mark.parametrize(
    ("name", "scenario", "text"),
    [
        ("perftest.log", "h3/fdr-256", None),
        ("result.json", "h3/fdr-1024", json.dumps(OMB)),
        ("raw.csv", "h3/fdr-256", "message_bytes,rate (msg/s)\n300,9000\n300,9100\n300,9050\n"),
        ("long.csv", "h3/fdr-256", "message_bytes,statistic,value (msg/s)\n300,mean,9000\n"),
    ],
)
def test_files_of_every_form_are_fitted_to(tmp_path, name, scenario, text):
    path = FILES / name
    if text is not None:
        path = tmp_path / name
        path.write_text(text)
    data = Data((path,), taken="mean", scenarios=(scenario,))
    card = load_card("python-multiprocessing")
    target = target_of(card, data, "all")
    assert target.fit == frozenset(range(len(target.cases)))
    how = {"replications": 2, "scale": 0.002}
    trials = trials_of(target, target.fit, card, card, **how)
    results = execute(Variants(trials), Runs(1, None, workers=1))
    rows = simulated_rows(target, target.fit, results)
    assert set(rows["statistic"]) == {"mean"}
    assert all(runs.size == 2 for runs in rows["runs"])
    assert (rows["measured"] > 0).all()


@pytest.mark.parametrize(
    ("card", "parameter", "truth"),
    [("zeromq-0.2", "publish.fixed", 3), ("10gbe-oplin-x4", "rate", 0.5)],
)
def test_cards_of_messaging_over_hosts_are_fitted_too(tmp_path, card, parameter, truth):
    base = load("zeromq/latency").at({"client": load_card("zeromq-0.2"), "message_bytes": 1000})
    old = load_card(card)
    knob = knobs_of(old, [parameter])[0]
    from dvsim.evidence.calibration.knobs import with_values

    new = with_values(old, [knob], [knob.start * truth], "x", "x")
    lines = ["client,message_bytes,mean (us)"]
    for size in (1000, 10_000, 60_000):
        scenario = with_card(base.put("message_bytes", size), old, new)
        (study,) = run_scenarios([scenario], out=None, replications=2, scale=0.01, workers=1)
        table = study.estimates()
        latency = float(table.loc[table["metric"] == "latency", "value"].iloc[0])
        lines.append(f"zeromq-0.2,{size},{latency}")
    lab = tmp_path / "lab.csv"
    lab.write_text("\n".join(lines) + "\n")
    lab.with_suffix(".toml").write_text('[lab]\nmetric = "latency"\n')
    words = (
        f"{card} --against {lab} --fit 1000,60000 --parameter {parameter} --budget 18 --starts 1"
    )
    words += f" --scale 0.01 --scenario zeromq/latency --name x --out {tmp_path} --json"
    result = CliRunner().invoke(calibrate, words.split(), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    found = Told(result.stdout).facts
    ends = found["known"][parameter]
    assert 0.9 * ends["low"] < knob.start * truth < 1.1 * ends["high"]
    (held,) = [one for one in found["predicted"] if one["split"] == "held out"]
    assert held["value"] == pytest.approx(held["measured"], rel=0.1)


def rows_with(errors, spread, slopes, seed=1):
    """Rows of one statistic each, off by some logarithms, whose replications scatter."""
    rng = np.random.default_rng(seed)
    rows = []
    for place, error in enumerate(errors):
        runs = 100 * np.exp(spread * rng.standard_normal(10))
        value = float(np.exp(np.log(runs).mean()))
        rows.append((place, "mean", value * np.exp(error), value, runs))
    table = {(place, "mean"): np.array(slope) for place, slope in enumerate(slopes)}
    head = ["place", "statistic", "measured", "simulated", "runs"]
    return pd.DataFrame(rows, columns=head), table


def test_an_interval_is_as_wide_as_runs_differ():
    slopes = [[1.0], [1.0], [1.0], [1.0]]
    widths = []
    for spread in (0.01, 0.04):
        rows, table = rows_with([0.0] * 4, spread, slopes)
        bounds = ([-3.0], [3.0])
        found = uncertain(np.zeros(1), bounds, table, rows, frozenset(range(3)), 100, 1)
        (ends,) = found.parameters
        assert ends.low < 0 < ends.high
        widths.append(ends.high - ends.low)
        assert found.predicted.loc[3].holds
    assert widths[1] == pytest.approx(4 * widths[0], rel=0.3)
    # of the median of three runs: sigma 1.25 / sqrt(3) times 0.04, 3.92 wide; of ten replications
    assert 0.06 < widths[1] < 0.2


def test_cases_that_the_model_cannot_meet_widen_the_intervals():
    slopes = [[1.0]] * 5
    even, table = rows_with([0.0] * 5, 0.01, slopes)
    apart, _ = rows_with([0.3, -0.3, 0.3, -0.3, 0.0], 0.01, slopes)
    bounds, fit = ([-3.0], [3.0]), frozenset(range(4))
    good, poor = (uncertain(np.zeros(1), bounds, table, rows, fit, 10, 1) for rows in (even, apart))
    assert poor.misfit == pytest.approx(0.3 * np.sqrt(4 / 3), rel=0.05)
    assert (good.misfit or 0) < 0.02
    width = [one.parameters[0].high - one.parameters[0].low for one in (good, poor)]
    assert width[1] > 5 * width[0]
    assert poor.predicted.loc[4].high > 1.5 * poor.predicted.loc[4].value


def test_what_the_data_leave_open_is_said():
    rows, table = rows_with([0.0] * 3, 0.01, [[1.0, 0.0, 2.0], [1.0, 0.0, 2.0], [1.0, 0.0, 2.0]])
    bounds = ([-2.0] * 3, [2.0] * 3)
    found = uncertain(np.zeros(3), bounds, table, rows, frozenset(range(3)), 10, 1)
    assert [one.open for one in found.parameters] == [True, True, True]
    assert [(one.low, one.high) for one in found.parameters] == [(-2.0, 2.0)] * 3
    assert found.misfit is None
    clear = {key: np.array([slope[0], 0.0, 0.0]) for key, slope in table.items()}
    found = uncertain(np.zeros(3), bounds, clear, rows, frozenset(range(3)), 10, 1)
    assert [one.open for one in found.parameters] == [False, True, True]
