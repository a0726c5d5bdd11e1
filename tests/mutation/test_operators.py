"""Are the mutants those that were meant, each a change of one place?"""

import operators_c
import operators_python
import pytest
import run
import trial

C = """\
#define TWO 2 /* a < b */
static int least(const int *p, int n)
{
    int m = -p[0];
    for (int i = 1; i < n; i++)
        if (p[i] < m && !p[i])
            m = p[i];
    return m; // m + 1
}
"""
PYTHON = '''\
def share(found: dict[str, int], total: int = 0) -> float | None:
    """Return 1 if all."""
    if not total or "é" not in found:
        return None
    found["n"] += 1
    return sum(x for x in found.values() if x >= 0) / (
        total)
'''
WANTED_C = {
    ("<", "<="), ("<", ">="), ("&&", "||"), ("!", ""), ("++", "--"), ("0", "(0 + 1)"),
    ("0", "(0 - 1)"), ("1", "(1 + 1)"), ("1", "(1 - 1)"), ("m = p[i]", ""), ("return m", ""),
    ("return m", "return 0"), ("p[i] < m && !p[i]", "!(p[i] < m && !p[i])"),
    ("int m = -p[0]", ""), ("*", "/"),
}  # fmt: skip
WANTED_PYTHON = {
    ("not total", "total"), ("or", "and"), ("not in", "in"), ("None", "1"), ("+=", "-="),
    ('not total or "é" not in found', '(not (not total or "é" not in found))'),
    ("1", "(1 + 1)"), ("1", "(1 - 1)"), ('found["n"] += 1', "pass"), (">=", ">"), (">=", "<"),
    ("x >= 0", "(not (x >= 0))"), ("0", "(0 + 1)"), ("0", "(0 - 1)"), ("/", "*"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("operators", "text", "wanted"),
    [(operators_c, C, WANTED_C), (operators_python, PYTHON, WANTED_PYTHON)],
)
def test_every_operator_is_used_where_it_can_be(operators, text, wanted):
    found = {(one.old, one.new) for one in operators.mutants("x", text)}
    more = found - wanted
    assert wanted <= found
    assert all(old.startswith("sum(") and new.startswith("(None") for old, new in more)


@pytest.mark.parametrize(("operators", "text"), [(operators_c, C), (operators_python, PYTHON)])
def test_a_mutant_differs_in_its_place_alone_and_keeps_the_lines(operators, text):
    for mutant in operators.mutants("x", text):
        after = mutant.applied_to(text)
        assert after != text
        assert after.count("\n") == text.count("\n")
        assert after.removeprefix(text[: mutant.start] + mutant.new) != after
        assert after.endswith(text[mutant.start + len(mutant.old) :])


def test_mutants_of_python_can_be_compiled():
    for mutant in operators_python.mutants("x", PYTHON):
        compile(mutant.applied_to(PYTHON), "x", "exec")


def test_the_line_of_a_difference_is_that_of_its_file():
    (one,) = [mutant for mutant in operators_c.mutants("x.c", C) if mutant.old == "!"]
    assert one.diff(C).splitlines() == [
        "x.c:6: negation removed",
        "-        if (p[i] < m && !p[i])",
        "+        if (p[i] < m && p[i])",
    ]


def test_every_file_that_is_changed_has_tests_that_exist():
    files = [one for pattern in (*run.C, *run.CLAIMS) for one in run.ROOT.glob(pattern)]
    rooms = {trial.room(str(one.relative_to(run.ROOT))) for one in files}
    assert rooms == set(trial.TESTS)
    for tests in trial.TESTS.values():
        programs = [f"model/{name}.c" for name in tests.programs]
        for name in (*programs, *tests.quick, *tests.wide, *trial.FIRST.values()):
            assert (run.ROOT / "tests" / name).is_file()
    for pattern in (*run.C, *run.CLAIMS, *trial.DOCTESTS):
        assert any(run.ROOT.glob(pattern)), pattern
