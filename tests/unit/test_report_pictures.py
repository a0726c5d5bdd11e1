"""Do the pictures of a report show what the runs counted, and nothing else?"""

import csv
import io
import re
from dataclasses import replace
from urllib.parse import unquote

import numpy as np
import pytest
from report_runs import published_set, steady_run, tcp_run, validation_of, vortex_run

from dvsim.core.probe import Counter
from dvsim.errors import ScenarioError
from dvsim.kinds.rabbitmq.spec import PATHS
from dvsim.report import render_report
from dvsim.report.groups import grouped
from dvsim.report.pipeline import MOST_LANES, Lane, Station, lanes_of, pipeline_drawing
from dvsim.report.published import rows_as_printed
from dvsim.report.quantiles import qq_drawings
from dvsim.report.scaling import scaling_drawings
from dvsim.report.sensitivity import sensitivity_drawings


def counted(run, **values):
    """A run with more counters: ``counted(run, sender_1__held_back_s=2.0)``."""
    table = run.counters
    rows = []
    for key, value in values.items():
        name, _, metric = key.partition("__")
        component, instance, *_ = Counter(name.replace("_", "."), metric, value, "1").row
        row = table.iloc[[0]].assign(
            component=component, instance=instance, metric=metric, value=value
        )
        rows += [row.assign(replication=n) for n in table["replication"].unique()]
    import pandas as pd

    return replace(run, counters=pd.concat([table, *rows], ignore_index=True))


def lane(*runs, vortex=True):
    (found,) = lanes_of(grouped(runs), PATHS["data-vortex" if vortex else "tcp"])
    return found


def test_stations_stand_in_the_order_in_which_a_message_meets_them():
    names = [station.name for station in lane(vortex_run(replications=1)).stations]
    assert names == ["fabric port", "card DMA", "bridge threads", "AMQP socket", "broker"]
    names = [station.name for station in lane(tcp_run(replications=1), vortex=False).stations]
    assert names == ["publisher", "link", "broker"]


def test_the_busiest_instance_speaks_for_a_stage_and_the_bottleneck_is_named():
    found = lane(vortex_run())
    assert found.busiest.name == "AMQP socket"
    assert found.busiest.busy == pytest.approx(0.98)
    assert found.verdict == "limit: AMQP socket (98 % busy)"


def test_nothing_is_called_a_bottleneck_that_rests():
    run = vortex_run(replications=1)
    run.counters.loc[run.counters["metric"] == "utilisation", "value"] *= 0.5
    assert lane(run).verdict == "limit: waiting for credits (AMQP socket 49 % busy)"


def test_what_waits_is_a_share_of_the_run_and_bytes_of_their_room():
    run = counted(
        vortex_run(replications=2),
        run__simulated_s=8.0,
        sender_1__held_back_s=2.0,
        sender_2__held_back_s=1.0,
        card_1__sram_peak_bytes=2e6,
        card_2__sram_peak_bytes=4e6,
    )
    sender, _, card, *_ = lane(run).stations
    assert sender.name == "sender"
    assert sender.busy is None
    assert sender.notes == ["25 % held back by a full ring"]
    assert card.notes == ["SRAM 4 MB of 33.6 MB"]


def test_what_did_not_happen_is_not_written():
    run = counted(vortex_run(replications=1), run__simulated_s=8.0, sender_1__held_back_s=0.0)
    assert lane(run).stations[0].notes == []


def test_a_box_is_filled_as_far_as_it_is_busy():
    drawing = pipeline_drawing([Lane("a", [Station("x", 0.25), Station("y", 1.0)])], "p", "P")
    widths = [
        float(width) for width in re.findall(r'class="fill[^"]*"[^>]* width="(.*?)"', drawing.html)
    ]
    assert widths[0] == pytest.approx(widths[1] / 4, abs=0.1)
    assert drawing.html.count('class="hatch"') == 1


def test_the_picture_has_its_numbers_as_csv():
    drawing = pipeline_drawing([lane(vortex_run(replications=1))], "p", "P")
    text = unquote(drawing.data.removeprefix("data:text/csv;charset=utf-8,"))
    rows = {row["stage"]: float(row["value"]) for row in csv.DictReader(io.StringIO(text))}
    assert rows["AMQP socket"] == pytest.approx(0.98)
    assert rows["broker"] == pytest.approx(0.4)


def test_many_runs_are_thinned_in_the_picture_and_not_in_its_csv():
    lanes = [Lane(f"run {number}", [Station("x", 0.5)]) for number in range(44)]
    drawing = pipeline_drawing(lanes, "p", "P")
    assert drawing.html.count('class="lane"') == MOST_LANES
    assert f"{MOST_LANES} of 44 runs are drawn" in drawing.reading
    assert drawing.data.count("run%20") == 44


def test_a_lane_cannot_become_markup():
    drawing = pipeline_drawing([Lane("<b>&", [Station("<i>", 0.5)])], "p", "P")
    assert "<b>" not in drawing.html
    assert "<i>" not in drawing.html


