"""Does the report of studies say what their tables say, and does the player get what was run?"""

import itertools
import json
import re
from dataclasses import replace
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest
from study_runs import claims_of, load_latency, recorded, saturation, scenario_of, study_of
from test_report import Tags

from dvsim.errors import DvsimError, OutputError
from dvsim.view import render_report, write_results
from dvsim.view.axes import Sweep
from dvsim.view.curves import curve_figure, curve_figures
from dvsim.view.figure import Axis, frame_of, lines
from dvsim.view.recorded import LETTERS
from dvsim.view.result_page import study_answer as answer
from dvsim.view.spread import binned, spread_figures
from dvsim.view.study_tables import points_table, settings_table


@pytest.fixture(scope="module")
def latency():
    return load_latency()


@pytest.fixture(scope="module")
def saturated():
    return saturation()


@pytest.fixture(scope="module")
def record():
    return recorded()


@pytest.fixture(scope="module")
def page(latency, saturated, record):
    claims = claims_of("confirmed", "refuted")
    return render_report([latency, saturated, record], claims, "dvsim run switch/all")


def rows_of(figure, line, part="simulated"):
    """The rows of a line of a figure."""
    return figure.frame.query("line == @line and part == @part")


def player_data(page):
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', page)[1])


def test_the_page_refers_to_nothing_outside_itself(page):
    tags = Tags(page).tags
    addresses = [
        value
        for _, attributes in tags
        for name, value in attributes.items()
        if name in ("src", "href", "srcset", "data", "action", "poster")
    ]
    assert addresses
    assert all(value.startswith(("#", "data:text/csv")) for value in addresses)
    assert not {tag for tag, _ in tags} & {"link", "img", "iframe", "object", "embed", "base"}


def test_the_library_and_the_player_are_there_once(page):
    assert page.count('id="vega"') == 1
    assert page.count("The recorded run: packets on concentric cylinders") == 1


def test_equal_studies_give_equal_bytes(record):
    assert render_report([record]) == render_report([recorded()])


def test_a_full_recording_stays_below_a_megabyte():
    study = study_of(
        scenario_of(
            "record",
            switch={"height": 64, "angles": 3},
            traffic={"load": 0.01, "injection": "queue", "slots": 400},
            record=(200, 200),
        ),
        replications=1,
    )
    assert len(render_report([study])) < 1_000_000


def test_names_cannot_become_markup():
    evil = "</script><script>alert(1)</script><b>&"
    study = recorded(title=evil, question=evil, source=evil)
    study = replace(study, scenario=replace(study.scenario, name=evil))
    page = render_report([study, study])
    assert "<script>alert(1)" not in page
    assert "</script><script>" not in page
    assert "<b>" not in page


def test_varied_values_cannot_become_markup(saturated):
    evil = "<img src=x onerror=alert(1)>"
    vary = ({"crossing": (evil, "xor")}, {"height": (2, 4, 8, 16)})
    study = replace(saturated, scenario=replace(saturated.scenario, vary=vary))
    page = render_report([study])
    assert "<img" not in page


def test_the_answer_comes_first_with_question_and_standing(page, latency):
    text = " ".join(Tags(page).texts)
    found, *_, standing = answer(Sweep(latency))
    assert text.index("What does it do?") < text.index(found) < text.index(standing)
    assert text.index(standing) < text.index("How to read this.")


def test_the_answer_says_which_points_have_not_settled(latency):
    standing = answer(Sweep(latency))[-1]
    assert standing.startswith("2 of 8 points have not settled over 3 replications")
    assert "crossing xor, load 0.6 (queues grew by" in standing


def test_a_curve_is_its_estimates_with_the_interval(latency):
    figure = curve_figure(Sweep(latency), "throughput", "f")
    rows = latency.estimates().query("metric == 'throughput' and crossing == 'xor'")
    drawn = figure.frame[figure.frame["line"] == "crossing xor"]
    drawn = drawn[drawn["part"].isin(["simulated", "saturated"])]
    for column in ("value", "low", "high"):
        own = drawn["y" if column == "value" else column].tolist()
        assert own == pytest.approx(rows[column].tolist())
    assert drawn["part"].tolist() == ["simulated"] * 3 + ["saturated"]


