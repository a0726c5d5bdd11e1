"""Does a simulation with cards measured here go the way that measurements of other sizes go?

Small runs on a machine that others may use as well: asserted is the direction, not the distance,
which `bench/closing_loop.py` prints. docs/calibration.md shows the same at full length.
"""

from dataclasses import replace

import pytest
from click.testing import CliRunner

from dvsim.cli.calibrate import calibrate
from dvsim.contract.load import load
from dvsim.emulation.settings import Emulation
from dvsim.kinds.rabbitmq.calibration.cards import time_s
from dvsim.session import run_scenarios

FITTED, OTHER = (8, 8_192), (2_048, 131_072)
MESSAGES = {8: 6_000, 2_048: 6_000, 8_192: 4_000, 131_072: 600}
PATHS = {"dv": True, "fdr": False}  # with confirms or without
CLEAR = 1.3
TRIES = 3


def scenario(path, size, overrides=()):
    sets = [
        f"workload.message_bytes={size}",
        f"workload.messages={MESSAGES[size]}",
        "workload.iterations=2",
        *overrides,
    ]
    if path == "fdr":
        sets += ["system.publisher.processes=2"] if not overrides else []
        sets += [f"probe.batch={MESSAGES[size] // 20}"]
    return replace(load(f"h3/{path}-8", sets), name=f"h3/{path}-{size}")


@pytest.fixture(scope="module")
def closed(broker, tmp_path_factory):
    """For each path, once asked for: seconds per message by size, measured and simulated, and text.

    The text is what the verb has said. What is taken out is measured anew when it is asked for.
    """

    class Closed(dict):
        def __missing__(self, path):
            self[path] = close_loop(path, broker, tmp_path_factory.mktemp("loop"))
            return self[path]

    return Closed()


def close_loop(path, broker, folder):
    emulation = Emulation(
        urls=(broker.nodes[0].url,), credentials=broker.credentials, at_least_once=PATHS[path]
    )
    how = {"out": folder / "runs", "scale": 1, "backend": emulation}
    runs = run_scenarios([scenario(path, size) for size in (*FITTED, *OTHER)], **how)
    measured = {run.scenario.workload.message_bytes: time_s(run) for run in runs}
    words = ["--name", path, "--out", str(folder / "cards")]
    for run in runs[: len(FITTED)]:
        words += ["--from", str(run.folder)]
    result = CliRunner().invoke(calibrate, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    role = {"dv": "bridge", "fdr": "publisher"}[path]
    sets = [f"system.{role}={folder}/cards/{path}-{role}.toml"]
    asked = [scenario(path, size, sets) for size in (*FITTED, *OTHER)]
    simulated = run_scenarios(asked, out=None, replications=20, workers=1)
    times = {run.scenario.workload.message_bytes: time_s(run) for run in simulated}
    return measured, times, result.stdout


def holds(closed, path, check):
    """Check a path; measure it anew if that fails: other work on the machine can spoil it."""
    for left in reversed(range(TRIES)):
        measured, simulated, _ = closed[path]
        try:
            check(measured, simulated)
            break
        except AssertionError:
            if not left:
                raise
            del closed[path]


@pytest.mark.parametrize("path", PATHS)
def test_larger_messages_take_longer_in_both(closed, path):
    holds(closed, path, larger_take_longer)


def larger_take_longer(measured, simulated):
    assert measured[2_048] < measured[131_072]
    if measured[8_192] > CLEAR * measured[8]:  # else the machine has hidden what bytes cost
        assert simulated[8] < CLEAR * simulated[2_048]  # both are near the cost of any message
        assert simulated[131_072] > CLEAR * simulated[2_048]


@pytest.mark.parametrize("path", PATHS)
def test_the_simulator_gives_back_what_was_measured(closed, path):
    holds(closed, path, gives_back)


def gives_back(measured, simulated):
    for size in FITTED:
        # two iterations scatter as the machine does, and a law may not bend to both
        assert 0.4 < simulated[size] / measured[size] < 2.5, size


def test_a_path_that_is_clearly_slower_is_simulated_as_slower(closed):
    ratio = {
        size: closed["fdr"][0][size] / closed["dv"][0][size] for size in FITTED
    }  # of measurements
    simulated = closed["fdr"][1][2_048] / closed["dv"][1][2_048]
    if min(ratio.values()) > 2:
        assert simulated > 1
    if max(ratio.values()) < 0.5:
        assert simulated < 1


def test_the_verb_tells_what_it_was_made_of(closed):
    for path in PATHS:
        text = closed[path][2]
        assert "(measured-here)" in text
        assert "wrote " in text
        assert "dv-broker" not in text  # a broker of somebody else's is not counted
