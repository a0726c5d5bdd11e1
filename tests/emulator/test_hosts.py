"""Does a job over several hosts do what a job on one machine does, and end when a host is lost?"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import namespaces
import pytest
from emulator_build import CONFORMANCE, SMALL
from harness.patience import patience
from harness.processes import children
from test_death import DIED, ENDED, gone

PATIENT = ["--host-timeout", "20s"]
"""For jobs in which no host is to be lost, however slow this machine is."""
LOST = ["--host-timeout", "4s"]
"""For jobs in which one is: a slow machine may be silent for the usual 400 ms by itself."""
MARK = {"VIC_TEST": f"hosts of {os.getpid()}"}
"""In the environment of all processes of the jobs of this file, vichosts too."""


def command(emulator, options, program, *arguments):
    vicrun = str(emulator.prefix / "bin" / "vicrun")
    return [vicrun, *SMALL, *options, "--", str(program), *arguments]


def run(emulator, options, name, *arguments):
    program = emulator.program(name) if isinstance(name, str) else name
    return subprocess.run(
        command(emulator, options, program, *arguments),
        capture_output=True, text=True, check=False, timeout=200, env=os.environ | MARK,
    )  # fmt: skip


@pytest.mark.parametrize("name", CONFORMANCE)
def test_conformance(emulator, hosts, name):
    done = run(emulator, [*hosts.options(2, 1), *PATIENT], name)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name", ["exchange", "surprise", "threads", "barriers", "any_of"])
def test_out_of_order_and_shallow(emulator, hosts, name):
    faults = ["--reorder", "1", "--fault", "fifo-depth=3", "--fault", "extra-polls=0.3"]
    done = run(emulator, [*hosts.options(1, 2), *PATIENT, *faults], name)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name", ["collectives", "messages", "client_relay"])
def test_layers_on_top(emulator, hosts, name):
    done = run(emulator, [*hosts.options(2, 1), *PATIENT], name)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_fifo_that_nobody_reads_stops_its_sender(emulator, hosts):
    """The sender waits until the reader kills itself."""
    done = run(emulator, [*hosts.options(1, 2), *PATIENT], "opens", "block")
    assert (done.returncode, DIED in done.stdout) == (137, True)


@pytest.mark.parametrize(("how", "code"), [("die", 137), ("fail", 4), ("end", 0)])
def test_all_hosts_learn_of_an_end(emulator, hosts, how, code):
    done = run(emulator, [*hosts.options(1, 2), *PATIENT], "opens", how)
    last = [DIED, DIED] if how != "end" else sorted([DIED, ENDED])
    assert (done.returncode, sorted(done.stdout.splitlines())[-2:]) == (code, last)


def test_a_process_that_opens_its_card_late_may_send_late(emulator, hosts):
    """By then its own program and that of the third card have ended."""
    late = emulator.program("late_sender")
    script = f"test $VIC_CARD = 1 || exec {late}; {late} & exit 0"
    done = run(emulator, [*hosts.options(1, 2), *PATIENT], Path("/bin/sh"), "-c", script)
    assert (done.stdout, done.stderr, done.returncode) == ("good\n", "", 0)


@pytest.mark.parametrize("what", ["words", "fifo"])
def test_answers_by_way_of_a_third_host_come_before_the_end_of_who_asked(emulator, what):
    """They also come before the end of the card that answers, whose program had ended before."""
    with namespaces.hosts(f"t{os.getpid()}", "abc") as three:
        done = run(emulator, [*three.options(1, 1, 1), *PATIENT], "far_ends", what)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_output_of_all_hosts_comes_back(emulator, hosts):
    script = "echo card $VIC_CARD of $VIC_CARDS; echo aside >&2; exit $((VIC_CARD * 5))"
    done = run(
        emulator, [*hosts.options(1, 2), *PATIENT, "--prefix"], Path("/bin/sh"), "-c", script
    )
    said = [f"[{card}] card {card} of 3" for card in range(3)]
    assert sorted(done.stdout.splitlines()) == said
    assert [line for line in sorted(done.stderr.splitlines()) if "aside" in line] == [
        f"[{card}] aside" for card in range(3)
    ]
    assert done.returncode in (5, 10)


def test_programs_run_on_all_cores(emulator, hosts):
    done = run(emulator, [*hosts.options(1, 2), *PATIENT], Path("/usr/bin/nproc"))
    assert done.stdout.split() == [str(len(os.sched_getaffinity(0)))] * 3


def nothing_is_left():
    """Return whether all processes of the jobs of this file are gone."""
    return gone(MARK["VIC_TEST"], "environ")


def begun(emulator, hosts, *options, cards=(1, 2), mark=""):
    """Start a job whose programs wait for each other; return when all have opened their cards."""
    programs = [str(emulator.program("opens")), "wait", mark]
    process = subprocess.Popen(
        command(emulator, [*hosts.options(*cards), *options], *programs),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env=os.environ | MARK,
    )  # fmt: skip
    for _ in range(sum(cards)):
        assert process.stdout.readline() == "0 \n"
    return process


def test_a_host_that_is_cut_off_is_lost(emulator, hosts):
    """It is after a while of silence, not when TCP gives up after minutes."""
    mark = f"cut-{os.getpid()}"
    process = begun(emulator, hosts, *LOST, mark=mark)
    try:
        hosts.cut(off=True)
        start = time.monotonic()
        output = [process.stdout.readline() for _ in range(3)]
        took = time.monotonic() - start
        _, errors = process.communicate(timeout=200)
    finally:
        process.kill()
        hosts.cut(off=False)
    assert output == [DIED + "\n"] * 3
    assert took < patience(20)
    assert process.returncode == 1
    for one, other in (hosts.names, hosts.names[::-1]):
        assert f"host {one}: host {other} has not been heard of for 4000 ms" in errors
    assert gone(mark)
    assert nothing_is_left()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_reach_the_programs_of_all_hosts(emulator, hosts, number):
    process = begun(emulator, hosts, *PATIENT)
    process.send_signal(number)
    _, errors = process.communicate(timeout=200)
    asked = "vicrun: SIGINT: who waits for what" if number == signal.SIGINT else ""
    assert (process.returncode, errors.partition("\n")[0]) == (128 + number, asked)


def test_programs_die_with_the_launcher(emulator, hosts):
    mark = f"orphan-{os.getpid()}"
    process = begun(emulator, hosts, *PATIENT, mark=mark)
    process.kill()
    process.communicate(timeout=200)
    assert gone(mark)


def test_a_host_whose_processes_are_killed_is_lost(emulator, hosts):
    process = begun(emulator, hosts, *PATIENT)
    os.kill(max(children(process.pid)), signal.SIGKILL)
    output, errors = process.communicate(timeout=200)
    assert process.returncode == 137
    assert DIED in output
    assert "has hung up: the job ends" in errors


def test_a_host_is_lost_while_a_program_sets_the_counter_of_its_teams_to_0(emulator, hosts):
    """Card 1 kills its vichost. Card 0 stops opening the team, though its counter reads 0."""
    words = ["LOST=yes", str(emulator.program("collective_counted"))]
    done = run(emulator, [*hosts.options(1, 1), *PATIENT], Path("/usr/bin/env"), *words)
    assert done.stdout == "ended\n", done.stderr


def test_nobody_listens_while_a_job_runs(emulator, hosts):
    """All hosts are connected by then: a port scanner finds no port."""
    process = begun(emulator, hosts, *PATIENT)
    try:
        assert not re.findall(r": \w{8}:\w{4} \w+:\w+ 0A ", hosts.on(0, "cat", "/proc/net/tcp"))
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=200)
    finally:
        process.kill()
    assert (process.returncode, errors) == (128 + signal.SIGTERM, "")


def test_a_host_that_is_stopped_is_lost(emulator, hosts):
    """SIGSTOP goes to its vichost and programs. The other host ends, and so does the launcher."""
    mark = f"stopped-{os.getpid()}"
    process = begun(emulator, hosts, *LOST, mark=mark)
    try:
        listed = namespaces.run("ip", "netns", "pids", hosts.names[1])
        for pid in map(int, listed.split()):
            os.kill(pid, signal.SIGSTOP)
        output, errors = process.communicate(timeout=200)
    finally:
        process.kill()
    assert (process.returncode, DIED in output) == (1, True)
    first, second = hosts.names
    assert f"host {first}: host {second} has not been heard of for 4000 ms" in errors
    assert gone(mark)
    assert nothing_is_left()


def refused(emulator, options, *program):
    """Return exit code and errors of a job that cannot begin; vicrun waits 8 s for hosts."""
    start = time.monotonic()
    done = run(emulator, [*options, *PATIENT], *(program or ("calls",)))
    assert time.monotonic() - start < patience(20)
    assert nothing_is_left()
    return done.returncode, done.stderr


def test_a_program_that_is_missing(emulator, hosts):
    code, said = refused(emulator, hosts.options(1, 1), Path("/nowhere/program"))
    assert code == 127
    assert f"host {hosts.names[1]}" in said or f"host {hosts.names[0]}" in said
    assert "cannot run '/nowhere/program'" in said
    assert "its vichost" not in said


def test_a_host_that_does_not_exist(emulator, hosts):
    options = ["--hosts", f"{hosts.names[0]}:1,vic-nowhere:1", *hosts.options(1, 1)]
    code, said = refused(emulator, options)
    assert code != 0
    assert "vicrun: host vic-nowhere: " in said


def test_a_host_that_says_nothing(emulator, hosts, tmp_path):
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\nexec sleep 30\n")
    silent.chmod(0o700)
    options = [*hosts.options(1, 1), "--launch-with", f"{silent} {{host}}"]
    code, said = refused(emulator, options)
    assert code == 1
    assert f"host {hosts.names[0]}: has not answered in 8 s, started by '{silent}" in said


def test_a_host_that_is_there_may_take_longer_to_start(emulator, hosts, tmp_path):
    """It sends HOST_HERE and then gets no core for 9 s, as on a crowded machine."""
    slow = tmp_path / "slow"
    slow.write_text(
        '#!/bin/sh\nprintf \'\\021tsh\\0\\0\\0\\0\'\nsleep 9\nexec ip netns exec "$1" "$2"\n'
    )
    slow.chmod(0o700)
    options = [*hosts.options(1, 1), *PATIENT, "--launch-with", f"{slow} {{host}}"]
    done = run(emulator, options, "exchange")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_hosts_that_are_there_but_never_ready(emulator, hosts, tmp_path):
    """The second one sends HOST_HERE and nothing else; vicrun waits 18 s for it."""
    stuck = tmp_path / "stuck"
    stuck.write_text(
        "#!/bin/sh\ncase $1 in *b) printf '\\021tsh\\0\\0\\0\\0'; exec sleep 300;; esac\n"
        'exec ip netns exec "$1" "$2"\n'
    )
    stuck.chmod(0o700)
    options = [*hosts.options(1, 1), "--launch-with", f"{stuck} {{host}}"]
    done = run(emulator, options, "calls")
    late = f"is there, but was not ready in 18 s, started by '{stuck} {{host}}'"
    assert (done.returncode, done.stderr) == (1, f"vicrun: host {hosts.names[1]}: {late}\n")
    assert nothing_is_left()


def test_an_interface_that_it_does_not_have(emulator, hosts):
    code, said = refused(emulator, [*hosts.options(1, 1), "--interface", "eth77"])
    assert code == 1
    assert f"host {hosts.names[0]}: --interface: it has no 'eth77' with an address, but" in said


@pytest.mark.parametrize(
    ("rule", "said"),
    [("drop", "firewall"), ("meta l4proto tcp reject with tcp reset", "Connection refused")],
    ids=["dropped", "refused"],
)
def test_a_firewall(emulator, hosts, rule, said):
    with hosts.firewall(f"iifname {namespaces.LINK} {rule}"):
        code, errors = refused(emulator, hosts.options(1, 1))
    assert code == 1
    first, second = hosts.names  # either may be the first to give up, and names the other
    assert any(
        f"host {one}: " in errors and f"host {other} " in errors
        for one, other in ((first, second), (second, first))
    )
    assert said in errors


CHANGED = """
import os, subprocess, sys, threading
host, *command = sys.argv[1:]
hello = sys.stdin.buffer.raw.read(8 + {first})
if host.endswith("b"):
    hello = hello[:8] + bytes(hello[8 : 8 + {at}]) + {new!r} + hello[8 + {at} + len({new!r}) :]