def test_the_tail_stands_beside_the_mean(latency):
    figure = curve_figure(Sweep(latency), "mean_latency", "f")
    rows = latency.estimates().query("metric == 'p99' and crossing == 'brc'")
    assert rows_of(figure, "crossing brc", "99 %")["y"].tolist() == pytest.approx(
        rows["value"].tolist()
    )


def test_theory_is_there_once_where_lines_share_it(latency, saturated):
    shared = rows_of(curve_figure(Sweep(latency), "throughput", "f"), "mean field", "mean field")
    assert shared["y"].tolist()[:3] == pytest.approx([0.05, 0.15, 0.25])
    own = curve_figure(Sweep(saturated), "throughput", "f")
    assert rows_of(own, "angles 1", "mean field")["y"].iloc[0] == pytest.approx(2 / 3)
    assert {"angles 1", "angles 2"} <= set(own.frame["line"])


def test_saturation_over_heights_has_the_published_limit_and_a_logarithmic_axis(saturated):
    figure = curve_figure(Sweep(saturated), "throughput", "f")
    limit = figure.frame[figure.frame["line"].str.startswith("2/9")]
    assert limit["y"].tolist() == [2 / 9, 2 / 9]
    assert figure.described["layer"][0]["encoding"]["x"]["scale"]["type"] == "log"
    assert "2/9" not in curve_figure(Sweep(saturated), "mean_hops", "f").json


def test_idle_angles_have_the_published_acceptance():
    one = scenario_of(
        "angles",
        switch={"injecting": 1, "exit": "any"},
        traffic={"load": 1.0},
        vary=({"angles": (2, 4, 6)},),
    )
    assert "99 %" in curve_figure(Sweep(study_of(one)), "acceptance", "f").json
    every = replace(one, switch=replace(one.switch, injecting=None))
    assert "99 %" not in curve_figure(Sweep(study_of(every)), "acceptance", "f").json


def test_keys_that_go_together_share_the_axis():
    vary = ({"height": (16, 8, 4), "angles": (1, 3, 2)}, {"crossing": ("brc", "xor")})
    sweep = Sweep(study_of(scenario_of("fixed", vary=vary)))
    assert sweep.key == "height"
    assert sweep.companions == ["angles"]
    assert [group.name for group in sweep.groups] == ["crossing brc", "crossing xor"]
    assert sweep.groups[0].points == (4, 2, 0)  # in order of the height
    assert sweep.value_text(0) == "height 16, angles 1"


def test_switches_of_one_size_are_a_line_over_their_angles():
    heights, angles = (16, 8, 4, 32, 16, 8), (1, 2, 4, 1, 2, 4)
    sweep = Sweep(study_of(scenario_of("fixed", vary=({"height": heights, "angles": angles},))))
    assert sweep.key == "angles"
    assert [group.name for group in sweep.groups] == ["ports 16", "ports 32"]
    assert sweep.groups[1].points == (3, 4, 5)


def test_no_two_of_many_lines_look_alike():
    frame = frame_of({"line": f"{n}", "x": n, "y": n} for n in range(42))
    coded = lines(frame, Axis("x"), Axis("y")).to_dict()["layer"][-1]["encoding"]
    looks = [coded[channel]["scale"]["range"] for channel in ("color", "shape")]
    assert len(set(zip(*looks, strict=True))) == 42


def test_how_long_a_run_is_names_no_point():
    vary = ({"height": (16, 4), "slots": (100, 400)},)
    sweep = Sweep(study_of(scenario_of("lengths", vary=vary)))
    assert sweep.name_of(0) == "height 16"
    assert sweep.companions == []


