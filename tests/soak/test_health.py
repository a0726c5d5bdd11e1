"""Does a planted leak show, and nothing where there is none?"""

import os
import signal
import subprocess
import sys
import time

import pytest
from health import LOOKS, Look, Table, Watch, look

LEAK = """
import mmap, os, sys, threading
what, kept, until = sys.argv[1], [], threading.Event()
for line in sys.stdin:  # a step each
    if what == "memory": kept.append(bytearray(b"x" * 200_000))
    if what == "descriptors": kept.append(os.dup(0))
    if what == "threads": threading.Thread(target=until.wait, daemon=True).start()
    if what == "mapped":
        fd = os.memfd_create("leak")
        os.ftruncate(fd, 4096)
        kept.append(mmap.mmap(fd, 4096))
        os.close(fd)
    print("done", flush=True)
os._exit(0)
"""


def watched(what):
    """Return the breaches of a program that leaks something in each step, looked at after each."""
    command = [sys.executable, "-c", LEAK, what]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, bufsize=1) as process:
        watch = Watch(what, process.pid, every_s=0)
        for _ in range(2 * LOOKS):
            process.stdin.write("on\n")
            assert process.stdout.readline() == "done\n"
            watch.again()
        process.stdin.close()
    watch.at_s = [10.0 * k for k in range(len(watch.looks))]  # as if over a few minutes
    return watch.breaches()


@pytest.mark.parametrize("what", ["memory", "descriptors", "threads", "mapped"])
def test_a_leak_is_noticed(what):
    said = " ".join(watched(what))
    assert f"{'private' if what == 'memory' else what} grew by" in said


def test_a_flat_program_is_flat():
    assert watched("nothing") == []


def life(values):
    watch = Watch("made up", 1)
    watch.at_s = [float(k) for k in range(len(values))]
    watch.looks = [Look(value, 0, 5, 1, 1) for value in values]
    return watch


def test_a_beginning_and_a_burst_are_no_leak():
    warm = [100 * k for k in range(50)] + [5000] * 50
    assert life(warm).breaches() == []
    burst = [5000] * 70 + [90_000] * 10 + [5000] * 20
    assert life(burst).breaches() == []


def test_a_slow_leak_shows_through_noise():
    values = [5000 + 40 * k + (700 if k % 3 == 0 else 0) for k in range(100)]
    (breach,) = life(values).breaches()
    assert breach.startswith("made up (pid 1): private grew by")


def test_a_short_life_may_grow_by_more():
    values = [100 * k for k in range(40)]
    assert life(values).breaches() == []  # 1.9 MB in 20 s, 2.6 MB would be flat
    watch = life(values)
    watch.at_s = [10 * at for at in watch.at_s]
    assert len(watch.breaches()) == 1


def test_a_life_of_few_looks_is_not_judged():
    assert life([1000 * k for k in range(2 * LOOKS - 2)]).breaches() == []


def test_who_has_ended_has_no_looks_and_is_a_zombie_until_somebody_waits():
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    assert look(process.pid) is not None
    process.send_signal(signal.SIGKILL)
    end = time.monotonic() + 60
    while look(process.pid) is not None and time.monotonic() < end:
        time.sleep(0.01)
    assert process.pid in {z.pid for z in Table().zombies({os.getpid()})}
    process.wait()
    assert process.pid not in {z.pid for z in Table().zombies({os.getpid()})}
