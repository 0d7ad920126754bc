"""A catalog that is right is read exactly; one that is wrong is refused with file, line, key, rule and fix."""

from __future__ import annotations

from contextlib import suppress
from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.catalog.facts import Facts
from adomnia.catalog.model import Link, Policy, Quota, View
from adomnia.catalog.read import read
from adomnia.errors import Refusal
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.filters import Budget
from adomnia.privacy.kinds import Boolean, Day, Identity, Quantity, Text
from adomnia.privacy.units import ROW, Unit
from catalog.catalogs import CLINIC, changed, reading
from conftest import FIXTURES
from kit.searches import examples


def refusal_cases():
    for block in (FIXTURES / "catalog" / "refusals.txt").read_text().strip().split("\n\n")[1:]:
        lines = block.split("\n")
        old, new, message = ([line[2:] for line in lines if line[0] == mark] for mark in "-+!")
        yield pytest.param("\n".join(old), "\n".join(new), message, id=" ".join(new) or f"without {old[0]}")


@pytest.mark.parametrize(("old", "new", "messages"), list(refusal_cases()))
def test_a_wrong_catalog_is_refused_with_file_line_key_rule_and_fix(tmp_path, old, new, messages):
    text = changed(old, new) if new else changed(f"{old}\n", "")
    with pytest.raises(Refusal) as caught:
        reading(tmp_path, text)
    first = str(caught.value).removesuffix(f" (and {len(messages) - 1} more: adomnia check lists all)")
    told = [first, *map(str, caught.value.others)]
    assert [message.replace(f"{tmp_path}/", "") for message in told] == messages
    line, column = caught.value.position
    assert 1 <= line <= text.count("\n") + 1
    assert column <= len(text.split("\n")[line - 1])


def test_a_right_catalog_is_read_exactly(tmp_path):
    catalog = reading(tmp_path, CLINIC)
    assert (catalog.name, catalog.version, catalog.folder) == ("clinic", 3, tmp_path)
    assert catalog.unit == Unit("people", "person_id")
    assert catalog.budget == Budget(10, 1e-6, approximate=True)
    assert [table.name for table in catalog.tables] == ["people", "visits", "items", "cities"]
    assert catalog.table("people").columns == (
        Column("person_id", Identity(person=True)),
        Column("age", Quantity(Fraction(0), Fraction(120), whole=True), Numbers.integers(0, 120)),
        Column("salary", Quantity(Fraction(0), Fraction(500_000)), Numbers.bounded(0, 500_000)),
        Column("city", Text(("Bergen", "Oslo"))),
        Column("smoker", Boolean()),
        Column("born", Day(date(1900, 1, 1), date(2030, 12, 31))),
        Column("name", Text()),
    )


def test_links_and_caps_are_read_as_they_are_written(tmp_path):
    catalog = reading(tmp_path, CLINIC)
    assert catalog.table("people").link is None
    assert catalog.table("people").rows_per_person == 1
    assert catalog.table("visits").link == Link("person_id", "people", "person_id")
    assert catalog.table("items").link == Link("visit_id", "visits", "visit_id")
    assert catalog.table("items").rows_per_person == 50
    assert catalog.table("cities").public
    assert not catalog.table("visits").public


def test_a_column_without_bounds_has_a_kind_and_no_domain(tmp_path):
    assert reading(tmp_path, CLINIC).table("visits").column("cost") == Column("cost", Quantity())


def test_values_of_a_public_table_are_sorted(tmp_path):
    assert reading(tmp_path, CLINIC).table("people").column("city").kind == Text(("Bergen", "Oslo"))


def test_values_that_are_listed_keep_their_order(tmp_path):
    assert reading(tmp_path, CLINIC).table("items").column("ward").kind == Text(("B", "A"))


def test_only_the_public_table_that_is_named_is_read(tmp_path):
    asked = []

    def facts_of(table):
        asked.append((table.name, table.source, table.public, table.columns))
        return [Facts(1, values=("Oslo",))]

    reading(tmp_path, CLINIC, facts_of)
    assert asked == [("cities", "cities.csv", True, (Column("city", Text()),))]


def unreadable(table):
    raise Refusal(f"The file {table.source}", f"has no column {table.columns[0].name}", "name one of: town")


def test_what_an_engine_says_against_a_public_table_is_told_at_the_line_that_named_it(tmp_path):
    with pytest.raises(Refusal) as caught:
        reading(tmp_path, CLINIC, unreadable)
    assert caught.value.what == f"tables.people.columns.city.values in {tmp_path}/catalog.toml"
    assert caught.value.why == "cannot be read: The file cities.csv has no column city"
    assert caught.value.fix == "name one of: town"
    assert caught.value.position == (21, 29)


