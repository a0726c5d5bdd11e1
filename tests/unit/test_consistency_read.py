"""Are summaries, tables and raw samples told apart, and faults named with file, line and column?"""

import pandas as pd
import pytest

from dvsim.consistency import examine
from dvsim.consistency.read import read_data, read_workloads
from dvsim.errors import ScenarioError
from dvsim.sheets.sheet import number_of

GOOD = """\
transport,message_bytes,column,statistic,value
dv,8,r1,count,5
dv,8,r1,mean,2.5000
dv,8,r1,max,1.5e3
"""


def faults(tmp_path, text, name="data.csv", read=None):
    (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(ScenarioError) as caught:
        (read or (lambda path: read_data([path])))(tmp_path / name)
    return str(caught.value).replace(f"{tmp_path}/", "").splitlines()


def test_a_summary_is_read(tmp_path):
    (tmp_path / "data.csv").write_text(GOOD, "utf-8")
    (column,) = read_data([tmp_path / "data.csv"]).columns
    assert (column.group, column.name, column.message_bytes, column.count) == ("dv", "r1", 8, 5)
    assert column.statistics["mean"].decimals == 1
    assert column.quantiles[1.0].value == 1500


@pytest.mark.parametrize(
    ("text", "decimals", "digits"),
    [("12.50", 1, 3), ("1200", -2, 2), ("0.0", 0, 0), ("-.5", 1, 1), ("1.25e-3", 5, 3),
     ("1e6", -6, 1), ("999.999", 3, 6), ("1000", -3, 1)],
)  # fmt: skip
def test_a_number_says_how_precisely_it_is_given(text, decimals, digits):
    number = number_of(text)
    assert (number.value, number.decimals, number.digits) == (float(text), decimals, digits)


@pytest.mark.parametrize("text", ["", "1,200", "12 ms", "0x10", "inf", "nan", "1e999", "1_000"])
def test_what_is_no_plain_number_is_none(text):
    assert number_of(text) is None


STATISTICS = "is no statistic; they are count, mean, std, min, N% and max"
ODD = [
    ("statistic,", "statistc,", "1: statistc: 'statistc' is no heading that is known; "
     "did you mean 'statistic'?"),
    (",value", ",vaule", "1: there is no column 'value'; is it the one called 'vaule'?"),
    ("r1,max", "r1,maxi", f"4: statistic: 'maxi' {STATISTICS}; did you mean 'max'?"),
    ("r1,max", "r1,mean", "4: statistic: 'mean' of column 'r1' is there twice"),
    ("2.5000", "", "3: value: is empty"),
    ("count,5", "count,-5", "2: value: a count is not negative, this is -5"),
    ("dv,8,r1,max", "dv,8 b,r1,max", "4: message_bytes: must be a whole number of bytes above 0, "
     "is '8 b'"),
    ("dv,8,r1,max", "dv,8,r1,r1,max", "4: has 6 cells; there are 5 headings"),
    ("column", "transport", "1: transport: two columns have this heading"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "fault"), ODD)
def test_a_fault_is_named_with_line_column_and_nearest(tmp_path, old, new, fault):
    assert f"data.csv:{fault}" in faults(tmp_path, GOOD.replace(old, new, 1))


def test_all_faults_are_told_at_once(tmp_path):
    text = GOOD.replace("mean", "men").replace("1.5e3", "x")
    assert len(faults(tmp_path, text)) == 2


@pytest.mark.parametrize("text", ["", "a,b\n"])
def test_a_file_without_rows_is_refused(tmp_path, text):
    assert faults(tmp_path, text) == [
        "data.csv: has no rows: it needs headings and at least one row"
    ]


def test_a_file_without_headings_is_refused(tmp_path):
    said = "data.csv:1: has numbers where the names of the columns are expected"
    assert faults(tmp_path, "1\n2\n3\n") == [said]
    assert faults(tmp_path, "8,1.5e3\n") == [said]


def test_raw_samples_may_have_labels_and_gaps(tmp_path):
    (tmp_path / "raw.csv").write_text("host,rate,b\nn1,1.5,\nn2,,2\nn3,3.5,nan\n", "utf-8")
    rate, other = read_data([tmp_path / "raw.csv"]).columns
    assert [number.value for number in rate.samples] == [1.5, 3.5]
    assert [number.value for number in other.samples] == [2.0]


def test_a_cell_of_raw_samples_that_is_no_number_is_named(tmp_path):
    assert faults(tmp_path, "rate\n1.5\nfast\n") == ["data.csv:3: rate: 'fast' is not a number"]


def test_samples_without_numbers_are_refused(tmp_path):
    assert faults(tmp_path, "host\nn1\n") == ["data.csv: has no column of numbers"]


def test_parquet_is_read_as_the_table_that_it_holds(tmp_path):
    frame = pd.DataFrame(
        {"rate": [n / 0.005001 for n in (3, 17, 29, 51, 60)], "host": list("abcde")}
    )
    frame.to_parquet(tmp_path / "raw.parquet")
    assert examine(tmp_path / "raw.parquet")[0].what == examine(frame)[0].what


@pytest.mark.parametrize("name", ["broken.parquet", "broken.csv"])
def test_a_file_that_cannot_be_read_is_named(tmp_path, name):
    (tmp_path / name).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ScenarioError, match=f"{name}: cannot be read"):
        examine(tmp_path / name)


def test_a_missing_file_is_named_with_the_nearest(tmp_path):
    (tmp_path / "rates.csv").write_text(GOOD, "utf-8")
    with pytest.raises(ScenarioError, match=r"no such file; did you mean '.*/rates\.csv'\?"):
        examine(tmp_path / "rate.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ScenarioError, match=r"folder\.csv: is a folder, not a table$"):
        examine(tmp_path / "folder.csv")


def test_what_was_sent_is_read_and_its_faults_are_named(tmp_path):
    text = "message_bytes,messages\n8,100\n8,1.5\n16,0\n8,200\n"
    assert faults(tmp_path, text, read=read_workloads) == [
        "data.csv:3: messages: must be a whole number above 0, is '1.5'",
        "data.csv:4: messages: must be a whole number above 0, is '0'",
        "data.csv:5: message_bytes: size 8 is there twice",
    ]
    assert faults(tmp_path, "message_bytes,mesages\n8,1\n", read=read_workloads) == [
        "data.csv:1: there is no column 'messages'; is it the one called 'mesages'?"
    ]


def test_tables_of_one_name_are_two():
    table = pd.DataFrame({"a": [1.5], "b": [2.5], "ratio": [0.6]})
    data = read_data([table, table])
    assert list(data.tables) == ["table", "table (2)"]
    assert {column.group for column in data.columns} == {"table", "table (2)"}


def test_a_limit_or_messages_need_sizes():
    raw = pd.DataFrame({"rate": [1.5, 2.5]})
    with pytest.raises(ScenarioError, match="limits: needs data with a column 'message_bytes'"):
        examine(raw, limits=1e9)


def test_of_many_samples_some_are_kept_always_the_same():
    raw = pd.DataFrame({"rate": [n / 0.005001 for n in range(1, 5000)]})
    first, second = (read_data([raw]).columns[0].samples for _ in range(2))
    assert first == second
    assert len(first) == 96
