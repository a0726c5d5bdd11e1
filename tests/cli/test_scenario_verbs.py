"""`list`, `show`, and what all verbs have in common."""

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from harness.replies import Told

import dvsim
from dvsim._version import __version__
from dvsim.cli import list as list_verb
from dvsim.cli.main import VERBS, cli
from dvsim.errors import CriterionFailed, DvsimError, OutputError, RunFailed
from dvsim.scenario.find import list_cards, list_scenarios

HEAVY = ("numpy", "pandas", "altair", "pyarrow", "pydantic", "rich", "scipy", "simpy")
ENVIRONMENT = os.environ | {
    "PYTHONPATH": str(Path(dvsim.__file__).parents[1]),
    "PYTHONUNBUFFERED": "",  # as users have it: output is lost at the end, not where it is written
}


def call(*args):
    return CliRunner().invoke(cli, [str(arg) for arg in args])


def process(*args, **options):
    command = [sys.executable, *map(str, args)]
    return subprocess.run(
        command, env=ENVIRONMENT, text=True, capture_output=True, check=False, **options
    )


def loaded_by(*args):
    """Return the heavy modules that a call of dvsim leaves loaded."""
    code = (
        "import atexit, sys\n"
        f"heavy = {HEAVY!r}\n"
        "atexit.register(lambda: print('heavy:', *[m for m in heavy if m in sys.modules]))\n"
        f"sys.argv = ['dvsim', *{args!r}]\n"
        "from dvsim.cli.main import main\n"
        "main()\n"
    )
    result = process("-c", code)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()[-1].split()[1:]


@pytest.mark.parametrize("verb", ["", "run", "sweep"])
def test_help_is_light(verb):
    assert loaded_by(*verb.split(), "--help") == []


def test_list_is_light():
    assert loaded_by("list") == []


def test_help_names_every_verb_and_its_purpose():
    text = " ".join(call("--help").stdout.split())
    for verb, purpose in VERBS.items():
        assert f"{verb} {purpose}" in text


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_its_own_help(verb):
    result = call(verb, "--help")
    assert result.exit_code == 0
    assert f"Usage: cli {verb}" in result.stdout


def test_a_misspelt_verb_gets_the_nearest():
    result = call("lst")
    assert result.exit_code == 2
    assert "no such verb 'lst'; did you mean 'list'?" in result.stderr


def test_the_version():
    assert call("--version").stdout == f"dvsim, version {__version__}\n"


def test_python_m_dvsim_is_dvsim():
    result = process("-m", "dvsim", "--version")
    assert (result.returncode, result.stdout) == (0, f"dvsim, version {__version__}\n")


# errors


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (DvsimError("a"), 1, "a\n"),
        (RunFailed("b"), 1, "b\n"),
        (OutputError("c"), 1, "c\n"),
        (CriterionFailed("d"), 3, "d\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
    ],
)
def test_an_error_becomes_text_and_an_exit_code(monkeypatch, error, code, text):
    def fail():
        raise error

    monkeypatch.setattr(list_verb, "list_scenarios", fail)
    result = call("list")
    assert (result.exit_code, result.stderr, result.stdout) == (code, text, "")


def test_a_defect_keeps_its_traceback(monkeypatch):
    def fail():
        raise ZeroDivisionError

    monkeypatch.setattr(list_verb, "list_scenarios", fail)
    assert isinstance(call("list").exception, ZeroDivisionError)


