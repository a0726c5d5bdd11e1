"""Rivals at equal ports: what is asked of CAMINOS, what is read of its answers, what is refused."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from harness import in_process

import dvsim
from dvsim.contract.find import kind_named
from dvsim.contract.load import load as load_one
from dvsim.errors import RunFailed, ScenarioError
from dvsim.kinds.rivals.caminos import VARIABLE, VERSION, configuration, program, read_result
from dvsim.kinds.rivals.offered import packets_of, silent
from dvsim.kinds.rivals.shapes import ImpossibleError, shape_of
from dvsim.kinds.rivals.spec import RivalTraffic, TopologyTable
from dvsim.kinds.workload.graph import ANY, Builder
from dvsim.kinds.workload.readers.goal import write_goal
from dvsim.kinds.workload.simgrid import FABRICS, main, replay_time, sides_of, trace_lines

PAGE = Path(__file__).parents[2] / "docs" / "rivals.md"
NAME = "rivals/load-latency"
KEPT = Path(__file__).parent / "caminos.result"
READ = {
    "throughput": 0.24943033854166666, "mean_latency": 1.6747076023391814,
    "inside": 1.445201545530493, "inside_p50": 1.25, "inside_p99": 3.25,
    "hops": 3.0311194653299918,
}  # fmt: skip
EXAMPLE = """\
Configuration {
  random_seed: 5, warmup: 1600, measured: 3200,
  topology: RandomRegularGraph { servers_per_router: 4, routers: 64, degree: 8 },
  traffic: HomogeneousTraffic { pattern: Uniform, servers: 256, load: LOAD, message_size: 16 },
  maximum_packet_size: 16,
  router: Basic {
    virtual_channels: 8,
    virtual_channel_policies: [
      EnforceFlowControl, WideHops { width: 1 },
      LowestSinghWeight { extra_congestion: 0, extra_distance: 0, aggregate_buffers: true,
                          use_internal_space: true },
      Random ],
    delay: 0, buffer_size: 64, bubble: false, flit_size: 16, intransit_priority: false,
    allow_request_busy_port: true, output_buffer_size: 32, output_prioritize_lowest_label: true },
  routing: Shortest,
  link_classes: [ LinkClass { delay: 1 }, LinkClass { delay: 1 } ],
  statistics_packet_percentiles: [50, 99],
}
"""
REAL = pytest.mark.skipif(
    shutil.which("caminos") is None and not os.environ.get(VARIABLE),
    reason="CAMINOS is not installed",
)
FAKE = """\
#!/bin/sh
echo "git_id=none version_number={version}"
for word; do case $word in --results=*) cat '{answer}' > "${{word#--results=}}";; esac; done
exit {code}
"""


def command(beginning):
    """Return the words of the command of the page that begins so."""
    (line,) = re.findall(rf"^    \$ {beginning} (.*)$", PAGE.read_text("utf-8"), re.MULTILINE)
    return shlex.split(line)


def rival(network, ports=64, *settings, load=0.25):
    own = [f"topology.network={network}", f"topology.ports={ports}", f"traffic.load={load}"]
    return load_one(NAME, [*own, *settings]).at(0)


@pytest.fixture
def engine(tmp_path, monkeypatch):
    def put(answer=KEPT, version=VERSION, code=0):
        path = tmp_path / "caminos"
        path.write_text(FAKE.format(version=version, answer=answer, code=code))
        path.chmod(0o755)
        monkeypatch.setenv(VARIABLE, str(path))
        return path

    return put


@pytest.mark.parametrize(
    ("network", "ports", "sides", "config"),
    [
        ("torus", 64, "4x4x4", "Torus{sides:[4,4,4],servers_per_router:1}"),
        ("torus", 256, "8x8x4", "Torus{sides:[8,8,4],servers_per_router:1}"),
        ("fattree", 64, "4x4x4",
         "XGFT{height:2,down:[4,4],up:[4,4],servers_per_leaf:4}"),
        ("fattree", 256, "8x8x4",
         "XGFT{height:2,down:[8,4],up:[8,8],servers_per_leaf:8}"),
        ("hyperx", 256, "8x8, 4 ports each", "Hamming{sides:[8,8],servers_per_router:4}"),
        ("dragonfly", 72, "9 groups of 4, 2 ports each",
         "Dragonfly{global_ports_per_router:2,servers_per_router:2,group_size:4,"
         "number_of_groups:9,global_arrangement:Palmtree}"),
        ("dragonfly", 256, "16 groups of 8, 2 ports each",
         "Dragonfly{global_ports_per_router:2,servers_per_router:2,group_size:8,"
         "number_of_groups:16,global_arrangement:Random}"),
        ("slimfly", 200, "q 5, 4 ports each", "SlimFly{prime:5,servers_per_router:4}"),
        ("random", 256, "64 of degree 8",
         "RandomRegularGraph{routers:64,degree:8,servers_per_router:4}"),
        ("vortex", 256, "64x4", ""),
    ],
)  # fmt: skip
def test_a_topology_of_so_many_ports(network, ports, sides, config):
    shape = shape_of(TopologyTable(network, ports))
    assert (shape.sides, shape.config) == (sides, config)


@pytest.mark.parametrize(
    ("network", "ports", "near"),
    [("torus", 61, (60, 63)), ("fattree", 255, (252, 256)), ("vortex", 100, (64, 128)),
     ("slimfly", 256, (200, 490)), ("dragonfly", 257, (256, 260)), ("random", 66, (64, 68))],
)  # fmt: skip
def test_ports_that_a_topology_cannot_have_name_the_nearest(network, ports, near):
    with pytest.raises(ImpossibleError) as wrong:
        shape_of(TopologyTable(network, ports))
    assert tuple(map(int, re.findall(r"\d+", str(wrong.value).split("nearest")[1]))) == near


@pytest.mark.parametrize(
    ("settings", "key", "told"),
    [
        (("topology.network=torus", "topology.ports=61"), "topology.ports", "60"),
        (("topology.network=slimfly",), "topology.ports", "200"),
        (("topology.network=tree",), "topology.network", "fattree"),
        (("traffic.pattern=tornado",), "traffic.pattern", "uniform"),
        (("topology.network=slimfly", "topology.ports=200", "traffic.pattern=shuffle"),
         "topology.ports", "256"),
        (("topology.network=dragonfly", "router.channels=2"), "router.channels", "3"),
        (("topology.network=torus", "router.buffer=16"), "router.buffer", "32"),
        (("topology.network=hyperx", "router.packet=64"), "router.output", "64"),
        (("topology.network=fattree", "router.routing=valiant"), "router.routing", "minimal"),
        (("traffic.pattern=hot-spot", "traffic.hot=300"), "traffic.hot", "256"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_at_its_key(settings, key, told):
    with pytest.raises(ScenarioError) as wrong:
        load_one(NAME, list(settings))
    assert any(fault.key.endswith(key.split(".")[1]) for fault in wrong.value.faults)
    assert told in str(wrong.value)


def test_a_point_becomes_a_configuration():
    text = configuration(rival("torus", 64, "router.link=3", "traffic.waiting=50"), 7)
    for part in (
        "random_seed:7,", "warmup:2400,", "measured:4800,", "pattern:Uniform,", "servers:64,",
        "load:0.25,", "message_size:16", "maximum_packet_size:16,", "server_queue_size:50,",
        "virtual_channels:4,", "buffer_size:64,", "bubble:true,", "flit_size:16,",
        "routing:DOR{order:[0,1,2]},", "statistics_packet_percentiles:[50,99],",
    ):  # fmt: skip
        assert part in text
    assert text.count("LinkClass{delay:3}") == 4
    assert text.count("{") == text.count("}") and text.count("[") == text.count("]")


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        (("traffic.pattern=bit-complement",), f"map:[{','.join(map(str, range(63, -1, -1)))}]"),
        (("traffic.pattern=transpose",), "EmbeddedMap{map:[0,8,16,24,32,40,48,56,1,9,"),
        (("traffic.pattern=shuffle",), "EmbeddedMap{map:[0,2,4,6,"),
        (("traffic.pattern=hot-spot", "traffic.fraction=0.25", "traffic.hot=2"),
         "RandomMix{patterns:[Hotspots{destinations:[0,1]},Uniform],weights:[250000,750000]}"),
        (("traffic.burst=4",), "message_size:64"),
        (("router.routing=valiant",), "Valiant{first:ChannelMap{routing:DOR{order:[0,1,2]},"),
        (("hyperx",), "WideHops{width:1}"),
        (("hyperx", "router.routing=valiant"),
         "routing:Valiant{first:Shortest,second:Shortest},"),
        (("fattree",), "routing:UpDown,"),
    ],
)  # fmt: skip
def test_traffic_and_routing_become_those_of_caminos(settings, part):
    network, *more = settings if "=" not in settings[0] else ("torus", *settings)
    assert part in configuration(rival(network, 64, *more), 1)


@pytest.mark.parametrize("pattern", ["uniform", "hot-spot", "transpose", "permutation"])
def test_a_data_vortex_gets_as_many_packets_and_none_of_its_own(pattern):
    traffic = RivalTraffic(slots=4000, warmup=0, load=0.3, pattern=pattern, fraction=0.25)
    offered = packets_of(traffic, 64, 0.3, 1)
    assert (offered.source != offered.target).all() and (np.diff(offered.slot) >= 0).all()
    expected = 4000 * 64 * 0.3 * (1 - silent(traffic, 64, 1))
    assert offered.slot.size == pytest.approx(expected, rel=0.02)
    hot = float(np.mean(offered.target == 0))
    share = {"hot-spot": 0.25 + 0.75 / 64, "transpose": 0}.get(pattern, 1 / 64)
    assert hot == pytest.approx(share, abs=0.01)


def test_packets_of_a_burst_come_one_after_the_other():
    traffic = RivalTraffic(slots=2000, warmup=0, load=0.2, burst=8)
    offered = packets_of(traffic, 16, 0.2, 1)
    for port in range(16):
        own = offered.source == port
        assert (np.diff(offered.slot[own]) >= 1).all()
        assert (np.diff(offered.target[own]) != 0).mean() < 0.2  # eight go to one port
    assert offered.slot.size == pytest.approx(2000 * 16 * 0.2, rel=0.1) and offered.wait > 0


def test_a_data_vortex_of_two_planes_carries_twice_as_much():
    kind = kind_named("rivals")
    one, two = (
        kind.replicate(rival("vortex", 64, f"topology.planes={n}", load=0.9), 1, 1) for n in (1, 2)
    )
    assert two.metrics["throughput"] == pytest.approx(2 * one.metrics["throughput"], rel=0.03)
    assert one.notes and 0.15 < one.metrics["throughput"] < 0.3
    dropped = kind.replicate(rival("vortex", 64, "traffic.injection=drop"), 1, 1)
    assert dropped.metrics["acceptance"] < 0.99 and dropped.metrics["mean_latency"] < 20
    queued = kind.replicate(rival("vortex", 64, load=0.1), 1, 1)
    assert queued.metrics["acceptance"] == pytest.approx(1, abs=0.02)


def test_a_kept_result_is_read():
    """CAMINOS wrote it: the configuration of this point, seed 1."""
    reading = read_result(KEPT.read_text(), rival("torus"), 1)
    assert reading.metrics == pytest.approx(READ, rel=1e-9)
    assert reading.notes == ""


@REAL
@pytest.mark.parametrize(
    ("network", "ports", "hops"),
    [
        ("torus", 64, 3 * 64 / 63),  # the mean distance of two others, from the graph
        ("hyperx", 64, (2 * (1 - 1 / 4)) * 64 / 63),
        ("fattree", 64, (2 * 12 + 4 * 48) / 63),
    ],
)
def test_the_engine_itself_sends_packets_over_the_shortest_ways(network, ports, hops):
    settings = ("traffic.slots=300", "traffic.warmup=100")
    reading = kind_named("rivals").replicate(rival(network, ports, *settings, load=0.2), 1, 1)
    assert reading.metrics["throughput"] == pytest.approx(0.2, rel=0.03)
    assert reading.metrics["hops"] == pytest.approx(hops, rel=0.02)
    assert 1 < reading.metrics["inside"] < reading.metrics["mean_latency"] < 3


@REAL
@pytest.mark.parametrize("network", ["dragonfly", "random"])
def test_the_engine_itself_takes_every_other_topology(network):
    ports = {"dragonfly": 72, "random": 64}[network]
    settings = ("traffic.slots=100", "traffic.warmup=50", "router.routing=valiant")
    point = rival(network, ports, *settings, "router.channels=8", load=0.1)
    assert kind_named("rivals").replicate(point, 1, 1).metrics["acceptance"] > 0.9


@REAL
def test_the_example_of_the_manual_of_caminos_has_the_same_curve(tmp_path):
    """Its random graph (smaller), router and policies, in its own words: within 3 %."""
    settings = ("router.channels=8", "traffic.slots=200", "traffic.warmup=100")
    for load in (0.2, 0.5):
        ours = kind_named("rivals").replicate(rival("random", 256, *settings, load=load), 1, 1)
        asked, answer = tmp_path / "example.cfg", tmp_path / "example.result"
        asked.write_text(EXAMPLE.replace("LOAD", str(load)))
        command = [program(), asked, f"--results={answer}"]
        subprocess.run(command, check=True, capture_output=True, timeout=600)
        theirs = read_result(answer.read_text(), rival("random", 256, *settings, load=load), 1)
        for metric in ("throughput", "mean_latency", "inside", "hops"):
            assert ours.metrics[metric] == pytest.approx(theirs.metrics[metric], rel=0.03), metric


@pytest.mark.parametrize("network", ["torus", "vortex"])
def test_a_run_of_an_engine_gives_our_metrics(engine, network):
    engine()
    keys = {"topology.network": network, "traffic.load": 0.2}
    run = dvsim.run(NAME, replications=1, **keys)
    metrics = set(run.values["metric"])
    assert metrics == set(kind_named("rivals").registry)
    assert run.manifest.backend == "caminos"


def test_the_command_of_the_page_draws_all_rivals(engine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    engine()
    words = command("dvsim run rivals/load-latency --replications 3 --report")
    asked = ["run", NAME, "--replications", "3", "--report", *words]
    done = in_process.dvsim(*asked, "--scale", "0.01", "--set", "traffic.load=0.2")
    assert done.returncode == 0, done.stderr
    text = Path(words[0]).read_text("utf-8")
    assert all(network in text for network in ("vortex", "fattree", "torus", "dragonfly"))


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"version": "0.5.0"}, ("0.5.0", VERSION)),
        ({"version": ""}, (VERSION,)),
        ({"code": 101}, ("101", "output.txt")),
        ({"answer": "/dev/null"}, ("point.result",)),
        ({"answer": "/nowhere/at/all"}, ("point.result",)),
        ({"answer": __file__}, ("point.result",)),
    ],
)
def test_an_engine_that_fails_or_is_another_is_refused_and_its_output_kept(engine, how, told):
    path = engine(**how)
    with pytest.raises(RunFailed) as failed:
        kind_named("rivals").replicate(rival("torus"), 1, 1)
    assert all(part in str(failed.value) for part in (str(path), *told))
    for kept in re.findall(r"see (\S+)", str(failed.value)):
        assert Path(kept).exists()
        shutil.rmtree(Path(kept).parent)


def test_a_missing_engine_says_how_to_get_it(monkeypatch, tmp_path):
    for name, path in (("PATH", ""), ("HOME", tmp_path), (VARIABLE, "")):
        monkeypatch.setenv(name, str(path))
    with pytest.raises(RunFailed, match=f"cargo install --locked caminos --version {VERSION}"):
        program()
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(RunFailed, match=VARIABLE):
        program()


def all_to_all(ranks, size):
    builder = Builder(ranks, "all to all")
    for rank in range(ranks):
        start = builder.calc(rank, 2_000_000)
        for step in range(1, ranks):
            builder.send(rank, (rank + step) % ranks, size, tag=5, after=[start])
            builder.recv(rank, (rank - step) % ranks, size, tag=5, after=[start])
    return builder.build()


def test_operations_become_actions_that_wait_for_each_other():
    builder = Builder(2, "ping")
    for _ in range(2):  # both messages have one tag
        builder.send(0, 1, 8, tag=3)
    first = builder.recv(1, 0, 8, tag=3)
    second = builder.recv(1, 0, 8, tag=3, after=[first])
    builder.calc(1, 5_000, after=[second])
    assert trace_lines(builder.build()) == [
        "0 init", "0 isend 1 0 8 6", "0 isend 1 1 8 6", "0 wait 0 1 0", "0 wait 0 1 1",
        "0 finalize", "1 init", "1 irecv 0 0 8 6", "1 wait 0 1 0", "1 irecv 0 1 8 6",
        "1 wait 0 1 1", "1 compute 5.000", "1 finalize",
    ]  # fmt: skip


def test_simgrid_refuses_a_receive_of_anything():
    builder = Builder(2, "any")
    builder.send(0, 1, 8)
    builder.recv(1, ANY, 8)
    with pytest.raises(ScenarioError, match="any"):
        trace_lines(builder.build())


def test_there_is_room_for_every_rank():
    for fabric in FABRICS:
        for ranks in (1, 2, 7, 16, 100, 256):
            assert np.prod(sides_of(fabric, ranks)) >= ranks
    assert sides_of("torus", 256) == [8, 8, 4] and sides_of("fattree", 64) == [8, 8]


def test_a_failing_smpirun_is_refused_and_its_output_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RunFailed, match="libsimgrid-dev"):
        replay_time(all_to_all(2, 8), "torus")
    (tmp_path / "smpirun").write_text("#!/bin/sh\necho broken; exit 7\n")
    (tmp_path / "smpirun").chmod(0o755)
    with pytest.raises(RunFailed, match="exit code 7") as failed:
        replay_time(all_to_all(2, 8), "torus")
    kept = Path(str(failed.value).split("see ")[1])
    assert "broken" in kept.read_text()
    shutil.rmtree(kept.parent)


@pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid is not installed")
def test_simgrid_gives_the_time_that_the_narrowest_link_takes():
    size = 1 << 20
    graph = all_to_all(16, size)
    port, bridge = (count * size / 6.8e9 for count in (15, 64))  # 8 x 8 messages between halves
    assert port < replay_time(graph, "fattree") < 1.2 * port
    assert replay_time(graph, "dragonfly") > bridge > 4 * replay_time(graph, "torus")
    faster = replay_time(graph, "fattree", rate="13.6GBps")
    assert faster == pytest.approx(replay_time(graph, "fattree") / 2, rel=0.05)


@pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid is not installed")
def test_the_command_of_the_page_replays_a_program(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = command("python -m dvsim.kinds.workload.simgrid")
    with Path(words[0]).open("w") as file:
        write_goal(all_to_all(4, 1024), file)
    monkeypatch.setattr(sys, "argv", ["simgrid", *words])
    main()
    told = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert told == words[1].split(",") == ["fattree", "torus", "dragonfly"]
