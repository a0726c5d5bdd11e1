"""Every mistake is told by file, line and key; all mistakes at once; the texts are an interface.

Two of them are in README.md.
"""

# ruff: noqa: E501 - a message stands on one line, as the user sees it

import pytest

from dvsim.scenario import find


def one(desk, file, old, new):
    """Make one mistake and return what is said about it."""
    desk.edit(file, old, new)
    faults = desk.faults("mine.toml")
    assert len(faults) == 1, faults
    return faults[0]


@pytest.mark.parametrize(
    ("new", "fault"),
    [
        ("mesages = 5", "mine.toml:6: workload.mesages: unknown key; did you mean 'messages'?"),
        ("messages = 0", "mine.toml:6: workload.messages: must be at least 1, is 0"),
        ("messages = -5", "mine.toml:6: workload.messages: must be at least 1, is -5"),
        ("messages = 1.5", "mine.toml:6: workload.messages: must be a whole number, not 1.5"),
        ("messages = true", "mine.toml:6: workload.messages: must be a whole number, not true"),
        (
            'messages = "20 M"',
            "mine.toml:6: workload.messages: must be a whole number, not '20 M'",
        ),
        (
            f"messages = {2**63}",
            "mine.toml:6: workload.messages: must be at most 1000000000000, "
            "is a number of more than 63 bits",
        ),
        (
            "messages = 5\nnonsense = 1",
            "mine.toml:7: workload.nonsense: unknown key",
        ),
    ],
)
def test_a_wrong_number_of_messages(desk, new, fault):
    assert one(desk, "mine.toml", "messages = 500", new) == fault


