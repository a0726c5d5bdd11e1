"""Is a study of messaging kept, found again, printed and drawn?"""

import re

import numpy as np
import pytest
from click.testing import CliRunner
from harness.replies import Told

from dvsim.cli.main import cli
from dvsim.contract.load import load
from dvsim.kinds.hosts.metrics import METRICS
from dvsim.session import run_scenarios
from dvsim.study.store import load_result
from dvsim.view import render_report
from dvsim.view.axes import Sweep
from dvsim.view.curves import stage_figures
from dvsim.view.figure import COLOURS

FEW = [
    "vary=[{client=['zeromq-0.2','raw-tcp']},{message_bytes=[8,512,4096,32768]}]",
    "workload.messages=5",
]


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs")
    (study,) = run_scenarios([load("zeromq/latency", FEW)], replications=3, out=out, workers=1)
    return out, study


def test_a_study_is_found_again_and_loads_equal(kept):
    out, study = kept
    (again,) = run_scenarios([load("zeromq/latency", FEW)], replications=3, out=out, workers=1)
    assert again.folder == study.folder
    assert again.manifest.started == study.manifest.started
    loaded = load_result(study.folder)
    assert loaded.scenario == study.scenario
    assert loaded.values.equals(study.values)
    assert loaded.sides["stages"].equals(study.sides["stages"])


def test_workers_change_nothing(kept):
    _, study = kept
    (other,) = run_scenarios([load("zeromq/latency", FEW)], replications=3, out=None, workers=2)
    assert other.values.equals(study.values)
    assert other.sides["stages"].equals(study.sides["stages"])


def test_estimates_have_intervals_and_rates_of_a_ping_are_no_numbers(kept):
    estimates = kept[1].estimates()
    assert set(estimates["metric"]) == set(METRICS)
    rows = estimates[estimates["metric"] == "latency"]
    assert (rows["low"] < rows["value"]).all()
    assert (rows["value"] < rows["high"]).all()
    assert estimates.loc[estimates["metric"] == "rate_out", "value"].isna().all()


def test_the_bottleneck_is_the_busiest_stage(kept):
    study = kept[1]
    for point in range(len(study.scenario.points)):
        stage, used = study.bottleneck(point)
        rows = study.tables["stages"]
        rows = rows[rows["point"] == point]
        assert used == rows["utilisation"].max()
        assert stage in set(rows["stage"])
        assert 0 < used <= 1


def test_the_page_draws_curves_with_bands_stages_and_what_it_rests_on(kept):
    page = render_report([kept[1]])
    assert "Latency against message_bytes" in page
    assert '"type":"area"' in page
    assert "Stages, client zeromq-0.2" in page
    assert "Busiest stage:" in page
    assert "10gbe-oplin-x4.packet_cost" in page  # a calibrated parameter, with its fit
    assert "settled" not in page.partition("<main")[2].partition("What was asked")[0]
    assert page == render_report([kept[1]])


def test_no_two_stages_have_the_same_line():
    asked = [load("amps/delivery")]
    (study,) = run_scenarios(asked, replications=1, scale=0.01, out=None, workers=1)
    figure = stage_figures(Sweep(study), "s")[0]
    coded = figure.described["layer"][-1]["encoding"]
    looks = [coded[channel]["scale"]["range"] for channel in ("color", "shape")]
    every = set(zip(*looks, strict=True))
    assert len(every) == figure.frame["line"].nunique() > len(COLOURS)


def test_run_prints_a_row_for_each_point_with_its_bottleneck(tmp_path):
    options = [word for option in FEW for word in ("--set", option)]
    words = ["run", "zeromq/latency", *options, "--replications", "2", "--out", str(tmp_path)]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, result.output
    lines = [line for line in result.stdout.splitlines() if re.match(r"  (zeromq|raw)", line)]
    assert len(lines) == 8
    assert all(re.search(r"(thread|publisher|consumer|link) \d+%$", line) for line in lines)
    result = CliRunner().invoke(cli, [*words, "--json"])
    latency = [row["value"] for row in Told(result.stdout).of("latency")]
    assert len(latency) == 8
    assert np.all(np.array(latency) > 10)


def test_show_lists_every_card_of_every_point():
    result = CliRunner().invoke(cli, ["show", "amps/queues"])
    assert result.exit_code == 0
    for card in ("amps-5", "rabbitmq-3.6", "hdd-7200", "nvme-p3700", "loopback-2016"):
        assert f".{card} (" in result.stdout
