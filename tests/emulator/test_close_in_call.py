"""Threads in calls of a card that another thread closes: nothing of it is used when it is freed."""

import subprocess

import pytest
from builds import threaded
from emulator_build import in_place


@pytest.mark.parametrize("allowed", [True, False], ids=["membarrier", "no membarrier"])
def test_a_card_is_closed_while_others_call(emulator, tmp_path, allowed):
    program = [str(emulator.program("close_in_call")), "2000"]
    if not allowed:
        program = ["env", f"LD_PRELOAD={no_membarrier(tmp_path)}", *program]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=200)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_card_is_closed_while_others_call_without_a_bad_access(sanitized):
    program = [*sanitized.before, str(sanitized.program("close_in_call")), "300"]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=200)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_card_is_closed_while_others_call_without_a_race():
    made = threaded()
    program = [*in_place(), str(made.program("close_in_call")), "300"]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=200)
    assert (done.returncode, done.stderr) == (0, "")


def no_membarrier(folder):
    """Return a library that refuses membarrier, as a filter of system calls may."""
    source, made = folder / "no.c", folder / "no.so"
    source.write_text(
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdarg.h>\n#include <sys/syscall.h>\n"
        "long syscall(long n, ...) { va_list v; va_start(v, n); long a[6];\n"
        "for (int i = 0; i < 6; i++) a[i] = va_arg(v, long);\n"
        "va_end(v); if (n == SYS_membarrier) return -1;\n"
        "long (*real)(long, ...); *(void **)&real = dlsym(RTLD_NEXT, \"syscall\");\n"
        "return real(n, a[0], a[1], a[2], a[3], a[4], a[5]); }\n"
    )  # fmt: skip
    subprocess.run(["cc", "-shared", "-fPIC", "-o", made, source], check=True)
    return made
