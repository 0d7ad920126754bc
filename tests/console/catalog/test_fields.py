from __future__ import annotations

import tomllib

import pytest

from adomnia.console.catalog.fields import KEYS, EditorField, list_column_keys, list_fields, read_path


def written(key: str, typed: str, tables: tuple[str, ...] = ("cities",)) -> object:
    literal = EditorField(("section", key), "", KEYS[key]).write(typed, tables)
    return None if literal is None else tomllib.loads(f"value = {literal}")["value"]


@pytest.mark.parametrize(
    ("key", "typed", "held"),
    [
        ("upper", " 500,000 ", 500_000),
        ("upper", "500_000", 500_000),
        ("upper", "-1.5", -1.5),
        ("epsilon", "1e-6", 1e-6),
        ("upper", "many", "many"),
        ("upper", "1\nepsilon = 3", "1\nepsilon = 3"),
        ("upper", "1 # no", "1 # no"),
        ("upper", "1,00", "1,00"),
        ("approximate", "true", True),
        ("policy", "geometric", "geometric"),
        ("storage", "500MB", "500MB"),
        ("values", "F\r\nM\n\n  X \n", ["F", "M", "X"]),
        ("values", 'a "quoted" one', ['a "quoted" one']),
        ("values", "cities.city", "cities.city"),
        ("values", "people.city", ["people.city"]),
        ("sql", "SELECT 1\nFROM people", "SELECT 1\nFROM people\n"),
        ("sql", 'SELECT """\n\\', 'SELECT """\n\\'),
        ("others", "", None),
    ],
)
def test_what_is_typed_becomes_one_value_and_nothing_else(key, typed, held):
    assert written(key, typed) == held


def test_a_long_list_has_a_line_for_each_value():
    field = EditorField(("values",), "", KEYS["values"])
    literal = field.write("\n".join(f"value {number}" for number in range(30)), ())
    assert literal.count("\n") == 31


def test_fields_show_what_the_catalog_holds():
    content = tomllib.loads('[c]\nupper = 500_000\nlower = 2020-01-01\nvalues = ["a", "b"]\nsql = "x"')
    shown = {field.path[-1]: field.value for field in list_fields(content, ("c",), KEYS) if field.value}
    assert shown == {"upper": "500,000", "lower": "2020-01-01", "values": "a\nb", "sql": "x"}


def test_a_column_has_the_fields_of_its_type():
    assert list_column_keys({"type": "number"}) == ["lower", "upper", "step"]
    assert list_column_keys({"type": "category"}) == ["values", "others"]
    assert list_column_keys({"type": "id"}) == []
    assert list_column_keys({"type": "nonsense"}) == []
    assert list_column_keys("nonsense") == []


def test_the_name_of_a_field_is_its_path_whatever_it_holds():
    path = ("tables", "a", "columns", 'b".c ü')
    assert read_path(EditorField(path, "", KEYS["upper"]).name) == path
    assert [read_path(name) for name in ("csrf", "[", '["a", 1]', "[1]", "[" * 5000)] == [None] * 5
