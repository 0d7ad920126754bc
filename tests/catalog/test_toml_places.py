"""The line and column of every key of a valid TOML text, whatever style it is written in."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.catalog.toml_places import find_places, find_spans
from catalog.catalogs import CLINIC
from kit import hospital


@pytest.mark.parametrize(
    ("text", "path", "place"),
    [
        ("a = 1", ("a",), (1, 1)),
        ("# c\n\n  a = 1 # a = 2\nb = 2", ("b",), (4, 1)),
        ("[t]\na = 1", ("t",), (1, 2)),
        ("[t.u]\na = 1", ("t",), (1, 2)),
        ("[t.u]\na = 1", ("t", "u", "a"), (2, 1)),
        ("[ t . u ]\na = 1", ("t", "u", "a"), (2, 1)),
        ("[t.u]\na = 1\n[t]\nb = 1", ("t",), (3, 2)),
        ("[[t]]\na = 1", ("t", "a"), (2, 1)),
        ("a.b.c = 1", ("a", "b", "c"), (1, 1)),
        ("a.b.c = 1", ("a", "b"), (1, 1)),
        ("x = { a = 1, b = { c = 2 } }", ("x", "b", "c"), (1, 20)),
        ("x = {}\ny = []\nz = 1", ("z",), (3, 1)),
        ("x = [\n  1, # one\n  2,\n]\ny = 1", ("y",), (5, 1)),
        ("x = [[1], [{ a = 1 }]]\ny = 1", ("y",), (2, 1)),
        ('x = """\ny = 1\n""""\ny = 2', ("y",), (4, 1)),
        ("x = '''\ny = 1'\n'''\ny = 2", ("y",), (4, 1)),
        ('x = "]\\"[ # = "\ny = 2', ("y",), (2, 1)),
        ("x = 'c:\\'\ny = 2", ("y",), (2, 1)),
        ('"a b" = 1', ("a b",), (1, 1)),
        ("'a.b'.c = 1", ("a.b", "c"), (1, 1)),
        ('"\\u00e6" = 1', ("æ",), (1, 1)),
        ("x = 1979-05-27 07:32:00.5\ny = -1.5e3\nz = 1", ("z",), (3, 1)),
    ],
)
def test_a_key_is_found_where_it_stands(text, path, place):
    tomllib.loads(text)
    assert find_places(text)[path] == place


def paths_of(content, path=()):
    for name, value in content.items():
        yield (*path, name)
        if isinstance(value, dict):
            yield from paths_of(value, (*path, name))


def test_every_key_of_a_catalog_is_found():
    assert set(paths_of(tomllib.loads(CLINIC))) == set(find_places(CLINIC))


names = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=8)
scalars = st.one_of(st.integers(), st.booleans(), names)
contents = st.recursive(
    st.dictionaries(names, scalars), lambda inner: st.dictionaries(names, scalars | inner), max_leaves=8
)


def quoted(text):
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def scalar(value):
    return quoted(value) if isinstance(value, str) else str(value).lower()


def inline(value):
    if not isinstance(value, dict):
        return scalar(value)
    return "{" + ", ".join(f"{quoted(name)} = {inline(inner)}" for name, inner in value.items()) + "}"


def on_one_line_each(content):
    return "\n".join(f"{quoted(name)} = {inline(value)}" for name, value in content.items())


def under_headings(content, path=()):
    """Inner dictionaries have headings, values are arrays over several lines with misleading comments."""
    inner = {name: value for name, value in content.items() if isinstance(value, dict)}
    own = [f"{quoted(name)} = [ # = ]\n {scalar(content[name])},\n]" for name in content if name not in inner]
    headed = [
        f"[{'.'.join(map(quoted, (*path, name)))}]\n{under_headings(value, (*path, name))}"
        for name, value in inner.items()
    ]
    return "\n".join([*own, *headed])


@pytest.mark.parametrize("style", [on_one_line_each, under_headings])
@given(content=contents)
def test_every_key_of_every_text_is_found_and_no_other(style, content):
    text = style(content)
    assert set(paths_of(tomllib.loads(text))) == set(find_places(text)) == set(paths_of(content))
    for path, (line, column) in find_places(text).items():
        rest = text.split("\n")[line - 1][column - 1 :]
        assert rest.startswith((f"{quoted(path[-1])} = ", f"{'.'.join(map(quoted, path))}]"))


ODD = """\
"a.b" = 'x # no comment' # a comment = 1
list = [ { inner = 1 }, [2, 3], # of several
  "]" ]
[tables."odd name".columns]
"Education Num" = { type = "integer", lower = -1_0, when = 2020-01-01 12:30:00 }
text = \"\"\"
[not.a.heading]
key = 1
\"\"\"
dotted.key = 1.5
"""


def values_at(text):
    return {path: text[span.start : span.end] for path, span in find_spans(text).pairs.items()}


def test_every_value_of_a_catalog_is_found_where_it_stands():
    content, found = tomllib.loads(hospital.LINKED), values_at(hospital.LINKED)
    assert len(found) > 60
    for path, literal in found.items():
        held = content
        for name in path:
            held = held[name]
        assert tomllib.loads(f"value = {literal}")["value"] == held


def test_odd_spellings_are_told_apart_from_what_they_look_like():
    found = values_at(ODD)
    assert found["a.b",] == "'x # no comment'"
    assert found["tables", "odd name", "columns", "Education Num", "lower"] == "-1_0"
    assert found["tables", "odd name", "columns", "Education Num", "when"] == "2020-01-01 12:30:00"
    assert found["tables", "odd name", "columns", "dotted", "key"] == "1.5"
    assert found["list",].startswith("[ {")
    assert found["list",].endswith('"]" ]')
    assert [path for path, _ in find_spans(ODD).headings] == [("tables", "odd name", "columns")]


def test_a_section_reaches_to_the_next_heading():
    spans = find_spans("[a]\nx = 1\n[b]\ny = 2\n")
    assert spans.block_of(("a",)) == (0, 10)
    assert spans.block_of(("b",)) == (10, None)
    assert spans.block_of(("c",)) is None
