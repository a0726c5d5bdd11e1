"""Does the report say what the runs say, and does it need nothing but itself?"""

import itertools
import re
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import unquote

import numpy as np
import pytest
from click.testing import CliRunner
from report_runs import (
    published_set,
    steady_run,
    tcp_run,
    validation_of,
    vortex_run,
)

from dvsim.errors import DvsimError, OutputError
from dvsim.scenario.sampled import Column
from dvsim.study.table import Cell, Table
from dvsim.view import render_report, write_results
from dvsim.view.groups import grouped
from dvsim.view.html import csv_uri
from dvsim.view.result_page import sentences, verdict_sentences
from dvsim.view.run_figures import (
    POINTS_PER_LINE,
    active,
    column_series,
    decimate,
    points_per_line,
    rate_figure,
    smooth,
)
from dvsim.view.run_tables import stages_table

FIGURES = 20  # of ten runs: 5 of rates, 10 of quantiles, 3 over sizes, 2 against the published
PIPELINES = 2


class Tags(HTMLParser):
    """Every tag with its attributes, and the texts that are not scripts or styles."""

    def __init__(self, page):
        super().__init__()
        self.tags = []
        self.texts = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if not self.tags or self.tags[-1][0] not in ("script", "style"):
            self.texts.append(data)


@pytest.fixture(scope="module")
def large():
    runs = published_set()
    return render_report(runs, validation_of(runs), "dvsim run h3/published")


def test_the_page_refers_to_nothing_outside_itself(large):
    addresses = [
        (tag, value)
        for tag, attributes in Tags(large).tags
        for name, value in attributes.items()
        if name in ("src", "href", "srcset", "data", "action", "poster")
    ]
    assert addresses
    assert all(value.startswith(("#", "data:text/csv")) for _, value in addresses), addresses


def test_no_tag_but_script_and_style_can_load_anything(large):
    tags = {tag for tag, _ in Tags(large).tags}
    assert not tags & {"link", "img", "iframe", "object", "embed", "base", "video", "audio"}
    assert "@import" not in large.split("</style>")[0]


def test_ten_runs_fit_into_a_megabyte(large):
    assert len(large.encode()) < 1_000_000


def test_the_figure_library_is_there_once(large):
    assert large.count('id="vega"') == 1
    assert large.count('<div class="figure') == FIGURES + PIPELINES


def test_many_runs_share_the_points_of_a_page():
    few = grouped([vortex_run(intervals=10, replications=1)])
    many = grouped([vortex_run(intervals=10, replications=1, name=str(n)) for n in range(100)])
    assert points_per_line(few) == POINTS_PER_LINE
    assert points_per_line(many) == 60


def test_equal_runs_give_equal_bytes():
    pages = [render_report([vortex_run(replications=1), tcp_run(replications=1)]) for _ in range(2)]
    assert pages[0] == pages[1]


def test_a_title_cannot_become_markup():
    evil = "</script><script>alert(1)</script><b>&"
    page = render_report([steady_run([5], title=evil, name=evil), steady_run([6], name=evil)])
    assert "<script>alert(1)" not in page
    assert "</script><script>" not in page


def test_the_title_of_a_single_run_is_the_heading():
    page = render_report([steady_run([5], title="Bits & bobs <8>")])
    assert "<h1>Bits &amp; bobs &lt;8&gt;</h1>" in page


def test_the_verdict_counts_columns_by_what_they_were_used_for():
    runs = [vortex_run(), tcp_run()]
    said = sentences(grouped(runs), validation_of(runs, failing=[("h3/dv-8", "r2")]))
    assert said[0].startswith("Like for like, in whole messages over all receivers, the Data")
    assert said[2] == (
        "3 of 4 published columns are reproduced within the tolerances declared beforehand: "
        "2 of the 2 fitted to and 1 of the 2 held out. "
        "Where a fitted column passes, that is a fit, not a prediction."
    )
    assert said[3] == "Of 4 claims of the source, 2 confirmed, 1 refuted and 1 not reproduced."


def test_a_comparison_of_short_runs_says_so():
    run = vortex_run()
    validation = validation_of([run])
    rows, counts = validation.rows, validation.rows["statistic"] == "count"
    rows = rows.assign(published=rows["published"].where(~counts, rows["simulated"] * 50))
    said = verdict_sentences(replace(validation, rows=rows))
    assert len(verdict_sentences(validation)) == 1
    assert said[1].startswith("These runs are short: 2% of the published samples")


