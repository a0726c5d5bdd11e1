"""Are the published statements about the switch decided as their words say?"""

import dataclasses

import pytest
from claim_sources import DV
from run_builder import steady_tcp, tcp_scenario

from dvsim.contract.load import load
from dvsim.evidence.text import lines
from dvsim.evidence.validation import claimed, validate
from dvsim.session import run_scenarios
from dvsim.study.table import plain_lines
from dvsim.view.result_page import claims_sentences


@pytest.fixture(scope="module")
def studies():
    """All studies that the claims speak of, as packaged but with few slots and small switches."""
    few = {
        "switch/zero-load": ["traffic.slots=5_000"],
        "switch/saturation": [
            "vary=[{crossing=['brc','random','xor']},{angles=[1,2,3]},{height=[16,4096]}]",
            "traffic.slots=40",
            "traffic.warmup=150",
        ],
        "switch/fixed-ports": ["traffic.slots=1_000"],
        "switch/angles": [
            "vary=[{crossing=['brc','random','xor']},{height=[16,64]},{angles=[5,6,8]}]",
            "traffic.slots=1_000",
        ],
        "switch/butterfly": ["vary=[{height=[128,256]},{load=[0.5]}]", "traffic.slots=300"],
        "switch/butterfly-all": ["traffic.slots=300"],
        "switch/systems": [
            "vary=[{preset=['dv206','dv211','dv216'],planes=[16,16,1],slots=[60,80,80]}]"
        ],
    }
    scenarios = [load(name, options) for name, options in few.items()]
    return run_scenarios(scenarios, replications=2, out=None, workers=1)


@pytest.fixture(scope="module")
def validated(studies):
    return validate(studies)


@pytest.fixture(scope="module")
def claims(validated):
    return {claim.id: claim for claim in validated.claims}


def changed(studies, name, metric, function):
    """Return the studies with a metric of one of them changed, row by row."""
    result = []
    for study in studies:
        if study.scenario.name == name:
            table = study.values.copy()
            own = table["metric"] == metric
            rows = [study.scenario.points[point] for point in table["point"][own]]
            values = zip(rows, table["value"][own], strict=True)
            table.loc[own, "value"] = [float(function(point, value)) for point, value in values]
            result.append(dataclasses.replace(study, values=table))
        else:
            result.append(study)
    return result


def decided(studies, id_):
    """Return a claim, weighed with those of the studies that it speaks of."""
    asked = [study for study in studies if study.scenario.name in DV[id_].scenarios]
    return next(claim for claim in validate(asked).claims if claim.id == id_)


def test_all_eight_are_confirmed(claims):
    assert list(claims) == [f"DV-{number}" for number in range(1, 9)]
    assert {claim.verdict for claim in claims.values()} == {"confirmed"}


@pytest.mark.parametrize(
    ("id_", "value"),
    [("DV-1", 5), ("DV-2", 36), ("DV-4", 1), ("DV-5", 6), ("DV-7", 16), ("DV-8", 64)],
)
def test_what_is_exact_is_exact(claims, id_, value):
    assert claims[id_].value == value


@pytest.mark.parametrize(
    ("id_", "said"),
    [
        ("DV-1", "110 ns with slots of 22 ns; mean 5.0"),
        ("DV-2", "12 ports"),
        ("DV-3", "H = 4,096, brc, A = 1, 2: 0.2"),
        ("DV-3", "xor, A = 1 to 3: 0.1"),
        ("DV-4", "random, A = 1, 2, 4, 8: 64 ports 0.2"),
        ("DV-5", "brc: 6, 6; random: 6, 6; xor: 8, 8; exit at any angle"),
        ("DV-6", "one injecting angle of six: 1.96 at 128 ports and 2.1"),
        ("DV-6", "no switch could do better; with all angles injecting 0.5"),
        ("DV-8", " packets delivered of 3,"),
    ],
)
def test_the_note_says_what_the_verdict_rests_on(claims, id_, said):
    assert said in claims[id_].note


