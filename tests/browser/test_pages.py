"""Are the pages as they should be in a real browser: drawn, quiet, narrow, dark, on paper?"""

from __future__ import annotations

import csv
import io

import pytest
from chromium import KEPT

NAMES = (
    "runs",
    "lab",
    "switch",
    "messaging",
    "comparison",
    "studies-compared",
    "topology",
    "sweep",
    "evil",
)

DRAWN = """[...document.querySelectorAll(".figure")].map((figure) =>
  figure.querySelectorAll(".vega svg .mark-group path, .vega svg .mark-symbol path").length > 0)"""

WIDE = """[...document.querySelectorAll("body *")].filter((element) => {
  if (element.closest(".table, .wide, pre, svg, canvas")) return false;  // they scroll alone
  return element.getBoundingClientRect().right > innerWidth + 1;
}).map((element) => element.tagName + "." + element.className)"""

COLOURS = """(() => {
  const ink = (query, property) => {
    const found = document.querySelector(query);
    return found && getComputedStyle(found)[property];
  };
  return {
    page: ink("body", "backgroundColor"),
    text: ink("body", "color"),
    ticks: ink(".vega .role-axis-label text", "fill"),
  };
})()"""


def luminance(colour):
    """Relative luminance of "rgb(r, g, b)", as WCAG 2 defines it."""
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").rstrip(")").split(",")]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_is_drawn(drawn, name):
    figures = drawn(name).run(DRAWN)
    assert figures
    assert all(figures)


@pytest.mark.parametrize("name", NAMES)
def test_the_console_is_silent_and_nothing_is_fetched(drawn, name):
    page = drawn(name)
    assert page.errors == []
    assert page.requests == []


@pytest.mark.parametrize(
    "name", ["runs", "switch", "messaging", "comparison", "studies-compared", "sweep"]
)
def test_a_phone_need_not_scroll_sideways(drawn, name):
    page = drawn(name, "phone")
    assert page.run("innerWidth") == 390
    assert page.run("document.documentElement.scrollWidth") == 390
    assert page.run(WIDE) == []


@pytest.mark.parametrize("name", ["runs", "switch", "messaging"])
def test_the_dark_page_is_dark_and_can_be_read(drawn, name):
    dark, light = (drawn(name, look).run(COLOURS) for look in ("phone", "desktop"))
    assert luminance(dark["page"]) < 0.05
    assert luminance(light["page"]) > 0.9
    for colours in (dark, light):
        assert contrast(colours["page"], colours["text"]) > 7
        assert contrast(colours["page"], colours["ticks"]) > 7


def test_a_title_with_a_script_in_it_does_not_run(drawn):
    page = drawn("evil")
    assert page.run("typeof window.stolen") == "undefined"
    for query in ("#mean-rates", ".role-legend-label", "#pipeline-dv .vega", "#manifest"):
        assert "window.stolen=1" in page.run(f"document.querySelector('{query}').textContent")


def test_figures_are_drawn_without_being_looked_at(chromium, pages):
    page = chromium.page(pages["runs"], width=1200, height=900)
    page.run("dvsim.drawAll().then(() => 0)")
    every = page.run("document.querySelectorAll('.figure').length")
    assert page.run("document.querySelectorAll('.figure.drawn').length") == every
    page.close()


def test_a_figure_gives_its_points_as_csv(drawn):
    page = drawn("runs")
    rows = list(csv.DictReader(io.StringIO(page.run("dvsim.csv('scaling-messages')"))))
    assert [row["line"] for row in rows] == ["Data Vortex"] * 2 + ["TCP (fdr-ipoib)"] * 2
    assert [row["size of a message"] for row in rows] == ["8", "2048"] * 2
    for row in rows:
        assert float(row["low"]) < float(row["messages/s"]) < float(row["high"])
    link = "document.querySelector('a.data[data-figure=scaling-messages]')"
    page.run(f"{link}.click()")
    assert page.run(f"{link}.href").startswith("blob:")


