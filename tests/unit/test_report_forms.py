"""Do the other forms of a report hold what the page holds, and are they the same every time?"""

import io
import re
import xml.etree.ElementTree as ET

import pandas as pd
import pytest
from click.testing import CliRunner
from report_runs import steady_run, tcp_run, validation_of, vortex_run
from study_runs import load_latency, recorded

from dvsim.view import FORMATS, render_report, write_results
from dvsim.view.figure import svg
from dvsim.view.result_page import report_page
from dvsim.view.tidy import tidy


@pytest.fixture(scope="module")
def runs():
    return [vortex_run(), tcp_run(), vortex_run(2048), tcp_run(2048)]


@pytest.fixture(scope="module")
def validation(runs):
    return validation_of(runs, failing=[("h3/dv-8", "r2")])


@pytest.fixture(scope="module")
def study():
    return load_latency()


def written(folder, name, *results, **more):
    files = write_results(folder / name, results, **more)
    return [file.read_bytes() for file in files]


def test_the_ending_of_the_file_says_the_form(tmp_path):
    run = steady_run([5])
    starts = {"html": b"<!DOCTYPE html>", "md": b"# ", "csv": b"scenario,", "parquet": b"PAR1"}
    for form, start in starts.items():
        (data,) = written(tmp_path, f"report.{form}", run)
        assert data.startswith(start), form
    assert all(
        data.startswith(b"<?xml") or data.startswith(b"<svg")
        for data in written(tmp_path, "report.svg", run)
    )
    for form, start in {"png": b"\x89PNG", "pdf": b"%PDF"}.items():
        assert all(data.startswith(start) for data in written(tmp_path, f"report.{form}", run))
    assert set(starts) | {"svg", "png", "pdf"} == set(FORMATS)


def test_another_name_is_a_page_and_a_form_that_is_given_wins(tmp_path):
    (data,) = written(tmp_path, "report", steady_run([5]))
    assert data.startswith(b"<!DOCTYPE html>")
    (data,) = written(tmp_path, "table.txt", steady_run([5]), form="csv")
    assert data.startswith(b"scenario,")


def test_text_has_the_sentences_and_the_tables_of_the_page(tmp_path, runs, validation):
    (data,) = written(tmp_path, "r.md", *runs, validation=validation, command="dvsim report it")
    text = data.decode()
    page = render_report(runs, validation, "dvsim report it")
    assert "that is a fit, not a prediction" in text
    for words in ("✗ fail", "held out", "1 not reproduced"):
        assert words in text
        assert words in page
    assert "| 8 B | Data Vortex | " in text
    assert "AMQP socket 98 %" in text
    assert "`h3-bridge.push`" in text
    assert text.rstrip().split("```")[-2].split() == [
        *["dvsim", "run", "h3/dv-8", "dvsim", "run", "h3/fdr-8", "dvsim", "run", "h3/dv-2048"],
        *["dvsim", "run", "h3/fdr-2048", "dvsim", "report", "it"],
    ]


def test_every_row_of_a_table_in_the_text_is_as_wide_as_its_head(tmp_path, runs, validation, study):
    for name, results, beside in (("r.md", runs, validation), ("s.md", [study], None)):
        (data,) = written(tmp_path, name, *results, validation=beside)
        blocks = [block for block in data.decode().split("\n\n") if block.startswith("|")]
        assert len(blocks) > 2
        for block in blocks:
            bars = {line.replace("\\|", "").count("|") for line in block.splitlines()}
            assert len(bars) == 1, block


def test_names_cannot_become_markup_in_the_text(tmp_path):
    (data,) = written(tmp_path, "r.md", steady_run([5], title="<script>a|b*\\|c"))
    assert data.startswith(b"# &lt;script&gt;a\\|b\\*\\\\\\|c\n")


def test_the_table_has_every_estimate_and_the_verdicts(tmp_path, runs, validation):
    (data,) = written(tmp_path, "r.csv", *runs, validation=validation)
    table = pd.read_csv(io.BytesIO(data))
    assert len(table) == sum(len(run.estimates()) for run in runs)
    assert set(table["scenario"]) == {run.scenario.name for run in runs}
    found = table[(table["scenario"] == "h3/dv-8") & (table["component"] == "r2")]
    mean = found[found["metric"] == "pieces.mean"].iloc[0]
    assert mean["published"] == pytest.approx(1.1 * mean["value"])
    assert (mean["verdict"], mean["split"]) == ("fail", "held out")
    assert found.loc[found["metric"].str.startswith("messages."), "verdict"].isna().all()


