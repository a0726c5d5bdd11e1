"""Do tests that stall, fail or are started oddly leave all other tests alone?

Each test here writes a few tests of its own and has another pytest run them.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import pytest
from harness import order
from harness.patience import patience

TESTS = Path(__file__).parents[1]
PLUGINS = (
    "harness.signals",
    "harness.patience",
    "harness.left",
    "harness.once",
    "xdist",
    "pytest_timeout",
)
TWO_FILES = ("tests/unit/test_tree.py", "tests/unit/test_rooms.py")
HUNG = "import time; time.sleep(3600)"


@pytest.fixture
def inner(tmp_path):
    """A function that runs a pytest on a text in a folder of its own; how it ended."""

    def run(text, *options, before=()):
        (tmp_path / "test_inner.py").write_text(textwrap.dedent(text), "utf-8")
        (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n", "utf-8")
        command = [*before, sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
        command += [part for name in PLUGINS for part in ("-p", name)]
        gone = ("PYTEST_", "DVSIM_TESTS_", "COV")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(gone)}
        kept["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # half of the time goes to plugins else
        return subprocess.run(
            [*command, *options], cwd=tmp_path, env={**kept, "PYTHONPATH": str(TESTS)},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            timeout=patience(200),
        )  # fmt: skip

    return run


def alive(tmp_path):
    """The processes that were started in the folder and still run."""
    return [
        path.name
        for path in Path("/proc").glob("[0-9]*")
        if path.name != str(os.getpid()) and str(tmp_path).encode() in told(path)
    ]


def told(process):
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


def test_what_a_failed_test_leaves_harms_no_later_one(inner, tmp_path):
    done = inner(f"""
        import subprocess, sys
        from pathlib import Path

        def test_fails():
            file = open(__file__)
            started = subprocess.Popen([sys.executable, "-c", {HUNG!r}, {str(tmp_path)!r}])
            assert not started.pid

        def test_innocent():
            import gc
            gc.collect()
    """)
    assert "1 failed, 1 passed" in done.stdout, done.stdout
    assert alive(tmp_path) == []


def test_a_test_that_leaves_a_process_fails_itself(inner, tmp_path):
    done = inner(f"""
        import subprocess, sys

        def test_leaves_a_grandchild():
            script = "{sys.executable} -c '{HUNG}' {tmp_path} & exit 0"
            subprocess.run(["sh", "-c", script], check=True)

        def test_innocent():
            pass
    """)
    assert "2 passed, 1 error" in done.stdout, done.stdout
    assert "it left processes" in done.stdout
    assert str(tmp_path) in done.stdout.partition("it left processes")[2]
    assert alive(tmp_path) == []


def test_a_lasting_fixture_keeps_its_process_and_what_that_starts(inner):
    starts = f"""
import subprocess, sys
started = []
while sys.stdin.readline():
    started.append(subprocess.Popen([sys.executable, "-c", {HUNG!r}]))
    print(started[-1].pid, flush=True)
for process in started:
    process.kill()
    process.wait()
