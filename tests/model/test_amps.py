"""Does the model of durable queues give the ratios of the comparison, from storage and broker?"""

import pytest
from claim_runs import changed, claim_of, claims_of, runs_of

QUEUES, ACKS = "amps/queues", "amps/acknowledgements"
OURS = "amps-5"


@pytest.fixture(scope="module")
def studies():
    return runs_of("amps")


@pytest.fixture(scope="module")
def claims(studies):
    return claims_of(studies)


def test_every_sentence_is_decided_and_confirmed(claims):
    assert list(claims) == [f"AMPS-{number}" for number in range(1, 9)]
    assert {claim.verdict for claim in claims.values()} == {"confirmed"}
    assert [id_ for id_, claim in claims.items() if claim.basis == "by definition"] == [
        "AMPS-7",
        "AMPS-8",
    ]


def test_storage_limits_the_log_on_the_disk_and_the_broker_all_else(studies):
    (study,) = (one for one in studies if one.scenario.name == QUEUES)
    found = {
        (keys["broker"], keys["storage"]): study.bottleneck(int(point))[0]
        for point, keys in study.points.iterrows()
    }
    assert found == {
        (OURS, "hdd-7200"): "storage",
        (OURS, "nvme-p3700"): "broker: deliver",
        ("rabbitmq-3.6", "hdd-7200"): "broker threads",
        ("rabbitmq-3.6", "nvme-p3700"): "broker threads",
    }


def test_on_the_disk_amps_writes_at_nearly_the_bandwidth(studies):
    (study,) = (one for one in studies if one.scenario.name == QUEUES)
    keys = study.points
    rates = study.wide.groupby("point")["rate_in"].mean()
    for point, rate in rates.items():
        row = keys.loc[point]
        if (row["broker"], row["storage"]) == (OURS, "hdd-7200"):
            written = rate * (row["message_bytes"] + 200)
            # 1 ms beside the 6.6 ms of each MiB
            assert 0.8 * 160e6 < written < 160e6 / (1 + 1 / 6.6) * 1.05


@pytest.mark.parametrize(
    ("id_", "study", "metric", "function"),
    [
        (
            "AMPS-1",
            QUEUES,
            "rate_in",
            lambda keys, value: value * (1 + 9 * (keys["broker"] == OURS)),
        ),
        ("AMPS-2", QUEUES, "rate_in", lambda keys, value: 1.0),
        ("AMPS-3", QUEUES, "rate_out", lambda keys, value: 1.0),
        ("AMPS-4", QUEUES, "rate_out", lambda keys, value: value / keys["message_bytes"]),
        (
            "AMPS-5",
            QUEUES,
            "rate_in",
            lambda keys, value: value * (1 + (keys["storage"] == "nvme-p3700")),
        ),
        ("AMPS-6", QUEUES, "rate_out", lambda keys, value: 1.0),
        ("AMPS-6", QUEUES, "rate_in", lambda keys, value: 1e9 / keys["message_bytes"]),
        ("AMPS-7", ACKS, "ack_p99", lambda keys, value: value / 10),
    ],
)
def test_a_sentence_is_not_confirmed_by_other_figures(studies, id_, study, metric, function):
    claim = claim_of(changed(studies, study, metric, function), id_)
    assert claim.verdict == "not reproduced"
