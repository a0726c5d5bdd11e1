"""Is what cannot be refused before anything runs, with exit code 2 and the option named?"""

import json
import os
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from dvsim.cli.main import VERBS, cli
from dvsim.cli.options import Output
from dvsim.scenario.find import reference_root

SWEEP = ("sweep", "h3/dv-8", "--vary", "system.bridge.sockets=1,2", "--scale", "0.001")
REFUSED = {
    "a folder that is not there": (("report", "none"), "none: no such folder"),
    "a source that there is not": (
        ("validate", "h33"),
        "h33: no such source; did you mean 'h3'?",
    ),
    "a part of a name": (("show", "bridges"), "did you mean 'h3/whatif/bridges'?"),
    "a page that is none": (
        (*SWEEP, "--report", "x.pdf"),
        "'--report': '.pdf' is no form of this page; did you mean 'x.html'?",
    ),
    "a comparison in a form that it does not have": (
        ("compare", "a", "b", "--report", "x.svg"),
        "'--report': '.svg' is no form of a report; there are .html, .md",
    ),
    "one key with itself": (
        (*SWEEP, "--zip", "system.bridge.sockets"),
        "--zip: system.bridge.sockets: names one key, which goes with none; "
        "write system.bridge.sockets,KEY",
    ),
    "a power": ((*SWEEP, "--where", "sockets ** 2 > 1"), "'sockets ** 2' is not understood"),
    "a call": (
        (*SWEEP, "--where", "1 KiB < sockets('a')"),
        "--where: 1 KiB < sockets('a'): \"sockets('a')\" is not understood",
    ),
    "a table of another kind": (
        ("calibrate", "h3-bridge", "--against", "h3_amqp_vs_dv.csv", "--fit", "r1:8"),
        "h3_amqp_vs_dv.csv:1: there is no column 'value'",
    ),
    "a limit, which the library calls limits": (
        ("consistency", str(reference_root() / "h3_amqp_vs_dv.csv"), "--limit", "1 GB/s"),
        "--limit: needs data with a column 'message_bytes' or 'size'",
    ),
    "a number of samples": (
        (
            *SWEEP[:2],
            "--vary",
            "sockets=1..4",
            "--vary",
            "bridge.threads=1..4",
            "--sensitivity",
            "--samples",
            "3",
        ),
        "--samples: 3 is no power of two",
    ),
    "a size in apples": (
        ("emulate", "--trace", "t.json", "--trace-limit", "3 apples", "--", "./x"),
        "--trace-limit: 'apples' is not a unit of size",
    ),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(*words):
    done = CliRunner().invoke(cli, words, prog_name="dvsim")
    return done.exit_code, done.stderr


@pytest.mark.parametrize("words,text", REFUSED.values(), ids=REFUSED)
def test_it_is_refused(words, text, folder):
    code, told = said(*words)
    assert text in told
    assert code == 2
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [("validate", "--claims", "sweep"), ("report", "sweep")],
    ids=lambda words: words[0],
)
def test_a_misspelt_folder_gets_the_nearest(words, folder):
    for name, file in [("sweeps", "claims.py"), ("runs/sweeps/one", "manifest.json")]:
        (folder / name).mkdir(parents=True)
        (folder / name / file).write_text("")
    code, told = said(*words)
    assert code == 2
    assert told.endswith("did you mean 'sweeps'?\n")


def written():
    """Return each option that names a place to write to, with its verb."""
    verbs = [(name, cli.get_command(None, name)) for name in VERBS]
    verbs += [(f"{name} {sub}", verb) for name, group in verbs for sub, verb in parts(group)]
    found = ((name, item) for name, verb in verbs for item in verb.params)
    return {f"{name} {item.opts[0]}": item for name, item in found if isinstance(item.type, Output)}


def parts(group):
    return group.commands.items() if isinstance(group, click.Group) else ()


WRITTEN = written()


def places(kind):
    """A folder may be there, and what is kept in it may only be read."""
    return ["file/new/t"] if kind.dir_okay else ["there", "file/new/t", "/proc/none/t"]


@pytest.mark.parametrize(
    "option,place", [(name, place) for name in WRITTEN for place in places(WRITTEN[name].type)]
)
def test_a_place_where_nothing_can_be_written_is_refused_before_the_run(place, option, folder):
    (folder / "there").mkdir()
    (folder / "file").write_text("")
    code, told = said(*option.split(), place)
    assert f"Invalid value for '{option.split()[-1]}'" in told
    assert f"cannot write {place}" in told or f"'{place}' is a directory" in told
    assert code == 2
    assert len(list(folder.iterdir())) == 2


def test_the_options_that_write_are_known_and_say_that_they_make_folders():
    assert len(WRITTEN) > 15
    for option, item in WRITTEN.items():
        assert "made" in item.help or option.split()[-1] in ("--runs", "--dir"), option


@pytest.mark.parametrize("option", ["--sweeps", "--report"])
def test_a_sweep_that_could_not_be_kept_runs_no_point(option, folder):
    assert said(*SWEEP, option, "/proc/none/t")[0] in (1, 2)
    assert list(folder.iterdir()) == []


def test_a_file_goes_into_a_folder_that_is_not_there_yet_and_to_a_pipe(folder):
    from dvsim.atomic import check_place

    check_place(folder / "new" / "deep" / "t.json")
    assert not (folder / "new").exists()
    os.mkfifo(folder / "pipe")
    check_place(folder / "pipe")


@pytest.mark.parametrize("limit", ["100 kB", "100000"])
def test_the_limit_of_an_emulated_trace_has_units_as_elsewhere(limit, folder):
    command = [
        sys.executable,
        "-m",
        "dvsim",
        "emulate",
        "-n",
        "2",
        "--trace",
        "t.json",
        "--trace-limit",
        limit,
    ]
    done = subprocess.run([*command, "--", "true"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "traceEvents" in json.loads((folder / "t.json").read_text())