def test_a_zero_is_a_zero_in_the_csv_and_quantiles_have_their_names(drawn):
    rows = list(csv.DictReader(io.StringIO(drawn("runs").run("dvsim.csv('quantiles-0')"))))
    medians = [row for row in rows if row["statistic"] == "50%"]
    assert {float(row["pieces/s"]) for row in medians} == {0.0}


def test_the_recorded_run_can_be_played(drawn):
    page = drawn("switch")
    state = "document.querySelector('.player .state').textContent"
    before = page.run(state)
    page.run("document.querySelector('.player .on').click()")
    assert page.run(state) != before


def test_paper_has_every_figure(chromium, pages):
    page = chromium.page(pages["messaging"])
    page.run("dvsim.drawAll().then(() => 0)")
    page.pdf(KEPT / "messaging.pdf")
    assert all(page.run(DRAWN))
    own = "document.querySelectorAll('.figure:not(.wide) .vega svg')"
    widths = f"[...{own}].map((svg) => svg.clientWidth)"
    before = page.run(widths)
    page.run("dispatchEvent(new Event('beforeprint'))")
    on_sheet = page.run(f"{widths}.concat(document.body.clientWidth)")
    assert max(on_sheet) <= 273 / 25.4 * 96  # A4 across, less its margins
    page.run("dispatchEvent(new Event('afterprint'))")
    assert page.run(widths) == before
    assert (KEPT / "messaging.pdf").read_bytes().startswith(b"%PDF")
    page.close()


def test_the_bottleneck_stands_out_in_the_pipeline(drawn):
    marked = drawn("runs").run(
        """[...document.querySelectorAll("#pipeline-dv .vega text")].filter(
          (text) => text.textContent.endsWith("the limit")).length"""
    )
    assert marked == 2


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_has_a_download_with_points_in_it(drawn, name):
    texts = drawn(name).run(
        "[...document.querySelectorAll('a.data')].map((link) => dvsim.csv(link.dataset.figure))"
    )
    assert texts
    for text in texts:
        rows = list(csv.reader(io.StringIO(text)))
        assert len(rows) > 2
        assert len({len(row) for row in rows}) == 1


SET = """(() => {{
  const control = document.querySelector("#explore [name='{name}']");
  control.value = "{value}";
  control.dispatchEvent(new Event("{event}"));
}})()"""
PLOT = "document.querySelector('#explore .plot')"
MARKS = "[...document.querySelectorAll('#explore .vega .mark-symbol.role-mark path')]"


def test_the_picture_of_a_sweep_follows_its_controls(chromium, pages):
    page = chromium.page(pages["sweep"], width=1200, height=900)

    def said():
        return page.run(f"{PLOT}.getAttribute('aria-label')")

    def choose(name, value, event="change"):
        page.run(SET.format(name=name, value=value, event=event))
        page.run("new Promise((done) => setTimeout(() => done(0), 300))")

    page.draw_all()
    page.run("new Promise((done) => setTimeout(() => done(0), 1000))")
    assert page.run(f"{MARKS}.length") == 6  # two crossings at three loads
    hollow = f"{MARKS}.filter((mark) => mark.getAttribute('fill-opacity') === '0').length"
    assert page.run(hollow) == 2  # both at the highest load
    assert "2 saturated" in page.run("document.querySelector('#explore .state').textContent")
    seen = [said()]
    choose("height", 2, "input")
    seen.append(said())
    choose("metric", "mean_latency")
    seen.append(said())
    choose("x", "height")
    seen.append(said())
    assert len(set(seen)) == 4
    assert " over height: " in seen[-1]
    assert page.run(f"{MARKS}.length") == 6  # two crossings at three heights, of one load
    choose("load", -1, "input")
    assert page.run(f"{MARKS}.length") == 18
    unnamed = """[...document.querySelectorAll("#explore :is(select, input)")].filter(
      (control) => !control.labels.length).length"""
    assert page.run(unnamed) == 0
    assert page.errors == []
    page.close()
