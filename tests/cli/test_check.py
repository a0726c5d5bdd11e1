"""`dvsim check`: every fault of every file once, as text or JSON."""

from click.testing import CliRunner
from harness.replies import Told

from dvsim.cli.main import cli

ELF = b"\x7fELF\x02\x01\x01\x00"


def check(*args):
    result = CliRunner().invoke(cli, ["check", *map(str, args)])
    return result.exit_code, result.stdout.splitlines()


def test_check_says_ok(desk):
    files = [desk / "mine.toml", desk / "base.toml", desk / "cards/small-link.toml"]
    assert check(*files) == (0, [f"{file}: ok" for file in files])


def test_check_tells_the_faults_of_all_files(desk):
    desk.edit("mine.toml", "messages = 500", "messages = 0")
    desk.edit("tcp.toml", 'loop = "open"', 'loop = "opn"')
    code, lines = check(desk / "mine.toml", desk / "base.toml", desk / "tcp.toml")
    assert code == 2
    assert lines == [
        f"{desk.path}/mine.toml:6: workload.messages: must be at least 1, is 0",
        f"{desk.path}/base.toml: ok",
        f"{desk.path}/tcp.toml:4: loop: must be 'open' or 'closed', not 'opn'; "
        "did you mean 'open'?",
    ]


def test_check_tells_a_shared_fault_once(desk):
    desk.edit("cards/small-broker.toml", "value = 0.5", "value = 0.0")
    code, lines = check(desk / "mine.toml", desk / "tcp.toml")
    assert code == 2
    assert lines == [
        f"{desk.path}/cards/small-broker.toml:33: paging_ratio.value: must be more than 0.0, "
        "is 0.0",
        f"{desk.path}/tcp.toml: as above",
    ]


def test_check_finds_faults_of_a_common_part_but_nothing_missing(desk):
    desk.edit("base.toml", "loop = ", "lop = ")
    desk.edit("base.toml", '"small-bridge"', '"small-link"')
    code, lines = check(desk / "base.toml")
    assert code == 2
    assert lines == [
        f"{desk.path}/base.toml:5: lop: unknown key; did you mean 'loop'?",
        f"{desk.path}/base.toml:16: system.bridge: 'small-link' is a link card; "
        "transport 'data-vortex' needs one of kind bridge",
    ]


def test_check_reads_the_scenarios_of_a_campaign(desk):
    file = desk / "all.toml"
    file.write_text('title = "t"\nqestion = "q"\ncampaign = ["mine", "mien"]\n')
    assert check(file) == (
        2,
        [
            f"{file}:2: qestion: unknown key; did you mean 'question'?",
            f"{file}:3: campaign: no scenario 'mien'; did you mean 'mine'?",
        ],
    )
    file.write_text('title = "t"\nquestion = "q"\ncampaign = ["mine"]\n')
    desk.edit("mine.toml", "messages = 500", "messages = 0")
    assert check(file)[1] == [
        f"{desk.path}/mine.toml:6: workload.messages: must be at least 1, is 0"
    ]


def test_check_of_a_missing_file(desk):
    fault = f"{desk.path}/mien.toml: no such file; did you mean '{desk.path}/mine.toml'?"
    assert check(desk / "mien.toml") == (2, [fault])


def test_check_of_a_file_with_another_suffix(desk):
    (desk / "card.bin").write_bytes(ELF)
    fault = f"{desk.path}/card.bin:1: not a text file: byte 0x00 has no place in it"
    assert check(desk / "card.bin") == (2, [fault])


def test_check_as_json(desk):
    desk.edit("mine.toml", "messages = 500", "mesages = 500")
    code, lines = check("--json", desk / "mine.toml", desk / "tcp.toml")
    facts = Told("\n".join(lines)).facts
    assert code == 2
    assert [one["ok"] for one in facts["files"]] == [False, True]
    assert facts["faults"] == [
        {
            "checked": str(desk / "mine.toml"),
            "file": str(desk / "mine.toml"),
            "line": 6,
            "key": "workload.mesages",
            "message": "unknown key",
            "hint": "messages",
        }
    ]


def test_a_refused_scenario_is_text_on_stderr(desk):
    desk.edit("mine.toml", "messages = 500", "messages = 0")
    result = CliRunner().invoke(cli, ["show", str(desk / "mine.toml")])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert (
        result.stderr == f"{desk.path}/mine.toml:6: workload.messages: must be at least 1, is 0\n"
    )
