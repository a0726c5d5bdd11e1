"""Do the pictures of a report show what the runs counted, and nothing else?"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from report_runs import published_set, steady_run, tcp_run, validation_of, vortex_run

from dvsim.core.probe import Counter
from dvsim.errors import ScenarioError
from dvsim.kinds.rabbitmq.spec import PATHS
from dvsim.view import render_report
from dvsim.view.groups import grouped
from dvsim.view.pipeline import MOST_LANES, Lane, Station, lanes_of, pipeline_figure
from dvsim.view.published import rows_as_printed
from dvsim.view.run_figures import qq_figures, scaling_figures
from dvsim.view.sensitivity import sensitivity_figures


def counted(run, **values):
    """A run with more counters: ``counted(run, sender_1__held_back_s=2.0)``."""
    table = run.values
    rows = []
    for key, value in values.items():
        name, _, metric = key.partition("__")
        component, instance, *_ = Counter(name.replace("_", "."), metric, value, "1").row
        row = (
            table[table["iteration"] > 0]
            .iloc[[0]]
            .assign(component=component, instance=instance, metric=metric, value=value)
        )
        rows += [row.assign(replication=n) for n in table["replication"].unique()]
    import pandas as pd

    return replace(run, values=pd.concat([table, *rows], ignore_index=True))


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
    run.values.loc[run.values["metric"] == "utilisation", "value"] *= 0.5
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
    figure = pipeline_figure([Lane("a", [Station("x", 0.25), Station("y", 1.0)])], "p", "P")
    filled = (figure.frame["fill"] - figure.frame["x"]).tolist()
    assert filled[0] == pytest.approx(filled[1] / 4)
    assert figure.frame["look"].tolist() == ["busy", "limit"]


def test_the_picture_has_its_numbers():
    frame = pipeline_figure([lane(vortex_run(replications=1))], "p", "P").frame
    busy = dict(zip(frame["text"], frame["busy"], strict=True))
    assert busy["AMQP socket"] == pytest.approx(0.98)
    assert busy["broker"] == pytest.approx(0.4)


def test_many_runs_are_thinned_in_the_picture():
    lanes = [Lane(f"run {number}", [Station("x", 0.5)]) for number in range(44)]
    figure = pipeline_figure(lanes, "p", "P")
    assert len(figure.frame) == MOST_LANES
    assert f"{MOST_LANES} of 44 runs are drawn" in figure.reading


def test_a_lane_cannot_become_markup():
    figure = pipeline_figure([Lane("<b>&", [Station("<i>", 0.5)])], "p", "P")
    assert "<" not in figure.json


def test_qq_holds_each_published_statistic_above_zero_once():
    runs = [vortex_run(), tcp_run()]
    validation = validation_of(runs)
    drawings = qq_figures(grouped(runs), validation, rows_as_printed(validation))
    assert [drawing.name for drawing in drawings] == ["qq-dv", "qq-tcp"]
    for drawing, transport in zip(drawings, ("data-vortex", "fdr-ipoib"), strict=True):
        drawn = drawing.frame[["x", "y"]].to_numpy()
        said = [
            (row.published, row.simulated)
            for row in validation.rows.itertuples()
            if row.transport == transport and row.statistic != "count" and row.simulated > 0
        ]
        assert np.array(sorted(map(tuple, drawn))) == pytest.approx(np.array(sorted(said)))


def test_qq_tells_fitted_from_held_out_and_draws_the_declared_band():
    runs = [vortex_run()]
    validation = validation_of(runs, fitted=("r1",))
    (drawing,) = qq_figures(grouped(runs), validation, rows_as_printed(validation))
    band = drawing.described["layer"][0]["data"]["values"]
    for end in band:
        assert end["high"] / end["x"] == end["x"] / end["low"] == pytest.approx(1.15)
        assert end["x"] == end["y"]
    hollow = drawing.frame.groupby("line")["open"].unique().to_dict()
    assert {name.rpartition(", ")[2]: marks.tolist() for name, marks in hollow.items()} == {
        "fitted": [1],
        "held out": [0],
    }
    assert "15%" in drawing.reading


def test_without_published_data_there_is_no_qq():
    assert qq_figures(grouped([vortex_run(replications=1)]), None, {}) == []


def test_one_size_has_nothing_to_scale():
    assert scaling_figures(grouped([vortex_run(replications=1), tcp_run(replications=1)]), {}) == []


def test_lines_over_sizes_count_alike_and_bytes_are_messages_times_size():
    runs = [steady_run([100, 300], size=8), steady_run([10, 30], size=2048, per_message=2)]
    printed, messages, data = scaling_figures(grouped(runs), {})
    assert messages.frame[["x", "y"]].to_numpy().tolist() == [[8, 400], [2048, 40]]
    assert data.frame["y"].tolist() == pytest.approx([400 * 8 / 1e6, 40 * 2048 / 1e6])
    found = printed.frame.groupby("line")["y"].apply(list)
    assert found.tolist() == [[100, 20], [300, 60]]


def test_published_means_stand_beside_the_lines():
    runs = published_set()
    row = SimpleNamespace(published=123.0)
    published = {(run.scenario.name, "r1", "mean"): row for run in runs}
    printed = scaling_figures(grouped(runs), published)[0]
    hollow = printed.frame[printed.frame["part"] == "published"]
    assert hollow.groupby("line")["y"].unique().tolist() == [[123.0], [123.0]]
    assert set(hollow["open"]) == {1}


def test_of_two_runs_of_one_scenario_the_last_is_on_the_line():
    runs = [steady_run([5], size=8), steady_run([7], size=8), steady_run([1], size=16)]
    assert scaling_figures(grouped(runs), {})[1].frame["y"].tolist() == [7, 1]


SENSITIVITY = """\
result,key,range,first,first_low,first_high,total,total_low,total_high
rate,system.bridge.push,40..50,0.7,0.6,0.8,0.9,0.85,0.95
rate,system.card.sram,1..2,0.01,-0.02,0.04,0.02,0.01,0.03
rate,<b>key,1..2,0.2,0.1,0.3,0.3,0.2,0.4
"""


def test_the_most_important_key_is_at_the_top(tmp_path):
    (tmp_path / "sensitivity.csv").write_text(SENSITIVITY, "utf-8")
    (drawing,) = sensitivity_figures(tmp_path)
    total, alone = (drawing.frame[drawing.frame["line"] == one] for one in ("total", "alone"))
    assert total["x"].tolist() == [0.9, 0.3, 0.02]
    assert alone["x"].tolist() == [0.7, 0.2, 0.01]
    assert total["y"].tolist() == ["system.bridge.push", "<b>key", "system.card.sram"]
    assert total["high"].tolist() == [0.95, 0.4, 0.03]
    assert "system.bridge.push 0.90" in drawing.label
    page = render_report([steady_run([5])], more=[drawing])
    assert page.count('id="sensitivity-0-title"') == 1


def test_a_folder_without_indices_is_a_mistake(tmp_path):
    with pytest.raises(ScenarioError, match=r"holds no sensitivity\.csv"):
        sensitivity_figures(tmp_path)
    (tmp_path / "sensitivity.csv").write_text("result,key\nrate,a\n", "utf-8")
    with pytest.raises(ScenarioError, match="lacks the columns first, first_high"):
        sensitivity_figures(tmp_path)