def test_what_an_engine_says_against_a_declared_public_table_is_told_at_its_source(tmp_path):
    text = changed("public = true", 'public = true\ncolumns = { town = { type = "text" } }')
    with pytest.raises(Refusal) as caught:
        reading(tmp_path, text.replace('values = "cities.city"', 'values = ["Oslo"]'), unreadable)
    assert caught.value.what == f"tables.cities.source in {tmp_path}/catalog.toml"
    assert caught.value.why == "cannot be read: The file cities.csv has no column town"


def test_a_public_column_without_values_is_refused(tmp_path):
    with pytest.raises(Refusal, match=r"city\.values .* must number between 1 and 1000000, got 0"):
        reading(tmp_path, CLINIC, lambda table: [Facts(0)])


def test_a_public_column_that_its_table_declares_has_the_values_that_it_lends_to_a_private_one(tmp_path):
    text = changed("public = true", 'public = true\ncolumns = { city = { type = "text" } }')
    catalog = reading(tmp_path, text)
    assert catalog.table("cities").columns == (Column("city", Text(("Bergen", "Oslo"))),)
    assert catalog.table("cities").columns[0].kind == catalog.table("people").column("city").kind
    assert catalog.table("cities").repeats == (2,)


def test_only_public_tables_repeat_known_values(tmp_path):
    assert {table.repeats for table in reading(tmp_path, CLINIC).tables} == {()}


def test_a_catalog_has_no_views_unless_it_names_some(tmp_path):
    assert reading(tmp_path, CLINIC).views == ()
    assert reading(tmp_path, CLINIC + "[views]\n").views == ()


def test_views_are_read_as_they_are_written(tmp_path):
    text = CLINIC + '[views.Adults]\nsql = "SELECT * FROM people WHERE age >= 18"\n[views.b]\nsql = "nonsense"\n'
    views = (View("Adults", "SELECT * FROM people WHERE age >= 18"), View("b", "nonsense"))
    assert reading(tmp_path, text).views == views


def test_an_analyst_has_no_delta_unless_given_one_and_takes_what_the_dataset_takes(tmp_path):
    text = changed("epsilon = 2.0", 'epsilon = 2.0\npolicy = "on_demand"\n[analysts.Bob]\nepsilon = 1\ndelta = 1e-7')
    catalog = reading(tmp_path, text)
    assert catalog.analyst("alice").budget == Budget(2, 0, approximate=True)
    assert catalog.analyst("Bob").budget == Budget(1, 1e-7, approximate=True)
    assert catalog.analyst("carol") is None


def test_a_budget_is_pure_unless_it_says_otherwise(tmp_path):
    text = changed("delta = 1e-6\napproximate = true\n", "")
    catalog = reading(tmp_path, text)
    assert catalog.budget == Budget(10)
    assert not catalog.analyst("alice").budget.approximate


def test_a_delta_without_approximate_is_allowed_because_it_lets_pure_spends_add_up_by_rho(tmp_path):
    budget = reading(tmp_path, changed("approximate = true", "event_delta = 1e-7")).budget
    assert budget == Budget(10, 1e-6, approximate=False, event_delta=1e-7)
    assert budget.rho > 0


def test_every_row_may_be_a_person_of_its_own(tmp_path):
    text = changed('unit = "people.person_id"', 'unit = "row"')
    text = text.replace('person = "person_id -> people.person_id"\nrows_per_person = 10\n', "")
    text = text.replace("rows_per_person = 1\n", "")
    text = text.replace('person = "visit_id -> visits.visit_id"\nrows_per_person = 50\n', "")
    catalog = reading(tmp_path, text)
    assert catalog.unit == ROW
    assert all(table.link is None and table.rows_per_person == 1 for table in catalog.tables)
    assert catalog.table("people").column("person_id").kind == Identity()


def test_the_units_own_table_may_hold_several_rows_of_a_person_and_still_be_linked_to(tmp_path):
    catalog = reading(tmp_path, changed("rows_per_person = 1\n", "rows_per_person = 5\n"))
    assert catalog.table("people").rows_per_person == 5
    assert catalog.table("visits").column("person_id").kind == Identity(person=True)


def test_a_file_from_a_windows_editor_is_read(tmp_path):
    (tmp_path / "catalog.toml").write_bytes(b"\xef\xbb\xbf" + CLINIC.replace("\n", "\r\n").encode())
    assert read(tmp_path, lambda table: [Facts(1, values=("Oslo",))]).name == "clinic"