@pytest.mark.parametrize(
    ("id_", "name", "metric", "function"),
    [
        ("DV-1", "switch/zero-load", "p50", lambda point, value: 6),
        ("DV-3", "switch/saturation", "throughput", lambda point, value: value * 0.9),
        ("DV-4", "switch/fixed-ports", "throughput", lambda point, value: point["angles"]),
        ("DV-5", "switch/angles", "acceptance", lambda point, value: point["angles"] / 7),
        ("DV-6", "switch/butterfly", "acceptance", lambda point, value: value * 0.8),
    ],
)
def test_another_value_is_not_confirmed(studies, id_, name, metric, function):
    claim = decided(changed(studies, name, metric, function), id_)
    assert claim.verdict == "not reproduced"
    assert claim.value is not None


def test_the_crossing_that_decides_is_the_default(studies):
    def worse(point, value):
        return value if point["crossing"] == "brc" else value / 2

    for id_, name, metric in [
        ("DV-3", "switch/saturation", "throughput"),
        ("DV-4", "switch/fixed-ports", "throughput"),
    ]:
        assert decided(changed(studies, name, metric, worse), id_).verdict == "confirmed"


@pytest.mark.parametrize("angles", [1, 2])
def test_the_saturation_farther_from_two_ninths_decides(studies, angles):
    def worse(point, value):
        return value * 0.9 if point["angles"] == angles else value

    claim = decided(changed(studies, "switch/saturation", "throughput", worse), "DV-3")
    assert claim.verdict == "not reproduced"


def test_the_height_that_needs_most_angles_decides(studies):
    def worse(point, value):
        return 0.98 if (point["height"], point["angles"]) == (16, 6) else value

    claim = decided(changed(studies, "switch/angles", "acceptance", worse), "DV-5")
    assert claim.value == 8
    assert "brc: 8, 6;" in claim.note


def test_an_interval_that_reaches_below_is_not_enough_for_five_idle_angles(studies):
    study = next(study for study in studies if study.scenario.name == "switch/angles")
    table = study.values.copy()
    own = table["metric"] == "acceptance"
    table.loc[own & (table["replication"] == 1), "value"] = 1.0
    table.loc[own & (table["replication"] == 2), "value"] = 0.985
    others = [one for one in studies if one is not study]
    claim = decided([*others, dataclasses.replace(study, values=table)], "DV-5")
    assert claim.verdict == "not reproduced"
    assert "no number of angles is enough" in claim.note


def test_a_study_that_is_missing_is_named(studies):
    some = [study for study in studies if study.scenario.name != "switch/butterfly-all"]
    claim = decided(some, "DV-6")
    assert (claim.verdict, claim.note) == ("not reproduced", "not run: switch/butterfly-all")


def test_a_point_that_is_missing_is_named(studies):
    scenario = load("switch/angles").fixed("crossing", "brc").fixed("height", 16)
    (study,) = run_scenarios([scenario.fixed("slots", 50)], replications=1, out=None, workers=1)
    claim = decided([*studies, study], "DV-5")
    assert claim.verdict == "not reproduced"
    assert claim.note.startswith("not simulated: ")


def test_the_claims_of_a_source_are_there_when_a_run_of_it_is(studies):
    system = steady_tcp(tcp_scenario(8), 150_000)
    both = [claim.id[:2] for claim in validate([*studies, system]).claims]
    assert both == ["H3"] * 25 + ["DV"] * 8
    assert {claim.id[:2] for claim in validate([system]).claims} == {"H3"}
    other = load("switch/hot-spot", ["traffic.slots=5"]).fixed("load", 0.1)
    assert validate(run_scenarios([other], replications=1, out=None, workers=1)).claims == ()


def test_every_claim_names_packaged_scenarios():
    assert {entry.scenarios for entry in DV.values()}
    names = {name for entry in DV.values() for name in entry.scenarios}
    assert names <= claimed()
    assert {load(name).name for name in names} == names


def test_the_text_has_claims_and_no_empty_tables(validated):
    text = list(plain_lines(lines(validated)))
    assert text[0] == "Claims"
    assert claims_sentences(validated) == [
        "Of 8 claims of the source, 8 confirmed, 0 refuted and 0 not reproduced. "
        "3 of those confirmed are so by definition."
    ]
    seven = next(line for line in text if line.startswith("DV-7"))
    assert (
        seven
        == "DV-7  confirmed, by definition: A system has 16 parallel networks; claimed 16 planes, "
        + ("simulated 16 planes")
    )
