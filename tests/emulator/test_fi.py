"""The provider of libfabric, the PMI-1 server, and MPI programs above them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from emulator_build import PROGRAMS, build

if not build.package_flags("libfabric"):
    pytest.skip("no libfabric here: apt install libfabric-dev", allow_module_level=True)

MPICC = Path(sys.executable).parent / "mpicc"
ORDERS = pytest.mark.parametrize("order", [[], ["--reorder", "3"], ["--mode", "timed"]])


def linked(emulator, name):
    flags = ["-D_GNU_SOURCE", *build.package_flags("libfabric")]
    return emulator.linked(name, [PROGRAMS / f"{name}.c"], flags)


def loading(emulator):
    """Return the variable by which libfabric finds the provider."""
    return {"FI_PROVIDER_PATH": str(emulator.prefix / "lib" / "fi")}


@ORDERS
@pytest.mark.parametrize("cards", [1, 2, 3, 8])
def test_the_calls_of_libfabric(emulator, cards, order):
    program = linked(emulator, "fi_calls")
    done = emulator.run(cards, program, options=order, env=loading(emulator))
    assert done.returncode == 0, done.stdout + done.stderr


@ORDERS
@pytest.mark.parametrize("cards", [2, 4])
@pytest.mark.parametrize("last", [0, 1])
def test_the_end_of_others_fails_only_what_waits_for_them(emulator, cards, last, order):
    program = linked(emulator, "fi_calls")
    done = emulator.run(cards, program, str(last), options=order, env=loading(emulator))
    assert done.returncode == 0, done.stdout + done.stderr


@ORDERS
def test_the_calls_of_libfabric_under_sanitizers(sanitized, order):
    program = linked(sanitized, "fi_calls")
    done = sanitized.run(3, program, "1", options=order, env=loading(sanitized))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("cards", [1, 4])
def test_ranks_find_each_other(emulator, cards):
    program = linked(emulator, "pmi_calls")
    done = emulator.run(cards, program, options=["--mpi"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert emulator.run(cards, program, "abort", options=["--mpi"]).returncode == 7


def test_what_is_no_mpi_program_is_told_so(emulator):
    done = emulator.run(2, Path("/bin/true"), options=["--mpi"])
    assert done.returncode == 0
    assert "PMI-1" in done.stderr


@pytest.mark.parametrize(
    "other", [["--serve", "s"], ["--hosts", "a:2"], ["--if-killed", "restart"]]
)
def test_what_does_not_go_with_mpi(emulator, other):
    assert emulator.run(2, Path("/bin/true"), options=["--mpi", *other]).returncode == 2


@pytest.fixture(scope="module", name="program")
def _program(tmp_path_factory):
    made = tmp_path_factory.mktemp("mpi") / "mpi_calls"
    rpath = f"-Wl,-rpath,{MPICC.parent.parent / 'lib'}"
    command = [MPICC, "-O1", PROGRAMS / "mpi_calls.c", "-o", made, rpath]
    subprocess.run(command, check=True)
    return made


@ORDERS
@pytest.mark.parametrize("cards", [1, 2, 3])
def test_an_mpi_program_unmodified(emulator, program, cards, order):
    done = emulator.run(cards, program, options=["--mpi", *order])
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_time_of_an_mpi_program_is_model_time_and_the_same_again(emulator, program):
    options = ["--mpi", "--mode", "timed", "--stats"]
    runs = [emulator.run(2, program, options=[*options, *more]) for more in ([], [], ["--spread"])]
    assert len({run.stdout for run in runs}) == 1
    assert len({re.search(r"trace hash (\w+)", run.stderr)[1] for run in runs}) == 1
    assert 20_000 < int(runs[0].stdout.split("=")[1]) < 150_000  # 10 of 2 ranks


@pytest.mark.parametrize(("way", "code"), [("abort", 7), ("kill", 137), ("exit", 3)])
def test_an_end_halfway_ends_all_ranks(emulator, program, way, code):
    done = emulator.run(3, program, way, options=["--mpi"])
    assert done.returncode == code, done.stdout + done.stderr


@pytest.mark.parametrize("mode", ["functional", "timed"])
@pytest.mark.parametrize("cards", [2, 4])
@pytest.mark.parametrize("late", [0, 1])
def test_a_python_program_with_mpi4py(emulator, mode, cards, late):
    code = f"""import time
from mpi4py.MPI import COMM_WORLD as world
total = world.allreduce(world.rank + 1)
if world.rank == 0:
    print(total)
if world.rank == {late}:
    time.sleep(2)
"""
    options = ["--mpi", "--mode", mode]
    done = emulator.run(cards, Path(sys.executable), "-c", code, options=options)
    said = f"{cards * (cards + 1) // 2}\n"
    assert (done.returncode, done.stdout) == (0, said), done.stderr
