"""Is a timeline what Perfetto reads, of the run that was asked for, and no larger than allowed?"""

import copy
import json
import re
from collections import Counter, defaultdict

import pytest
from trace_rules import check_trace, load_trace

from dvsim.contract.load import load
from dvsim.emulation.trace import Timeline, write_trace
from dvsim.emulation.trace.perfetto import most_events
from dvsim.emulation.trace.runs import simulated_timeline
from dvsim.emulation.trace.timeline import Event
from dvsim.errors import OutputError, ScenarioError
from dvsim.kinds.hosts.run import run_point
from dvsim.kinds.rabbitmq.emu.trace import _add_cards
from dvsim.kinds.rabbitmq.iteration import run_iteration

OPEN = ["loop=open"]
SMALL = {
    "flow": ("h3/dv-2048", ["workload.messages=20000", "system.fidelity=flow"]),
    "cycle": ("h3/dv-8", ["workload.messages=20000", "system.fidelity=cycle"]),
    "tcp": ("h3/fdr-8", ["workload.messages=300000"]),
    "open": (
        "h3/fdr-8",
        ["workload.messages=300000", *OPEN, "workload.messages_per_second=200000"],
    ),
    "messaging": ("amps/delivery", ["workload.messages=1000"]),
    "switch": ("switch/record", []),
}


def scenario(name):
    return load(*SMALL[name])


def written(name, path, limit=10**8, seed=1):
    timeline, facts = simulated_timeline(scenario(name), seed, most_events(limit))
    return write_trace(path, timeline, facts, limit)


def by_process(trace):
    """Return the names of processes and their events."""
    names = {
        e["pid"]: e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "process_name"
    }
    found = defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] != "M":
            found[names[event["pid"]]].append(event)
    return found


@pytest.mark.parametrize("name", SMALL)
def test_a_timeline_keeps_the_rules_of_perfetto(tmp_path, name):
    told = written(name, tmp_path / "t.json")
    trace = load_trace(tmp_path / "t.json")
    shown = check_trace(trace)
    assert told.events == len(shown) - 1  # the first says what the file is
    assert told.sampled == trace["metadata"]["sampled"] == []
    assert shown[0]["args"]["scenario"] == SMALL[name][0]


def test_the_rules_find_what_is_wrong(tmp_path):
    written("flow", tmp_path / "t.json")
    trace = load_trace(tmp_path / "t.json")
    number = {ph: [n for n, e in enumerate(trace["traceEvents"]) if e["ph"] == ph] for ph in "XbC"}

    def overlap(events):
        one = events[number["X"][0]]
        later = next(e for e in events if e["ph"] == "X" and e["ts"] > one["ts"])
        later["tid"] = one["tid"]
        later["pid"] = one["pid"]
        later["ts"] = one["ts"] + one["dur"] / 2

    def lose_an_end(events):
        events.remove(next(e for e in events if e["ph"] == "e"))

    def count_in_words(events):
        events[number["C"][0]]["args"]["value"] = "many"

    for spoil in (overlap, lose_an_end, count_in_words, list.reverse):
        wrong = copy.deepcopy(trace)
        spoil(wrong["traceEvents"])
        with pytest.raises(AssertionError):
            check_trace(wrong)


@pytest.mark.parametrize("name", SMALL)
def test_the_same_run_has_the_same_bytes_and_another_seed_others(tmp_path, name):
    for number, seed in enumerate((1, 1, 2)):
        written(name, tmp_path / f"{number}.json.gz", seed=seed)
    first, second, other = ((tmp_path / f"{n}.json.gz").read_bytes() for n in range(3))
    assert first == second != other


@pytest.mark.parametrize("name", ["flow", "cycle", "tcp"])
def test_looking_on_changes_nothing(name):
    asked = (scenario(name), 3, 1, 1)
    alone, watched = run_iteration(*asked), run_iteration(*asked, Timeline(10**6))
    assert alone.counters == watched.counters
    for receiver, record in alone.records.items():
        for one, other in zip(record, watched.records[receiver], strict=True):
            assert one.tobytes() == other.tobytes()


