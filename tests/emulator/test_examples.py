"""Do the examples run, check themselves, and give one result in every mode and language?"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass

import pytest
from builds import Emulator
from emulator_build import ROOT, build
from harness.once import once

EXAMPLES = ROOT / "emulator" / "examples"
PROGRAMS = {  # with arguments that make them short
    "pingpong": ("10", "256"),
    "put_bandwidth": ("3", "256"),
    "barrier": ("20",),
    "alltoall": ("3", "64"),
    "gups": ("12",),
    "gups_dma": ("12",),
    "bfs": ("8",),
    "fft": ("16",),
    "topic_fanout": ("20",),
    "histogram": ("10", "300"),
}
IN_PYTHON = ("pingpong", "alltoall")
NEEDS_TWO = ("pingpong", "put_bandwidth")


@dataclass
class Examples:
    """The examples, compiled by their makefile, as a user would, with the flags of a build."""

    emulator: Emulator

    def program(self, name):
        emulator, lib = self.emulator, self.emulator.prefix / "lib"
        flags = " ".join([*build.WARNINGS, "-Werror", *emulator.flags])
        vic = f"-I{emulator.prefix / 'include'} -L{lib} -Wl,-rpath,{lib} -lvic"

        def make(folder):
            command = ["make", "-s", "-j2", "-C", EXAMPLES, f"OUT={folder}", f"VIC={vic}"]
            subprocess.run([*command, f"CFLAGS={flags}"], check=True)

        return str(once(f"examples for the emulator, {emulator.name}", make) / name)


@pytest.fixture(scope="module")
def examples(emulator):
    return Examples(emulator)


@pytest.fixture(scope="module")
def examples_sanitized(sanitized):
    return Examples(sanitized)


def run(examples, cards, program, *options):
    """Run an example under vicrun."""
    emulator = examples.emulator
    command = [*emulator.before, str(emulator.prefix / "bin" / "vicrun"), "-n", str(cards)]
    env = {**os.environ, "VIC_PREFIX": str(emulator.prefix)}
    return subprocess.run(
        [*command, *options, "--", *program], env=env,
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip


def result(done, name):
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    assert re.fullmatch(rf"{name}: ok, result [0-9a-f]{{16}}", last)
    return last


def in_c(examples, name):
    return [examples.program(name), *PROGRAMS[name]]


@pytest.mark.parametrize("cards", [1, 2, 3, 8])
@pytest.mark.parametrize("name", PROGRAMS)
def test_an_example_checks_its_result(examples, name, cards):
    done = run(examples, cards, in_c(examples, name))
    if cards == 1 and name in NEEDS_TWO:
        assert done.returncode == 1
        assert "needs two cards" in done.stderr
    else:
        result(done, name)
        assert done.stderr == ""


@pytest.mark.parametrize("name", [*PROGRAMS, "first_bridge"])
def test_no_address_and_no_behaviour_is_undefined(examples_sanitized, name):
    program = [examples_sanitized.program(name), *PROGRAMS.get(name, ())]
    done = run(examples_sanitized, 3, program)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Sanitizer" not in done.stderr


@pytest.mark.parametrize("options", [["--reorder", "5"], ["--mode", "timed"]], ids=lambda o: o[0])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_mode_gives_the_same_result(examples, name, options):
    plain = run(examples, 3, in_c(examples, name))
    other = run(examples, 3, in_c(examples, name), *options)
    assert result(other, name) == result(plain, name)


@pytest.mark.parametrize("name", ["gups", "gups_dma", "bfs"])
def test_a_shallow_fifo_only_slows(examples, name):
    shallow = run(examples, 3, in_c(examples, name), "--fault", "fifo-depth=3")
    assert result(shallow, name) == result(run(examples, 3, in_c(examples, name)), name)


@pytest.mark.parametrize("name", [*PROGRAMS, "first_bridge"])
def test_an_example_ends_when_a_card_dies(examples, name):
    done = run(examples, 3, [examples.program(name)], "--fault", "kill card=2 at=0ms")
    assert done.returncode != 0
    assert "VIC_EPEER" in done.stderr


def test_gups_sees_a_lost_update(examples):
    done = run(examples, 2, in_c(examples, "gups"), "--fault", "fifo-drop=0.01")
    assert done.returncode == 1
    assert re.search(r"gups: word \d+ of the table is wrong", done.stderr)


def test_headers_in_the_card_give_the_same_table(examples):
    names = ("gups", "gups_dma")
    plain, cached = (result(run(examples, 3, in_c(examples, name)), name) for name in names)
    assert plain.removeprefix("gups") == cached.removeprefix("gups_dma")


@pytest.mark.parametrize("options", [[], ["--mode", "timed"]], ids=["functional", "timed"])
@pytest.mark.parametrize("name", IN_PYTHON)
def test_python_gives_the_result_of_c(examples, name, options):
    program = [sys.executable, str(EXAMPLES / f"{name}.py"), *PROGRAMS[name]]
    python = run(examples, 3, program, *options)
    assert result(python, name) == result(run(examples, 3, in_c(examples, name)), name)


@pytest.mark.parametrize("argument", ["", "-1", "1x", "99"])
def test_a_wrong_argument_is_refused(examples, argument):
    done = run(examples, 1, [*in_c(examples, "gups")[:1], argument])
    assert done.returncode == 2
    assert f"argument 1 is '{argument}'; it takes 10 .. 34" in done.stderr


@pytest.mark.parametrize("cards", [1, 2, 4])
@pytest.mark.parametrize("language", ["c", "py"])
def test_the_first_bridge_loses_nothing(examples, language, cards):
    program = {
        "c": [examples.program("first_bridge")],
        "py": [sys.executable, str(EXAMPLES / "first_bridge.py")],
    }[language]
    done = run(examples, cards, program)
    assert done.returncode == 0, done.stderr
    for card in range(1, cards):
        mine = [line for line in done.stdout.splitlines() if line.startswith(f"card {card}: ")]
        assert mine == [f"card {card}: message {i:03}" for i in range(160)]  # in order, too
    assert len(done.stdout.splitlines()) == 160 * (cards - 1)
    assert re.fullmatch(rf"{160 * (cards - 1)} messages in [\d.]+ us\n", done.stderr)


@pytest.mark.parametrize("options", [[], ["--mode", "timed"]], ids=["functional", "timed"])
def test_the_relay_publishes_all_that_it_receives(examples, options):
    done = run(examples, 4, [examples.program("relay"), "60"], *options)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "relay: 120 messages, 120 confirmed, 0 of them had no queue\n"
    assert "relay: needs 3 cards" in run(examples, 2, [examples.program("relay")]).stderr


@pytest.mark.parametrize("cards", [2, 4, 8])
def test_collective_calls_take_what_their_closed_form_says(examples, cards):
    """Within 15 %: the law knows an empty network, and no queue in front of a port."""
    program = [examples.program("collectives"), "1", "512"]
    done = run(examples, cards, program, "--mode", "timed")
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    assert len(rows) == 1 + 5 * 4
    for call, words, took, law in rows:
        assert float(took) == pytest.approx(float(law), rel=0.15), (call, words)
    assert run(examples, cards, program, "--mode", "timed").stdout == done.stdout
