"""Is there nothing in dvsim that runs what somebody else wrote? The source itself is read.

The threat model, `docs/security.md`, rests on these rules.
"""

import ast
import re
from pathlib import Path

import pytest

import dvsim

ROOT = Path(dvsim.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

MODULES = {
    *("pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"),
    *(
        "yaml",
        "xml.etree",
        "xml.dom",
        "xml.sax.handler",
        "code",
        "codeop",
        "runpy",
        "pty",
        "telnetlib",
        "http.server",
    ),
}
"""Read data that can run code, or run code or a shell themselves."""

CALLS = {
    *("eval", "exec", "compile", "__import__", "input"),
    *("os.system", "os.popen", "os.spawnl", "tempfile.mktemp", "tempfile.NamedTemporaryFile"),
    *("pd.read_pickle", "pd.eval", "pandas.read_pickle", "subprocess.getoutput"),
    *("subprocess.getstatusoutput", "ssl._create_unverified_context"),
}
KEYWORDS = {"shell": True, "allow_pickle": True, "verify": False, "check_hostname": False}


def name_of(node):
    """Return a call's dotted name; `query` and `eval` of a table are known by their last part."""
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def broken_rules(tree):
    """Yield line and rule for all that must not be there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [one.name for one in node.names]
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                if name in MODULES or name.rpartition(".")[0] in MODULES:
                    yield node.lineno, f"imports {name}"
        elif isinstance(node, ast.Call):
            name = name_of(node.func)
            if name in CALLS or name.endswith((".eval", ".query")):
                yield node.lineno, f"calls {name}"
            for keyword in node.keywords:
                value = getattr(keyword.value, "value", None)
                if keyword.arg in KEYWORDS and value is KEYWORDS[keyword.arg]:
                    yield node.lineno, f"passes {keyword.arg}={value}"
        elif isinstance(node, ast.Assert) and not is_narrowing(node.test):
            yield node.lineno, "asserts more than a type: python -O would let it pass"


def is_narrowing(test):
    """Say whether an assertion tells mypy a type, rather than checking an input."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
    if isinstance(test, ast.Compare):
        return isinstance(test.ops[0], ast.IsNot) and test.comparators[0].value is None
    return isinstance(test, ast.Call) and name_of(test.func) == "isinstance"


def test_nothing_runs_what_is_read():
    broken = []
    for path in FILES:
        tree = ast.parse(path.read_text("utf-8"))
        # those of a module are about constants of ours
        tree.body = [node for node in tree.body if not isinstance(node, ast.Assert)]
        broken += [f"{path}:{line}: {rule}" for line, rule in broken_rules(tree)]
    assert len(FILES) > 300
    assert broken == []


def test_templates_mark_as_safe_only_what_was_escaped_before():
    """What is placed as it is: figures, whose texts are escaped, and the data of the player."""
    safe = {
        path.name: [part.split("}}")[0].strip() for part in path.read_text("utf-8").split("{{")
                    if "safe" in part.split("}}")[0]]
        for path in ROOT.glob("view/*.jinja")
    }  # fmt: skip
    assert {name: parts for name, parts in safe.items() if parts} == {
        "page.html.jinja": ["f.json | safe", "r.data | safe", "r.chart | safe", "e.json | safe"],
    }


def test_the_threat_model_names_tests_and_targets_that_there_are():
    tests = ROOT.parent / "tests"
    page = (ROOT.parent / "docs" / "security.md").read_text("utf-8")
    sources = "\n".join(path.read_text("utf-8") for path in tests.rglob("test_*.py"))
    named = set(re.findall(r"`(test_\w+)`", page))
    assert len(named) > 15
    assert [name for name in sorted(named) if f"def {name}(" not in sources] == []
    files = re.findall(r"`((?:tests|dvsim)/[\w/]+(?:\.py)?)`", page)
    assert [path for path in files if not (ROOT.parent / path).exists()] == []
    targets = (tests / "fuzz" / "python" / "targets.py").read_text("utf-8")
    told = re.findall(r"targets? ((?:`\w+`(?:, )?)+)", page)
    words = re.findall(r"`(\w+)`", "".join(told))
    assert len(words) > 10
    assert [word for word in words if f'"{word}": "target_' not in targets] == []


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from xml.etree import ElementTree",
        "eval('1')",
        "import os\nos.system('ls')",
        "import subprocess\nsubprocess.run('ls', shell=True)",
        "np.load(path, allow_pickle=True)",
        "table.query(text)",
        "assert size > 0",
        "assert a is not None and b",
    ],
)
def test_the_rules_can_be_broken(text):
    assert list(broken_rules(ast.parse(text)))


@pytest.mark.parametrize(
    "text", ["assert a is not None", "assert isinstance(a, int)", "assert not isinstance(a, int)"]
)
def test_the_rules_can_be_kept(text):
    assert not list(broken_rules(ast.parse(text)))
