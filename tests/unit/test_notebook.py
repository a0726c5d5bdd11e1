"""Are results readable in a notebook, and harmless?"""

from dataclasses import replace

import pytest

import dvsim


@pytest.fixture(scope="module")
def run():
    return dvsim.run("h3/fdr-8", replications=2, messages=200_000)


def test_a_run_shows_its_estimates(run):
    html = run._repr_html_()
    assert all(f"<th>{name}</th>" in html for name in run.SHOWN)
    assert f"<td>{run.rate.value:.6f}</td>" in html


def test_a_study_shows_its_points():
    study = dvsim.run("switch/zero-load", replications=2, scale=0.01)
    assert study._repr_html_().count("<tr") == len(study.scenario.points) + 1


def test_names_from_files_are_text(run):
    bad = replace(run.scenario, title="<script>alert(1)</script>", question="<b>?</b>")
    html = replace(run, scenario=bad)._repr_html_()
    assert "<script" not in html
    assert "<b>" not in html


def test_a_run_draws_the_rate_of_each_column_titled_with_its_answer(run):
    figure = run.plot()
    names = " ".join(figure.frame["line"].unique())
    assert all(f" {column}," in names for column in run.scenario.probe.columns)
    assert str(run.rate) in figure.title
    assert b"<svg" in figure._repr_mimebundle_()["image/svg+xml"].encode()