@pytest.mark.parametrize(
    ("new", "fault"),
    [
        ("-8", "mine.toml:5: workload.message_bytes: must not be negative, is -8"),
        ('"-8 B"', "mine.toml:5: workload.message_bytes: must not be negative, is '-8 B'"),
        (
            '"2 Kib/s"',
            "mine.toml:5: workload.message_bytes: 'Kib/s' is not a unit of size; "
            "did you mean '2 Kib'?",
        ),
    ],
)
def test_a_wrong_message_size(desk, new, fault):
    assert one(desk, "mine.toml", '"2 KiB"', new) == fault


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (
            '"5.001 ms"',
            '"4.4 GHz"',
            "base.toml:21: probe.interval: 'GHz' is not a unit of time; write for example '46 us'",
        ),
        (
            '"5.001 ms"',
            "5",
            "base.toml:21: probe.interval: 5 has no unit of time; write for example '46 us'",
        ),
        ('"5.001 ms"', '"0 s"', "base.toml:21: probe.interval: must be at least 1 us, is 0 s"),
        (
            'interval = "5.001 ms"',
            "",
            "base.toml:19: probe.interval: missing; a probe of kind 'interval' has one",
        ),
        (
            'kind = "interval"',
            'kind = "batch"',
            "base.toml:20: probe.kind: is 'batch', but transport 'data-vortex' is sampled by "
            "'interval'",
        ),
        (
            "receiver = 1",
            "receiver = 3",
            "base.toml:24: probe.columns.r1.receiver: is 3, but there are 2 receivers",
        ),
        (
            "receiver = 1",
            "receiver = 0",
            "base.toml:24: probe.columns.r1.receiver: is 0; over data-vortex each receiver is "
            "sampled, from 1 on",
        ),
        (
            "iterations = [1]",
            "iterations = [1, 3]",
            "base.toml:24: probe.columns.r1.iterations: has 3, but there are 2 iterations",
        ),
        (
            "iterations = [1]",
            "iterations = []",
            "base.toml:24: probe.columns.r1.iterations: must not be empty",
        ),
        (
            "iterations = [1]",
            "iteration = [1]",
            "base.toml:24: probe.columns.r1.iteration: unknown key; did you mean 'iterations'?",
        ),
    ],
)
def test_a_wrong_probe(desk, old, new, fault):
    assert one(desk, "base.toml", old, new) == fault


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (
            '"small-vortex"',
            '"smal-vortex"',
            "base.toml:15: system.card: no card 'smal-vortex'; did you mean 'small-vortex'?",
        ),
        (
            '"small-vortex"',
            '{ name = "smal-vortex" }',
            "base.toml:15: system.card: no card 'smal-vortex'; did you mean 'small-vortex'?",
        ),
        (
            '"small-vortex"',
            '"small-link"',
            "base.toml:15: system.card: 'small-link' is a link card; "
            "transport 'data-vortex' needs one of kind vortex",
        ),
        (
            '"small-vortex"',
            "7",
            "base.toml:15: system.card: must be the name of a card or a table, not 7",
        ),
        (
            '"small-vortex"',
            '{ name = "small-vortex", sran = "1 MiB" }',
            "base.toml:15: system.card.sran: unknown key; did you mean 'sram'?",
        ),
        (
            '"small-vortex"',
            '{ name = "small-vortex", sram = "1 MHz" }',
            "base.toml:15: system.card.sram: 'MHz' is not a unit of size; did you mean '1 MB'?",
        ),
        ('"small-vortex"', '{ sram = "1 MiB" }', "base.toml:15: system.card.name: missing"),
        (
            'bridge = "small-bridge"',
            "",
            "base.toml:12: system.bridge: missing; transport 'data-vortex' needs one",
        ),
        (
            'bridge = "small-bridge"',
            'bridge = "small-bridge"\npublisher = "small-publisher"',
            "base.toml:17: system.publisher: not used by transport 'data-vortex'",
        ),
        (
            '"data-vortex"',
            '"data-vortx"',
            "base.toml:13: system.transport: must be 'data-vortex' or 'tcp', not 'data-vortx'; "
            "did you mean 'data-vortex'?",
        ),
        ("receivers = 2", 'receivers = "2"', "base.toml:14: system.receivers: must be a whole number, not '2'"),
    ],
)  # fmt: skip
def test_a_wrong_system(desk, old, new, fault):
    assert one(desk, "base.toml", old, new) == fault


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (
            'loop = "closed"',
            'loop = "close"',
            "base.toml:5: loop: must be 'open' or 'closed', not 'close'; did you mean 'closed'?",
        ),
        ('question = "how fast?"', 'question = ""', "base.toml:3: question: must not be empty"),
        ('question = "how fast?"', "question = 3", "base.toml:3: question: must be text, not 3"),
        ('question = "how fast?"', "", "mine.toml:1: question: missing"),
        ("[workload]", "[workload", "base.toml:7: not TOML: Expected ']' at the end of a table declaration (column 10)"),
    ],
)  # fmt: skip
def test_a_wrong_head(desk, old, new, fault):
    assert one(desk, "base.toml", old, new) == fault


@pytest.mark.parametrize(
    ("new", "fault"),
    [
        ('"bas.toml"', "mine.toml:1: extends: no such file 'bas.toml'; did you mean 'base.toml'?"),
        ('"mine.toml"', "mine.toml:1: extends: 'mine.toml' leads in a circle"),
        ('"h3/dv-204"', "mine.toml:1: extends: no such scenario or file 'h3/dv-204'; did you mean 'h3/dv-2048'?"),
        ("3", "mine.toml:1: extends: must be text, a file or a scenario"),
    ],
)  # fmt: skip
def test_a_wrong_extends(desk, new, fault):
    assert one(desk, "mine.toml", '"base.toml"', new) == fault


