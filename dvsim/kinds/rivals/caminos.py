"""CAMINOS, which simulates rivals phit by phit: what is asked of it, and what it answers.

It is a program of its own, of crates.io, and no part of dvsim. Its cycle is the time of a phit on a
link; all that is returned is in slots, the time of a packet.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from math import nan
from pathlib import Path

from dvsim.contract.kind import Plain
from dvsim.errors import RunFailed
from dvsim.kinds.rivals.offered import targets
from dvsim.kinds.rivals.shapes import Shape, shape_of
from dvsim.kinds.rivals.spec import RivalScenario, RivalTraffic
from dvsim.scenario.types import GROWS

VERSION = "0.6.3"
VARIABLE = "DVSIM_CAMINOS"
INSTALL = f"cargo install --locked caminos --version {VERSION}"
TIMEOUT_S = 3600
SHORTEST_QUEUE = (
    "LowestSinghWeight{extra_congestion:0,extra_distance:0,aggregate_buffers:true,"
    "use_internal_space:true}"
)
"""Of the ways on, the one with the shortest queues; so does the example of CAMINOS' own manual."""
REFUSED = 0.001
"""Of the messages that arrive at a port, the share that is refused where the queues have grown."""


def program() -> Path:
    """Return the program.

    Raises:
        RunFailed: If there is none, or one of another version.
    """
    named = os.environ.get(VARIABLE)
    found = named or shutil.which("caminos") or str(Path.home() / ".cargo" / "bin" / "caminos")
    if not os.access(found, os.X_OK) or Path(found).is_dir():
        where = f"{VARIABLE} names {named}, which is no program" if named else "it is not installed"
        raise RunFailed(f"this needs CAMINOS {VERSION}, and {where}; get it by `{INSTALL}`")
    version = _version(found)
    if version != VERSION:
        raise RunFailed(
            f"{found} is CAMINOS {version or 'of no version that it tells'}; this needs {VERSION}: "
            f"`{INSTALL}`"
        )
    return Path(found)


