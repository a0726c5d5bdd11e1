"""Timed mode: are threads and sleeps of a program in model time, however it is started?

And does each call do with the stack and under the sanitizer that a program has chosen?
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from emulator_build import SMALL, in_place

TIMED = [*SMALL, "--mode", "timed"]
NS = "5050050\n"
"""Of each thread 50 sleeps of 100 us, 50 times 1 us, and a look after the end."""


def run(vicrun, *words, options=TIMED, **how):
    return subprocess.run(
        [vicrun, "-n", "1", *options, "--", *map(str, words)],
        capture_output=True, text=True, check=False, timeout=200, **how,
    )  # fmt: skip


@pytest.mark.parametrize("folder", ["with blank", "a:b", "$LIB", "'\"", "new\nline", "back\\slash"])
def test_the_folder_of_the_emulator_may_have_any_name(emulator, tmp_path, folder):
    shutil.copytree(emulator.prefix, tmp_path / folder)
    for before in ([], ["sh", "-c", "exec $0"]):
        done = run(tmp_path / folder / "bin" / "vicrun", *before, emulator.program("hooked"))
        assert (done.returncode, done.stdout, done.stderr) == (0, NS, "")


@pytest.mark.parametrize("before", ["env -u LD_PRELOAD", "env LD_PRELOAD= sh -c"])
def test_a_program_without_hooks_fails_the_job(emulator, before):
    """Unless it is in functional mode, where they do nothing."""
    done = run(emulator.prefix / "bin" / "vicrun", *before.split(), emulator.program("hooked"))
    assert done.returncode == 1, done.stdout
    assert "libvic-threads.so" in done.stderr
    done = run(
        emulator.prefix / "bin" / "vicrun",
        *before.split(),
        emulator.program("hooked"),
        options=SMALL,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a file to another group")
def test_a_set_group_id_program_fails_the_job(emulator, tmp_path):
    """The loader takes no libraries of a user into it."""
    program = tmp_path / "hooked"
    shutil.copy(emulator.program("hooked"), program)
    os.chown(program, 0, 65534)
    program.chmod(0o2755)
    done = run(emulator.prefix / "bin" / "vicrun", program)
    assert done.returncode == 1, done.stdout
    assert "libvic-threads.so" in done.stderr


@pytest.mark.parametrize("options", [SMALL, TIMED], ids=["functional", "timed"])
@pytest.mark.parametrize("words", [["env", "-i"], ["sh", "-c", "env -i $0"]], ids=["env", "sh"])
def test_a_program_whose_environment_was_cleared_gets_no_card_of_its_own(emulator, options, words):
    program = emulator.program("hooked")
    done = run(emulator.prefix / "bin" / "vicrun", *words, program, options=options)
    assert (done.returncode, done.stdout) == (3, "")
    assert "VIC_JOB" in done.stderr
    alone = subprocess.run(
        ["env", "-i", str(program)], capture_output=True, text=True, check=False, timeout=200
    )
    assert alone.returncode == 0  # nobody has launched it


@pytest.mark.parametrize("sanitizer", ["address", "thread", "undefined"])
def test_a_program_under_a_sanitizer_has_the_same_model_time(emulator, sanitizer):
    name = f"hooked under {sanitizer}"
    source = Path(__file__).parent / "programs" / "hooked.c"
    program = emulator.linked(name, [source], [f"-fsanitize={sanitizer}"])
    for given in ({}, {"ASAN_OPTIONS": "detect_leaks=0"}):
        done = subprocess.run(
            [*in_place(), str(emulator.prefix / "bin" / "vicrun"), "-n", "1", *TIMED, str(program)],
            capture_output=True, text=True, check=False, timeout=200, env={**os.environ, **given},
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, NS, "")


@pytest.mark.parametrize("debug", ["0", "1"])
@pytest.mark.parametrize("options", [SMALL, TIMED, [*SMALL, "--reorder", "3"]], ids=str)
def test_each_call_does_with_the_smallest_stack(emulator, options, debug):
    if debug == "1" and "--reorder" in options:
        pytest.skip("needs 8 KiB more, as vic.h says")
    done = emulator.run(1, "small_stack", options=options, env={"VIC_DEBUG": debug})
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("by", ["helper", "card"])
@pytest.mark.parametrize(
    "kind",
    ["sem", "sem_timed", "mutex", "mutex_timed", "cond", "cond_timed", "barrier", "rwlock", "spin"],
)
def test_what_processes_share_is_waited_for_without_a_deadlock(emulator, tmp_path, kind, by):
    """Another process ends the wait, or another card, for which model time has to go on."""
    program, file = emulator.program("shared_objects"), str(tmp_path / "file")
    done = emulator.run(2, program, kind, file, by, options=TIMED)
    assert done.returncode == 0, done.stderr
    assert "deadlock" not in done.stderr