def test_a_circle_of_two_files(desk):
    fault = one(desk, "base.toml", "abstract = true", 'extends = "mine.toml"')
    assert fault == "base.toml:1: extends: 'mine.toml' leads in a circle"


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('"4 GB/s"', '"4.4 GHz"', "9: port_rate.value: 'GHz' is not a unit of rate; did you mean '4.4 GB/s'?"),
        ('"4 GB/s"', "4.4", "9: port_rate.value: 4.4 has no unit of rate; write for example '4.4 GB/s'"),
        ('"4 GB/s"', '"0 B/s"', "9: port_rate.value: must be at least 1 B/s, is 0 B/s"),
        ('"1 MiB"', '"-1 MiB"', "17: sram.value: must not be negative, is '-1 MiB'"),
        ("value = 4\n", "value = 1\n", "5: nodes.value: must be at least 2, is 1"),
        ("value = 4\n", "", "4: nodes.value: missing"),
        ("[sram]", "[srm]", "16: srm: unknown key; did you mean 'sram'?"),
        ("[sram]\n", "[sram]\nnote = 1\n", "17: sram.note: unknown key"),
        ('"1 us + 1 ns/B"', '"1 us + 1 MB"', "41: vic_to_dram.value: '1 us + 1 MB' is not a law; write for example '46 us + 3.3 ns/B'"),
        ('kind = "vortex"', 'kind = "vortx"', "2: kind: must be one of vortex, link, bridge, publisher, broker, port, engine, machine, queue-server, loggops, node, words, storage, instance, volume, rabbit, not 'vortx'; did you mean 'vortex'?"),
        ('kind = "vortex"\n', "", "1: kind: missing"),
        ('name = "small-vortex"', 'name = "other"', "1: name: must be that of the file, 'small-vortex'"),
        ('MiB"\nconfidence = "assumed"', 'MiB"\nconfidence = "assume"', "18: sram.confidence: must be 'published', 'calibrated', 'measured-here', 'unverified' or 'assumed', not 'assume'; did you mean 'assumed'?"),
        ('MiB"\nconfidence = "assumed"\nsource = "a test"', 'MiB"\nconfidence = "assumed"\nsource = ""', "19: sram.source: must not be empty"),
        ('MiB"\nconfidence = "assumed"', 'MiB"\nconfidence = "calibrated"', "16: sram.fitted: missing; a calibrated value names what it was fitted to"),
        ('MiB"\nconfidence', 'MiB"\nfitted = "x"\nconfidence', "18: sram.fitted: only a calibrated value is fitted, this one is assumed"),
    ],
)  # fmt: skip
def test_a_wrong_card_is_told_in_its_own_file(desk, old, new, fault):
    assert one(desk, "cards/small-vortex.toml", old, new) == f"cards/small-vortex.toml:{fault}"


def test_a_share_above_one(desk):
    fault = one(desk, "cards/small-broker.toml", "value = 0.5", "value = 1.5")
    assert fault == "cards/small-broker.toml:33: paging_ratio.value: must be at most 1.0, is 1.5"


def test_several_faults_are_told_at_once_in_file_order(desk):
    desk.edit("mine.toml", "messages = 500", "mesages = 500\niterations = 0")
    desk.edit("mine.toml", '"2 KiB"', '"2 GHz"')
    desk.edit("base.toml", '"5.001 ms"', '"5 mss"')
    desk.edit("base.toml", '"small-bridge"', '"small-brigde"')
    desk.edit("base.toml", "[probe.columns]", "[probe.colums]")
    desk.edit("cards/small-vortex.toml", '"1 MiB"', '"4.4 GHz"')
    desk.edit("cards/small-vortex.toml", '"4 GB/s"', '"-4 GB/s"')
    assert desk.faults("mine.toml") == [
        "mine.toml:5: workload.message_bytes: 'GHz' is not a unit of size; did you mean '2 GB'?",
        "mine.toml:6: workload.mesages: unknown key; did you mean 'messages'?",
        "mine.toml:7: workload.iterations: must be at least 1, is 0",
        "base.toml:16: system.bridge: no card 'small-brigde'; did you mean 'small-bridge'?",
        "base.toml:21: probe.interval: 'mss' is not a unit of time; did you mean '5 ms'?",
        "base.toml:23: probe.colums: unknown key; did you mean 'columns'?",
        "cards/small-vortex.toml:9: port_rate.value: must not be negative, is '-4 GB/s'",
        "cards/small-vortex.toml:17: sram.value: 'GHz' is not a unit of size; "
        "did you mean '4.4 GB'?",
    ]