@cache
def _version(found: str) -> str:
    try:
        said = subprocess.run(
            [found, "--help"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunFailed(f"{found} does not run: {error}") from error
    told = re.search(r"version_number=(\S+)", said.stdout)
    return told[1] if told else ""


def needed(scenario: RivalScenario, shape: Shape) -> int:
    """Return how many virtual channels keep packets from waiting for each other in a circle."""
    twice = 2 if scenario.router.routing == "valiant" else 1
    if scenario.topology.network == "torus":  # bubbles do it there
        return twice
    return 1 if scenario.topology.network == "fattree" else shape.hops * twice


def configuration(scenario: RivalScenario, seed: int) -> str:
    """Return what CAMINOS is asked for a point."""
    table, router, traffic = scenario.topology, scenario.router, scenario.traffic
    shape, size = shape_of(table), router.packet
    classes = ",".join([f"LinkClass{{delay:{router.link}}}"] * shape.classes)
    wide = "" if table.network in ("torus", "fattree") else "WideHops{width:1},"
    return f"""Configuration{{
random_seed:{seed % 2**32},
warmup:{traffic.warmup * size},
measured:{traffic.slots * size},
topology:{shape.config},
traffic:HomogeneousTraffic{{pattern:{_pattern(traffic, table.ports, seed)},servers:{table.ports},\
load:{traffic.load!r},message_size:{size * traffic.burst}}},
maximum_packet_size:{size},
server_queue_size:{traffic.waiting},
router:Basic{{virtual_channels:{router.channels},virtual_channel_policies:\
[EnforceFlowControl,{wide}{SHORTEST_QUEUE},Random],delay:0,\
buffer_size:{router.buffer},bubble:{"true" if table.network == "torus" else "false"},\
flit_size:{size},intransit_priority:false,allow_request_busy_port:true,\
output_prioritize_lowest_label:true,output_buffer_size:{router.output}}},
routing:{_routing(scenario)},
link_classes:[{classes}],
statistics_packet_percentiles:[50,99],
}}
"""


def _pattern(traffic: RivalTraffic, ports: int, seed: int) -> str:
    only = targets(traffic, ports, seed)
    if only is not None:
        return f"EmbeddedMap{{map:[{','.join(map(str, only.tolist()))}]}}"
    if traffic.pattern == "uniform":
        return "Uniform"
    hot, share = ",".join(map(str, range(traffic.hot))), round(traffic.fraction * 10**6)
    return (
        f"RandomMix{{patterns:[Hotspots{{destinations:[{hot}]}},Uniform],"
        f"weights:[{share},{10**6 - share}]}}"
    )


def _routing(scenario: RivalScenario) -> str:
    network, router = scenario.topology.network, scenario.router
    if network == "fattree":
        return "UpDown"
    if network != "torus":
        valiant = "Valiant{first:Shortest,second:Shortest}"
        return "Shortest" if router.routing == "minimal" else valiant
    order = ",".join(map(str, range(scenario.topology.dimensions)))
    straight, half = f"DOR{{order:[{order}]}}", router.channels // 2
    if router.routing == "minimal":
        return straight
    first, second = ",".join(map(str, range(half))), ",".join(map(str, range(half, 2 * half)))
    return (
        f"Valiant{{first:ChannelMap{{routing:{straight},map:[[{first}]]}},"
        f"second:ChannelMap{{routing:{straight},map:[[{second}]]}}}}"
    )


def run_caminos(scenario: RivalScenario, seed: int) -> Plain:
    """Run a point in CAMINOS.

    Raises:
        RunFailed: If it is not there, fails, or answers something else; its output is kept then.
    """
    engine = program()
    folder = Path(tempfile.mkdtemp(prefix="dvsim-caminos-"))
    asked, answer = folder / "point.cfg", folder / "point.result"
    asked.write_text(configuration(scenario, seed))
    said = folder / "output.txt"
    with said.open("w") as output:
        try:
            ended = subprocess.run(
                [engine, asked, f"--results={answer}"],
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                timeout=TIMEOUT_S,
                check=False,
                cwd=folder,
            ).returncode
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RunFailed(f"{engine} did not finish: {error}; see {said}") from error
    if ended or not answer.exists():
        raise RunFailed(f"{engine} failed with exit code {ended}; see {said}")
    try:
        reading = read_result(answer.read_text(), scenario, seed)
    except ValueError as error:
        raise RunFailed(f"{engine} answered something else: {error}; see {answer}") from error
    shutil.rmtree(folder, ignore_errors=True)
    return reading


def read_result(text: str, scenario: RivalScenario, seed: int) -> Plain:
    """Return what a result of CAMINOS says, in slots and packets.

    Raises:
        ValueError: If it is none of this version, or lacks a number.
    """
    head = re.match(r"\s*Result\s*\{", text)
    version = re.search(r"version_number\s*:\s*\"?([\w.]+)", text)
    if head is None or version is None or version[1] != VERSION:
        raise ValueError(f"it is no result of CAMINOS {VERSION}")
    size, traffic = scenario.router.packet, scenario.traffic
    accepted = _number(text, "accepted_load")
    missed = _number(text, "server_average_missed_generations")
    came = traffic.slots * traffic.load / traffic.burst
    late = came > 0 and missed > REFUSED * came
    nothing = accepted == 0
    quantiles = {
        share: nan if nothing else _number(text, rf"packet_percentile{share}\b.*?\bdelay") / size
        for share in (50, 99)
    }
    return Plain(
        {
            "throughput": accepted,
            "mean_latency": nan if nothing else _number(text, "average_message_delay") / size,
            "inside": nan if nothing else _number(text, "average_packet_network_delay") / size,
            "inside_p50": quantiles[50],
            "inside_p99": quantiles[99],
            "hops": nan if nothing else _number(text, "average_packet_hops"),
        },
        notes=GROWS if late else "",
    )


def _number(text: str, key: str) -> float:
    found = re.search(rf"\b{key}\s*:\s*(-?[\d.]+(?:[eE][-+]?\d+)?)", text, re.DOTALL)
    if found is None:
        raise ValueError(f"it has no number '{key}'")
    return float(found[1])
