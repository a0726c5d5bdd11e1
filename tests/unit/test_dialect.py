"""Are tables read as spreadsheets of several countries write them, and never by a guess?"""

import pytest

from dvsim.consistency.read import read_data
from dvsim.errors import ScenarioError
from dvsim.evidence.lab.read import read_lab

ROWS = [("message_bytes", "mean (msg/s)"), ("500", "14365.25"), ("3000", "12089.5")]


def written(tmp_path, separator, *, comma=False, before="", end="\n", mark=""):
    rows = [[c.replace(".", ",") if comma else c for c in row] for row in ROWS]
    text = mark + before + end.join(separator.join(row) for row in rows) + end
    path = tmp_path / "lab.csv"
    path.write_bytes(text.encode("utf-8"))
    return path


@pytest.mark.parametrize(
    "how",
    [
        {"separator": ";"},
        {"separator": ";", "comma": True},
        {"separator": "\t", "comma": True, "mark": "\ufeff", "end": "\r\n"},
        {"separator": ",", "before": "# bench 3\n\n# 12 May\n"},
        {"separator": ";", "comma": True, "before": "# a, b, c\n"},
    ],
)
def test_separators_decimal_commas_and_remarks(tmp_path, how):
    cases = read_lab(written(tmp_path, **how)).cases
    means = {case.message_bytes: case.statistics["mean"] for case in cases}
    assert means == {500: 14365.25, 3000: 12089.5}


@pytest.mark.parametrize("header", ["rate (msg/s);run", "# bench 3\nrate (msg/s);run"])
def test_raw_samples_are_read_alike(tmp_path, header):
    path = tmp_path / "lab.csv"
    path.write_text(f"{header}\n100,5;a\n200,25;a\n")
    assert read_lab(path).cases[0].values.tolist() == [100.5, 200.25]
    path.write_text(f"{header}\n100,5;a\nbad;a\n")
    with pytest.raises(ScenarioError, match=rf"lab.csv:{3 + header.count('#')}: rate"):
        read_lab(path)


def test_a_comma_that_may_be_of_thousands_is_refused(tmp_path):
    path = tmp_path / "lab.csv"
    path.write_text("message_bytes;mean (msg/s)\n500;14,365\n3000;12,089\n")
    with pytest.raises(ScenarioError, match=r"lab.csv:2: mean \(msg/s\): .* 14365 or 14.365"):
        read_lab(path)


def test_sizes_may_have_units_and_a_wrong_one_is_said_once(tmp_path):
    path = tmp_path / "lab.csv"
    path.write_text("message_bytes,mean (msg/s)\n500 B,14365\n4 KiB,12089\n")
    assert [case.message_bytes for case in read_lab(path).cases] == [500, 4096]
    path.write_text("message_bytes,mean (msg/s)\n4 kb,14365\n8 kb,12089\n")
    with pytest.raises(ScenarioError) as caught:
        read_lab(path)
    assert [fault.message.partition(",")[0] for fault in caught.value.faults] == [
        "must be a whole number of bytes above 0"
    ] * 2


def test_consistency_reads_the_same_files(tmp_path):
    data = read_data([written(tmp_path, ";", comma=True, before="# bench\n")])
    means = {column.message_bytes: column.statistics["mean"].value for column in data.columns}
    assert means == {500: 14365.25, 3000: 12089.5}
    path = tmp_path / "bytes.csv"
    path.write_bytes(b"rate\n\xff\n")
    with pytest.raises(ScenarioError, match=r"bytes\.csv:2: byte 0xff is not UTF-8"):
        read_data([path])
