"""Is every number of a laboratory's file read as it was meant, by each verb alike, or refused?"""

import json

import pandas as pd
import pytest

from dvsim.consistency import examine
from dvsim.consistency.read import read_data
from dvsim.errors import ScenarioError
from dvsim.evidence.lab.data import Sample
from dvsim.evidence.lab.read import read_lab


def laid(folder, text, name="lab.csv"):
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder / name


def of_lab(path):
    return [
        (case.metric, case.message_bytes, case.count, dict(case.statistics))
        for case in read_lab(path).cases
    ]


def of_consistency(path):
    return [
        (column.message_bytes, {name: number.value for name, number in column.statistics.items()})
        for column in read_data([path]).columns
    ]


def consistent(path):
    return read_data([path])


def faults_of(read, path):
    with pytest.raises(ScenarioError) as caught:
        read(path)
    return [(fault.line, fault.key) for fault in caught.value.faults], str(caught.value)


TWO = {256: {"mean": 131000.5, "50%": 135000.0}, 8192: {"mean": 70000.5, "50%": 60000.0}}
HEAD = "message_bytes;count;mean (msg/s);50% (msg/s)"
WRITTEN = {
    "german": f"{HEAD}\n256;600;131.000,5;135.000\n8192;600;70.000,5;60.000\n",
    "german size": f"{HEAD}\n256;600;131.000,5;135.000\n8.192;600;70.000,5;60.000\n",
    "sep line": f"sep=;\n{HEAD}\n256;600;131000,5;135000,0\n8192;600;70000,5;60000,0\n",
    "sep and mark": f"\ufeffSEP=;\r\n{HEAD}\r\n256;600;131000,5;135000\r\n"
    "8192;600;70000,5;60000\r\n",
    "trailing": f"{HEAD};\n256;600;131000,5;135000;\n8192;600;70000,5;60000;\n",
    "trailing without heading": f"{HEAD};;\n256;600;131000.5;135000;;\n8192;600;70000.5;60000;;\n",
    "english": 'message_bytes,count,mean (msg/s),50% (msg/s)\n256,600,"131,000.5","135,000"\n'
    '"8,192",600,"70,000.5","60,000"\n',
    "french": f"{HEAD}\n256;600;131\u202f000,5;135\u00a0000\n8192;600;70 000,5;60 000\n",
    "swiss": f"{HEAD}\n256;600;131'000.5;135’000\n8192;600;70'000.5;60'000\n",
    "units in cells": f"{HEAD}\n256;600;131000.5 msg/s;135 kmsg/s\n8192;600;70000.5;60e3 msgs/s\n",
    "tabs": HEAD.replace(";", "\t") + "\n256\t600\t131000,5\t135000\n8192\t600\t70000,5\t60000\n",
    "thousands": "message_bytes;count;mean (kmsg/s);50% (kmsg/s)\n256;600;131,0005;135\n"
    "8192;600;70,0005;60\n",
}


@pytest.mark.parametrize("how", WRITTEN)
@pytest.mark.parametrize("code", ["utf-8", "utf-16"])
def test_one_table_as_spreadsheets_of_many_countries_write_it(tmp_path, how, code):
    path = laid(tmp_path, WRITTEN[how].removeprefix("\ufeff" * (code != "utf-8")).encode(code))
    found = {size: statistics for _, size, _, statistics in of_lab(path)}
    assert found == {size: pytest.approx(statistics) for size, statistics in TWO.items()}
    assert {count for _, _, count, _ in of_lab(path)} == {600}
    scale = 1000 if how == "thousands" else 1
    again = dict(of_consistency(path))
    for size, statistics in TWO.items():
        assert again[size]["mean"] * scale == pytest.approx(statistics["mean"])
        assert again[size]["50%"] * scale == pytest.approx(statistics["50%"])


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize(
    ("cell", "both"), [("131.000", ("131", "131000")), ("49,000", ("49", "49000"))]
)
def test_a_number_with_two_readings_is_refused_with_both(tmp_path, separator, cell, both):
    rows = [("message_bytes", "mean (msg/s)"), ("256", cell), ("8192", cell)]
    path = laid(tmp_path, "".join(separator.join(row) + "\n" for row in rows))
    for read in (read_lab, consistent):
        places, text = faults_of(read, path)
        assert places == [(2, "mean (msg/s)"), (3, "mean (msg/s)")]
        assert set(both) <= set(text.replace(",", " ").replace(";", " ").split())


