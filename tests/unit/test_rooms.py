"""Do imports run one way between the rooms, as CONTRIBUTING.md says?"""

import ast
import re

import networkx
import pytest
from imports import ROOT, imports_of, modules

from dvsim.contract import OWN

EVERYWHERE = {"atomic", "errors", "machine", "table.metrics", "_version"}
BELOW = {  # what each room may know
    "scenario": "",
    "contract": "scenario",
    "core": "scenario",
    "study.results": "contract scenario",
    "fabric": "core scenario study.results",
    "broker": "native",
    "emulation": "broker contract core scenario",
    "study": "contract core emulation pool progress scenario study.results",
    "sheets": "scenario",
    "consistency": "sheets",
    "evidence": "broker contract emulation scenario sheets study study.results",
    "view": "contract evidence scenario sheets study.results",
    "session": "contract core emulation pool scenario study study.results",
    "cli": (
        "broker consistency contract core emulation evidence fabric native pool progress view "
        "scenario session study study.results"
    ),
    "kinds.spec": "fabric scenario",  # what a switch refuses is refused by the switch itself
    "kinds": (
        "broker contract core emulation fabric kinds.spec native pool progress scenario "
        "study.results"
    ),
    "kinds.evidence": "contract evidence kinds kinds.spec scenario study study.results",
    "kinds.page": "kinds view study.results",
    "kinds.verb": "cli emulation kinds kinds.page view scenario study.results",
    "pool": "",
    "progress": "",
    "arguments": "",
    "native": "",
    "vic": "native",
}


def room_of(module):
    """Return the room of a dotted name: ``dvsim.core.card`` is of ``core``.

    Of the kinds there are five: what files hold, what runs them, and what they bring for evidence,
    pages and verbs; of studies two: what came out, and what runs them.
    """
    _, room, *inner = f"{module}.".split(".")
    if room == "table":
        return "table.metrics" if inner[0] == "metrics" else "study.results"
    if room == "study" and inner[0] not in RUNNING:
        return "study.results"
    return INSIDE_KINDS.get(inner[1], room) if inner[0] in PACKAGES else room


RUNNING = ("", "arguments", "design", "execute", "limit", "sweep", "sweeps")

INSIDE_KINDS = {
    "spec": "kinds.spec",
    "calibration": "kinds.evidence",
    "page": "kinds.page",
    "verb": "kinds.verb",
}

PACKAGES = {path.parent.name for path in (ROOT / "kinds").glob("*/__init__.py")}


def imported(path, types=True):
    """Return the dvsim modules that a file imports, anywhere; without `types` those it runs."""
    found = (one for one in imports_of(path) if types or not one.for_types)
    return {one.module for one in found if one.module.startswith("dvsim")}


def files_of(room):
    return [path for path, module in modules().items() if room_of(module) == room]


@pytest.mark.parametrize("room", BELOW)
def test_a_room_knows_only_those_below(room):
    allowed = {room, *BELOW[room].split(), *EVERYWHERE}
    wrong = {
        f"{path.relative_to(ROOT)} imports {module}"
        for path in files_of(room)
        for module in imported(path)
        if room_of(module) not in allowed
    }
    assert wrong == set()


def circles(known):
    """Return the circles among modules, given what each imports."""
    graph = networkx.DiGraph([(name, other) for name in known for other in known[name]])
    return [sorted(some) for some in networkx.strongly_connected_components(graph) if len(some) > 1]


def test_no_module_imports_itself_by_way_of_others_not_even_in_a_function():
    known = {name: set(imported(path, types=False)) for path, name in modules().items()}
    assert circles(known) == []
    assert "dvsim.cli.screen" in known["dvsim.cli.terminal"], "which a function of it imports"
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == [["b", "c"]]


