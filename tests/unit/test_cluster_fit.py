"""Does the fit of the cards come back to what they have, and is rabbitmq-model.md right?"""

from pathlib import Path
from runpy import run_path

import pytest

from dvsim.contract.find import kind_of
from dvsim.contract.load import load
from dvsim.study.limit import find_limits
from dvsim.study.limit.criterion import parse_criterion
from dvsim.study.limit.search import axis_of
from dvsim.study.table import plain_lines

SCRIPT = run_path(str(Path(__file__).parents[2] / "docs/rabbitmq_model.py"))
CLAIMS, fit, held_out, kept, lines, published, rate_of = map(
    SCRIPT.get, ("CLAIMS", "fit", "held_out", "kept", "lines", "published", "rate_of")
)
PAGE = Path(__file__).parents[2] / "docs/rabbitmq-model.md"
COLUMNS = [(queue, volume) for queue in ("mirrored", "quorum") for volume in ("io1", "gp2", "st1")]


def limits_of_the_page():
    """By cluster: the largest rate with a p99 below a second, and that of the study."""
    found = {}
    for line in PAGE.read_text("utf-8").splitlines():
        first, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == len(COLUMNS) and " / " in cells[0]:
            nodes, vcpus = map(int, first.split("x"))
            for column, cell in zip(COLUMNS, cells, strict=True):
                rates = [float(rate.replace(",", "")) for rate in cell.split(" / ")]
                found[*column, nodes, vcpus] = rates
    return found


def test_the_page_has_a_limit_for_each_rate_of_the_study_and_counts_those_that_are_near():
    found, rates = limits_of_the_page(), published()
    assert {one: of_study for one, (_, of_study) in found.items()} == rates
    near = [one for one, (limit, rate) in found.items() if abs(limit / rate - 1) <= 0.2]
    said = f"{len(near)} of the 42 are within 20 %, and {sum(map(held_out, near))} of the 34"
    assert said in PAGE.read_text("utf-8")


@pytest.mark.parametrize("cluster", [("mirrored", "io1", 3, 16), ("quorum", "st1", 9, 8)])
def test_a_shorter_search_finds_the_limits_of_the_page(cluster):
    queue, volume, nodes, vcpus = cluster
    shown, _ = limits_of_the_page()[cluster]
    own = {"queue": queue, "storage": CLAIMS.VOLUMES[volume], "nodes": nodes}
    own |= {"host": CLAIMS.HOSTS[vcpus], "seconds": 120}
    scenario = load("rabbit/one", [f"{key}={value}" for key, value in own.items()])
    kind = kind_of(scenario)
    axis = axis_of("rate", (0.9 * shown, 1.1 * shown), 0.04, kind.orders)
    criterion = parse_criterion("p99 < 1 s", kind.metrics(scenario))
    (limit,) = find_limits(scenario, "rate", axis, criterion)
    assert limit.outcome == "found"
    assert 0.96 * shown < limit.holds < limit.fails < 1.06 * shown


def test_eight_rates_of_42_are_fitted():
    rates = published()
    assert len(rates) == 42
    assert sum(map(held_out, rates)) == 34


def test_a_fit_from_afar_comes_back_to_the_cards():
    cards = {key: value for key, value in kept().items() if key in ("contention", "follow")}
    found = fit({key: 0.8 * value for key, value in cards.items()}, seconds=20)
    for key, value in cards.items():
        assert found[key] == pytest.approx(value, rel=0.05)


def test_the_table_has_each_number_and_each_rate_of_the_fit():
    text = "\n".join(plain_lines(lines(kept(), 2)))
    assert all(key in text for key in kept())
    assert text.count("3x36") == text.count("9x8") == 4


def test_a_cluster_whose_queues_cost_more_takes_less():
    one = ("quorum", "io1", 3, 36)
    assert rate_of(one, {"follow": 2 * kept()["follow"]}, 2) < 0.9 * rate_of(one, {}, 2)