VALUES = ["0", "-1", "1e400", "nan", "true", '""', '"row"', '"a.b"', '"x -> y.z"', "[]", "{}", "[[]]", "2024-01-31"]
LINES = CLINIC.splitlines()


@settings(max_examples=examples(100))
@given(
    line=st.integers(0, len(LINES) - 1),
    value=st.sampled_from(VALUES),
    key=st.sampled_from(["", "type", "values", "person", "é", '"a b"', "lower", "tables", "columns"]),
    dropped=st.sets(st.integers(0, len(LINES) - 1), max_size=2),
)
def test_whatever_is_wrong_is_refused_and_never_anything_else(tmp_path_factory, line, value, key, dropped):
    name, equals, _ = LINES[line].partition(" = ")
    lines = [*LINES[:line], f"{key or name} = {value}" if equals else f"{key} = {value}", *LINES[line + 1 :]]
    text = "\n".join(text for number, text in enumerate(lines) if number not in dropped)
    with suppress(Refusal):
        assert reading(tmp_path_factory.getbasetemp(), text).tables


def test_a_cap_that_is_chosen_privately_has_a_largest_and_a_price(tmp_path):
    text = changed("rows_per_person = 10", "rows_per_person = { max = 200, epsilon = 0.05 }")
    catalog = reading(tmp_path, text)
    visits = catalog.table("visits")
    assert (visits.rows_per_person, visits.profile_epsilon, visits.profile) == (200, Fraction(1, 20), None)
    assert catalog.table("items").profile_epsilon is None


def test_a_table_may_have_preview_rows_for_a_price(tmp_path):
    catalog = reading(tmp_path, changed("rows_per_person = 10", "rows_per_person = 10\npreview = 0.05"))
    assert catalog.table("visits").preview_epsilon == Fraction(1, 20)
    assert catalog.table("people").preview_epsilon is None


def test_the_people_of_the_units_own_table_may_have_a_profile_too(tmp_path):
    text = changed("rows_per_person = 1\n", "rows_per_person = { max = 7, epsilon = 1 }\n")
    assert reading(tmp_path, text).table("people").profile_epsilon == 1


@pytest.mark.parametrize(
    ("lines", "policy"),
    [
        ("", Policy()),
        ('policy = "on_demand"', Policy("on_demand")),
        ("ceiling = 0.5", Policy(ceiling=Fraction(1, 2))),
        ('policy = "equal_split"\nquestions = 20', Policy("equal_split", questions=20)),
        ('policy = "geometric"\nspend = 0.1', Policy("geometric", spend=Fraction(1, 10))),
        ('policy = "geometric"\nkeep = 0.9', Policy("geometric", spend=Fraction(1, 10))),
        (
            'policy = "geometric"\nkeep = 0.75\nceiling = 1',
            Policy("geometric", spend=Fraction(1, 4), ceiling=Fraction(1)),
        ),
    ],
)
def test_a_policy_is_read_exactly_and_keep_is_the_rest_of_spend(tmp_path, lines, policy):
    catalog = reading(tmp_path, changed("epsilon = 2.0\n", f"epsilon = 2.0\n{lines}\n"))
    assert catalog.analyst("alice").policy == policy


@pytest.mark.parametrize(
    ("lines", "quota"),
    [
        ("", Quota(None, 10**10)),
        ("largest_answer = 10_000", Quota(10_000, 10**10)),
        ('storage = "1.5GiB"', Quota(None, 3 * 2**29)),
        ('largest_answer = 1\nstorage = "0KB"', Quota(1, 0)),
    ],
)
def test_quotas_are_read(tmp_path, lines, quota):
    catalog = reading(tmp_path, changed("epsilon = 2.0", f"epsilon = 2.0\n{lines}"))
    assert catalog.analyst("alice").quota == quota


def test_who_may_publish_is_read_and_nobody_may_unless_it_says_so(tmp_path):
    catalog = reading(tmp_path, changed("epsilon = 2.0", "epsilon = 2.0\npublish = true"))
    assert catalog.analyst("alice").publish
    assert not reading(tmp_path, changed("epsilon = 2.0", "epsilon = 2.0")).analyst("alice").publish


def test_no_file_is_read_as_public_before_it_is_certain_which_are(tmp_path):
    looked_up = []

    def facts_of(table):
        looked_up.append(table.name)
        return [Facts(1, values=("Oslo",))]

    with pytest.raises(Refusal, match="is also the file of visits, which is private"):
        reading(tmp_path, changed('source = "cities.csv"', 'source = "visits.csv"'), facts_of)
    assert looked_up == []
