"""Does the model of ØMQ 0.2 give what its tests report, for the reasons that they give?"""

import pytest
from claim_runs import changed, claim_of, claims_of, runs_of

FLOW, LATENCY, BUFFERS = "zeromq/throughput", "zeromq/latency", "zeromq/buffers"
FITTED = {f"ZMQ-{number}" for number in (1, 9, 10, 11, 12, 14, 17)}


@pytest.fixture(scope="module")
def studies():
    return runs_of("zeromq")


@pytest.fixture(scope="module")
def claims(studies):
    return claims_of(studies)


def test_every_sentence_is_decided_and_confirmed(claims):
    assert list(claims) == [f"ZMQ-{number}" for number in range(1, 18)]
    assert {claim.verdict for claim in claims.values()} == {"confirmed"}


def test_a_value_that_was_fitted_says_so(claims):
    assert {id_ for id_, claim in claims.items() if claim.basis == "fitted"} == FITTED
    assert claims["ZMQ-9"].fitted_to == ("zeromq-0.2 decode",)


def test_the_bottleneck_moves_from_a_thread_to_the_network(studies):
    (study,) = (one for one in studies if one.scenario.name == FLOW)
    found = {}
    for point, keys in study.points.iterrows():
        stage = study.bottleneck(int(point))[0]
        found.setdefault((keys["streams"], keys["message_bytes"]), stage)
    assert {stage for (streams, _), stage in found.items() if streams == 1} == {"receiving thread"}
    assert found[4, 65536] == found[8, 1024] == "link"


@pytest.mark.parametrize(
    ("id_", "study", "metric", "function"),
    [
        ("ZMQ-1", LATENCY, "latency", lambda keys, value: 2 * value),
        ("ZMQ-2", LATENCY, "latency", lambda keys, value: value + 30),
        ("ZMQ-3", LATENCY, "latency", lambda keys, value: value / 2),
        ("ZMQ-4", LATENCY, "latency", lambda keys, value: keys["message_bytes"] ** 2),
        (
            "ZMQ-5",
            LATENCY,
            "latency",
            lambda keys, value: value * (9 if keys["client"] == "raw-tcp" else 1),
        ),
        ("ZMQ-6", FLOW, "rate_out", lambda keys, value: 2 * value),
        ("ZMQ-7", FLOW, "rate_out", lambda keys, value: value / 2),
        ("ZMQ-8", FLOW, "megabits", lambda keys, value: keys["message_bytes"]),
        ("ZMQ-9", FLOW, "megabits", lambda keys, value: 2 * value),
        ("ZMQ-10", FLOW, "megabits", lambda keys, value: 2 * value),
        ("ZMQ-11", FLOW, "megabits", lambda keys, value: 2 * value),
        ("ZMQ-12", FLOW, "density", lambda keys, value: 2 * value),
        ("ZMQ-13", FLOW, "density", lambda keys, value: 2 * value),
        ("ZMQ-14", FLOW, "density", lambda keys, value: 2 * value),
        ("ZMQ-15", BUFFERS, "rate_out", lambda keys, value: keys["buffer"]),
        ("ZMQ-16", BUFFERS, "rate_out", lambda keys, value: 1.0),
    ],
)
def test_a_sentence_is_not_confirmed_by_other_figures(studies, id_, study, metric, function):
    claim = claim_of(changed(studies, study, metric, function), id_)
    assert claim.verdict == "not reproduced"
