"""Private RabbitMQ nodes: is nothing left of them, and is it said why they cannot start?"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import nodes
import pytest
from harness.processes import until

import dvsim
from dvsim.broker import Brokers, files, install, private_nodes
from dvsim.broker.process import Identity, Ports
from dvsim.errors import DvsimError, OutputError, RunFailed, ScenarioError
from dvsim.kinds.rabbitmq.emu import data_vortex

KEEP = """\
import os, signal
from dvsim.broker import Brokers
with Brokers(progress=lambda text: print(text, flush=True)) as brokers:
    node = brokers.nodes[0]
    about = os.getuid(), "administrator" in node.ctl("list_users"), node.management_port
    print("ready", brokers.credentials.parent, *about, flush=True)
    signal.pause()
"""
REMOVE_LEFT = "from dvsim.broker import files; files.remove_left()"
NOBODY = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}


@pytest.fixture
def public():
    """A folder with dvsim that everybody can read, wherever the checkout is; a folder for files."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        here = Path(dvsim.__file__).parent
        shutil.copytree(here, Path(folder) / "dvsim", ignore=shutil.ignore_patterns("__pycache__"))
        files = Path(folder) / "files"
        files.mkdir()
        files.chmod(0o777)
        yield Path(folder)


def python_for_all():
    """Return a Python that others may run: a .venv, and what it was made with, may be private."""
    for python in (Path(sys.executable).resolve(), Path("/usr/bin/python3")):
        if all(folder.stat().st_mode & 0o001 for folder in (python, *python.parents)):
            return python
    pytest.fail("no Python here that others may run: apt install python3")


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A folder for temporary files, of this test alone."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """A function that puts a RabbitMQ in place whose server is a shell script."""

    def installed(script):
        folder = tmp_path / "sbin"
        folder.mkdir()
        for name, text in {"rabbitmq-server": script, "rabbitmqctl": "exit 1"}.items():
            (folder / name).write_text(f"#!/bin/sh\n{text}\n", "utf-8")
            (folder / name).chmod(0o755)
        monkeypatch.setenv("DVSIM_RABBITMQ", str(folder))

    return installed


def test_an_ordinary_user_can_run_nodes_and_nothing_runs_after_its_python_was_killed(public):
    files, python = public / "files", str(python_for_all())
    how = {"cwd": "/", "text": True, "stdout": subprocess.PIPE, **NOBODY}
    how["env"] = {
        "PATH": os.environ["PATH"], "PYTHONPATH": str(public), "TMPDIR": str(files)
    }  # fmt: skip
    with subprocess.Popen([python, "-c", KEEP], **how) as started:
        try:
            lines = iter(started.stdout.readline, "")
            said = next((line.split() for line in lines if line.startswith("ready")), None)
            assert said is not None, "it has ended"
            user = str(NOBODY.get("user", os.getuid()))
            assert said[2:] == [user, "True", "None"]
            folder = said[1]
            ours = nodes.processes(folder)
            assert len(ours) >= 2, "the node and epmd"
        finally:
            started.kill()
    nodes.eventually(lambda: not nodes.processes(folder), "nodes gone")
    assert list(files.iterdir()) == [Path(folder)]
    subprocess.run([python, "-c", REMOVE_LEFT], **how, check=True)
    assert list(files.iterdir()) == []


def test_nothing_is_left_of_a_start_that_was_interrupted(fake, temporary):
    fake("exec sleep 1000")
    command = [sys.executable, "-c", KEEP]
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **how) as started:
        try:
            assert started.stdout.readline() == "waiting for RabbitMQ node a1\n"
            begun = temporary / files.PREFIX
            until(lambda: len(nodes.processes(begun)) >= 2, "the node and epmd")
            started.send_signal(signal.SIGINT)
            assert "KeyboardInterrupt" in started.communicate()[1]
        finally:
            started.kill()
    assert nodes.processes(temporary / files.PREFIX) == set()
    assert {path.name for path in temporary.iterdir()} == {"sbin"}


def test_a_folder_whose_owner_lives_is_not_removed(temporary):
    folder = files.PrivateFolder()
    files.remove_left()
    assert folder.path.is_dir()
    folder.close()
    folder.close()
    assert not folder.path.exists()


def test_a_folder_goes_though_programs_still_write_into_it(temporary):
    """As those do that see a moment later that their harness has ended."""
    write = 'while : > "$1/$$.$((n += 1))"; do :; done 2> /dev/null'
    for _ in range(20):
        folder = files.PrivateFolder()
        command = ["sh", "-c", write, "sh", str(folder.path)]
        writers = [subprocess.Popen(command) for _ in range(4)]
        try:
            until(lambda path=folder.path: len(list(path.iterdir())) > 200, "some files")
            folder.close()
            for writer in writers:
                writer.wait(60)
        finally:
            for writer in writers:
                writer.kill()
                writer.wait()
        assert list(temporary.iterdir()) == []


def test_only_what_was_left_under_the_same_name_is_removed(temporary):
    left = [temporary / f"{prefix}x" for prefix in (files.PREFIX, data_vortex.PREFIX)]
    for folder in left:
        folder.mkdir()
        (folder / files.LOCK).touch()
    files.PrivateFolder(prefix=data_vortex.PREFIX).close()
    assert list(temporary.iterdir()) == left[:1]


def test_a_node_that_ends_says_its_last_words(fake, temporary):
    fake("echo no luck today; exit 1")
    with pytest.raises(RunFailed, match=r"(?s)RabbitMQ node a1 has ended:.*no luck today"):
        Brokers()
    assert {path.name for path in temporary.iterdir()} == {"sbin"}


def test_a_node_that_is_never_ready_is_given_up(fake, temporary):
    fake("echo I am on my way; exec sleep 1000")
    with pytest.raises(RunFailed, match=r"(?s)a1 is not ready after .* s:.*I am on my way"):
        Brokers(timeout_s=1)
    assert nodes.processes(temporary / files.PREFIX) == set()


def test_an_epmd_that_is_slow_is_not_said_to_have_failed(fake, temporary, monkeypatch):
    fake("exec sleep 1000")
    epmd = temporary / "bin" / "epmd"  # it runs, and never answers
    epmd.parent.mkdir()
    epmd.write_text("#!/bin/sh\nexec sleep 1000\n", "utf-8")
    epmd.chmod(0o755)
    monkeypatch.setenv("PATH", f"{epmd.parent}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(RunFailed, match=r"epmd does not start: it does not answer in time"):
        Brokers(timeout_s=1e-9)
    assert nodes.processes(temporary / files.PREFIX) == set()


def test_a_full_disk_is_said_with_the_file(fake, temporary, monkeypatch):
    def full(path, *_):
        raise OSError(28, "No space left on device", str(path))

    fake("exec sleep 1000")
    monkeypatch.setattr(private_nodes, "write_private", full)
    with pytest.raises(OutputError, match=r"cannot use '.*/\.erlang\.cookie' .*: No space left"):
        Brokers()
    assert {path.name for path in temporary.iterdir()} == {"sbin"}


def test_a_missing_rabbitmq_is_said_with_its_package(monkeypatch, tmp_path):
    monkeypatch.delenv("DVSIM_RABBITMQ", raising=False)
    monkeypatch.setattr(install, "USUAL", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DvsimError, match="RabbitMQ is not installed: apt install rabbitmq-server"):
        Brokers()


def test_a_script_that_becomes_another_user_is_not_taken(monkeypatch, tmp_path):
    monkeypatch.delenv("DVSIM_RABBITMQ", raising=False)
    monkeypatch.setattr(install, "USUAL", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    wrapper = tmp_path / "rabbitmq-script-wrapper"
    wrapper.write_text("#!/bin/sh\n", "utf-8")
    wrapper.chmod(0o755)
    for name in ("rabbitmq-server", "rabbitmqctl"):
        (tmp_path / name).symlink_to(wrapper.name)
    with pytest.raises(DvsimError, match="RabbitMQ is not installed"):
        install.find()


def test_a_wrong_folder_of_rabbitmq_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("DVSIM_RABBITMQ", str(tmp_path))
    with pytest.raises(DvsimError, match=f"DVSIM_RABBITMQ: no rabbitmq-server .* in '{tmp_path}'"):
        install.find()


def test_a_missing_erlang_is_said(fake, monkeypatch, tmp_path):
    fake("true")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DvsimError, match="erl and epmd, which are not on PATH: apt install"):
        install.find()


def test_a_missing_openssl_is_said(fake, monkeypatch, temporary):
    fake("true")
    for name in ("erl", "epmd"):
        (temporary / name).write_text("#!/bin/sh\n", "utf-8")
        (temporary / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(temporary))
    with pytest.raises(DvsimError, match="apt install openssl"):
        Brokers(tls=True)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"clusters": 0}, "clusters: must be 1 to 26, is 0"),
        ({"nodes": 10}, "nodes: must be 1 to 9, is 10"),
        ({"memory": 1 << 20}, "memory: a node needs at least 256 MiB, not 1 MiB"),
        ({"nodes": 3, "memory": 1 << 50}, "memory: 3 x 1073741824 MiB is more than the machine's"),
        ({"timeout_s": 0}, "timeout_s: must be above 0 seconds, is 0"),
        ({"timeout_s": float("nan")}, "timeout_s: must be above 0 seconds, is nan"),
        ({"plugins": ["rabbitmq_managment"]}, "did you mean 'rabbitmq_management'?"),
        ({"plugins": ["rabbitmq_web_mqtt_examples"]}, "listens on a fixed port"),
    ],
)
def test_what_cannot_be_is_refused(how, said):
    with pytest.raises(ScenarioError, match=re.escape(said)):
        Brokers(**how)


def test_all_nodes_together_leave_memory_to_others(monkeypatch):
    monkeypatch.setattr(install, "machine_bytes", lambda: 8 << 30)
    assert [install.memory_of(count, None) * count >> 20 for count in (1, 2, 6)] == [3276] * 3
    with pytest.raises(ScenarioError, match="nodes: 18 have 182 MiB each on this machine"):
        install.memory_of(18, None)


def test_a_folder_that_holds_something_is_refused(tmp_path):
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(OutputError, match=f"'{tmp_path}' is not empty"):
        Brokers(directory=tmp_path)
    assert (tmp_path / "thesis.txt").exists()


def test_a_folder_that_cannot_be_is_said():
    with pytest.raises(OutputError, match=r"cannot use '/proc/nodes' for nodes: No such file"):
        Brokers(directory=Path("/proc/nodes"))


def test_a_port_that_was_taken_is_given_to_nobody_but_a_node():
    ports = Ports()
    taken = [ports.take() for _ in range(50)]
    assert len(set(taken)) == 50
    for port in taken:
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", port))
        with socket.socket() as node:
            node.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            node.bind(("127.0.0.1", port))
            node.listen()
    ports.close()


def test_another_process_with_the_same_number_is_left_alone():
    with subprocess.Popen(["sleep", "1000"]) as other:
        own = Identity.of(other.pid)
        for stranger in (
            Identity(own.pid, own.start - 1, own.boot),
            Identity(own.pid, own.start, "another start of the machine"),
        ):
            assert not stranger.alive()
            assert stranger.end(signal.SIGKILL, 0)
        assert own.alive()
        assert own.end(signal.SIGKILL, nodes.DEADLINE_S)
        assert other.wait() == -signal.SIGKILL
    assert Identity.of(other.pid) is None
    assert own.end(signal.SIGKILL, 0)
    assert Identity.of(os.getpid()).alive()