def test_values_without_numbers_stand_side_by_side():
    vary = ({"pattern": ("uniform", "bit-complement", "shuffle")}, {"crossing": ("brc", "xor")})
    sweep = Sweep(study_of(scenario_of("permutations", vary=vary)))
    figure = curve_figure(sweep, "throughput", "f")
    assert sweep.key == "pattern"
    for line in ("crossing brc", "crossing xor"):
        own = rows_of(figure, line)
        assert own["x"].tolist() == ["uniform", "bit-complement", "shuffle"]
        assert own["high"].iloc[0] > own["y"].iloc[0]
    layers = figure.described["layer"]
    assert {layer["mark"]["type"] for layer in layers} == {"rule", "point"}
    assert "xOffset" in layers[-1]["encoding"]


def test_one_point_has_no_curve_but_an_answer(record):
    assert curve_figures(Sweep(record), "f") == []
    assert answer(Sweep(record))[0].startswith("Mean latency ")


def test_a_study_in_which_nothing_moved_is_still_a_page():
    study = study_of(scenario_of("nothing", traffic={"load": 0.0}))
    page = render_report([study])
    assert "Throughput 0." in page
    assert "nan" not in page.split("<main>")[1].split("<script")[0].lower()


def test_histograms_hold_all_packets_and_the_law_stands_beside(latency):
    drawings = {drawing.title: drawing for drawing in spread_figures(Sweep(latency), "f")}
    assert list(drawings) == ["Hops", "Latency", "Blocked descents", "Occupancy"]
    law = rows_of(drawings["Hops"], "zero load", "zero load")
    assert law["y"].sum() == pytest.approx(1)
    assert "6 of 8 points are drawn" in drawings["Hops"].reading


def test_latency_is_not_drawn_twice_where_it_is_the_hops(saturated):
    titles = [drawing.title for drawing in spread_figures(Sweep(saturated), "f")]
    assert titles == ["Hops", "Blocked descents", "Occupancy"]


@pytest.mark.parametrize("last", [9, 200, 12_345])
def test_bins_keep_every_packet(last):
    values = np.array([3.0, 7.0, last])
    places, shares = binned(values, np.array([1.0, 2.0, 5.0]))
    width = places[1] - places[0]
    assert len(places) <= 203
    assert shares.sum() * width == pytest.approx(1)
    assert shares[0] == shares[-1] == 0


def test_levels_of_a_network_have_lines_of_their_own(latency):
    upper = latency.sides["cylinders"].assign(level=1)
    both = pd.concat([latency.sides["cylinders"], upper], ignore_index=True)
    study = replace(latency, sides={**latency.sides, "cylinders": both})
    (drawing,) = [d for d in spread_figures(Sweep(study), "f") if d.title == "Occupancy"]
    own = drawing.frame[drawing.frame["line"] == "crossing brc, load 0.05"]
    assert set(own["part"]) == {"level 0", "level 1"}


def test_the_player_gets_every_step_that_was_recorded(record):
    data = player_data(render_report([record]))
    assert (data["height"], data["angles"], data["cylinders"]) == (4, 3, 3)
    steps = record.sides["events"].sort_values(["packet", "slot"])
    shown = [
        (packet["id"], slot, event, node)
        for packet in data["packets"]
        for slot, event, node in zip(
            packet["slots"], packet["events"], packet["nodes"], strict=True
        )
    ]
    nodes = (steps["cylinder"] * 3 + steps["angle"]) * 4 + steps["height"]
    letters = steps["kind"].map(LETTERS)
    assert shown == list(
        zip(
            steps["packet"].tolist(),
            steps["slot"].tolist(),
            letters.tolist(),
            nodes.tolist(),
            strict=True,
        )
    )