def test_looking_on_changes_nothing_of_messaging():
    setting = scenario("messaging").at(0)
    alone, watched = run_point(setting, 1, 1), run_point(setting, 1, 1, Timeline(10**6))
    assert repr(alone) == repr(watched)  # some metrics are not a number


@pytest.mark.parametrize("name", ["flow", "cycle"])
def test_slices_and_levels_are_those_of_the_run(tmp_path, name):
    """What a stage worked on in the picture is what its counters say, and so is the queue's end."""
    written(name, tmp_path / "t.json")
    found = by_process(load_trace(tmp_path / "t.json"))
    counted = run_iteration(scenario(name), 1, 1, 1).counters
    value = {(one.component, one.metric): one.value for one in counted}
    end_us = value["run", "simulated_s"] * 1e6
    for stage in ("bridge.1", "socket.1", "broker.2"):
        busy = sum(event["dur"] for event in found[stage] if event["ph"] == "X")
        last = max(event["ts"] + event["dur"] for event in found[stage] if event["ph"] == "X")
        assert last <= end_us + 1
        receiver = stage[-1]
        own_end = max(e["ts"] for e in found[f"sender.{receiver}"] if e["ph"] == "e")
        assert busy / own_end == pytest.approx(value[stage, "utilisation"], rel=1e-3)
        if stage.startswith("broker"):
            queued = [e for e in found[stage] if e["name"] == "messages queued"]
            assert queued[-1]["args"]["value"] == value[stage, "queued"]
    sent = [e["args"]["messages"] for e in found["sender.1"] if e["ph"] == "b"]
    assert sum(sent) == value["broker.1", "queued"]
    sram = [e["args"]["value"] for e in found["card.1"] if e["name"] == "bytes in the SRAM"]
    assert 0 == min(sram) < max(sram) <= value["card.1", "sram_peak_bytes"]


