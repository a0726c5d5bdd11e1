"""Is the broker behind the fabric the one of the cluster, when it is asked for, and only then?"""

from functools import cache

import pytest

from dvsim.contract.find import kind_of
from dvsim.contract.load import load, load_card
from dvsim.core.cluster.capacity import Capacity
from dvsim.core.cluster.placement import Placement
from dvsim.emulation.settings import Emulation, check_emulation
from dvsim.errors import ScenarioError
from dvsim.kinds.rabbitmq.broker import capacity_of
from dvsim.scenario.render import to_toml
from dvsim.session import run_scenarios

SHORT = ("workload.messages=40_000",)
FAST = ("system.bridge.sockets=4", "system.bridge.threads=4")
QUORUM = "system.broker.queue=quorum"


@cache
def ran(*overrides, name="h3/dv-2048"):
    scenario = load(name, (*SHORT, *overrides))
    asked = {"seed": 1, "replications": 1, "out": None, "workers": 1, "progress": False}
    return run_scenarios([scenario], **asked)[0]


def busy(result):
    counters = result.values[result.values["metric"] == "utilisation"]
    return counters.set_index(["component", "instance"])["value"].to_dict()


def refusal(*overrides):
    with pytest.raises(ScenarioError) as caught:
        load("h3/dv-2048", overrides)
    return str(caught.value)


def test_without_the_keys_there_is_no_cluster():
    scenario = load("h3/dv-2048")
    assert not scenario.system.clustered
    assert "[system.host]" not in to_toml(scenario)
    assert not {("queue", 1), ("disk", 1)} & busy(ran()).keys()


def test_a_cluster_is_written_whole_and_read_back(tmp_path):
    scenario = load("h3/dv-2048", (QUORUM, "system.broker.nodes=5", "system.storage.iops=99"))
    assert (scenario.system.nodes, scenario.system.copies) == (5, 3)
    assert scenario.system.storage["iops"] == 99
    assert scenario.system.storage["size"] == load_card("gp2-1000")["size"]
    file = tmp_path / "again.toml"
    file.write_text(to_toml(scenario))
    assert to_toml(load(file)) == to_toml(scenario)


@pytest.mark.parametrize("queue", ["classic", "mirrored", "quorum", "stream"])
def test_the_socket_is_still_the_limit_while_there_is_one(queue):
    assert ran(f"system.broker.queue={queue}").answer == ran().answer


@pytest.mark.parametrize(
    ("said", "overrides"),
    [
        ("disk", (QUORUM,)),
        ("disk", ("system.broker.queue=mirrored",)),
        ("follower's CPU", (QUORUM, "system.host.vcpus=1")),
        ("leader's CPU", ("system.broker.queue=classic", "system.host.vcpus=1")),
        ("network between brokers", (QUORUM, "system.host.port_rate=80 MB/s")),
        ("waiting for confirms", (QUORUM, "system.broker.window=20")),
        ("queue process", ("system.broker.queue=stream", "system.rabbit.queue_stream=1 ms")),
    ],
)
def test_the_limit_names_what_binds(said, overrides):
    found = ran(*FAST, *overrides)
    assert f"Limit: {said} (" in found.answer
    assert found.rate.value < ran(*FAST).rate.value


def test_the_rate_is_that_of_the_laws():
    found = ran(*FAST, QUORUM, "system.broker.window=20")
    system = found.scenario.system
    assert found.rate.value == pytest.approx(
        capacity_of(system, 2048).ceilings(20)["confirms"], 0.1
    )


def test_brokers_over_tcp_are_the_same_ones():
    alone, cluster = (
        ran(*more, name="h3/fdr-2048") for more in ((), (QUORUM, "system.storage=st1-7000"))
    )
    assert cluster.rate.value < alone.rate.value
    assert busy(cluster)["disk", 1] > busy(cluster)["queue", 1] > 0


def test_of_a_log_only_the_index_is_in_memory():
    def peak(result):
        rows = result.values.query("component == 'broker' and instance == 1")
        return rows[rows["metric"] == "memory_peak_bytes"]["value"].max()

    assert peak(ran(QUORUM)) == 20_000 * 200
    assert peak(ran("system.broker.queue=classic")) == 20_000 * (2048 + 700)


def test_each_node_more_is_one_that_followers_can_be_on():
    cards = {
        role: load_card(name)
        for role, name in (
            ("host", "h3-node"),
            ("storage", "gp2-1000"),
            ("rabbit", "rabbitmq-3-8"),
        )
    }

    def most(nodes):
        shares = Placement.even("quorum", 30, nodes, 3).shares()
        return min(Capacity("quorum", shares, cards, 1024, 30, fed=True).ceilings(None).values())

    rates = [most(nodes) for nodes in (3, 5, 10, 30)]
    assert rates == sorted(rates)
    assert rates[-1] > 5 * rates[0]


def test_what_cannot_be_is_refused_with_what_could():
    assert "3 copies of a queue, but there are 2 nodes" in refusal(QUORUM, "system.broker.nodes=2")
    replicas = (QUORUM, "system.broker.nodes=3", "system.broker.replicas=4")
    many = refusal(*replicas)
    assert "broker.replicas: 4 copies of a queue, but there are 3 nodes" in many
    assert "set broker.nodes=4 or broker.replicas=3" in many
    one = ("system.broker.queue=classic", "system.broker.nodes=1")
    assert "2 receivers are nodes of the cluster, but there is 1 node" in refusal(*one)
    two = ("system.broker.queue=classic", "system.broker.replicas=2")
    assert "a classic queue has one copy" in refusal(*two)
    assert "did you mean 'quorum'?" in refusal("system.broker.queue=quorm")
    assert "did you mean 'gp2-1000'?" in refusal(QUORUM, "system.storage=gp2-100")
    assert "set system.broker.queue, too" in refusal("system.broker.nodes=5")
    assert "set system.broker.queue, too" in refusal("system.storage=gp2-1000")
    full = refusal(QUORUM, "system.storage.size=10 GB")
    assert "a node keeps 21.36 GB, and has room for 9.95 GB" in full


def test_a_cluster_is_not_emulated():
    with pytest.raises(ScenarioError, match="backend emu has classic queues"):
        check_emulation([load("h3/dv-2048", (QUORUM,))], Emulation(), {})


def test_metrics_of_a_sweep_have_what_binds():
    scenario = load("h3/dv-2048", (*SHORT, QUORUM))
    assert "busy_disk" in kind_of(scenario).metrics(scenario)


def test_optional_parameters_take_no_short_key_from_another():
    assert load("h3/dv-2048", ("nodes=64",)).system.card["nodes"] == 64
    assert load("h3/dv-2048", ("queue=quorum",)).system.clustered