def test_the_verdict_gives_the_rates_in_both_readings():
    vortex = steady_run([100, 300], size=2048, per_message=2)
    tcp = steady_run([800], size=2048, transport="tcp")
    said = sentences(grouped([tcp, vortex]), None)
    assert "0.500 times (at 2 KiB) what TCP does" in said[0]


def test_a_crossover_is_said_by_size():
    runs = [
        steady_run([100], size=8),
        steady_run([200], size=8, transport="tcp"),
        steady_run([100], size=1024),
        steady_run([50], size=1024, transport="tcp"),
    ]
    said = sentences(grouped(runs), None)[0]
    assert "0.500 times (at 8 B) and 2.00 times (at 1 KiB)" in said


def test_without_published_data_nothing_is_claimed():
    page = render_report([steady_run([5, 5])])
    text = " ".join(Tags(page).texts)
    assert "Nothing was compared with published data" in text
    assert "10 msg/s, 80 B/s (all receivers)." in text.replace("\N{NO-BREAK SPACE}", " ")
    assert "✓" not in text


def test_every_rate_as_printed_is_called_pieces(large):
    text = " ".join(Tags(large).texts)
    assert "on the Data Vortex in pieces per receiver" in text
    assert "that is a fit, not a prediction" in text


def test_decimation_keeps_the_largest_sample_of_every_bin():
    rng = np.random.default_rng(1)
    rate = rng.pareto(1.1, 10_007)
    time = np.arange(10_007.0)
    kept_time, kept = decimate(time, rate, 400)
    assert len(kept) == 400
    assert kept.max() == rate.max()
    assert np.array_equal(rate[kept_time.astype(int)], kept)
    edges = (np.arange(401) * 10_007) // 400
    assert np.array_equal(kept, [rate[a:b].max() for a, b in itertools.pairwise(edges)])


def test_a_short_series_is_left_alone():
    time, rate = np.arange(5.0), np.arange(5.0)
    assert decimate(time, rate, 5) == (time, rate)


def test_the_moving_average_skips_empty_polls():
    time, rate = np.arange(100.0), np.where(np.arange(100) % 2, 0.0, 10.0)
    assert set(smooth(*active(time, rate))[1].tolist()) == {10.0}


def test_the_iterations_of_a_column_follow_each_other():
    run = tcp_run(batches=100, replications=1)
    run.scenario.probe.columns["both"] = Column(0, (1, 2))
    time, rate = column_series(run, "both", "messages")
    first = run.sides["samples"][run.sides["samples"]["iteration"] == 1]
    end = (first["start_ps"] + first["duration_ps"]).max() / 1e12
    assert len(time) == len(rate) == 200
    assert time[100] == pytest.approx(end)
    assert np.all(np.diff(time) > 0)


def test_the_largest_burst_is_in_the_figure():
    run = vortex_run(intervals=30_000, duty=0.9, replications=1)
    (group,) = grouped([run])
    figure = rate_figure(group, 500)
    frame = figure.frame.query("part == 'samples'")
    rates = frame["y"][frame["line"] == frame["line"].iloc[0]].to_numpy()  # of the first receiver
    expected = run.sides["samples"].query("receiver == 1")["pieces"].max() / 5.001e-3
    assert len(rates) == 500
    assert rates.max() == pytest.approx(expected, rel=1e-4)
    assert "500 bins" in figure.reading


def test_every_figure_has_words_for_those_who_cannot_see_it(large):
    labels = [a["aria-label"] for tag, a in Tags(large).tags if a.get("role") == "img"]
    assert len(labels) == FIGURES + PIPELINES
    assert all(re.search(r"8 B|KiB|256 B| at (8|256|2048)\b", label) for label in labels), labels
    assert large.count("How to read this.") == FIGURES + PIPELINES


def test_the_bottleneck_is_the_stage_that_is_always_busy():
    table = stages_table(grouped([vortex_run(), tcp_run()]))
    assert [row[-1] for row in table.rows] == [
        "AMQP socket (98 % busy)",
        "publisher (95 % busy)",
    ]
    events = dict(zip(table.head, table.rows[0], strict=True))
    assert (events["overruns"], events["extra polls"]) == ("42", "7")


def test_a_stage_that_rests_is_no_bottleneck():
    run = vortex_run(replications=1)
    run.values.loc[run.values["metric"] == "utilisation", "value"] *= 0.5
    (row,) = stages_table(grouped([run])).rows
    assert row[-1] == "waiting for credits (AMQP socket 49 % busy)"