def test_tcp_has_no_single_receivers(desk):
    with (desk / "tcp.toml").open("a") as file:
        file.write("[system.nothing]\n")
    desk.edit(
        "tcp.toml",
        "batch = 100 }",
        "batch = 100, columns.r1 = { receiver = 1, iterations = [1] } }",
    )
    assert desk.faults("tcp.toml") == [
        "tcp.toml:6: probe.columns.r1.receiver: is 1; over tcp only the whole system is sampled, "
        "receiver 0",
        "tcp.toml:14: system.nothing: unknown key",
    ]  # fmt: skip


def test_a_reference_needs_data_columns_and_tolerances(desk):
    with (desk / "base.toml").open("a") as file:
        file.write('[reference]\nfile = "no.csv"\ntransport = "x"\nfitted = ["r1b"]\n')
    assert desk.faults("mine.toml") == [
        "mine.toml:1: tolerance: missing; a comparison declares its tolerances before",
        "base.toml:26: reference.file: no published data 'no.csv'",
        "base.toml:28: reference.fitted: no column 'r1b' in [probe.columns]; did you mean 'r1'?",
    ]


TABLE = "transport,message_bytes,run,published_column,statistic,value\nrabbit,8,1,8_r1,mean,5\n"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (TABLE, "27: reference.transport: 'data.csv' has no transport 'rabit'; did you mean 'rabbit'?"),
        (TABLE.replace("value", "rate"), "26: reference.file: 'data.csv' is not a table of published statistics: it has no value"),
        ("", "26: reference.file: 'data.csv' is not a table of published statistics: it has no transport, message_bytes, run, published_column, statistic, value"),
        ("\udcff", "26: reference.file: 'data.csv' cannot read the reference data: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
    ],
    ids=["transport", "column", "empty", "binary"],
)  # fmt: skip
def test_a_reference_must_be_in_its_file(desk, monkeypatch, text, fault):
    monkeypatch.setattr(find, "reference_root", lambda: desk.path)
    (desk / "data.csv").write_text(text, "utf-8", "surrogateescape")
    with (desk / "base.toml").open("a") as file:
        file.write('[reference]\nfile = "data.csv"\ntransport = "rabit"\n')
        file.write("[tolerance]\nmean = 1\nempty_share = 0\nquantile = 1\nstd = 1\nextreme = 2\n")
    assert desk.faults("mine.toml") == [f"base.toml:{fault}"]


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("../up", "must be a relative path such as 'h3/dv-8', without '.' and '..'"),
        ("/etc/x", "must be a relative path such as 'h3/dv-8', without '.' and '..'"),
        ("a//b", "must be a relative path such as 'h3/dv-8', without '.' and '..'"),
        ("a\\u0000b", "must consist of printable characters"),
        ("a\\u001b[31m", "must consist of printable characters"),
        ("x" * 201, "must be at most 200 characters long, is 201"),
        ("", "must not be empty"),
    ],
)
def test_a_name_that_is_no_folder(desk, name, fault):
    desk.edit("mine.toml", 'title = "mine"', f'title = "mine"\nname = "{name}"')
    assert desk.faults("mine.toml") == [f"mine.toml:3: name: {fault}"]


def test_a_file_whose_name_is_no_folder(desk):
    (desk / "mi\nne.toml").write_text((desk / "mine.toml").read_text())
    assert desk.faults("mi\nne.toml")[-1].endswith(
        "ne.toml:1: name: missing, and that of the file must consist of printable characters"
    )


def test_mistakes_in_one_line_are_told_from_left_to_right(desk):
    head = 'kind = "switch"\ntitle = "a"\nquestion = "b?"\nsource = "c"\n'
    text = f'{head}switch = {{ height = 4, angels = 3, angles = 0 }}\ntraffic = {{ load = 2, slots = "x", lod = 1 }}\n'
    (desk / "mine.toml").write_text(text)
    assert desk.faults("mine.toml") == [
        "mine.toml:5: switch.angels: unknown key; did you mean 'angles'?",
        "mine.toml:5: switch.angles: must be at least 1, is 0",
        "mine.toml:6: traffic.load: must be at most 1.0, is 2",
        "mine.toml:6: traffic.slots: must be a whole number, not 'x'",
        "mine.toml:6: traffic.lod: unknown key; did you mean 'load'?",
    ]
