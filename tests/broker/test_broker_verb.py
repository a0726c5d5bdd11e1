"""`dvsim broker`: do nodes outlive the command, and end when they should, whatever has happened?"""

import json
import os
import shlex
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import nodes
import pytest
import stand_in as stand_in_rabbitmq
from harness.in_process import dvsim
from harness.replies import Told

from dvsim.broker.process import Identity

DVSIM = [sys.executable, "-m", "dvsim", "broker"]
SIZE = ["--memory", "1 GiB"]


def broker(*arguments):
    return dvsim("broker", *arguments)


@pytest.fixture
def folder(tmp_path):
    """A folder for nodes, which are ended if the test has not."""
    path = tmp_path / "my nodes"
    yield path
    broker("down", "--dir", path)
    assert not nodes.processes(path)


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """A function that puts a RabbitMQ in place that greets, and no more, after some seconds."""

    def install(ready_s=0):
        scripts = stand_in_rabbitmq.install(tmp_path / "greets", ready_s=ready_s)
        monkeypatch.setenv("DVSIM_RABBITMQ", str(scripts))

    return install


def start(folder):
    """Start nodes, and give the command and what it writes to stderr."""
    return subprocess.Popen(
        [*DVSIM, "up", *SIZE, "--dir", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def shown(folder):
    """Return what `status --json` says."""
    done = broker("status", "--json", "--dir", folder)
    return done.returncode, Told(done.stdout).facts


def test_nodes_run_until_they_are_told_to_end(folder, connect):
    with start(folder) as one, start(folder) as two:
        said = {process: process.communicate() for process in (one, two)}
    codes = sorted(process.returncode for process in (one, two))
    assert codes in ([0, 0], [0, 1]), said
    (winner, *_) = (process for process in (one, two) if process.returncode == 0)
    output, progress = said[winner]
    assert all("already" in said[p][1] for p in (one, two) if p.returncode == 1), said
    assert "waiting for RabbitMQ node a1" in progress + said[one][1] + said[two][1]

    code, status = shown(folder)
    assert code == 0
    (node,) = status["nodes"]
    assert node["url"] in output
    assert status["credentials"] in output
    assert (node["name"], node["running"], node["alarms"]) == ("a1", True, [])
    assert node["memory"] > 20 << 20
    assert node["uptime_s"] > 0
    user, _, password = Path(status["credentials"]).read_text("utf-8").strip().partition(":")
    assert user.startswith("dvsim-")
    assert password not in output + progress
    table = broker("status", "--dir", folder).stdout.splitlines()
    assert table[1].split()[:3] == ["a1", node["url"], str(node["process"])]

    again = broker("up", *SIZE, "--dir", folder)
    assert (again.returncode, again.stdout) == (0, output)
    assert again.stderr == "these nodes run already\n"
    other = broker("up", "--nodes", "2", "--dir", folder)
    assert other.returncode == 2
    assert "other nodes run there already; 'dvsim broker down' ends them" in other.stderr

    assert broker("down", "--dir", folder).returncode == 0
    assert not nodes.processes(folder)
    assert not (folder / "nodes").exists()
    gone = broker("down", "--dir", folder)
    assert (gone.returncode, gone.stdout) == (0, f"no nodes run in '{folder}'\n")
    assert (shown(folder)[0], shown(folder)[1]["nodes"]) == (1, [])


def test_a_shell_gets_what_later_commands_need(folder, stand_in):
    stand_in()
    none = broker("env", "--dir", folder)
    assert none.returncode == 1
    assert "'dvsim broker up' starts some" in none.stderr
    assert broker("up", *SIZE, "--dir", folder).returncode == 0
    code, status = shown(folder)
    given = shlex.join([*DVSIM, "env", "--dir", str(folder)])
    names = ("URL", "CREDENTIALS", "USER")
    script = f'VICBRIDGE_USER=x; eval "$({given})"; ' + "; ".join(
        f'echo "${{VICBRIDGE_{name}-none}}"' for name in names
    )
    said = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert code == 0
    assert said.stdout.splitlines() == [status["nodes"][0]["url"], status["credentials"], "none"]
    near = broker("env", "--dir", folder, "--cluster", "b")
    assert (near.returncode, "--cluster: 'b' does not run" in near.stderr) == (2, True)


def test_a_crash_leaves_nothing_that_matters(folder, stand_in):
    stand_in()
    assert broker("up", *SIZE, "--dir", folder).returncode == 0
    node = shown(folder)[1]["nodes"][0]["process"]
    os.kill(node, signal.SIGKILL)
    nodes.eventually(lambda: Identity.of(node) is None, "node gone")
    done = broker("status", "--dir", folder)
    assert done.returncode == 1
    assert "has ended" in done.stdout

    keeper = json.loads((folder / "state.json").read_text("utf-8"))["keeper"]["pid"]
    os.kill(keeper, signal.SIGKILL)
    nodes.eventually(lambda: not nodes.processes(folder), "epmd gone, too")
    assert (shown(folder)[0], shown(folder)[1]["nodes"]) == (1, [])
    assert broker("up", *SIZE, "--dir", folder).returncode == 0
    code, status = shown(folder)
    assert code == 0
    keeper = json.loads((folder / "state.json").read_text("utf-8"))["keeper"]["pid"]
    os.kill(keeper, signal.SIGKILL)
    nodes.eventually(lambda: not nodes.processes(status["credentials"]), "all gone")
    assert broker("down", "--dir", folder).returncode == 0
    assert not (folder / "nodes").exists()


def test_a_start_that_is_interrupted_leaves_nothing(folder, stand_in):
    stand_in(ready_s=1000)
    with start(folder) as command:
        assert command.stderr.readline() == "waiting for RabbitMQ node a1\n"
        assert broker("status", "--dir", folder).stderr.startswith("nodes are being started in")
        assert broker("up", *SIZE, "--dir", folder).returncode == 1
        command.send_signal(signal.SIGINT)
        assert command.communicate()[1] == "interrupted\n"
    assert command.returncode == 130
    assert not nodes.processes(folder)
    assert not (folder / "nodes").exists()


def test_nodes_that_nobody_waits_for_any_more_end(folder, stand_in):
    stand_in(ready_s=3)
    with start(folder) as command:
        assert command.stderr.readline() == "waiting for RabbitMQ node a1\n"
        command.kill()
    nodes.eventually(lambda: not nodes.processes(folder), "keeper and node gone")
    assert not (folder / "nodes").exists()


@pytest.mark.parametrize("same", ["number", "process"])
def test_only_processes_that_are_written_down_are_ended(folder, same):
    folder.mkdir(mode=0o700)
    (folder / "nodes").mkdir()
    with subprocess.Popen(["sleep", "1000"]) as process:
        left = asdict(Identity.of(process.pid))
        left["start"] -= same == "number"
        gone = {**left, "start": 1}
        node = {"name": "a1", "cluster": "a", "url": "", "tls_url": None, "ports": {}}
        state = {"keeper": gone, "asked": {}, "control": None, "nodes": [{**node, "process": left}]}
        (folder / "state.json").write_text(json.dumps(state), "utf-8")
        assert broker("down", "--dir", folder).returncode == 0
        assert (process.poll() is None) == (same == "number")
        process.kill()
    assert not (folder / "nodes").exists()


def test_what_is_not_ours_stays(folder):
    (folder / "nodes").mkdir(parents=True)
    (folder / "nodes" / "thesis.txt").touch()
    folder.chmod(0o700)
    done = broker("up", *SIZE, "--dir", folder)
    assert (done.returncode, done.stderr) == (1, f"'{folder / 'nodes'}' is in the way\n")
    assert broker("down", "--dir", folder).returncode == 0
    assert (folder / "nodes" / "thesis.txt").exists()


@pytest.mark.parametrize("text", ["", "[1]", '{"keeper": {"pid": "a"}}'])
def test_what_is_not_understood_is_left_alone(folder, text):
    (folder / "nodes").mkdir(parents=True)
    folder.chmod(0o700)
    (folder / "state.json").write_text(text, "utf-8")
    for verb in ("up", "status", "down"):
        done = broker(verb, "--dir", folder)
        assert done.returncode == 1
        assert f"'{folder / 'state.json'}' is damaged, or not of dvsim; remove it" in done.stderr
    assert (folder / "state.json").read_text("utf-8") == text
    assert (folder / "nodes").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["up", "--plugins", "rabbitmq_managment"], 2, "did you mean 'rabbitmq_management'?"),
        (["up", "--memory", "1 GX"], 2, "--memory: 'GX' is not a unit of size"),
        (["up", "--memory", "1 MB"], 2, "memory: a node needs at least 256 MiB"),
        (["up", "--nodes", "0"], 2, "nodes: must be 1 to 9, is 0"),
        (["up", "--dir", "/proc/nodes"], 1, "cannot use '/proc/nodes' for nodes"),
        (["up", "--dir", "/dev/null"], 2, "cannot write /dev/null: '/dev/null' is not a directory"),
        (["up", "--dir", ""], 2, "the name of the folder is empty"),
        (["dwon"], 2, "No such command 'dwon'"),
    ],
)
def test_what_is_wrong_is_said(folder, arguments, code, said):
    where = [] if "--dir" in arguments or arguments[0] != "up" else ["--dir", folder]
    done = broker(*arguments, *where)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_others_can_write_is_refused(folder):
    folder.mkdir()
    folder.chmod(0o777)
    done = broker("up", "--dir", folder)
    assert done.returncode == 1
    assert "others can write it" in done.stderr