def arrows_of(trace):
    """Return each arrow as the names of its two processes, and when it begins and ends."""
    events = trace["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    begun = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = [e for e in events if e["ph"] == "f"]
    pairs = [(begun[end["id"]], end) for end in ends]
    return [(names[s["pid"]], names[f["pid"]], s["ts"], f["ts"]) for s, f in pairs]


@pytest.mark.parametrize("name", ["flow", "cycle"])
def test_an_arrow_leads_from_each_burst_in_the_network_to_the_card_that_gets_it(tmp_path, name):
    written(name, tmp_path / "t.json")
    trace = load_trace(tmp_path / "t.json")
    found, arrows = by_process(trace), arrows_of(trace)
    for number in (1, 2):
        sent = [event["ts"] for event in found[f"fabric.{number}"] if event["ph"] == "X"]
        moved = [event["ts"] for event in found[f"card.{number}"] if event["ph"] == "X"]
        own = [arrow for arrow in arrows if arrow[0] == f"fabric.{number}"]
        assert [arrow[1] for arrow in own] == [f"card.{number}"] * len(sent)
        assert sorted(arrow[2] for arrow in own) == sent
        assert sorted(arrow[3] for arrow in own) == moved
        assert len(own) > 2


@pytest.mark.parametrize("name", ["tcp", "open"])
def test_over_tcp_an_arrow_leads_from_each_link_to_the_arrival_at_its_broker(tmp_path, name):
    written(name, tmp_path / "t.json")
    trace = load_trace(tmp_path / "t.json")
    found, arrows = by_process(trace), arrows_of(trace)
    latency_us = scenario(name).system.card["latency"] / 1e6
    for number in (1, 2):
        carried = [event for event in found[f"link.{number}"] if event["ph"] == "X"]
        own = sorted(arrow for arrow in arrows if arrow[0] == f"link.{number}")
        assert len(own) == len(carried) > 2
        for (_, to, begin, end), slice_ in zip(own, carried, strict=True):
            assert to == f"broker.{number}"
            assert begin == slice_["ts"]
            assert end - begin == pytest.approx(slice_["dur"] + latency_us, abs=2e-3)


def test_over_hosts_an_arrow_leads_over_each_link_to_what_takes_it_up(tmp_path):
    written("messaging", tmp_path / "t.json")
    trace = load_trace(tmp_path / "t.json")
    found, arrows = by_process(trace), arrows_of(trace)
    ways = Counter((begin, re.sub(r" \d+$", "", end)) for begin, end, *_ in arrows)
    links = {name for name in found if name.startswith("link to")}
    assert links == {begin for begin, _ in ways}
    assert {end for begin, end in ways if begin.startswith("link to the broker")} == {
        "broker: accept"
    }
    latency_us = scenario("messaging").cards["link"]["latency"] / 1e6
    assert all(end - begin >= latency_us for *_, begin, end in arrows)
    for name in links:  # what is taken up together has one
        carried = sum(event["ph"] == "X" for event in found[name])
        assert 0 < sum(begin == name for begin, *_ in arrows) <= carried


def test_in_a_switch_an_arrow_leads_from_the_input_of_each_packet_to_its_output(tmp_path):
    written("switch", tmp_path / "t.json")
    trace = load_trace(tmp_path / "t.json")
    found, arrows = by_process(trace), arrows_of(trace)
    spans = {e["id"]: e["ts"] for e in found["packets"] if e["ph"] == "b"}
    whole = [(spans[e["id"]], e["ts"]) for e in found["packets"] if e["ph"] == "e"]
    assert sorted(arrows) == sorted(("inputs", "outputs", *times) for times in whole)
    assert len(arrows) == 200


def test_a_thinned_timeline_keeps_the_arrows_of_which_it_has_both_ends(tmp_path):
    whole = len(arrows_of(load_trace(tmp_path / "a"))) if written("flow", tmp_path / "a") else 0
    written("flow", tmp_path / "b", 20_000)
    trace = load_trace(tmp_path / "b")
    check_trace(trace)
    starts = {(e["tid"], e["ts"]) for e in trace["traceEvents"] if e["ph"] == "X"}
    ends = [e for e in trace["traceEvents"] if e["ph"] in "sf"]
    assert all((end["tid"], end["ts"]) in starts for end in ends)
    assert 0 < len(ends) / 2 < whole


def test_arrows_that_vicrun_has_traced_lead_from_a_call_to_its_arrival(tmp_path):
    call = {"ph": "X", "name": "vic_put", "pid": 0, "tid": 7, "dur": 2.0, "args": {}}
    sent = {"ph": "s", "cat": "packets", "name": "sent", "pid": 0, "tid": 7}
    packets = {"ph": "i", "name": "packets", "pid": 1, "tid": 0, "args": {}}
    end = {"ph": "f", "bp": "e", "cat": "packets", "name": "sent", "pid": 1, "tid": 0}
    left_out = {"id": 3, "ts": 9.0}  # its call is not there
    events = [
        call | {"ts": 1.0}, call | {"ts": 5.0},
        packets | {"ts": 8.0}, sent | {"id": 1, "ts": 6.0}, end | {"id": 1, "ts": 8.0},
        packets | {"ts": 4.0}, sent | {"id": 2, "ts": 1.5}, end | {"id": 2, "ts": 4.0},
        packets | {"ts": 9.5}, sent | left_out, end | left_out | {"ts": 9.5},
    ]  # fmt: skip
    timeline = Timeline(100)
    _add_cards(timeline, events, receivers=1)
    write_trace(tmp_path / "t.json", timeline, {})
    trace = load_trace(tmp_path / "t.json")
    check_trace(trace)
    cards = ("sender.1 (card 0)", "bridge.1 (card 1)")
    assert sorted(arrows_of(trace)) == [(*cards, 1.5, 4.0), (*cards, 6.0, 8.0)]


def test_the_components_of_the_path_stand_in_its_order(tmp_path):
    written("flow", tmp_path / "t.json")
    path = ["sender", "fabric", "card", "ring", "bridge", "socket", "broker"]
    names = [
        event["args"]["name"]
        for event in load_trace(tmp_path / "t.json")["traceEvents"]
        if event["name"] == "process_name"
    ]
    assert names[1:] == [f"{part}.{number}" for number in (1, 2) for part in path]


def test_batches_that_overlap_are_shown_as_such(tmp_path):
    """In an open loop beyond saturation a batch starts before the one before is over."""
    name, sets = SMALL["tcp"]
    fast = load(name, [*sets, *OPEN, "workload.messages_per_second=10000000", "probe.batch=10000"])
    timeline, facts = simulated_timeline(fast, 1, 10**6)
    write_trace(tmp_path / "t.json", timeline, facts)
    shown = check_trace(load_trace(tmp_path / "t.json"))
    open_now = most = 0
    for event in shown:
        open_now += {"b": 1, "e": -1}.get(event["ph"], 0)
        most = max(most, open_now)
    assert most > 5


@pytest.mark.parametrize(
    ("name", "limit"),
    [("flow", 20_000), ("cycle", 12_000), ("messaging", 50_000), ("switch", 100_000)],
)
def test_a_file_keeps_its_size_and_says_what_was_left_out(tmp_path, name, limit):
    whole = written(name, tmp_path / "whole.json")
    told = written(name, tmp_path / "t.json", limit)
    assert (tmp_path / "t.json").stat().st_size <= limit < whole.bytes
    trace = load_trace(tmp_path / "t.json")
    assert check_trace(trace)
    assert told.sampled and told.sampled == trace["metadata"]["sampled"]
    strides = [int(re.sub(r"\D", "", said.split("every ")[1])) for said in told.sampled]
    assert all(stride > 1 and stride & (stride - 1) == 0 for stride in strides)
    assert told.events > limit / 1500  # it is not empty either


def test_a_thinned_row_is_evenly_sampled():
    timeline = Timeline(100)
    for at in range(1000):
        timeline.add("part", "row", "level", Event(at, at, "row", {"value": at}))
    timeline.add("part", "rare", "level", Event(7, 7, "rare", {"value": 1}))
    row, rare = timeline.rows
    kept = [event.begin_ns for event in row.events]
    assert kept == list(range(0, 1000, row.stride))
    assert row.stride == 16 and len(rare.events) == rare.stride == 1
    assert list(timeline.sampled()) == ["part, row: every 16th"]


def test_packets_of_a_switch_are_where_the_record_has_them(tmp_path):
    written("switch", tmp_path / "t.json")
    found = by_process(load_trace(tmp_path / "t.json"))
    spans = [event for event in found["packets"] if event["ph"] == "b"]
    assert (
        len({event["name"] for event in spans}) == len(spans) == scenario("switch").record.packets
    )
    stays = Counter(e["name"] for name, es in found.items() if "cylinder" in name for e in es)
    assert stays["packet 0"] >= 2


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("switch/load-latency", "cannot be traced: records nothing"),
        ("switch/networks", "cannot be traced: is of a network"),
    ],
)
def test_a_switch_without_a_record_has_no_timeline(name, said):
    with pytest.raises(ScenarioError, match=said):
        simulated_timeline(load(name), 1, 1000)


def test_a_file_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(OutputError, match=r"cannot write the trace .*: Is a directory"):
        write_trace(tmp_path, Timeline(10), {})


def test_an_empty_timeline_is_a_file_too(tmp_path):
    write_trace(tmp_path / "t.json", Timeline(10), {"what": "nothing"})
    assert check_trace(json.loads((tmp_path / "t.json").read_text("utf-8")))
