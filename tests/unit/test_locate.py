"""Does every key of a TOML file have the line that it stands on?"""

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from dvsim.scenario.locate import locate

TEXT = r"""# a comment = 1
top = 1
dotted.inner = 2
"quoted.key" = 3
'single' = 4

[table]  # [not.a.table]
text = "a = 1 # [x]"
multi = '''
[no]
b = 2
''' # after
more = QQQ
c = "x" \QQQ [d]
e = 1QQQ"
list = [
  1, # ]
  { f = 1 },
]
inline = { g = { h = 1 } }

[table.sub."x y"]
i = 1
[[array]]
j = 1
[[array.inner]]
k = 1
[[array.inner]]
k = 2
[[array]]
j = 2
[array.table]
l = 1
""".replace("QQQ", '"""')  # three quotes, which cannot stand in this text


def test_every_key_has_its_line():
    tomllib.loads(TEXT)  # the fixture itself must be TOML
    lines = locate(TEXT)
    rows = TEXT.splitlines()
    expected = {
        ("top",): "top = 1",
        ("dotted",): "dotted.inner = 2",
        ("dotted", "inner"): "dotted.inner = 2",
        ("quoted.key",): '"quoted.key" = 3',
        ("single",): "'single' = 4",
        ("table",): "[table]  # [not.a.table]",
        ("table", "text"): 'text = "a = 1 # [x]"',
        ("table", "multi"): "multi = '''",
        ("table", "more"): 'more = """',
        ("table", "list"): "list = [",
        ("table", "inline"): "inline = { g = { h = 1 } }",
        ("table", "sub", "x y"): '[table.sub."x y"]',
        ("table", "sub", "x y", "i"): "i = 1",
        ("array", 0): "[[array]]",
        ("array", 0, "j"): "j = 1",
        ("array", 0, "inner", 1, "k"): "k = 2",
        ("array", 1, "j"): "j = 2",
        ("array", 1, "table", "l"): "l = 1",
    }
    assert {path: rows[lines[path] - 1] for path in expected} == expected


def test_nothing_inside_a_value_is_taken_for_a_key():
    roots = {path[0] for path in locate(TEXT)}
    assert roots == set(tomllib.loads(TEXT))


def test_a_list_is_where_it_starts_and_has_no_lines_inside():
    assert locate("\na = [\n{ b = 1 },\n]") == {("a",): 2}


def test_windows_line_ends_count_once():
    assert locate("a = 1\r\nb = 2\r\n")[("b",)] == 2


def test_an_escaped_key_is_found_by_its_meaning():
    assert locate('"\\u00e9" = 1')[("é",)] == 1


def test_an_empty_text_has_no_keys():
    assert locate("") == {}


VALUES = st.sampled_from(
    [
        "1",
        "1.5",
        '"x # [y] = 1"',
        "'''\n[z]\n'''",
        '"""\n"" a = 1\n"""',
        "[1, [2,\n3]]",
        "{ q = 1 }",
    ]
)


@given(st.lists(VALUES, min_size=1, max_size=12), st.integers(0, 3))
def test_each_key_of_any_document_is_on_the_line_that_names_it(values, blanks):
    gap = "\n" * blanks
    text = "".join(f"{gap}key{i} = {value}\n" for i, value in enumerate(values))
    assert set(tomllib.loads(text)) == {f"key{i}" for i in range(len(values))}
    rows = text.splitlines()
    for i in range(len(values)):
        assert rows[locate(text)[(f"key{i}",)] - 1].startswith(f"key{i} =")
