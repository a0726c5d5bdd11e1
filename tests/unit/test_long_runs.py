"""Is Ctrl-C answered while a switch or a network runs for long?"""

import signal
import subprocess
import sys
import threading
import time

import pytest
from harness.patience import patience

from dvsim import Network, Switch

LONG = """
import faulthandler, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # whoever started this may block it
faulthandler.register(signal.SIGUSR1, all_threads=True)
from dvsim import Network, Switch
simulation = DEVICE.start(0.5, threads=2)
simulation.run(1)
try:
    print("running", flush=True)
    simulation.run(10**12)
except KeyboardInterrupt:
    assert simulation.now == simulation.result().slots
    simulation.run(5)
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("device", ["Switch(height=256, angles=8)", 'Network("dv207")'])
def test_interrupt_is_answered_in_a_long_run(device):
    """Within 100 ms where nothing else runs; the bound here is for a busy machine."""
    command = [sys.executable, "-c", LONG.replace("DEVICE", device)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:
        stuck = threading.Timer(patience(60), ended_with_its_stack, [process])
        stuck.start()
        try:
            assert process.stdout.readline() == "running\n"
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            said, why = process.communicate()
        finally:
            stuck.cancel()
            process.kill()
    assert (said, why, process.returncode) == ("interrupted\n", "", 0)


def ended_with_its_stack(process):
    """End what hangs, and have it say where, so that the test fails with that."""
    process.send_signal(signal.SIGUSR1)
    time.sleep(1)
    process.kill()


class Interrupt:
    """Ctrl-C at a number of calls and returns of Python and C from now on."""

    def __init__(self, at):
        self.left = at

    def __enter__(self):
        sys.setprofile(self.count)

    def count(self, *_event):
        self.left -= 1
        if self.left == 0:
            sys.setprofile(None)
            raise KeyboardInterrupt

    def __exit__(self, *_error):
        sys.setprofile(None)


@pytest.mark.parametrize(
    "device", [Switch(height=4, angles=3), Network("dv203")], ids=["switch", "network"]
)
def test_a_run_goes_on_after_an_interrupt_at_any_place(device):
    """Also where a batch of slots ends, every 16 at first."""
    at, missed = 0, False
    while not missed:
        at += 1
        simulation = device.start(0.3)
        missed = True
        try:
            with Interrupt(at):
                simulation.run(33)
        except KeyboardInterrupt:
            missed = False
        simulation.run(400 - simulation.now)
        whole = device.start(0.3)
        whole.run(400)
        assert (simulation.now, simulation.result().slots) == (400, 400)
        assert str(simulation.result()) == str(whole.result())
        assert simulation.batches.delivered == whole.batches.delivered
    assert at > 20
