"""Does flow fidelity take as long as every word slot by slot where nothing is in the way?"""

import numpy as np
import pytest
from click.testing import CliRunner
from harness.replies import Told

import dvsim
from dvsim.cli.main import cli

SIZES = (0, 1, 8, 9, 64, 256, 448, 512, 1024, 2048, 4096, 8192, 65536, 1 << 18, 1 << 20)
"""By stores and by DMA into the card, out of its FIFO and by DMA into the host's memory."""


def program(folder, messages, computing=0):
    """Write a program in which each message begins when the one before it has come."""
    ranks = 1 + max(max(pair) for *pair, _ in messages)
    lines = [[] for _ in range(ranks)]
    last = [None] * ranks
    for number, (source, target, size) in enumerate(messages):
        for rank, what in (
            (source, f"send {size}b to {target}"),
            (target, f"recv {size}b from {source}"),
        ):
            lines[rank].append(f"m{number}: {what} tag {number}")
            if last[rank] is not None:
                lines[rank].append(f"m{number} requires {last[rank]}")
            last[rank] = f"m{number}"
            if computing:
                lines[rank] += [f"c{number}: calc {computing}", f"c{number} requires {last[rank]}"]
                last[rank] = f"c{number}"
    path = folder / "program.goal"
    text = "".join(f"rank {r} {{\n" + "\n".join(own) + "\n}\n" for r, own in enumerate(lines))
    path.write_text(f"num_ranks {ranks}\n{text}")
    return path


def ratio(path, fabric, **asked):
    flow, cycle = (
        dvsim.replay(path, fabric, fidelity=fidelity, **asked).time_ps
        for fidelity in ("flow", "cycle")
    )
    return flow / cycle


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("fabric", ["dv202", "dv203", "dv205", "dv206"])
def test_a_message_over_one_switch_takes_the_same_time(tmp_path, fabric, size):
    path = program(tmp_path, [(0, 1, size)])
    ports = 1 << (int(fabric[2:]) - 200)
    for places in ([0, 1], [0, ports - 1], [ports // 2, 1]):
        assert ratio(path, fabric, placement=places) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    ("fabric", "far", "size"),
    [
        *(("dv207", 127, size) for size in SIZES),
        *(("dv208", far, size) for far in (40, 255) for size in SIZES),
        *(("dv211", 2047, size) for size in (8, 512, 8192)),
    ],
)
def test_messages_over_levels_take_the_same_time_in_the_mean(tmp_path, fabric, far, size):
    """Each takes random links: one of 8 B up to 5 % more or less, the mean of some does not."""
    path = program(tmp_path, [(0, 1, size), (1, 0, size)] * 4)
    found = [ratio(path, fabric, placement=[port, far - port]) for port in (0, 3, 17)]
    assert np.mean(found) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("size", [8, 512, 4096, 65536])
@pytest.mark.parametrize(
    "asked",
    [
        {"S": "1 B"},
        {"S": "1 MB"},
        {"landing": "sram"},
        {"dma_slow": 3},
        {"planes": 4},
        {"planes": 1},
        {"link": 7},
        {"o": "10 ns"},
        {"faults": ["dead plane=3", "dead port=0 plane=5", "dead port=7 plane=6"]},
        {"faults": ["slow port=0 by=4"]},
        {"faults": ["slow port=7 by=4"]},
        {"faults": [f"dead port=0 plane={plane}" for plane in range(14)]},
    ],
)
def test_every_way_to_send_and_every_fault_takes_the_same_time(tmp_path, asked, size):
    path = program(tmp_path, [(0, 1, size)])
    assert ratio(path, "dv203", placement=[0, 7], **asked) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("size", [8, 512, 8192, 65536])
def test_patterns_in_which_nothing_is_in_the_way_take_the_same_time(tmp_path, size):
    ring = [(rank, (rank + 1) % 8, size) for rank in range(8)]
    tree = [
        (1, 0, size),
        (3, 2, size),
        (5, 4, size),
        (7, 6, size),
        (2, 0, size),
        (6, 4, size),
        (4, 0, size),
    ]
    for messages in (ring, tree):
        path = program(tmp_path, messages, computing=2000)
        assert ratio(path, "dv203") == pytest.approx(1, abs=0.02)
        assert ratio(
            path, "dv208", placement=[0, 40, 80, 120, 160, 200, 240, 255]
        ) == pytest.approx(1, abs=0.02)


def test_the_sizes_that_were_wrong_are_those_of_every_word(tmp_path):
    """Of one message between two ranks; flow had 2,420, 2,535, 3,349 and 4,280 ns."""
    found = [
        dvsim.replay(program(tmp_path, [(0, 1, size)]), "dv203").time_ns
        for size in (8, 512, 4096, 8192)
    ]
    assert found == pytest.approx([1936, 3585, 5576, 6099], abs=1)


def test_the_error_of_flow_stands_beside_each_answer(tmp_path):
    path = program(tmp_path, [(rank, (rank + 3) % 8, 20_000) for rank in range(8)])

    def ask(*more):
        page = tmp_path / "page.html"
        page.unlink(missing_ok=True)
        done = [
            CliRunner().invoke(cli, ["replay", str(path), *more, *how])
            for how in (["--json"], [], ["--report", str(page)])
        ]
        assert [one.exit_code for one in done] == [0, 0, 0]
        return Told(done[0].stdout), done[1].stdout, page.read_text()

    flow, text, page = ask("--fabric", "dv203")
    cycle, silent, _ = ask("--fabric", "dv203", "--set", "fidelity=cycle")
    assert flow.one("share", component="flow_error")["value"] == 1
    error = flow.one("time", component="flow_error")["value"]
    times = [one.one("time", component="")["value"] for one in (flow, cycle)]
    assert error == pytest.approx(times[0] / times[1] - 1)
    said = f"{error:+.1%}"
    assert said in text
    assert said in page
    assert not cycle.of("time", component="flow_error")
    assert "flow fidelity, " not in silent.partition("fabric ")[0]
    other = ask("--fabric", "dv203", "--set", "rate=1 GB/s")[0]
    assert not [row for row in other.of("time", component="flow_error") if row["value"] is not None]


def test_the_error_of_a_long_program_is_that_of_its_first_part():
    short, long = (
        dvsim.run(
            "workload/halo", ranks=27, skeleton__iterations=times, network="dv205", replications=1
        )
        for times in (1, 60)
    )
    assert long.wide["flow_error"].abs().max() < 0.05
    assert short.wide["flow_error"].notna().all()
    cycle = dvsim.run(
        "workload/halo",
        ranks=27,
        skeleton__iterations=1,
        network="dv205",
        fidelity="cycle",
        replications=1,
    )
    assert cycle.wide["flow_error"].isna().all()
    assert short.wide["flow_error"][0] == pytest.approx(
        short.wide["time"][0] / cycle.wide["time"][0] - 1
    )