def test_samples_are_read_by_the_same_rules(tmp_path):
    path = laid(tmp_path, "rate (msg/s)\n131.000,5\n70.000\n1,5 kmsg/s\n")
    assert read_lab(path).cases[0].values.tolist() == [1500.0, 70000.0, 131000.5]
    (column,) = read_data([path]).columns
    assert sorted(number.value for number in column.samples) == [1500.0, 70000.0, 131000.5]
    assert faults_of(read_lab, laid(tmp_path, "rate (msg/s)\n131.000\n70.000\n"))[0] == [
        (2, "rate (msg/s)"),
        (3, "rate (msg/s)"),
    ]


@pytest.mark.parametrize("missing", ["NaN", "#N/A", "NA", "-", "n/a", ""])
def test_what_is_no_number_by_its_name_is_left_out_and_counted(tmp_path, missing):
    path = laid(tmp_path, f"run,rate (msg/s)\na,5\na,{missing}\na,7\n")
    (case,) = read_lab(path).cases
    assert case.values.tolist() == [5, 7]
    assert case.notes[0].startswith("1 cell")
    assert len(read_data([path]).columns[0].samples) == 2
    path = laid(tmp_path, f"message_bytes,mean (us),p99 (us)\n8,5,{missing}\n64,6,9\n")
    assert [list(statistics) for *_, statistics in of_lab(path)] == [["mean"], ["mean", "99%"]]


@pytest.mark.parametrize("end", [".5", ",5"])
def test_a_large_file_is_read_as_a_small_one(tmp_path, end):
    many = [f"{number}{end}" for number in range(20_000)]
    path = laid(tmp_path, "message_bytes;rate (msg/s)\n" + "".join(f"8;{text}\n" for text in many))
    (case,) = read_lab(path).cases
    assert (case.count, case.statistics["max"], case.message_bytes) == (20_000, 19_999.5, 8)
    many[7], many[9] = "#N/A", "bad"
    path = laid(tmp_path, "message_bytes;rate (msg/s)\n" + "".join(f"8;{text}\n" for text in many))
    assert faults_of(read_lab, path)[0] == [(11, "rate (msg/s)")]


@pytest.mark.parametrize("unit", ["us", "\u00b5s", "\u03bcs", "micro-s", "usec", "microseconds"])
def test_a_microsecond_has_many_spellings(tmp_path, unit):
    for text in (f"message_bytes,mean ({unit})\n8,5\n", f"message_bytes,mean (ms)\n8,5 {unit}\n"):
        assert of_lab(laid(tmp_path, text))[0][-1]["mean"] == pytest.approx(5e-6)


FRAME = pd.DataFrame({"rate (msg/s)": [1.0, 2, 3, 6], "latency (us)": [4.0, 5, 6, 7]})
DESCRIBED = {
    "plain": FRAME.describe().to_csv,
    "transposed": FRAME.describe().T.to_csv,
    "german": lambda path: FRAME.describe().to_csv(path, sep=";", decimal=","),
    "quantiles": lambda path: FRAME.describe(percentiles=[0.5, 0.999]).to_csv(path),
    "texts too": lambda path: FRAME.assign(host="a").describe(include="all").to_csv(path),
    "with size": lambda path: FRAME.assign(message_bytes=64).describe().to_csv(path),
}


