"""Is a network marked in which queues grow, wherever they are, and does a limit end before that?"""

import pytest
from click.testing import CliRunner
from harness.replies import Told

import dvsim
from dvsim import Network, Switch
from dvsim.cli.main import cli

HOT = {"pattern": "hot-spot", "hot": {"fraction": 0.3, "outputs": [0]}}
FEW = {"pattern": "hot-spot", "hot": {"fraction": 0.05, "outputs": [5]}}


def capacity(ports, fraction):
    """Return the load at which the link to a port that all want is always in use."""
    return 1 / (fraction * ports + 1 - fraction)


NETWORKS = {
    "one switch": ({"preset": "dv203"}, HOT, capacity(8, 0.3)),
    "one plane": ({"preset": "dv203", "planes": 1, "link": 5}, HOT, capacity(8, 0.3)),
    "two hot": (
        {"preset": "dv203", "planes": 4},
        {"pattern": "hot-spot", "hot": {"fraction": 0.6, "outputs": [1, 6]}},
        1 / (0.3 * 8 + 0.4),
    ),
    "levels": ({"preset": "dv207", "planes": 2}, FEW, capacity(128, 0.05)),
    "own switch": (
        {"switch": Switch(4, 3, injecting=[0], exit="any"), "levels": 2, "ports": 8, "planes": 4},
        HOT,
        capacity(8, 0.3),
    ),
}


def ran(name, share, slots, injection):
    shape, traffic, most = NETWORKS[name]
    asked = {"slots": slots, "warmup": slots // 4, "injection": injection, **traffic}
    return Network(**shape).run(share * most, **asked)


@pytest.mark.parametrize("injection", ["queue", "drop"])
@pytest.mark.parametrize("slots", [1000, 4000])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_load_beyond_the_capacity_is_marked_and_one_below_is_not(name, slots, injection):
    if name == "one plane":
        slots *= 4  # one queue alone wanders as far in a short run
    for share in (0.5, 0.9):
        assert ran(name, share, slots, injection).notes == ()
    for share in (1.1, 1.5):
        run = ran(name, share, slots, injection)
        assert not run.settled
        assert "queues grew" in repr(run)


@pytest.mark.parametrize(
    "traffic",
    [
        {"load": 0.7, "injection": "queue"},
        {"load": 0.9, "injection": "drop"},
        {"load": 0.5, "injection": "queue", "pattern": "bursty", "burst": 20, "duty": 0.6},
    ],
)
@pytest.mark.parametrize("preset", ["dv203", "dv204"])
def test_what_a_network_carries_is_not_marked(preset, traffic):
    assert Network(preset).run(slots=4000, warmup=1000, **traffic).notes == ()


@pytest.fixture
def hot(tmp_path):
    path = tmp_path / "hot.toml"
    path.write_text(
        'kind = "switch"\nname = "hot"\ntitle = "t"\nquestion = "q"\nsource = "own"\n'
        '[network]\npreset = "dv203"\n[traffic]\nslots = 4000\nwarmup = 1000\nload = 0.5\n'
        'pattern = "hot-spot"\nhot = { fraction = 0.3, outputs = [0] }\ninjection = "queue"\n'
    )
    return path


def test_the_mark_is_in_every_output(hot, tmp_path):
    study = dvsim.run(hot, scale=0.25, replications=2)
    assert all("queues grew" in note for note in study.sides["runs"]["notes"])
    asked = [str(hot), "--scale", "0.25", "--replications", "2"]
    page = tmp_path / "page.html"
    for arguments in (
        ["run", *asked],
        ["run", *asked, "--json"],
        ["run", *asked, "--report", str(page)],
        ["sweep", *asked, "--vary", "load=0.2,0.5"],
        ["sweep", *asked, "--vary", "load=0.2,0.5", "--json"],
    ):
        done = CliRunner().invoke(cli, arguments)
        assert done.exit_code == 0, done.output
        assert "queues grew" in done.stdout or "* not settled" in done.stdout
    assert "queues grew" in page.read_text()


@pytest.mark.parametrize(
    ("criterion", "scale"),
    [("mean_latency < 100", 1), ("acceptance > 0.5", 0.25), ("p99 < 1000", 0.25)],
)
def test_a_limit_is_the_capacity_where_nothing_else_is_reached(hot, criterion, scale):
    asked = ["limit", str(hot), "--until", criterion, "--scale", str(scale), "--json"]
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 0, done.output
    (limit,) = Told(done.stdout).facts["limits"]
    assert limit["holds"] == pytest.approx(capacity(8, 0.3), rel=0.03)
    assert limit["fails"] == pytest.approx(capacity(8, 0.3), rel=0.03)
