"""Do the parts of vicbridge keep their contracts, without a broker: frames, confirms, queues?"""

from __future__ import annotations

import os
import signal
import socket
import subprocess

import pytest
from compiled import PROGRAMS, ROOT, cc, compiled, linked, parts

from dvsim.native import emulator_prefix

OWN = ("VICBRIDGE_URL", "VICBRIDGE_USER", "VICBRIDGE_PASSWORD", "VICBRIDGE_CREDENTIALS")


BROKER = ROOT / "tests" / "fuzz" / "amqp_server.c"
DRIVERS = {
    "bridge_small": [],
    "bridge_wire": [],
    "bridge_queues": [],
    "bridge_taken": [],
    "bridge_told": [],
    "bridge_served": [BROKER],
}


WRAPPED = [f"-Wl,--wrap={name}" for name in ("malloc", "calloc", "realloc", "pthread_create")]


@pytest.fixture(scope="module")
def card(tmp_path_factory):
    """What stands in for a card and for calls that fail, compiled."""
    folder = tmp_path_factory.mktemp("bridge-parts")
    cc("-c", PROGRAMS / "bridge_parts.c", folder=folder)
    return folder / "bridge_parts.o"


@pytest.mark.parametrize("name", DRIVERS)
def test_the_parts_of_the_bridge(name, card, tmp_path):
    sources = [PROGRAMS / f"{name}.c", *DRIVERS[name], card, parts() / "bridge.a"]
    cc(*sources, *WRAPPED, "-o", tmp_path / name, *linked())
    done = subprocess.run([tmp_path / name], capture_output=True, check=False, timeout=200)
    said = (done.stdout + done.stderr).decode("utf-8", "replace")  # names that are no UTF-8, too
    assert done.returncode == 0, said
    assert done.stdout == b"checks passed\n"


