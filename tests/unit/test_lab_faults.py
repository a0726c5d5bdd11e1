"""Is a file of measurements that cannot be one refused, with the line, the column and the word?"""

import pandas as pd
import pytest
from test_lab_files import fault_of, written

JSON = [
    ("[1]", "is no result of the OpenMessaging Benchmark: it has neither rates nor latencies"),
    (
        '{"publishRat": [1]}',
        "publishRat: is no result of the OpenMessaging Benchmark: it has neither rates nor"
        " latencies; did you mean 'publishRate'?",
    ),
    ('{\n"publishRate": [1]', ":2: is not JSON: Expecting ',' delimiter"),
    ('{"publishRate": 5}', "publishRate: must be a list of numbers"),
    ('{"publishRate": [1, "x"]}', "publishRate[1]: 'x' is not a number"),
    ('{"publishRate": [true]}', "publishRate[0]: 'True' is not a number"),
    ('{"publishRate": [-1]}', "publishRate[0]: is negative: -1"),
    ('{"publishRate": [1], "messageSize": 0.5}', "messageSize: must be bytes above 0, not 0.5"),
    ('{"publishRate": [1], "messageSize": true}', "messageSize: must be bytes above 0, not True"),
    ('{"publishRate": []}', "has neither rates nor aggregated latencies"),
    (
        '{"publishRate": [1], "driver": "\\ud800"}',
        "has a text with half a character, a lone surrogate",
    ),
    (
        '{"publishRate": ' + "[" * 3000,
        "is nested too deeply, or has a number of too many digits",
    ),
    (
        b'{"publishRate": [1], "x": "\xff"}',
        ":1: byte 0xff is not UTF-8; it may be Latin-1: save it as UTF-8",
    ),
]
RAW = [
    (
        "rate (msg/s),message_bytes\n5,8\n6,x\n",
        ":3: message_bytes: must be a whole number of bytes above 0, is 'x'",
    ),
    (
        "rate (B/s)\n5\n",
        ":1: rate (B/s): B/s needs the size of a message: a column 'message_bytes'",
    ),
    ("latency (msg/s)\n5\n", ":1: latency (msg/s): is not measured in msg/s"),
    ("rate (msg/s)\n", "has no rows: it needs headings and at least one row"),
    ("rate (msg/s),run\n5,1\n6\n", ":3: has 1 cells; there are 2 headings"),
    ("rate (msg/s)\n-4\n", ":2: rate (msg/s): is negative: -4"),
    (
        b"rate (msg/s)\n5\n\xff\n",
        ":3: byte 0xff is not UTF-8; it may be Latin-1: save it as UTF-8",
    ),
]
SUMMARY = [
    (
        "statistic,valeu\nmean,5\n",
        ":1: valeu: there is no column 'value'; did you mean 'value'?",
    ),
    (
        "statistic,value\nmean,5\n",
        ":2: value: its unit is nowhere stated; write it into the heading, such as"
        """ 'value (msg/s)', or unit = "msg/s" into [lab] of a TOML file beside it""",
    ),
    (
        "statistic,value,unit\nmean,5,B/s\n",
        ":2: value: B/s needs the size of a message: a column 'message_bytes'",
    ),
    (
        "statistic,value,unit,metric\nmean,5,msg/s,ratte\n",
        ":2: metric: 'ratte' is no metric; they are rate, sent rate, latency, confirm latency;"
        " did you mean 'rate'?",
    ),
    (
        "statistic,value,unit,metric\nmean,5,us,rate\n",
        ":2: value: a rate is not measured in a unit of time",
    ),
    (
        "statistic,value,unit,message_bytes\nmean,5,msg/s,1.5\n",
        ":2: message_bytes: must be a whole number of bytes above 0, is '1.5'",
    ),
]
LOG = [
    ("id: t, time: 1.0s, sent: x msg/s\n", ":1: sent: 'x' is not a number of 0 or more"),
    (
        "time sent consumer latency\n1.000s 5 msg/s 1/2/3/4/5 µs 1/2/3/4/5 µs\n",
        ":2: has 2 latencies; the line of names has 1",
    ),
    ("time sent received\n1.000s 5 msg/s\n", ":2: has 1 rates; the line of names has 2"),
]
FILES = {"a.json": JSON, "a.csv": [*RAW, *SUMMARY], "a.log": LOG}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [(name, *case) for name, cases in FILES.items() for case in cases],
    ids=lambda value: str(value)[:40],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path, name, text, said):
    place = said if said.startswith(":") else f": {said}"
    assert fault_of(written(tmp_path, text, name)) == f"{name}{place}"


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("rate (msg/s)", "'[1.]' is not a number"),
        ("message_bytes", "must be a whole number of bytes above 0, is '[1.]'"),
    ],
)
def test_cells_of_several_values_are_refused(tmp_path, column, said):
    cells = {"rate (msg/s)": [1.0, 2.0], "message_bytes": [8, 8]} | {column: [[1.0], [2.0, 3.0]]}
    path = tmp_path / "a.parquet"
    pd.DataFrame(cells).to_parquet(path)
    assert fault_of(path) == f"a.parquet:1: {column}: {said}"
