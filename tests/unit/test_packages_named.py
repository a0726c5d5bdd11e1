"""Are the Debian packages that brokers need named in one page, as errors name them?"""

import re
from pathlib import Path

from dvsim.broker import compile_bridge, install

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")), *ROOT.glob("*/README.md")]


def packages(text):
    """The packages that a text has apt install."""
    return {name for line in re.findall(r"apt install ([\w. -]+)", text) for name in line.split()}


def test_the_packages_of_brokers_are_named_in_one_page():
    told = packages(install.ADVICE) | packages(compile_bridge.ADVICE)
    assert told == {"rabbitmq-server", "librabbitmq-dev", "pkg-config"}
    texts = {page.relative_to(ROOT).as_posix(): page.read_text("utf-8") for page in PAGES}
    assert packages(texts["docs/broker.md"]) == told
    brokers = re.compile(r"\b(?:rabbitmq-server|librabbitmq-dev)\b")
    assert [page for page, text in texts.items() if brokers.search(text)] == ["docs/broker.md"]