def test_the_usual_folder_is_that_of_the_user(folder, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    done = broker("status")
    assert done.stdout == f"no nodes run in '{folder}/dvsim/broker'\n"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(folder))
    done = broker("status")
    assert done.stdout == f"no nodes run in '{folder}/.local/state/dvsim/broker'\n"


def test_a_missing_rabbitmq_is_said(folder, monkeypatch):
    monkeypatch.setenv("DVSIM_RABBITMQ", "/nowhere")
    done = broker("up", "--dir", folder)
    assert (done.returncode, done.stdout) == (1, "")
    said = "DVSIM_RABBITMQ: no rabbitmq-server and rabbitmqctl in '/nowhere'\n"
    assert done.stderr == said


def test_a_full_disk_is_said_with_the_file(folder):
    command = f"ulimit -f 0; exec {shlex.join([*DVSIM, 'up', *SIZE, '--dir', str(folder)])}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"cannot use '{folder}/state.json' for nodes: File too large\n"
    assert {path.name for path in folder.iterdir()} == {"keeper.log", "lock"}


@pytest.mark.parametrize("seconds", ["0", "-1", "nan"])
def test_a_time_to_wait_is_above_0(folder, seconds):
    done = broker("up", *SIZE, "--dir", folder, "--timeout", seconds)
    assert (done.returncode, done.stdout) == (2, "")
    assert "must be above 0 seconds, is" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_node_that_is_dead_or_hangs_is_found_and_started_again(
    folder, stand_in, monkeypatch, number
):
    stand_in()
    monkeypatch.setattr("dvsim.broker.service.RESPONDS_S", 3)
    assert broker("up", *SIZE, "--dir", folder).returncode == 0
    (before,) = shown(folder)[1]["nodes"]
    os.kill(before["process"], number)
    nodes.eventually(lambda: shown(folder)[0] == 1, "a status that says so")
    (lame,) = shown(folder)[1]["nodes"]
    assert (lame["running"], lame["answers"]) == (number == signal.SIGSTOP, False)
    assert broker("env", "--dir", folder).returncode == 1
    again = broker("up", *SIZE, "--dir", folder)
    assert again.returncode == 0, again.stderr
    assert "a1" in again.stderr and "already" not in again.stderr
    code, status = shown(folder)
    (after,) = status["nodes"]
    assert (code, after["answers"], after["url"]) == (0, True, before["url"])
    assert after["process"] != before["process"]
    assert broker("down", "--dir", folder).returncode == 0
    assert not nodes.processes(folder)


def test_a_node_that_cannot_be_started_again_is_said(folder, stand_in, tmp_path):
    stand_in()
    assert broker("up", *SIZE, "--timeout", "20", "--dir", folder).returncode == 0
    os.kill(shown(folder)[1]["nodes"][0]["process"], signal.SIGKILL)
    nodes.eventually(lambda: shown(folder)[0] == 1, "a status that says so")
    server = tmp_path / "greets" / "sbin" / "server.py"
    server.write_text("raise SystemExit('no more')", "utf-8")
    done = broker("up", *SIZE, "--timeout", "5", "--dir", folder)
    assert done.returncode == 1
    assert "a1" in done.stderr and "no more" in done.stderr
    assert shown(folder)[0] == 1
