"""Is docs/claims.md what `dvsim validate --all` writes, byte for byte? README.md and
h3-model.md quote its goals, messaging-models.md its claims.

The longest test there is: it runs every published experiment in full. What it says of the claims
is what the README and the documentation may say.
"""

from pathlib import Path

import pytest

from dvsim.ledger import ENOUGH, gather
from dvsim.ledger.page import COMMAND, page
from dvsim.ledger.sent import ready
from dvsim.validation.claims import read_claims

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "claims.md"

pytestmark = pytest.mark.skipif(
    not ready(), reason="H3-24 needs RabbitMQ and librabbitmq: see tests/install-packages"
)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    return gather(out=tmp_path_factory.mktemp("runs"))


def test_the_page_is_what_the_command_writes(ledger):
    found = page(ledger)
    assert found == PAGE.read_text(encoding="utf-8"), f"write it again: {COMMAND}"


def test_every_claim_has_a_verdict_from_a_run(ledger):
    assert {claim.id for claim in ledger.claims} == set(read_claims())
    assert [claim.id for claim in ledger.claims if "not run" in claim.note] == []
    assert [claim.id for claim in ledger.claims if claim.value is None] == []


def test_each_claim_that_is_not_confirmed_is_explained(ledger):
    silent = [
        claim.id
        for claim in ledger.claims
        if (claim.verdict != "confirmed") != bool(claim.explanation)
    ]
    assert silent == []


def test_enough_are_confirmed_without_a_parameter_of_their_own(ledger):
    assert ledger.tally.counted >= ENOUGH, ledger.tally
