"""Does the model of Qpid over three networks give the published order, and does it turn?"""

import pytest
from claim_runs import changed, claim_of, claims_of, runs_of

LATENCY, COMBINED = "osu-qpid/latency", "osu-qpid/exchanges"


@pytest.fixture(scope="module")
def studies():
    return runs_of("osu-qpid")


@pytest.fixture(scope="module")
def claims(studies):
    return claims_of(studies)


def test_every_sentence_is_decided_and_confirmed(claims):
    assert list(claims) == [f"OSU-{number}" for number in range(1, 6)]
    assert {claim.verdict for claim in claims.values()} == {"confirmed"}
    assert [id_ for id_, claim in claims.items() if claim.basis == "by definition"] == [
        "OSU-4",
        "OSU-5",
    ]


def test_without_its_set_up_sdp_is_ahead_from_the_smallest_message_on(studies):
    (study,) = (one for one in studies if one.scenario.name == LATENCY)
    rows = study.wide.groupby("point")[["latency", "setup"]].mean().join(study.points)
    rows["rest"] = rows["latency"] * (1 - rows["setup"])
    table = rows.pivot_table(index="message_bytes", columns="link", values="rest")
    assert (table["sdp-ddr"] < table["ipoib-ddr"]).all()
    assert (table["ipoib-ddr"] < table["1gige"]).all()


@pytest.mark.parametrize(
    ("id_", "study", "metric", "function"),
    [
        ("OSU-1", LATENCY, "latency", lambda keys, value: 1 + (keys["link"] == "ipoib-ddr")),
        ("OSU-2", LATENCY, "latency", lambda keys, value: 1 + (keys["link"] == "sdp-ddr")),
        ("OSU-3", LATENCY, "setup", lambda keys, value: 0.1),
        ("OSU-3", LATENCY, "setup", lambda keys, value: 0.5),  # of the others, too
        ("OSU-4", LATENCY, "links", lambda keys, value: 1.0),
        ("OSU-5", COMBINED, "megabytes", lambda keys, value: 0.0),
    ],
)
def test_a_sentence_is_not_confirmed_by_other_figures(studies, id_, study, metric, function):
    claim = claim_of(changed(studies, study, metric, function), id_)
    assert claim.verdict == "not reproduced"
