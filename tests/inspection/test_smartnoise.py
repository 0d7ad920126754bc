"""SmartNoise's metadata becomes a catalog that promises at least as much."""

from __future__ import annotations

import sys
import tomllib
from fractions import Fraction

import pytest

from adomnia.errors import Refusal
from adomnia.inspection.smartnoise import from_smartnoise
from adomnia.privacy.kinds import Boolean, Day, Identity, Quantity, Text
from adomnia.privacy.units import ROW
from catalog.catalogs import reading

SURVEY = """\
engine: pandas
"":
  survey:
    answers:
      max_ids: 4
      rows: 1000
      clamp_counts: false
      pid: {type: int, private_id: true}
      cost: {type: float, lower: 0}
    households:
      pid: {type: int, private_id: true}
      age: {type: int, lower: 0, upper: 100}
      income: {type: float, lower: 0.5, upper: 500000, nullable: true, missing_value: 0}
      region: {type: string, cardinality: 12}
      married: {type: boolean}
      since: {type: datetime, lower: 1900-01-01, upper: 2030-12-31}
      first name: {type: string}
      seen: {type: datetime}
"""


def filled_in(text):
    return text.replace("# epsilon", "epsilon")


def test_people_bounds_and_caps_are_carried_over(tmp_path):
    catalog = reading(tmp_path, filled_in(from_smartnoise(SURVEY)))
    assert catalog.name == "survey"
    assert str(catalog.unit) == "households.pid"
    assert [(table.name, table.source, table.rows_per_person) for table in catalog.tables] == [
        ("answers", "answers.csv", 4),
        ("households", "households.csv", 1),
    ]
    assert {column.name: column.kind for column in catalog.table("households").columns} == {
        "pid": Identity(person=True),
        "age": Quantity(Fraction(0), Fraction(100), whole=True),
        "income": Quantity(Fraction(1, 2), Fraction(500_000)),
        "region": Text(),
        "married": Boolean(),
        "since": catalog.table("households").column("since").kind,
        "seen": Day(),
    }
    assert catalog.table("households").column("since").kind.lower.year == 1900
    assert catalog.table("answers").column("pid").kind == Identity(person=True)
    assert catalog.table("answers").column("cost").kind == Quantity()


def test_what_is_left_out_is_said_with_the_reason():
    lines = from_smartnoise(SURVEY).splitlines()
    assert '# "answers.rows" is left out: the number of rows is private' in lines
    assert '# "cost.lower" is left out: both bounds are needed' in lines
    assert '# "income.missing_value" is left out: a NULL contributes nothing and is not replaced' in lines
    assert any(line.startswith('# "first name" is left out') for line in lines)
    assert "rows_per_person = 1  # SmartNoise's default; max_ids was not given" in lines


def test_budgets_are_never_made_up():
    content = tomllib.loads(from_smartnoise(SURVEY))
    assert content["budget"] == content["analysts"]["alice"] == {}


def test_row_privacy_makes_every_row_a_person(tmp_path):
    text = "survey:\n  t:\n    row_privacy: true\n    id: {type: int, private_id: true}\n    x: {type: int}\n"
    catalog = reading(tmp_path, filled_in(from_smartnoise(text)))
    assert catalog.unit == ROW
    assert catalog.table("t").rows_per_person == 1


def test_a_single_table_may_hold_several_rows_of_a_person(tmp_path):
    text = "t: {max_contrib: 7, id: {type: string, private_id: true}}"
    catalog = reading(tmp_path, filled_in(from_smartnoise(text)))
    assert catalog.name == "t"
    assert catalog.table("t").rows_per_person == 7


def test_a_table_name_that_no_catalog_takes_is_changed_and_its_file_is_not(tmp_path):
    text = '"my survey": {"my-table": {id: {type: int, private_id: true}}}'
    catalog = reading(tmp_path, filled_in(from_smartnoise(text)))
    assert (catalog.name, catalog.tables[0].name, catalog.tables[0].source) == ("my_survey", "my_table", "my-table.csv")


PERSON = "id: {type: int, private_id: true}"