@pytest.mark.parametrize("how", DESCRIBED)
def test_the_output_of_describe_is_a_summary_and_no_samples(tmp_path, how):
    path = tmp_path / "lab.csv"
    DESCRIBED[how](path)
    rate, latency = of_lab(path)[:2]
    assert (rate[0], rate[2], rate[3]["mean"], rate[3]["max"]) == ("rate", 4, 3.0, 6.0)
    assert (latency[0], latency[3]["mean"]) == ("latency", pytest.approx(5.5e-6))
    assert rate[1] == (64 if how == "with size" else None)
    assert not any(column.samples for column in read_data([path]).columns)
    assert of_consistency(path)[0][1]["max"] == 6


def test_describe_by_size_is_a_summary_by_size(tmp_path):
    path, sizes = tmp_path / "lab.csv", FRAME.assign(message_bytes=[8, 8, 64, 64])
    sizes.groupby("message_bytes").describe().to_csv(path)
    assert [(metric, size, n["mean"]) for metric, size, _, n in of_lab(path)] == [
        ("rate", 8, 1.5),
        ("latency", 8, pytest.approx(4.5e-6)),
        ("rate", 64, 4.5),
        ("latency", 64, pytest.approx(6.5e-6)),
    ]
    path = tmp_path / "mixed.csv"
    sizes.describe().to_csv(path)  # of several sizes at once
    assert {key for _, key in faults_of(read_lab, path)[0]} == {"message_bytes"}


def test_describe_in_parquet_and_as_a_table(tmp_path):
    path = tmp_path / "lab.parquet"
    FRAME.describe().to_parquet(path)
    assert of_lab(path)[0][-1]["max"] == 6
    assert read_data([FRAME.describe()]).columns[0].count == 4


CONTRADICTIONS = [
    ("mean (us),max (us)", "12,11", "max"),
    ("mean (us),min (us)", "12,13", "mean"),
    ("min (us),median (us)", "12.5,8.5", "50%"),
    ("p95 (us),p99 (us)", "9,8.5", "99%"),
]


@pytest.mark.parametrize(("heads", "cells", "key"), CONTRADICTIONS)
def test_statistics_that_cannot_be_are_refused_and_found(tmp_path, heads, cells, key):
    path = laid(tmp_path, f"message_bytes,{heads}\n8,{cells}\n64,{cells}\n")
    assert faults_of(read_lab, path)[0] == [(2, key), (3, key)]
    assert {finding.kind for finding in examine(path)} <= {"order", "mean"}
    assert len(examine(path)) == 2


def test_means_and_maxima_that_may_be_rounded_are_no_contradiction(tmp_path):
    path = laid(tmp_path, "message_bytes,mean (us),max (us)\n8,12.04,12\n64,7,7\n")
    assert len(of_lab(path)) == 2


def test_a_negative_rate_and_all_other_faults_are_told_at_once(tmp_path):
    text = "message_bytes,mean (msg/s),max (msg/s)\n8,-5,6\n64,x,9\n0,4,5\n128,4,3\n"
    path = laid(tmp_path, text)
    lines = [line for line, _ in faults_of(read_lab, path)[0]]
    assert sorted(set(lines)) == [2, 3, 4, 5]
    assert sorted({line for line, _ in faults_of(consistent, path)[0]}) == [2, 3, 4]


LINE = (
    "id: {id}, time: {at}, sent: {sent} msg/s, received: {got} msg/s, "
    "min/median/75th/95th/99th consumer latency: 900/20000/30000/40000/45000 {unit}\n"
)


def log_of(times, prefix="", **how):
    usual = {"id": "a", "sent": "50000", "got": "49000", "unit": "µs"} | how
    return "".join(prefix + LINE.format(at=at, **usual) for at in times)


def metric_of(path, metric):
    return [case for case in read_lab(path).cases if case.metric == metric]


