"""Do cards of emulated quorum queues give their own runs back, and predict others?

What rabbitmq-model.md shows, but for the nodes: tests/broker/test_quorum.py has those.
"""

import dataclasses

import pytest
from click.testing import CliRunner
from harness.replies import Told
from manifests import changed

from dvsim.cli.calibrate import calibrate as verb
from dvsim.contract.load import load, load_card
from dvsim.errors import ScenarioError
from dvsim.evidence.calibration import calibrate
from dvsim.kinds.cluster.calibration import Point, published, simulated
from dvsim.scenario.find import scenario_root
from dvsim.session import run_scenarios
from dvsim.study.table import plain_lines

MADE = {"system.storage.sync": "3 ms", "system.storage.bandwidth": "90 MB/s",
        "system.broker.log_entry": "60 us", "system.broker.queue_quorum": "200 us",
        "system.broker.queue_byte": "12 ns",
        "system.broker.credit_cycles": "2.5"}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return measured("rabbit/here", tmp_path_factory.mktemp("runs"))


def measured(name, where):
    """Return a kept study as real nodes of cards that are known would have measured it."""
    from dvsim.study.store import write_result

    given = [f"{key}={value}" for key, value in MADE.items()]
    (study,) = run_scenarios([load(name, given)], replications=1, out=None, workers=1)
    question = {"clusters": 1, "nodes": 3, "promise": "at least once"}
    manifest = changed(study.manifest, backend="emu", emulated={"question": question})
    plain = dataclasses.replace(study, scenario=load(name), manifest=manifest)
    return write_result(plain, where / "emu").folder


def test_cards_of_two_sizes_give_these_back_and_predict_the_one_between(folder):
    found = calibrate([folder], "here", "test")
    own = found.rows[found.rows["from"] != "published"]
    assert own["rate_ratio"].tolist() == pytest.approx([1] * 6, rel=0.01)
    assert own["syncs_ratio"].tolist() == pytest.approx([1] * 6, rel=0.02)
    assert {role: card.name for role, card in found.made.items()} == {
        "storage": "here-volume", "broker": "here-rabbit"
    }  # fmt: skip
    volume, rabbit = found.made.values()
    write = load_card("nvme-nuc")["write"]  # which no run tells from a sync
    assert volume["sync"] == pytest.approx(3e9 + write, rel=0.02)
    serial = rabbit["queue_quorum"] + rabbit["queue_byte"] * 4096
    assert serial == pytest.approx((200 + 12 * 4.096) * 1e6, rel=0.01)
    text = "\n".join(plain_lines(found.lines()))
    assert (text.count("emu, fitted"), text.count("emu, held out")) == (4, 2)
    assert len(found.facts()["measured"]) == 6 + 2  # published


def test_the_published_runs_are_those_of_the_claims():
    for _, one, own in published():
        assert own.rate == pytest.approx(one.rate, rel=0.1)
        assert own.syncs == pytest.approx(one.syncs, rel=0.1)


def test_a_simulated_run_and_an_open_loop_are_refused(tmp_path):
    (study,) = run_scenarios([load("rabbit/one", ("seconds=2",))], replications=1, out=tmp_path)
    with pytest.raises(ScenarioError) as caught:
        calibrate([study.folder], "here", "test")
    assert "is a simulated run, which has measured nothing" in str(caught.value)
    assert "is not of a quorum queue without workload.rate" in str(caught.value)


def test_a_larger_message_takes_the_queue_longer():
    scenario = load("rabbit/here", ["queue_quorum=200 us", "queue_byte=12 ns"]).at(0)
    small, large = (simulated(scenario, scenario.cards, size, 1000) for size in (1024, 16384))
    assert isinstance(small, Point)
    assert large.rate < 0.6 * small.rate


def test_the_verb_writes_cards_that_a_scenario_takes(folder, tmp_path):
    words = ["--from", str(folder), "--name", "here", "--out", str(tmp_path)]
    said = CliRunner().invoke(verb, words).output
    volume, rabbit = tmp_path / "here-volume.toml", tmp_path / "here-rabbit.toml"
    assert f"--set system.storage={volume} --set system.broker={rabbit}" in said
    found = load("rabbit/here", [f"system.storage={volume}", f"system.broker={rabbit}"]).at(1)
    assert found.cards["broker"]["queue_byte"] == pytest.approx(12_000, rel=0.05)
    assert found.cards["storage"].parameters["sync"].confidence == "calibrated"


def test_another_run_of_the_same_cluster_judges_the_cards(folder, tmp_path):
    other = tmp_path / "other.toml"
    text = (scenario_root() / "rabbit/here.toml").read_text()
    other.write_text(text.replace("[1_024, 2_048, 4_096]", "[512, 8_192]"))
    kept = measured(other, tmp_path)
    words = ["--from", str(folder), "--against", str(kept), "--out", str(tmp_path), "--json"]
    found = Told(CliRunner().invoke(verb, words).output).facts
    judged = [one for one in found["measured"] if one["from"] == "emu, another run"]
    assert [(one["size"], one["window"]) for one in judged] == [
        (512, 16), (512, 1000), (8192, 16), (8192, 1000)
    ]  # fmt: skip
    for one in judged:
        assert one["simulated_rate"] == pytest.approx(one["rate"], rel=0.02)
    nodes = run_scenarios([load("rabbit/one", ("seconds=2",))], replications=1, out=tmp_path)
    refused = CliRunner().invoke(verb, [*words[:2], "--against", str(nodes[0].folder)])
    assert "is a simulated run, which has measured nothing" in str(refused.exception)
