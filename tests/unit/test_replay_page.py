"""Does the page of a replay say when ranks are done, and where the time goes?"""

import pytest
from click.testing import CliRunner

from dvsim.cli.main import cli
from dvsim.kinds.workload.page import (
    finish_figure,
    parts_figure,
    replay_page,
    sizes_figure,
    spent_figure,
    spent_of,
)
from dvsim.kinds.workload.session import replays
from dvsim.view.html import html

GOAL = """num_ranks 3
rank 0 {
c: calc 2000
s: send 1000b to 1 tag 1
t: send 3b to 2
s requires c
t requires s
}
rank 1 {
r: recv 1000b from 0 tag 1
}
rank 2 {
r: recv 3b from 0
}
"""
COSTS = {"L": "1us", "o": "500ns", "g": "100ns", "G": "1ns", "S": "65536"}


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "three.goal"
    path.write_text(GOAL)
    return path


def test_what_a_rank_does_adds_up_to_its_end(trace):
    for fabric in ("loggops", "dv202"):
        settings = COSTS if fabric == "loggops" else {"o": "500ns"}
        (one,) = replays(trace, fabric, settings)
        spent = spent_of(one)
        assert sum(spent.values()) == pytest.approx(one.finish_ps / 1e6)
        assert spent["computing"].tolist() == [2, 0, 0]
        assert spent["sending"].tolist() == [1, 0, 0]
    (one,) = replays(trace, "loggops", COSTS)
    spent = spent_of(one)
    assert spent["taking messages"].tolist() == pytest.approx([0, 0.5 + 0.999, 0.5 + 0.002])
    assert spent["waiting"][1] == pytest.approx(2 + 0.5 + 1)


def test_the_figures_have_the_numbers_of_the_replay(trace):
    found = replays(trace, "loggops,fdr", {})
    parts = parts_figure(found).frame.groupby("x")["y"].sum()
    ends = finish_figure(found).frame
    for one in found:
        assert parts[one.fabric.name] == pytest.approx(one.time_ps / 1e6)
        own = ends.loc[ends["line"] == one.fabric.name, "y"]
        assert own.to_numpy() == pytest.approx(one.finish_ps / 1e6)
    sizes = sizes_figure(found[0]).frame
    assert sizes["x"].tolist() == ["≤ 4 B", "≤ 1.02 kB"]
    assert sizes["y"].tolist() == [1, 1]
    assert "rank 1" in spent_figure(found[0]).label


def test_the_command_writes_the_page(trace, tmp_path):
    page = tmp_path / "page.html"
    told = CliRunner().invoke(
        cli,
        ["replay", str(trace), "--fabric", "fdr", "--report", str(page)],
        catch_exceptions=False,
    )
    assert f"report: {page}" in told.output
    text = page.read_text()
    for name in ("parts", "finish", "spent", "sizes"):
        assert f'id="{name}-title"' in text
    assert "LogGOPS, card fdr-verbs" in text


def test_what_was_not_replayed_is_on_the_page(tmp_path):
    (tmp_path / "ti.txt").write_text("0 init\n0 compute 5\n0 waitany\n0 finalize\n")
    text = html(replay_page(replays(tmp_path / "ti.txt", "fdr", {}), "dvsim replay ti.txt"))
    assert 'id="skipped"' in text
    assert "waitany" in text