@pytest.mark.parametrize(
    ("sent", "rate"),
    [("49,000", 49000), ("49.000", 49000), ("49 000", 49000), ("0,50", 0.5), ("2.5", 2.5)],
)
def test_rates_of_perftest_in_any_country(tmp_path, sent, rate):
    times = ("1,000s", "2,000s", "3,001s")
    (case,) = metric_of(laid(tmp_path, log_of(times, sent=sent), "a.log"), "sent rate")
    assert (case.statistics["mean"], case.sample) == (rate, Sample("interval", 1.0))


@pytest.mark.parametrize("unit", ["us", "µs", "μs", "micro-s", "microseconds", "?s", "\ufffds"])
def test_latencies_of_perftest_in_any_spelling(tmp_path, unit):
    path = laid(tmp_path, log_of(("1.000s", "2.000s"), unit=unit), "a.log")
    assert metric_of(path, "latency")[0].statistics["99%"] == pytest.approx(45e-3)
    path = laid(tmp_path, log_of(("1.000s", "2.000s"), unit="ms"), "a.log")
    assert metric_of(path, "latency")[0].statistics["99%"] == pytest.approx(45)


SIX = """\
id: b, time 1.000 s, sent: 8100 msg/s, returned: 0 msg/s, confirmed: 8000 msg/s, nacked: 0 msg/s, \
received: 8000 msg/s, min/median/75th/95th/99th/max consumer latency: 6/9/10/13/15/16 ms, \
confirm latency: 8/11/12/15/17/20 ms
"""
TOTALS = """\
id: b, sending rate avg: 8100 msg/s
id: b, receiving rate avg: 8000 msg/s
id: b, consumer latency min/median/75th/95th/99th/max 6/9/10/13/15/19 ms
id: b, confirm latency min/median/75th/95th/99th/max 8/11/12/15/17/23 ms
"""
COMPACT = """\
time                         sent     received            consumer latency
2026/11/28 10:00:01   50000 msg/s  49000 msg/s   9/20/30/40/45/52 ms
2026/11/28 10:00:03   51000 msg/s  50000 msg/s   9/21/31/41/46/53 ms
"""


def test_six_latencies_since_224(tmp_path):
    def statistics(text):
        cases = read_lab(laid(tmp_path, text, "a.log")).cases
        return {case.metric: dict(case.statistics) for case in cases}

    found = statistics(SIX)
    assert found["latency"]["max"] == pytest.approx(16e-3)
    assert found["confirm latency"] == pytest.approx(
        {"min": 8e-3, "50%": 11e-3, "75%": 12e-3, "95%": 15e-3, "99%": 17e-3, "max": 20e-3}
    )
    found = statistics(SIX + TOTALS)
    assert (found["latency"]["max"], found["confirm latency"]["max"]) == (0.019, 0.023)
    found = statistics(TOTALS)  # the end of a log alone
    assert (found["rate"], found["sent rate"]) == ({"mean": 8000}, {"mean": 8100})
    found = statistics(COMPACT)
    assert (found["rate"]["mean"], found["latency"]["max"]) == (49500, pytest.approx(53e-3))
    assert metric_of(tmp_path / "a.log", "rate")[0].sample == Sample("interval", 2.0)


def test_the_table_of_perftest_may_have_a_maximum(tmp_path):
    heads = "id,time (s),published (msg/s),received (msg/s),min consumer latency (µs),"
    heads += "median consumer latency (µs),max consumer latency (µs)\n"
    path = laid(tmp_path, heads + "a,1.000,10,9,1,2,3\na,2.000,10,9,1,2,8\n")
    assert metric_of(path, "latency")[0].statistics["max"] == pytest.approx(8e-6)


@pytest.mark.parametrize(
    ("cells", "fault"),
    [("a,12'002,10,9", (2, "time (s)")), ("a,,10,9", (2, "time (s)")), ('a,"1,10,9', (2, ""))],
)
def test_a_cell_of_perftest_that_is_no_number_is_refused(tmp_path, cells, fault):
    heads = "id,time (s),published (msg/s),received (msg/s)\n"
    path = laid(tmp_path, f"{heads}{cells}\na,2.000,10,9\n")
    assert faults_of(read_lab, path)[0] == [fault]


