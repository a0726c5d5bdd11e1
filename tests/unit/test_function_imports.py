"""Do functions import only what would slow the start of every command?"""

import pytest
from imports import ROOT, Import, imports_of, loaded_by, modules

HEAVY = {  # what stays out of a start, as long as no question needs it
    *("numpy", "pandas", "pyarrow", "networkx"),  # tables and graphs
    *("scipy.optimize", "scipy.sparse", "scipy.special", "scipy.stats"),
    *("pydantic", "importlib.metadata"),  # scenarios, and kinds that others install
    "pathlib",  # with urllib and ipaddress
    "dvsim.arguments",  # what `import dvsim` begins with
    *("altair", "vl_convert", "jinja2", "markupsafe", "dvsim.view"),  # pages
    *("rich", "distributed"),  # a terminal, a cluster
    "dvsim.broker",  # real nodes
}
STARTED = "dvsim.cli.main"


def heavy(names):
    """Return the heavy packages among the names of modules."""
    return {one for one in HEAVY if any(f"{name}.".startswith(f"{one}.") for name in names)}


def is_needed(module, one):
    """Return whether an import may stand in a function of a module.

    A verb may keep all modules out of ``dvsim --help``; ``kind.py``, which is read for scenarios of
    other kinds too, those of its own package.
    """
    known, new = loaded_by(module), loaded_by(one.module)
    if module.startswith("dvsim.cli.") or module.endswith(".verb"):
        later = new - known - loaded_by(STARTED)
        return any(name.startswith("dvsim.") for name in later) or heavy(later) != set()
    package, _, name = module.rpartition(".")
    own = package.startswith("dvsim.kinds.") and name == "kind"
    return heavy(new) > heavy(new) & heavy(known) or (own and one.module.startswith(package))


def test_functions_import_only_what_would_slow_the_start():
    files = modules() | {ROOT / "__init__.py": "dvsim"}
    assert [
        f"{path.relative_to(ROOT)}:{one.line}: {one.module}"
        for path, module in files.items()
        for one in imports_of(path)
        if one.in_function and not is_needed(module, one)
    ] == []


@pytest.mark.parametrize(
    ("module", "imported", "needed"),
    [
        ("dvsim.table.estimate", "scipy.special.stdtrit", True),
        ("dvsim.table.estimate", "json", False),
        ("dvsim.table.result", "pandas", False),
        ("dvsim.kinds.workload.kind", "dvsim.kinds.workload.model", True),
        ("dvsim.kinds.workload.session", "dvsim.kinds.workload.model", False),
        ("dvsim.cli.run", "dvsim.study.precision", True),
        ("dvsim.cli.run", "dvsim.errors", False),
    ],
)
def test_the_rule_tells_what_is_loaded_anyway(module, imported, needed):
    assert is_needed(module, Import(imported, 1, in_function=True)) is needed