"""
    done = inner(f"""
        import os, subprocess, sys, pytest

        @pytest.fixture(scope="module")
        def served():
            command = [sys.executable, "-c", {starts!r}]
            pipe = subprocess.PIPE
            with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
                yield process

        @pytest.mark.parametrize("n", range(2))
        def test_has_it_start_another(served, n):
            print("now", file=served.stdin, flush=True)
            assert int(served.stdout.readline())
    """)
    assert "2 passed" in done.stdout and "error" not in done.stdout, done.stdout


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "worker"])
def test_a_test_that_stalls_is_named_and_its_children_end(inner, tmp_path, workers):
    text = f"""
        import subprocess, sys

        def test_stalls():
            subprocess.run([sys.executable, "-c", {HUNG!r}, {str(tmp_path)!r}])

        def test_innocent():
            pass
    """
    done = inner(text, "--timeout", "2", *workers)
    assert "FAILED test_inner.py::test_stalls" in done.stdout, done.stdout
    assert "1 failed, 1 passed" in done.stdout
    assert alive(tmp_path) == []


@pytest.mark.parametrize("shares, outcome", [(1, "1 failed"), (100, "1 passed")])
def test_a_busy_machine_gives_a_test_more_time_before_it_counts_as_stalled(inner, shares, outcome):
    done = inner(f"""
        import os, time

        os.getloadavg = lambda: ({shares} * os.cpu_count(), 0, 0)

        def test_takes_its_time():
            time.sleep(1)
    """, "-o", "timeout=0.3")  # fmt: skip
    assert outcome in done.stdout, done.stdout


def test_a_test_that_no_signal_reaches_is_named_and_its_children_end(inner, tmp_path):
    text = f"""
        import signal, subprocess, sys

        def test_deaf():
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
            subprocess.run([sys.executable, "-c", {HUNG!r}, {str(tmp_path)!r}])

        def test_innocent():
            pass
    """
    limits = ("-o", "faulthandler_timeout=4", "-o", "faulthandler_exit_on_timeout=True")
    done = inner(text, "--timeout", "2", "-n", "1", *limits)
    assert "crashed while running 'test_inner.py::test_deaf'" in done.stdout, done.stdout
    assert "1 failed, 1 passed" in done.stdout
    assert alive(tmp_path) == []


def test_programs_hear_signals_that_whoever_started_the_tests_ignores(inner):
    text = """
        import signal, subprocess, sys, pytest

        @pytest.mark.parametrize("name", ["SIGINT", "SIGQUIT", "SIGHUP"])
        def test_hears(name):
            ask = f"import signal; print(repr(signal.getsignal(signal.{name})))"
            said = subprocess.check_output([sys.executable, "-c", ask], text=True)
            assert "SIG_IGN" not in said
    """
    deaf = ["sh", "-c", "trap '' INT QUIT HUP; exec \"$@\"", "sh"]
    assert "3 passed" in inner(text, before=deaf).stdout
    assert "3 passed" in inner(text, "-n", "1", before=deaf).stdout
    shown = inner(text, "-p", "no:harness.signals", before=deaf).stdout
    assert "3 failed" in shown  # without the plugin


def test_what_two_workers_ask_for_is_made_once(inner, tmp_path):
    done = inner(
        """
        import pytest
        from harness.once import once

        def make(folder):
            with open("made", "a") as file:
                file.write("made\\n")
            (folder / "answer").write_text("42")

        @pytest.mark.parametrize("n", range(8))
        def test_reads(n):
            assert (once("answer", make) / "answer").read_text() == "42"
        """,
        "-n", "2",
    )  # fmt: skip
    assert "8 passed" in done.stdout, done.stdout
    assert (tmp_path / "made").read_text() == "made\n"


def test_what_could_not_be_made_is_tried_again(inner):
    done = inner("""
        from harness.once import once

        def fails(folder):
            (folder / "half").touch()
            raise OSError("no disk")

        def test_fails():
            once("x", fails)

        def test_tries_again():
            folder = once("x", lambda folder: (folder / "whole").touch())
            assert [path.name for path in folder.iterdir()] == ["whole"]
    """)
    assert "1 failed, 1 passed" in done.stdout, done.stdout


def test_the_store_goes_when_the_tests_end(inner, tmp_path):
    done = inner(
        """
        import os
        from pathlib import Path
        from harness.once import once

        def test_makes():
            Path("where").write_text(str(once("x", lambda folder: None)))
        """
    )
    assert "1 passed" in done.stdout
    assert not Path((tmp_path / "where").read_text()).parent.exists()


def collected(*options):
    """Return the tests of two files, in the order in which they would run."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", *TWO_FILES, *options],
        cwd=TESTS.parent, capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, shlex.join(options) + done.stdout
    return [line for line in done.stdout.splitlines() if "::" in line]


def shuffled(names, seed):
    """Return tests in the order that a seed gives them."""
    config = SimpleNamespace(getoption={"--shuffle": seed}.get)
    items = [SimpleNamespace(nodeid=name) for name in names]
    order.pytest_collection_modifyitems(config, items)
    return [item.nodeid for item in items]


def test_a_seed_gives_one_order_in_which_files_stay_together():
    usual, one = collected(), collected("--shuffle", "1")
    found = sorted(usual, key=lambda line: TWO_FILES.index(line.partition("::")[0]))
    assert one == shuffled(found, 1) != shuffled(found, 2)
    assert sorted(one) == sorted(usual)
    for some in (one, shuffled(found, 2)):
        files = [line.partition("::")[0] for line in some]
        assert files == sorted(files, reverse=files[0] > files[-1])