@pytest.mark.parametrize(
    ("times", "sample", "count"),
    [
        (("131.000s", "132.000s"), Sample("interval", 1.0), 2),
        (("131.000s", "141.000s", "151.000s"), Sample("interval", 10.0), 3),
        (("131.000s",), Sample(), 1),
        (("1.001s",), Sample("interval", 1.0), 1),
    ],
)
def test_a_log_from_the_middle_of_a_run_has_the_interval_between_its_lines(
    tmp_path, times, sample, count
):
    (case,) = metric_of(laid(tmp_path, log_of(times), "a.log"), "rate")
    assert (case.sample, case.count) == (sample, count)


def test_dates_of_a_logger_before_lines(tmp_path):
    lines = [log_of([f"{at}.000s"], f"2026-11-28 10:00:0{at},123 INFO [main] ") for at in (1, 2, 3)]
    (case,) = metric_of(laid(tmp_path, "".join(lines), "a.log"), "rate")
    assert (case.count, case.sample, case.label) == (3, Sample("interval", 1.0), "")


def mixed(first, second):
    lines = zip(first.splitlines(), second.splitlines(), strict=True)
    return "".join(f"{a}\n{b}\n" for a, b in lines)


def test_programs_of_one_log_are_told_apart_or_summed_and_never_merged(tmp_path):
    one = log_of(("1.000s", "2.000s"), "perf-a  | ", got="25000")
    other = log_of(("1.050s", "2.050s"), "perf-b  | ", id="b", sent="10000", got="35000")
    path = laid(tmp_path, mixed(one, other), "a.log")
    rates = {case.label: case.statistics["mean"] for case in metric_of(path, "rate")}
    assert rates == {"a": 25000, "b": 35000}
    same = laid(tmp_path, mixed(one, other).replace("id: b", "id: a"), "same.log")
    assert [case.statistics["mean"] for case in metric_of(same, "rate")] == [25000, 35000]
    (tmp_path / "a.toml").write_text('[lab]\ncolumn = "sum"\n')
    (case,) = metric_of(path, "rate")
    assert (case.label, case.statistics["mean"], case.count) == ("sum", 60000, 2)
    assert metric_of(path, "sent rate")[0].statistics["mean"] == 60000
    assert [case.label for case in metric_of(path, "latency")] == ["a", "b"]
    hidden = mixed(log_of(("1.000s", "2.000s", "3.000s")), log_of(("1.050s", "2.050s", "3.050s")))
    assert "an id of its own" in faults_of(read_lab, laid(tmp_path, hidden, "c.log"))[1]


def test_two_runs_in_one_log_are_two(tmp_path):
    path = laid(tmp_path, log_of([f"{at}.000s" for at in (1, 2, 3, 1, 2, 3)]), "a.log")
    assert [(case.label, case.count) for case in metric_of(path, "rate")] == [
        ("a 1", 3),
        ("a 2", 3),
    ]


def test_falling_quantiles_of_a_log_are_refused_with_the_line(tmp_path):
    text = log_of(("1.000s", "2.000s")).replace("40000/45000", "40000/35000")
    assert faults_of(read_lab, laid(tmp_path, text, "a.log"))[0] == [(1, "consumer latency")]


def test_a_mean_above_the_maximum_of_openmessaging_is_refused(tmp_path):
    latency = {"aggregatedEndToEndLatencyAvg": 9.0, "aggregatedEndToEndLatencyMax": 8.0}
    path = laid(tmp_path, json.dumps(latency), "a.json")
    ((_, key),) = faults_of(read_lab, path)[0]
    assert key == "aggregatedEndToEndLatencyMax"
