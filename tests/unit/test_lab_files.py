"""Are files of a laboratory read as they are meant, and refused with the place of what is wrong?

The PerfTest files are of PerfTest 2.22.1 against a RabbitMQ 3.10 of `dvsim broker up`; single lines
of older versions are from its own documentation and that of others who quote it.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dvsim.errors import ScenarioError
from dvsim.evidence.lab.data import Sample
from dvsim.evidence.lab.read import read_lab

FILES = Path(__file__).parent / "lab_files"


def written(folder, text, name="a.csv", meta=None):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    if meta is not None:
        path.with_suffix(".toml").write_text(f"[lab]\n{meta}")
    return path


def fault_of(path, meta=None):
    with pytest.raises(ScenarioError) as caught:
        read_lab(path, meta)
    return str(caught.value.faults[0]).removeprefix(f"{path.parent}/")


def by_metric(data):
    return {case.metric: case for case in data.cases}


def test_a_perftest_log_gives_rates_by_second_and_the_quantiles_at_its_end():
    cases = by_metric(read_lab(FILES / "perftest.log"))
    assert list(cases) == ["sent rate", "rate", "latency", "confirm latency"]
    assert cases["rate"].sample == Sample("interval", 1.0)
    assert cases["rate"].count == 12
    assert cases["rate"].values[0] == 19102
    assert cases["latency"].statistics["50%"] == pytest.approx(7.301e-3)
    assert cases["confirm latency"].statistics["99%"] == pytest.approx(15.85e-3)
    assert cases["latency"].count == 1028  # the reservoir that they are taken from


def test_the_compact_format_says_the_same_of_another_run():
    cases = by_metric(read_lab(FILES / "perftest-compact.log"))
    assert cases["rate"].values[-1] == 42142
    assert cases["sent rate"].count == 12
    assert cases["latency"].statistics["min"] == pytest.approx(441e-6)
    assert cases["confirm latency"].statistics["50%"] == pytest.approx(1962e-6)


def test_the_csv_of_a_run_has_the_rates_of_its_log_and_says_that_totals_are_missing():
    log, table = (by_metric(read_lab(FILES / f"perftest.{end}")) for end in ("log", "csv"))
    for metric in ("rate", "sent rate"):
        assert table[metric].statistics == log[metric].statistics
    assert table["latency"].count is None
    assert "no quantile of all messages" in table["latency"].notes[-1]


OLD = "id: test-110102-976, time: {}s, sent: 21098 msg/s, received: {} msg/s, "


@pytest.mark.parametrize(
    ("end", "statistic", "seconds"),
    [
        ("min/median/75th/95th/99th consumer latency: 1481/1600/1636/1674/1682 μs", "50%", 1.6e-3),
        ("min/median/75th/95th/99th consumer latency: 1481/1600/1636/1674/1682 ?s", "50%", 1.6e-3),
        ("min/median/75th/95th/99th latency: 1/3/3/3/7 ms", "99%", 7e-3),
        ("min/avg/max latency: 210/65998/93740 microseconds ", "mean", 65998e-6),
    ],
)
def test_lines_of_older_versions_are_read(tmp_path, end, statistic, seconds):
    text = "starting consumer #0\n" + "".join(
        OLD.format(f"{second}.100", 20000 + second) + end + "\n" for second in (263, 264, 265)
    )
    cases = by_metric(read_lab(written(tmp_path, text, "old.log")))
    assert cases["rate"].values.tolist() == [20263, 20264, 20265]
    assert cases["latency"].statistics[statistic] == pytest.approx(seconds)


@pytest.mark.parametrize("lost", [30, 60, 100, 120, 150])
def test_a_log_that_was_cut_names_the_line(tmp_path, lost):
    text = (FILES / "perftest.log").read_text().splitlines()[:6]
    path = written(tmp_path, "\n".join(text)[:-lost], "cut.log")
    assert fault_of(path) == "cut.log:6: the line is cut"


OMB = {
    "workload": "1-topic-1KB",
    "driver": "RabbitMQ",
    "messageSize": 1024,
    "publishRate": [50_010.0, 49_990.0],
    "consumeRate": [50_020.0, 49_980.0],
    "aggregatedEndToEndLatencyAvg": 2.53,
    "aggregatedEndToEndLatency50pct": 2.0,
    "aggregatedEndToEndLatency999pct": 8.0,
    "aggregatedEndToEndLatencyMax": 9.0,
    "aggregatedPublishLatency99pct": 5.0,
}


def test_a_result_of_openmessaging_gives_rates_and_the_aggregated_latencies(tmp_path):
    data = read_lab(written(tmp_path, json.dumps(OMB), "r.json"))
    cases = by_metric(data)
    assert {case.message_bytes for case in data.cases} == {1024}
    assert cases["rate"].sample == Sample("interval", 10.0)
    assert cases["rate"].values.tolist() == [49_980, 50_020]
    latency = cases["latency"].statistics
    assert latency == pytest.approx({"mean": 2.53e-3, "50%": 2e-3, "99.9%": 8e-3, "max": 9e-3})
    assert cases["confirm latency"].statistics == {"99%": 5e-3}


def test_a_long_and_a_wide_summary_of_the_same_numbers_are_the_same(tmp_path):
    wide = "message_bytes,run,count,mean (kmsg/s),p99 (kmsg/s)\n8,1,100,2.5,9\n64,1,90,2,8\n"
    rows = [("count", "100", "90"), ("mean", "2500", "2000"), ("99%", "9000", "8000")]
    long = "message_bytes,run,statistic,value (msg/s)\n"
    long += "".join(f"8,1,{name},{a}\n64,1,{name},{b}\n" for name, a, b in rows)
    found = [
        read_lab(written(tmp_path, text, name)).cases
        for text, name in ((wide, "w.csv"), (long, "l.csv"))
    ]
    told = [[(c.label, c.message_bytes, c.count, dict(c.statistics)) for c in f] for f in found]
    assert told[0] == told[1]
    assert told[0][0] == ("r1", 8, 100, {"mean": 2500.0, "99%": 9000.0})


def test_bytes_per_second_are_messages_with_the_size(tmp_path):
    path = written(tmp_path, "size,mean (MB/s),50% (MB/s)\n1000,5,4\n")
    assert read_lab(path).cases[0].statistics == {"mean": 5000.0, "50%": 4000.0}
    path = written(tmp_path, "mean (MB/s),50% (MB/s)\n5,4\n")
    assert "needs the size of a message" in fault_of(path)


@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_raw_samples_are_grouped_by_size_and_run(tmp_path, end):
    path = tmp_path / f"raw.{end}"
    frame = pd.DataFrame(
        {"message_bytes": [8, 8, 64, 8], "run": [1, 2, 1, 1], "latency (us)": [3.0, 7.0, 9.0, 1.0]}
    )
    frame.to_csv(path, index=False) if end == "csv" else frame.to_parquet(path)
    cases = {(case.message_bytes, case.label): case for case in read_lab(path).cases}
    assert cases[8, "r1"].values.tolist() == pytest.approx([1e-6, 3e-6])
    assert set(cases) == {(8, "r1"), (8, "r2"), (64, "r1")}
    assert cases[8, "r1"].sample == Sample("message")


def test_many_samples_are_read_in_blocks(tmp_path):
    values = np.random.default_rng(1).integers(1, 10**6, 200_000)
    path = written(tmp_path, "rate (msg/s)\n" + "\n".join(map(str, values.tolist())) + "\n")
    (case,) = read_lab(path).cases
    assert case.count == values.size
    assert case.statistics["50%"] == np.quantile(values, 0.5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a.csv: is empty"),
        ("rate (msg/s)\n", "a.csv: has no rows"),
        ("rate (msg/s),run\nNaN,1\n-,1\n", "a.csv: rate (msg/s): has no samples"),
        ("rat (msg/s)\n1\n", "a.csv:1: rat (msg/s): no column is one of rate, latency"),
        ("rate\n1\n", "a.csv:1: rate: its unit is nowhere stated"),
        ("rate (mgs/s)\n1\n", "did you mean 'msgs/s'?"),
        ("rate (msg/s)\n1\n\n-2\n", "a.csv:4: rate (msg/s): is negative: -2"),
        ("rate (msg/s)\n1\n12 ms\n", "a.csv:3: rate (msg/s): is in ms, and its column in msg/s"),
        ("rate (msg/s)\n1\n12 kmgs/s\n", "a.csv:3: rate (msg/s): 'kmgs/s' is no unit"),
        ("size,rate (msg/s)\n8,1\n8\n", "a.csv:3: has 1 cells; there are 2 headings"),
        (b"rate (msg/s)\n1\n\xe42\n", "a.csv:3: byte 0xe4 is not UTF-8"),
        ("size,rate (msg/s)\n8,1\n16,", "a.csv:3: rate (msg/s): is empty; was the file cut here?"),
        (b"\x00\x01\x02", "a.csv:1: is no text: it has a byte 0x00"),
        ("8,1\n16,2\n", "a.csv:1: has numbers where the names of the columns are expected"),
        ("size,mean (us)\n8,1\n16,", "a.csv:3: has no number of any statistic; was the file cut"),
        ("size,mean (mu)\n8,1\n16,2\n", "a.csv:1: mean (mu): 'mu' is no unit of a rate or a"),
        ("mean (us),50% (us)\n1,x\n", "a.csv:2: 50% (us): 'x' is not a number"),
        ("mean (us),50% (us)\n1,-4\n", "50% is not negative, this is -4"),
        ("size,25% (us),75% (us)\n8,5,4\n", "is smaller than the 25% of the same case"),
        ("size,50% (us),mean (us)\n8,5,4\n8,5,4\n", "stands in line 2 already"),
        ("statistik,value (us)\nmean,4\n", "did you mean 'statistic'?"),
        ("statistic,value (us)\nmaen,4\n", "a.csv:2: statistic: 'maen' is no statistic"),
        ("statistic,value,unit\nmean,4,ms\n50%,3,msg\n", "a.csv:3: value: 'msg' is no unit"),
        ("metric,mean (ms),50% (ms)\nrate,1,1\n", "a rate is not measured in a unit of time"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_place(tmp_path, text, said):
    assert said in fault_of(written(tmp_path, text))


def test_a_parquet_file_that_was_cut_is_said_to_be(tmp_path):
    whole = tmp_path / "a.parquet"
    pd.DataFrame({"rate (msg/s)": np.arange(1000.0)}).to_parquet(whole)
    cut = written(tmp_path, whole.read_bytes()[:-50], "b.parquet")
    assert fault_of(cut).startswith("b.parquet: cannot be read")


def test_a_wrong_number_in_parquet_is_named_by_its_row(tmp_path):
    path = tmp_path / "a.parquet"
    pd.DataFrame({"rate (msg/s)": [1.0, 2.0, -3.0]}).to_parquet(path)
    assert fault_of(path) == "a.parquet:3: rate (msg/s): is negative: -3.0"


@pytest.mark.parametrize(
    ("meta", "said"),
    [
        ("sorce = 'x'", "a.toml:2: lab.sorce: unknown key; did you mean 'source'?"),
        (
            "loop = 'opened'",
            "a.toml:2: lab.loop: must be 'open' or 'closed', not 'opened'; did you mean 'open'?",
        ),
        ("sample = 'interval 1'", "lab.sample: '1' has no unit of time"),
        ("sample = 'second'", "'second' is no sample; they are 'interval 1 s'"),
        ("unit = 'msgs'", "lab.unit: 'msgs' is no unit"),
        ("rounding = -1", "a.toml:2: lab.rounding: must be more than 0"),
        ("fitted = ['r1']", "lab.fitted: 'r1' is not of the form 8 or 'r1:8'"),
        ("[lab.tolerance]\nmeen = 0.1", "lab.tolerance.meen: unknown key; did you mean 'mean'?"),
    ],
)
def test_what_is_wrong_with_the_lab_table_is_said_with_its_line(tmp_path, meta, said):
    assert said in fault_of(written(tmp_path, "rate (msg/s)\n1\n", meta=meta))


def test_a_toml_file_beside_the_data_that_is_no_lab_table_is_left_alone(tmp_path):
    path = written(tmp_path, "rate (msg/s)\n1\n")
    path.with_suffix(".toml").write_text("title = 'a scenario'")
    assert read_lab(path).about.file is None
    assert "has no table [lab]" in fault_of(path, path.with_suffix(".toml"))


def test_a_file_that_is_not_there_comes_with_the_nearest_name(tmp_path):
    written(tmp_path, "x", "rates.csv")
    assert fault_of(tmp_path / "rate.csv") == "rate.csv: no such file; did you mean 'rates.csv'?"


def test_a_unit_that_is_nowhere_stated_is_told_once(tmp_path):
    with pytest.raises(ScenarioError) as caught:
        read_lab(written(tmp_path, "message_bytes,mean\n8,2500\n64,2000\n"))
    (fault,) = caught.value.faults
    assert (fault.line, fault.key) == (2, "mean")
    assert "nowhere stated" in fault.message