def test_a_reader_who_leaves_early_is_no_error():
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "dvsim", "list"]
    result = subprocess.run(
        command, env=ENVIRONMENT, stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert result.stderr == b""


PRINT_AND_LEAVE = """
import sys
from dvsim.cli import list as verb, main
verb.list_scenarios = lambda: (print("x"), sys.exit(0))
sys.argv = ["dvsim", "list"]
main.main()
"""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("how", [("-m", "dvsim", "list"), ("-c", PRINT_AND_LEAVE)])
def test_a_full_disk_is_one_line(how):
    command = [sys.executable, *how]
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            command, env=ENVIRONMENT, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert result.returncode == 1
    assert result.stderr == "cannot write the output: No space left on device\n"


def test_a_terminal_without_unicode_is_no_error():
    env = ENVIRONMENT | {"PYTHONIOENCODING": "latin-1"}
    command = [sys.executable, "-m", "dvsim", "check", "none….toml"]
    result = subprocess.run(command, env=env, capture_output=True, check=False)
    assert (result.returncode, result.stdout) == (2, b"none\\u2026.toml: no such file\n")


def test_no_color_is_honoured(monkeypatch):
    seen = []

    def spy():
        seen.append(click.get_current_context().find_root().color)
        return []

    monkeypatch.setattr(list_verb, "list_scenarios", spy)
    monkeypatch.delenv("NO_COLOR", raising=False)
    call("list")
    monkeypatch.setenv("NO_COLOR", "1")
    call("list")
    assert seen == [None, False]


# list


def test_list_has_every_scenario_and_card():
    lines = call("list").stdout.splitlines()
    for entry in list_scenarios() + list_cards():
        assert any(line.split()[:2] == [entry.name, entry.kind] for line in lines)


def test_list_of_cards_has_no_scenarios():
    text = call("list", "cards").stdout
    assert text.startswith("cards\n")
    assert "scenarios\n" not in text


def test_list_finds_a_text_in_names_and_titles():
    lines = call("list", "WHAT IF", "broker").stdout.splitlines()
    assert lines[0] == "scenarios"
    assert all("What if" in line and "broker" in line for line in lines[1:])
    assert any("h3/whatif/native-amqp" in line for line in lines)
    assert "cards" not in lines  # none has it
    assert call("list", "cards", "infiniband").stdout.startswith("cards\n")
    refused = call("list", "scenarioz")
    assert refused.exit_code == 2
    assert "did you mean 'scenarios'?" in refused.stderr


def test_list_shows_one_source():
    names = [line.split()[0] for line in call("list", "--source", "zeromq").stdout.splitlines()]
    assert names[0] == "scenarios"
    assert len(names) > 3
    assert all(name.startswith("zeromq/") for name in names[1:])
    refused = call("list", "--source", "zeromk")
    assert refused.exit_code == 2
    assert "there are amps, h3, " in refused.stderr
    assert "did you mean 'zeromq'?" in refused.stderr


def test_list_as_json():
    table = Told(call("list", "--json").stdout).facts
    assert [entry["name"] for entry in table["scenarios"]] == [e.name for e in list_scenarios()]
    assert set(table["cards"][0]) == {"name", "kind", "title", "path"}


# show


@pytest.mark.parametrize("verb", ["show", "check"])
def test_control_characters_of_a_file_do_not_reach_the_terminal(desk, verb):
    escape = "\\u001b]0;mine\\u0007"
    desk.edit("mine.toml", 'title = "mine"', f'title = "{escape}"\n"{escape}" = 1')
    if verb == "show":
        desk.edit("mine.toml", f'"{escape}" = 1', "")
    output = call(verb, str(desk / "mine.toml")).output
    assert "\x1b" not in output
    assert "\\x1b]0;mine\\x07" in output


def words(text, key):
    """Return the words after a key, one space between them."""
    rows = (line.split() for line in text.splitlines())
    return next(" ".join(row[1:]) for row in rows if row[:1] == [key])


def test_show_gives_value_unit_and_place(desk):
    text = call("show", desk / "mine.toml", "--set", "workload.iterations=3").stdout
    assert text.startswith("mine: mine\n")
    assert words(text, "workload.message_bytes") == "2_048 B mine.toml:5"
    assert words(text, "workload.iterations") == "3 --set"
    assert words(text, "probe.interval") == "5.001 ms base.toml:21"
    assert words(text, "tolerance.mean") == "0.15 default"
    assert words(text, "probe.columns.r1") == "receiver 1, iterations 1 base.toml:24"


def test_show_gives_confidence_origin_and_source_of_each_parameter(desk):
    text = call("show", desk / "mine.toml", "--set", "system.card.sram=3 MiB").stdout
    assert "system.card = small-vortex (vortex): a small vortex\n" in text
    assert words(text, "sram") == "3 MiB assumed --set set on the command line"
    assert words(text, "ring") == "64 KiB assumed small-vortex.toml:53 a test"


def test_show_of_a_card(desk):
    text = call("show", desk / "cards/small-link.toml").stdout
    assert text.startswith("small-link (link): a small link\n")
    assert words(text, "rate") == "7 GB/s assumed small-link.toml:5 a test"


def test_show_of_a_packaged_card_by_name():
    card = list_cards()[0]
    assert call("show", card.name).stdout.startswith(f"{card.name} ({card.kind}): {card.title}\n")


def test_show_of_a_campaign(desk):
    file = desk / "all.toml"
    file.write_text('title = "t"\nquestion = "q"\ncampaign = ["tcp", "mine"]\n')
    assert call("show", file).stdout == "t\nquestion  q\n\n  tcp   over tcp\n  mine  mine\n"
    table = Told(call("show", file, "--json").stdout).facts
    assert [member["name"] for member in table["campaign"]] == ["tcp", "mine"]


def test_show_as_json_has_the_same(desk):
    table = Told(call("show", desk / "mine.toml", "--json").stdout).facts
    known = {"value": 2048, "unit": "B", "origin": "mine.toml:5"}
    assert {"key": "workload.message_bytes", **known} in table["keys"]
    laws = {(row["role"], row["parameter"]): row["value"] for row in table["parameters"]}
    assert laws["card", "vic_to_dram"] == {"fixed_ps": 1_000_000, "per_byte_fs": 1_000_000}


def test_show_prints_a_schema_that_knows_every_section():
    schema = json.loads(call("show", "--schema").stdout)
    kinds = [schema["$defs"][kind["$ref"].rpartition("/")[2]] for kind in schema["anyOf"]]
    sections = [
        {"workload", "system", "probe", "reference", "tolerance"},
        {"switch", "network", "traffic", "vary", "compare", "record"},
        {"workload", "system", "vary", "tolerance"},
        {"workload", "system", "event", "vary", "tolerance"},
        {"workload", "system", "vary"},
        {"program", "skeleton", "fabric", "vary"},
        {"topology", "router", "traffic", "vary"},
    ]
    for kind, known in zip(kinds, sections, strict=True):
        assert known <= set(kind["properties"])
        assert kind["additionalProperties"] is False


def test_show_without_a_name_says_how():
    result = call("show")
    assert result.exit_code == 2
    assert "name a scenario, a file or a card; `dvsim list` lists them" in result.stderr


def test_show_of_an_unknown_name_gets_the_nearest():
    card = list_cards()[0].name
    result = call("show", card + "x")
    assert result.exit_code == 2
    assert result.stderr == f"{card}x: no such scenario or card; did you mean '{card}'?\n"


def test_set_belongs_to_a_scenario(desk):
    result = call("show", desk / "cards/small-link.toml", "--set", "rate=1 GB/s")
    assert result.exit_code == 2
    assert "--set belongs to a scenario" in result.stderr