def table(*lines):
    return "\n".join(["s:", "  t:", f"    {PERSON}", *(f"    {line}" for line in lines)])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            table("max_idz: 3"),
            "max_idz: is no key of SmartNoise. Fix: did you mean max_ids? (known are row_privacy, max_ids",
        ),
        (table("xyz: 3"), "xyz: is no key of SmartNoise. Fix: remove it (known are "),
        (table("max_ids: 0"), "max_ids: must be a whole number from 1 to 1,000,000, got 0. Fix: correct it."),
        (
            table("x: {type: blob}"),
            "x: has no type that SmartNoise knows: blob. Fix: use int, float, string, boolean, datetime.",
        ),
        (table("x: {lower: 1}"), "x: has no type that SmartNoise knows: None."),
        (
            table("x: {type: int, uper: 1}"),
            "x.uper: is no key of SmartNoise. Fix: did you mean upper? (known are type,",
        ),
        (table("x: {type: int, upper: 1, upper: 9}"), "x.upper: is given twice. Fix: remove one of them."),
        (table("x: {type: int, lower: 0.5}"), "x.lower: must be a whole number within 2**53 of zero, got 0.5."),
    ],
)
def test_a_key_that_is_wrong_is_refused_at_its_line(text, message):
    with pytest.raises(Refusal) as caught:
        from_smartnoise(text)
    key, _, rest = message.partition(": ")
    assert str(caught.value).startswith(f"s.t.{key} in the SmartNoise metadata {rest}")
    assert caught.value.position[0] == 4


@pytest.mark.parametrize("text", ["s: {t: {x: {type: int}}}", table("x: {type: int, private_id: true}")])
def test_a_table_must_say_which_one_column_names_the_person(text):
    with pytest.raises(Refusal, match=r"has [02] columns with private_id: true and no row_privacy: true") as caught:
        from_smartnoise(text)
    assert caught.value.what == "s.t in the SmartNoise metadata"


def test_names_that_are_empty_are_not_shown():
    with pytest.raises(Refusal) as caught:
        from_smartnoise(f'"": {{t: {{xyz: 1, {PERSON}}}}}')
    assert caught.value.what == "t.xyz in the SmartNoise metadata"


@pytest.mark.parametrize("text", ["", "just text", "a: {b: {c: {d: {e: {type: int}}}}}", "a: &a {b: *a}"])
def test_metadata_without_a_table_is_refused(text):
    with pytest.raises(
        Refusal, match=r"^The SmartNoise metadata holds no table\. Fix: give it schema, table and columns"
    ):
        from_smartnoise(text)


@pytest.mark.parametrize(("text", "position"), [("a: [1\nb: 2", (2, 2)), ("a: \x00", None)])
def test_what_is_not_yaml_is_refused_where_it_breaks(text, position):
    with pytest.raises(Refusal, match=r"^The SmartNoise metadata is not YAML\. Fix: correct it there") as caught:
        from_smartnoise(text)
    assert caught.value.position == position


def test_without_the_library_that_reads_yaml_it_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(
        Refusal, match=r"needs the package PyYAML, which is not installed\. Fix: pip install '\.\[smartnoise\]'"
    ):
        from_smartnoise("a: {}")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"a: {{t: {{{PERSON}}}}}\nb: {{T: {{{PERSON}}}}}", "has two tables of one name"),
        (
            f"a: {{t: {{{PERSON}}}, u: {{row_privacy: true, x: {{type: int}}}}}}",
            "hides rows in one table and people in another",
        ),
        (
            f"a: {{t: {{max_ids: 2, {PERSON}}}, u: {{max_ids: 2, {PERSON}}}}}",
            "has several tables, and in none of them one row a person",
        ),
    ],
)
def test_tables_that_make_no_catalog_together_are_refused(text, why):
    with pytest.raises(Refusal) as caught:
        from_smartnoise(text)
    assert (caught.value.what, caught.value.why) == ("The SmartNoise metadata", why)


def test_a_column_whose_name_yaml_reads_as_a_truth_is_left_out_and_not_misread():
    text = from_smartnoise(f"s: {{t: {{{PERSON}, no: {{type: int}}}}}}")
    assert '# "False" is left out: rename it in the file, the name is not free or not well formed' in text.splitlines()