child = subprocess.Popen(["ip", "netns", "exec", host, *command], stdin=subprocess.PIPE, bufsize=0)
def copy():
    child.stdin.write(hello)
    while more := sys.stdin.buffer.raw.read(65536):
        child.stdin.write(more)
    child.stdin.close()
threading.Thread(target=copy, daemon=True).start()
code = child.wait()
sys.stderr.flush()
os._exit(code)
"""


def changing(hosts, tmp_path, at, new):
    """Return options with a launch command that changes the first message to the second host."""
    script = tmp_path / "changed.py"
    script.write_text(CHANGED.format(first=60, at=at, new=new))
    return [*hosts.options(1, 1), "--launch-with", f"{sys.executable} {script} {{host}}"]


def test_a_wrong_key(emulator, hosts, tmp_path):
    """The host that waits for the other one ends before it would suspect a firewall."""
    code, said = refused(emulator, changing(hosts, tmp_path, 28, b"\0" * 32))
    assert code == 1
    assert "is there a firewall" not in said
    assert f"host {hosts.names[0]}: refused a connection: it does not bring the key" in said
    assert f"host {hosts.names[1]}: cannot connect to host {hosts.names[0]}" in said


def test_another_version(emulator, hosts, tmp_path):
    code, said = refused(emulator, changing(hosts, tmp_path, 0, b"9.9.9\0"))
    assert code == 1
    assert f"host {hosts.names[1]}: has dvsim" in said
    assert "; the job was started by 9.9.9" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--hosts", "a:4,a:2"], "host a stands there twice"),
        (["--hosts", "a:x"], "host a: 'x' is not a number of cards"),
        (["--hosts", "-oProxyCommand=x:4"], "is not a host and its number of cards"),
        (["--hosts-file", "/nowhere"], "cannot read '/nowhere': No such file"),
        (["--hosts", "a:2,b:2", "-n", "3"], "the hosts have 4 cards, the programs need 3"),
        (["--hosts", "a:2", "--launch-with", "ssh"], "says nowhere {host}"),
    ],
)
def test_a_command_line_that_cannot_be(emulator, options, said):
    done = run(emulator, options, "calls")
    assert done.returncode == 2
    assert said in done.stderr


def test_a_launch_command_of_too_many_words(emulator):
    done = run(emulator, ["--hosts", "a:1", "--launch-with", "ssh {host}" + " -v" * 63], "calls")
    assert done.returncode == 1
    assert done.stderr == "vicrun: host a: --launch-with: Argument list too long\n"


def test_a_file_of_hosts(emulator, hosts, tmp_path):
    """Only the launcher reads it."""
    file = tmp_path / "hosts"
    file.write_text(f"# two\n{hosts.names[0]} 1\n{hosts.names[1]} slots=2\n")
    options = ["--hosts-file", str(file), *hosts.options(1, 2)[2:], *PATIENT]
    done = run(emulator, options, Path("/bin/sh"), "-c", "echo $VIC_CARD")
    assert sorted(done.stdout.split()) == ["0", "1", "2"]
    assert done.returncode == 0


def test_without_libfabric_it_says_what_to_install(emulator, tmp_path):
    alone = tmp_path / "vicrun"
    alone.write_bytes((emulator.prefix / "bin" / "vicrun").read_bytes())
    alone.chmod(0o700)
    done = subprocess.run(
        [alone, "--hosts", "a:1", "--", "true"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "install libfabric-dev" in done.stderr