def test_csv_and_parquet_are_one_table(tmp_path, runs, study):
    for name, results in (("r", runs), ("s", [study, recorded()])):
        (text,) = written(tmp_path, f"{name}.csv", *results)
        (data,) = written(tmp_path, f"{name}.parquet", *results)
        one = pd.read_csv(io.BytesIO(text), dtype={"version": str})
        two = pd.read_parquet(io.BytesIO(data))
        assert list(one) == list(two)
        assert one["value"].tolist() == pytest.approx(two["value"].tolist(), nan_ok=True)


def test_the_table_of_a_study_has_its_keys(study):
    table = tidy([study], None)
    assert {"point", "crossing", "load", "metric", "value", "low", "high", "unit"} <= set(table)
    assert table["load"].nunique() == 4


@pytest.mark.parametrize("form", FORMATS)
def test_equal_results_give_equal_bytes(tmp_path, form):
    results = [vortex_run(intervals=500), tcp_run(batches=100)]
    assert written(tmp_path, f"a.{form}", *results) == written(tmp_path, f"a.{form}", *results)


def test_the_table_of_a_pdf_says_where_its_objects_are(tmp_path):
    for data in written(tmp_path, "a.pdf", vortex_run(intervals=500)):
        start = int(data.split(b"startxref\n")[1].split()[0])
        assert data[start:].startswith(b"xref\n0 ")
        places = re.findall(rb"^(\d{10}) 00000 n\r\n", data[start:], re.MULTILINE)
        assert len(places) == data.count(b" 0 obj\n") > 10
        for number, place in enumerate(places, start=1):
            assert data[int(place) :].startswith(b"%d 0 obj\n" % number)


def test_every_figure_becomes_a_file_that_is_well_formed(tmp_path, runs, validation, study):
    files = write_results(tmp_path / "f.svg", runs, validation)
    assert [file.name for file in files] == [
        f"f-{drawing.name}.svg" for drawing in report_page(runs, validation).figures
    ]
    files += write_results(tmp_path / "s.svg", [study])
    assert len(files) > 15
    for file in files:
        root = ET.fromstring(file.read_text("utf-8"))
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert "var(" not in file.read_text("utf-8")


def test_a_figure_on_paper_has_the_words_of_the_page(runs, validation):
    (drawing,) = [one for one in report_page(runs, validation).figures if one.name == "qq-dv"]
    words = "".join(ET.fromstring(svg(drawing)).itertext())
    for word in ("8 B r1, fitted", "2 KiB r2, held out", "published, pieces/s"):
        assert word in words


def test_a_name_in_a_figure_on_paper_is_plain_text(tmp_path):
    evil = "</svg><script>alert(1)</script>&$x_1$"
    named = [steady_run([5, 6], name=evil), steady_run([7, 8], name=evil)]
    for file in write_results(tmp_path / "f.svg", named):
        text = file.read_text("utf-8")
        assert "<script" not in text
        ET.fromstring(text)
    assert evil in "".join(ET.fromstring((tmp_path / "f-rate-8.svg").read_text()).itertext())


def test_the_verb_writes_what_it_was_asked_for(tmp_path, monkeypatch):
    from dvsim.cli.report import report
    from dvsim.study import store

    monkeypatch.setattr(store, "load_result", lambda path: steady_run([5], name=path.name))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    done = CliRunner().invoke(report, ["a", "--format", "md"], catch_exceptions=False)
    assert done.output == "report.md\n"
    assert "dvsim report a --format md" in (tmp_path / "report.md").read_text("utf-8")
    done = CliRunner().invoke(report, ["a", "--report", "x.svg"], catch_exceptions=False)
    assert done.output.split() == ["x-rate-8.svg", "x-quantiles-0.svg"]
    done = CliRunner().invoke(report, ["a", "--format", "docx"])
    assert done.exit_code == 2
    assert "'html', 'md', 'csv', 'parquet', 'svg', 'png', 'pdf'" in done.output


def test_an_ending_that_is_no_form_is_refused_before_anything_runs(tmp_path, monkeypatch):
    from dvsim.cli.options import FORMS
    from dvsim.cli.report import report
    from dvsim.cli.run import run
    from dvsim.view.file_formats import FORMATS

    assert FORMS == FORMATS
    monkeypatch.chdir(tmp_path)
    for verb, asked in (
        (report, ["a", "--report", "x.docx"]),
        (run, ["h3/dv-8", "--report", "x.docx"]),
    ):
        done = CliRunner().invoke(verb, asked)
        assert done.exit_code == 2
        assert "'.docx' is no form of a report; there are .html, .md, .csv" in done.output
    assert list(tmp_path.iterdir()) == []