def test_packets_move_one_angle_on_in_every_slot(record):
    for packet in player_data(render_report([record]))["packets"]:
        angles = [node // 4 % 3 for node in packet["nodes"]]
        inside = angles[:-1] if packet["events"][-1] in "lx" else angles
        assert np.diff(packet["slots"]).tolist() == [1] * (len(angles) - 1)
        assert all((b - a) % 3 == 1 for a, b in itertools.pairwise(inside))


def test_deflections_are_told_with_who_was_in_the_way(record):
    data = player_data(render_report([record]))
    events = record.sides["events"][record.sides["events"]["kind"] == "deflect"]
    assert len(events) > 20
    told = {
        (int(slot), packet["id"]): by
        for packet in data["packets"]
        for slot, by in packet["by"].items()
    }
    expected = {
        (slot, packet): by
        for slot, packet, by in zip(events["slot"], events["packet"], events["by"], strict=True)
        if by >= 0
    }
    assert told == expected
    assert 0 in expected.values()  # the first packet was in somebody's way, and is named too


def test_the_table_of_deflections_has_all_of_them_in_its_csv(record):
    page = render_report([record])
    links = re.findall(r'href="(data:text/csv[^"]*)" download="study-0-recorded-deflections', page)
    lines = unquote(links[0]).split("\n")
    assert len(lines) - 2 == (record.sides["events"]["kind"] == "deflect").sum()


def test_the_queue_is_drawn_slot_by_slot(record):
    page = render_report([record])
    points = re.search(r'<polyline class="waiting" points="(.*?)"', page)[1].split()
    data = player_data(page)
    shown = record.sides["queues"][record.sides["queues"]["slot"] <= data["last"]]
    assert data["queue"]["waiting"] == shown["waiting"].tolist()
    assert len(points) == len(shown)
    heights = np.array([float(point.split(",")[1]) for point in points])
    assert np.corrcoef(heights, shown["waiting"])[0, 1] < -0.999


def test_more_than_can_be_shown_is_cut():
    study = recorded(packets=60, slots=40)
    events = study.sides["events"]
    many = events.assign(packet=events["packet"] * 5, slot=events["slot"] * 9)
    data = player_data(render_report([replace(study, sides={**study.sides, "events": many})]))
    assert data["last"] - data["first"] < 200
    assert all(packet["slots"][-1] <= data["last"] for packet in data["packets"])


def test_without_a_recording_there_is_no_player(saturated):
    page = render_report([saturated])
    assert 'class="player"' not in page


def test_every_figure_has_words_for_those_who_cannot_see_it(page):
    pictures = [attributes for _, attributes in Tags(page).tags if attributes.get("role") == "img"]
    assert all(len(attributes["aria-label"]) > 40 for attributes in pictures)
    assert page.count("How to read this.") == len(pictures) - 1  # the queue belongs to the player


def test_the_points_table_tells_which_have_settled(latency):
    table = points_table(latency, Sweep(latency), "t")
    assert [row[-1] for row in table.rows[:3]] == ["settled"] * 3
    assert table.rows[3][-1].signed.startswith("✗ queues grew by")
    assert len(table.csv_rows) == len(latency.estimates())


def test_settings_say_what_was_fixed_and_what_was_varied(latency):
    rows = {row[1]: row[2] for row in settings_table([latency]).rows}
    assert rows["switch.height"] == "16"
    assert rows["load"] == "0.05, 0.15, 0.25, 0.6 (varied)"
    assert "traffic.load" not in rows
    assert rows["replications"] == "3"


def test_claims_stand_on_the_page_with_their_count(page):
    assert "Of 2 claims of the source, 1 confirmed, 1 refuted and 0 not reproduced." in page
    assert '<table id="claims"' in page


def test_the_page_says_how_to_repeat_it(page):
    commands = page.split("<pre><code>")[1].split("</code></pre>")[0].splitlines()
    assert commands[0] == "dvsim run switch/load-latency"
    assert commands[-1] == "dvsim run switch/all"


def test_no_study_is_no_report():
    with pytest.raises(DvsimError, match="a report needs at least one run or study"):
        render_report([])


def test_the_file_is_the_page_and_a_failed_write_keeps_the_old_one(tmp_path, record):
    path = tmp_path / "new" / "report.html"
    write_results(path, [record])
    assert path.read_text(encoding="utf-8") == render_report([record])
    with pytest.raises(OutputError, match="Is a directory"):
        write_results(tmp_path / "new", [record])
    assert [item.name for item in path.parent.iterdir()] == ["report.html"]