def test_no_package_imports_itself_by_way_of_others_not_even_for_types():
    known = {}
    for path, module in modules().items():
        known.setdefault(package_of(module), set()).update(map(package_of, imported(path)))
    assert circles(known) == []
    assert {"evidence", "view", "cli", "contract"} < known["kinds"], "which nobody imports"


def package_of(module):
    """Return the name of the package, or of the module, right below dvsim.

    Most of the table is one package with the studies, which it replaces; what a metric is, is below
    the contract of a kind.
    """
    if module == "dvsim.table.metrics":
        return module
    return module.split(".")[1].replace("table", "study")


def test_no_module_of_evidence_imports_itself_by_way_of_others_not_even_for_types():
    assert circles({modules()[path]: set(imported(path)) for path in files_of("evidence")}) == []


def test_every_room_has_its_place():
    rooms = {room_of(module) for module in modules().values()}
    assert rooms - EVERYWHERE == set(BELOW)


def test_claims_of_a_source_know_evidence_and_scenarios_only():
    files = sorted(ROOT.parent.glob("scenarios/*/claims.py"))
    assert len(files) == 6
    known = {module for path in files for module in imported(path)}
    assert {room_of(module) for module in known} <= {"evidence", "kinds", "kinds.spec", "scenario"}
    assert {module for module in known if room_of(module) == "evidence"} == {
        "dvsim.evidence.claims"
    }


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_a_kind_knows_no_other(package):
    others = tuple(f"dvsim.kinds.{other}" for other in PACKAGES - {package})
    files = (ROOT / "kinds" / package).rglob("*.py")
    assert [p.name for p in files if any(m.startswith(others) for m in imported(p))] == []


def test_there_are_few_packages():
    rooms = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert len(rooms - {"sheets", "consistency"}) <= 13


ARGUMENT = r"[^()]*(?:\([^()]*\)[^()]*)*"
OF_KINDS = re.compile(rf"isinstance\({ARGUMENT}, \w*(?:Study|Scenario|Run)\)")


def outside_kinds(what):
    """Return what a pattern finds in each module outside the kinds, where it finds any."""
    found = {
        str(path.relative_to(ROOT)): what.findall(path.read_text("utf-8"))
        for path, module in modules().items()
        if room_of(module) not in ("kinds", *INSIDE_KINDS.values())
    }
    return {path: texts for path, texts in found.items() if texts}


def test_no_other_module_imports_the_package_of_a_kind():
    of_kinds = tuple(f"dvsim.kinds.{package}." for package in PACKAGES)
    others = {
        path: {name for name in imported(path) if f"{name}.".startswith(of_kinds)}
        for path, module in (modules() | {ROOT / "__init__.py": "dvsim"}).items()
        if not f"{module}.".startswith("dvsim.kinds.")
    }
    assert {path: names for path, names in others.items() if names} == {}
    assert imported(ROOT / "kinds" / "rabbitmq" / "kind.py") & {"dvsim.kinds.rabbitmq.spec"}


def test_only_kinds_ask_for_the_class_of_a_scenario_or_result():
    assert outside_kinds(OF_KINDS) == {}
    assert OF_KINDS.search("if isinstance(sweep.study, MessagingStudy):")


def texts_of(path):
    """Return the strings of a file."""
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return {node.value for node in nodes if isinstance(node, ast.Constant)}


def test_scenarios_name_no_kind():
    named = {path.name: texts_of(path) & OWN.keys() for path in files_of("scenario")}
    assert {name: kinds for name, kinds in named.items() if kinds} == {}
    assert "switch" in texts_of(ROOT / "kinds" / "switch" / "kind.py")


WORDS_OF_KINDS = re.compile(r"""over_vortex|["'](?:data-vortex|tcp)["']""")


def test_only_kinds_name_their_transports():
    assert outside_kinds(WORDS_OF_KINDS) == {}
    assert WORDS_OF_KINDS.search("if scenario.system.over_vortex:")
    assert WORDS_OF_KINDS.search('system.transport == "tcp"')
