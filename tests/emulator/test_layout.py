"""Does what hosts of a job, joiners and programs say to each other get a new number with a change?

Two versions of dvsim talk to each other if they have the same JOB_LAYOUT. A change of a struct or
record therefore needs a higher JOB_LAYOUT, and here the new digest, which the failing test prints.
"""

import hashlib
import re

from emulator_build import ROOT

LAYOUT = (23, "c23f24ef6fc61eb4")
"""JOB_LAYOUT, and the digest of what it stands for."""
EMULATOR = ROOT / "emulator"
SAID = {
    "src/job.h": r"(?:struct|enum) \w* ?\{.*?\n?\};",
    "src/trace.h": r"struct \w+ \{.*?\};",
    "src/timed/shared.h": r"(?:struct|enum) \w* ?\{.*?\};",
    "src/functional/remote.h": r"enum \w* ?\{.*?\};|record_words\(.*?\n\}|record_word\(.*?\n\}",
    "launcher/hosts.h": r"(?:enum|struct) host_\w+ \{.*?\};|struct clock_sample \{.*?\};",
    "launcher/look.h": r"struct (?:card_look|look_wait) \{.*?\};|enum card_away \{.*?\};",
    "launcher/join.h": r"(?:struct|enum) \w+ \{.*?\};",
    "hosts/agent.h": r"enum \{\s*FRAME_WORDS.*?\};",
    "hosts/fabric.c": r"struct greeting \{.*?\};",
}
"""What of each file is said, or shared."""


def said() -> str:
    """Return the digest of all declarations of it, without comments and blanks."""
    text = []
    for name, what in SAID.items():
        source = re.sub(r"/\*.*?\*/", "", (EMULATOR / name).read_text("utf-8"), flags=re.S)
        found = re.findall(what, source, flags=re.S)
        assert found, name
        text += [re.sub(r"\s+", " ", part) for part in found]
    return hashlib.sha256("\n".join(text).encode()).hexdigest()[:16]


def test_what_is_said_has_a_number_of_its_own():
    header = (EMULATOR / "src" / "job.h").read_text("utf-8")
    layout = int(re.search(r"JOB_LAYOUT = (\d+)", header)[1])
    assert (layout, said()) == LAYOUT, "raise JOB_LAYOUT (emulator/src/job.h), and LAYOUT here"