def test_of_one_run_nothing_is_said_of_others():
    alone = render_report([vortex_run(replications=1)])
    assert "a closed loop: the next message waits until the system is ready." in alone


def test_of_many_runs_the_stages_that_limit_are_counted():
    both = [vortex_run(replications=1), tcp_run(replications=1)]
    both[1].values.replace({"publisher": "link", "link": "publisher"}, inplace=True)
    assert any("link at 1" in text for text in sentences(grouped(both), None))


def test_weak_parameters_are_listed_with_their_source():
    page = render_report([vortex_run(replications=1), tcp_run(replications=1)])
    table = page.split('<table id="parameters"')[1].split("</table>")[0]
    names = re.findall(r'<th scope="row" class="code">(.*?)</th>', table)
    assert names == ["h3-bridge.push", "data-vortex-8.sram", "data-vortex-8.piece_words"]
    assert "Fitted to: 8 B of run 1" in table
    assert table.count("busiest stage") == 1  # the socket is, and its numbers are the bridge's


def test_the_page_says_how_to_repeat_it():
    page = render_report([vortex_run(replications=1)], command="dvsim report it")
    commands = page.split("<pre><code>")[1].split("</code></pre>")[0]
    assert commands.splitlines() == ["dvsim run h3/dv-8", "dvsim report it"]


def test_two_runs_of_one_scenario_are_told_apart_and_only_the_last_is_judged():
    runs = [vortex_run(replications=1), vortex_run(replications=1, intervals=400)]
    page = render_report(runs, validation_of(runs[1:]))
    assert "h3/dv-8 (2)" in page
    table = page.split('<table id="columns"')[1].split("</table>")[0]
    assert table.count("<tr>") == 1 + 2


def test_a_run_without_a_single_message_is_still_a_page():
    page = render_report([steady_run([0, 0])])
    assert "Nothing arrived in these runs" in page


def test_a_csv_keeps_every_digit_and_quotes_what_needs_it():
    table = Table(["a", "b"], [[Cell('x,"y"'), Cell("24,367", raw=24367.1122)]])
    assert table.csv == 'a,b\n"x,""y""",24367.1122\n'
    assert unquote(csv_uri(table)) == f"data:text/csv;charset=utf-8,{table.csv}"


def test_no_run_is_no_report():
    with pytest.raises(DvsimError, match="a report needs at least one run"):
        render_report([])


def test_the_file_is_the_page_and_nothing_else_is_left(tmp_path):
    run = steady_run([5])
    write_results(tmp_path / "report.html", [run])
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == render_report([run])
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_folder_that_is_not_there_is_made(tmp_path):
    path = tmp_path / "missing" / "report.html"
    write_results(path, [steady_run([5])])
    assert path.stat().st_size > 0


def test_a_folder_that_cannot_be_made_is_an_output_error(tmp_path):
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "report.html"
    with pytest.raises(OutputError, match=re.escape(f"cannot write {path}: Not a directory")):
        write_results(path, [steady_run([5])])


def test_a_failed_write_keeps_the_old_page(tmp_path):
    path = tmp_path / "report.html"
    path.mkdir()  # a folder in the way: it cannot be written, even by root
    with pytest.raises(OutputError, match=re.escape(f"cannot write {path}: Is a directory")):
        write_results(path, [steady_run([5])])
    assert [item.name for item in tmp_path.iterdir()] == ["report.html"]


def test_the_command_writes_the_page_of_its_folders(tmp_path, monkeypatch):
    from dvsim.cli.report import report
    from dvsim.study import store

    asked = []
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        (tmp_path / name).mkdir()
    monkeypatch.setattr(
        store, "load_result", lambda path: asked.append(path) or steady_run([5], name=path.name)
    )
    page = tmp_path / "page.html"
    done = CliRunner().invoke(report, ["a", "b", "--report", str(page)], catch_exceptions=False)
    assert done.output.strip() == str(page)
    assert [path.name for path in asked] == ["a", "b"]
    assert f"dvsim report a b --report {page}" in page.read_text(encoding="utf-8")


def test_many_sizes_are_said_by_their_ends():
    runs = [
        steady_run([rate], size=8 << place, transport=transport)
        for place in range(8)
        for transport, rate in (("data-vortex", 100 * (place + 1)), ("tcp", 200))
    ]
    said = sentences(grouped(runs), None)[0]
    assert "the Data Vortex carries 0.500 times (at 8 B) to 4.00 times (at 1 KiB) what TCP" in said
    assert "messages of 8 B to 1 KiB</h1>" in render_report(runs).replace("\N{NO-BREAK SPACE}", " ")