def test_qq_holds_each_published_statistic_above_zero_once():
    runs = [vortex_run(), tcp_run()]
    validation = validation_of(runs)
    drawings = qq_drawings(grouped(runs), validation, rows_as_printed(validation))
    assert [drawing.name for drawing in drawings] == ["qq-dv", "qq-tcp"]
    for drawing, transport in zip(drawings, ("data-vortex", "fdr-ipoib"), strict=True):
        drawn = [
            pair
            for trace in drawing.spec["data"]
            if trace["mode"] == "markers"
            for pair in zip(trace["x"], trace["y"], strict=True)
        ]
        said = [
            (row.published, row.simulated)
            for row in validation.rows
            if row.transport == transport and row.statistic != "count" and row.simulated > 0
        ]
        assert np.array(sorted(drawn)) == pytest.approx(np.array(sorted(said)))


def test_qq_tells_fitted_from_held_out_and_draws_the_declared_band():
    runs = [vortex_run()]
    validation = validation_of(runs, fitted=("r1",))
    (drawing,) = qq_drawings(grouped(runs), validation, rows_as_printed(validation))
    band, line, fitted, held_out = drawing.spec["data"]
    assert band["y"][0] / band["x"][0] == pytest.approx(1.15)
    assert band["x"][-1] / band["y"][-1] == pytest.approx(1.15)
    assert line["x"] == line["y"]
    assert fitted["marker"]["symbol"].endswith("-open")
    assert not held_out["marker"]["symbol"].endswith("-open")
    assert "15%" in drawing.reading


def test_without_published_data_there_is_no_qq():
    assert qq_drawings(grouped([vortex_run(replications=1)]), None, {}) == []


def test_one_size_has_nothing_to_scale():
    assert (
        scaling_drawings(grouped([vortex_run(replications=1), tcp_run(replications=1)]), {}) == []
    )


def test_lines_over_sizes_count_alike_and_bytes_are_messages_times_size():
    runs = [steady_run([100, 300], size=8), steady_run([10, 30], size=2048, per_message=2)]
    printed, messages, data = scaling_drawings(grouped(runs), {})
    (line,) = messages.spec["data"]
    assert (line["x"], line["y"]) == ([8, 2048], [400, 40])
    (line,) = data.spec["data"]
    assert line["y"] == pytest.approx([400 * 8 / 1e6, 40 * 2048 / 1e6])
    assert [trace["y"] for trace in printed.spec["data"]] == [[100, 20], [300, 60]]


def test_published_means_stand_beside_the_lines():
    runs = published_set()
    published = {(run.scenario.name, "r1", "mean"): 123.0 for run in runs}
    printed = scaling_drawings(grouped(runs), published)[0]
    hollow = [trace for trace in printed.spec["data"] if trace["mode"] == "markers"]
    assert [set(trace["y"]) for trace in hollow] == [{123.0}, {123.0}]
    assert all("published" in trace["name"] for trace in hollow)


def test_of_two_runs_of_one_scenario_the_last_is_on_the_line():
    runs = [steady_run([5], size=8), steady_run([7], size=8), steady_run([1], size=16)]
    (line,) = scaling_drawings(grouped(runs), {})[1].spec["data"]
    assert line["y"] == [7, 1]


SENSITIVITY = """\
result,key,range,first,first_low,first_high,total,total_low,total_high
rate,system.bridge.push,40..50,0.7,0.6,0.8,0.9,0.85,0.95
rate,system.card.sram,1..2,0.01,-0.02,0.04,0.02,0.01,0.03
rate,<b>key,1..2,0.2,0.1,0.3,0.3,0.2,0.4
"""


def test_the_most_important_key_is_at_the_top(tmp_path):
    (tmp_path / "sensitivity.csv").write_text(SENSITIVITY, "utf-8")
    (drawing,) = sensitivity_drawings(tmp_path)
    spec = drawing.spec
    total, alone = spec["data"]
    assert total["x"] == [0.9, 0.3, 0.02]
    assert alone["x"] == [0.7, 0.2, 0.01]
    assert spec["layout"]["yaxis"]["ticktext"][:2] == ["system.bridge.push", "&lt;b&gt;key"]
    assert total["error_x"]["array"] == pytest.approx([0.05, 0.1, 0.01])
    assert "system.bridge.push 0.90" in drawing.label
    page = render_report([steady_run([5])], more=[drawing])
    assert page.count('id="sensitivity-0-title"') == 1


def test_a_folder_without_indices_is_a_mistake(tmp_path):
    with pytest.raises(ScenarioError, match=r"holds no sensitivity\.csv"):
        sensitivity_drawings(tmp_path)
    (tmp_path / "sensitivity.csv").write_text("result,key\nrate,a\n", "utf-8")
    with pytest.raises(ScenarioError, match="lacks the columns first, first_high"):
        sensitivity_drawings(tmp_path)