def bridge(*arguments, program=None, **environment):
    """Run vicbridge, or another program, without a job."""
    command = [str(program or compiled("vicbridge")), *map(str, arguments)]
    env = {key: value for key, value in os.environ.items() if key not in OWN} | environment
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=200, env=env
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--max-message", "63"], "'63' is not a number of bytes (65536, 64KiB), 64 .. 1073741824"),
        (["--ring=32MiB"], "'32MiB' is not a number of bytes (65536, 64KiB), 512 .. 16777216"),
        (["--window-bytes", "much"], "'much' is not a number of bytes"),
        (["--stats-interval", "1us"], "'1us' is not a time (2.5, 10s, 5.001ms), 0.0001 s at least"),
        (["--stats-interval", "2h"], "'2h' is not a time"),
        (["--stats-interval", "3601"], "'3601' is not a time"),
        (["--reconnect", "5"], "'5' is not MIN:MAX in seconds"),
        (["--reconnect", "x:1"], "'x:1' is not MIN:MAX"),
        (["--reconnect", "1:x"], "'1:x' is not MIN:MAX"),
        (["--reconnect", "0.0001:1"], "'0.0001:1' is not MIN:MAX"),
        (["--reconnect", "1" * 40 + ":1"], "is not MIN:MAX"),
        (["--queue", "n" * 256], "is not NAME or NAME=BINDING, each of 255 bytes at most"),
        (["--queue", "n=" + "b" * 256], "each of 255 bytes at most"),
        (["--queue=q"] * 65, "--queue: 64 at most"),
        (["--url=amqp://x"] * 17, "--url: 16 at most"),
        (["--consume", ""], "--consume: '' is not the name of a queue"),
        (["--consume", "c" * 256], "is not the name of a queue"),
        (["--consume=c"] * 65, "or is one too many: 64 at most"),
        (["--exchange", "e" * 256], "--exchange: and --key have 255 bytes at most"),
        (["--key", "k" * 256], "--exchange: and --key have 255 bytes at most"),
        (["--cacert", "/nowhere/ca"], "--cacert: '/nowhere/ca' cannot be read"),
        (["--cert=/nowhere/c", "--key-file=/dev/null"], "--cert: '/nowhere/c' cannot be read"),
        (["--cert=/dev/null", "--key-file=/nowhere/k"], "--key-file: '/nowhere/k' cannot be read"),
        (["--key-file=/dev/null"], "--cert: goes with --key-file"),
        (["--exit-with-clients=0"], "'0' is not a number of cards, 1 .. 65535"),
        (["frobnicate-everything-there-is"], "vicbridge --help lists them"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value)[:40],
)
def test_a_value_out_of_its_range_is_refused(arguments, said):
    done = bridge(*arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_the_environment_says_who_and_where():
    refused = bridge(VICBRIDGE_URL="amqp://me:pass-w@host:port")
    assert refused.returncode == 2
    assert "VICBRIDGE_URL: cannot be read" in refused.stderr
    assert "pass-w" not in refused.stderr
    patience = ["--check", "--give-up", "0.001", "--reconnect", "0.001:0.001"]
    url = "amqp://me@127.0.0.1:1/v"  # where nobody listens
    for named in ({"VICBRIDGE_USER": "you"}, {"VICBRIDGE_PASSWORD": "pass-w"}):
        done = bridge(*patience, VICBRIDGE_URL=url, **named)
        assert done.returncode == 1
        assert "amqp://127.0.0.1:1, vhost v: " in done.stderr
        assert "; given up" in done.stderr
        assert "in progress" not in done.stderr  # whatever it is, it is not that
        assert "pass-w" not in done.stderr


def test_the_environment_names_several_brokers_and_a_file_of_credentials(tmp_path):
    patience = ["--check", "--give-up", "0.001", "--reconnect", "0.001:0.001"]
    urls = "amqp://127.0.0.1:1/v  amqp://127.0.0.1:2/w"
    path = tmp_path / "credentials"
    path.write_text("me:pass-w\n", "utf-8")
    path.chmod(0o600)
    done = bridge(*patience, VICBRIDGE_URL=urls, VICBRIDGE_CREDENTIALS=str(path))
    assert done.returncode == 1
    assert all(f"amqp://127.0.0.1:{k}, vhost {v}: " in done.stderr for k, v in ((1, "v"), (2, "w")))
    path.chmod(0o644)
    done = bridge(*patience, VICBRIDGE_URL=urls, VICBRIDGE_CREDENTIALS=str(path))
    assert done.returncode == 2
    assert f"VICBRIDGE_CREDENTIALS: '{path}'" in done.stderr
    done = bridge(*patience, VICBRIDGE_URL=f"{urls} nothing")
    assert (done.returncode, "VICBRIDGE_URL: 'nothing'" in done.stderr) == (2, True)


def test_a_wrong_host_is_given_up_after_30_s_unless_it_shall_never_be(tmp_path):
    program = tmp_path / "vicbridge"
    sources = [PROGRAMS / "fast_clock.c", parts() / "main.o", parts() / "bridge.a"]
    cc(*sources, "-Wl,--wrap=now_ns", "-o", program, *linked())
    here = ["--url", "amqp://127.0.0.1:1", "--reconnect", "1:1"]  # where nobody listens
    done = bridge("--check", *here, program=program)
    assert (done.returncode, "; given up (--give-up)" in done.stderr) == (1, True)
    assert done.stderr.count("again in") >= 10  # pauses of 0.5 s to 1 s, and a look
    with subprocess.Popen(
        [program, "--check", *here, "--give-up", "0"], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        lines = [process.stderr.readline() for _ in range(70)]
        process.kill()
    assert all("again in" in line for line in lines)  # 35 s at least


def test_what_cannot_be_opened_is_said():
    done = bridge("--check", "--url=amqps://127.0.0.1:1", "--cacert=/dev/null")
    assert done.returncode == 1
    assert "error: --cacert, --cert or --key-file: " in done.stderr
    done = bridge(VIC_JOB="nonsense", VIC_CARD="0")
    assert done.returncode == 1
    assert "error: the card cannot be opened: " in done.stderr


@pytest.mark.parametrize("times", [1, 2])
def test_asked_to_stop_it_waits_for_a_silent_broker_unless_it_is_asked_twice(times):
    """A goodbye has its time, here one that is over at once or never."""
    patience = "0.01" if times == 1 else "3600"
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"amqp://127.0.0.1:{server.getsockname()[1]}"
        command = [str(compiled("vicbridge")), "--check", "--url", url, "--drain-timeout", patience]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        client, _ = server.accept()
        with client:
            assert client.recv(4) == b"AMQP"  # it waits for an answer
            process.send_signal(signal.SIGTERM)
            if times == 2:
                process.send_signal(signal.SIGINT)
            process.communicate(timeout=200)
    assert process.returncode in ((1,) if times == 1 else (128 + 2, 128 + 15))


def test_more_clients_than_cards_are_refused():
    vicrun, program = emulator_prefix() / "bin" / "vicrun", compiled("vicbridge")
    command = [vicrun, "-n", "1", "true", ":", program, "--exit-with-clients=9"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 2
    assert "--exit-with-clients=9: the job has 2 cards" in done.stderr


@pytest.mark.parametrize(("option", "begins"), [("--version", "vicbridge 0"), ("-h", "usage: ")])
def test_what_it_says_of_itself(option, begins):
    done = bridge(option)
    assert done.returncode == 0
    assert done.stdout.lower().startswith(begins)
