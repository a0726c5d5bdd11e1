"""Does a resumed simulation end as if it had never been interrupted?"""

import pytest
from switch_runs import KINDS, SMALL, content

from dvsim.errors import OutputError
from dvsim.fabric.switch import Switch


@pytest.mark.parametrize("kind", KINDS)
def test_resumed_run_ends_with_the_bytes_of_an_uninterrupted_one(tmp_path, kind):
    switch = Switch(16, 3, injecting=[0, 2], crossing="random", exit="any")
    whole, first = switch.start(**kind), switch.start(**kind, threads=2)
    for simulation in (whole, first):
        simulation.run(50)
        simulation.reset()
    whole.run(1_000)
    first.run(333)
    first.save(tmp_path / "checkpoint")
    second = Switch.resume(tmp_path / "checkpoint")
    second.run(667)
    assert content(second.result()) == content(whole.result())
    assert second.result().warmup == 50


def test_resumed_run_with_faults_ends_with_the_same_bytes(tmp_path):
    switch = Switch(8, 3, faults=[("stay", 0, 1, 2), ("free", 1, 0, 0), ("node", 3, 0, 5)])
    first = switch.start(0.7)
    first.run(300)
    first.save(tmp_path / "checkpoint")
    second = Switch.resume(tmp_path / "checkpoint")
    second.run(200)
    assert second.switch.faults == switch.faults
    assert content(second.result()) == content(switch.run(0.7, 500))


def test_checkpoint_carries_the_trace_along(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("slot,input,output\n0,3,9\n70,4,23\n")
    simulation = SMALL.start(pattern="trace", trace=path)
    simulation.run(10)
    simulation.save(tmp_path / "checkpoint")
    path.unlink()
    resumed = Switch.resume(tmp_path / "checkpoint")
    resumed.run(90)
    assert resumed.result().delivered == 2


def test_checkpoint_is_replaced_whole(tmp_path):
    simulation = SMALL.start(0.5)
    for _ in range(2):
        simulation.run(10)
        simulation.save(tmp_path / "checkpoint")
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint"]
    assert Switch.resume(tmp_path / "checkpoint").now == 20


def test_checkpoint_that_cannot_be_written(tmp_path):
    with pytest.raises(OutputError, match=r"cannot write checkpoint .*: No such file"):
        SMALL.start(0.5).save(tmp_path / "nowhere" / "checkpoint")


@pytest.mark.parametrize("options", [{"watch": 3}, {"injection": "given", "load": None}])
def test_what_a_checkpoint_does_not_keep_is_said(tmp_path, options):
    simulation = SMALL.start(**({"load": 0.5} | options))
    with pytest.raises(ValueError, match="cannot be saved"):
        simulation.save(tmp_path / "checkpoint")
    assert not (tmp_path / "checkpoint").exists()


def spoil_middle(data):
    return data[:200] + bytes([data[200] ^ 1]) + data[201:]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda data: b"", "is not a checkpoint of a switch"),
        (lambda data: b"PK\x03\x04" + data, "is not a checkpoint of a switch"),
        (lambda data: data[:20], "is damaged or cut short"),
        (lambda data: data[:-1], "is damaged or cut short"),
        (lambda data: data + b"\0", "is damaged or cut short"),
        (spoil_middle, "is damaged or cut short"),
    ],
)
def test_wrong_checkpoints_are_refused(tmp_path, spoil, said):
    path = tmp_path / "checkpoint"
    SMALL.start(0.5).save(path)
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(ValueError, match=said):
        Switch.resume(path)


def test_missing_checkpoint(tmp_path):
    with pytest.raises(ValueError, match=r"cannot read checkpoint .*: No such file"):
        Switch.resume(tmp_path / "checkpoint")
