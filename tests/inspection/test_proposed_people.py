"""A draft proposes whom people's keys name; where it is in doubt it asks. It never takes rows for people in silence."""

from __future__ import annotations

import re
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.inspection.drafts import draft
from adomnia.inspection.files import find_tables
from adomnia.inspection.found_tables import FoundTable
from adomnia.inspection.proposed_people import propose_people

KEYS = ["Patienten-Nr.", "client", "id", "Fall-Nr.", "team_id", "SSN", "Kundennr", "subject"]


def table(name, *columns):
    return FoundTable(name, f"{name}.csv", [(column, "") for column in columns])


def unit_of(*tables):
    (line,) = re.findall(r'^# unit = "([^"]*)"', draft("d", tables), re.MULTILINE)
    return line


@pytest.mark.parametrize(
    ("tables", "unit"),
    [
        ([table("visits", "visit_id", "Patienten-Nr.", "age")], "visits.patienten_nr"),
        ([table("a", "x", "PatientID"), table("b", "patient_no", "y")], "a.patient_id"),
        ([table("orders", "id", "customer_id"), table("customers", "id", "email")], "customers.id"),
        ([table("a", "employee_id", "customer_id"), table("b", "Customer-ID")], "a.customer_id"),
        ([table("a", "team_id", "x"), table("b", "TEAM ID")], "a.team_id"),
        ([table("t", "id", "age")], "t.id"),
        ([table("visits", "visit_id", "age")], "?"),
        ([table("t", "age", "sex")], "row"),
        ([table("t", "Nachname", "age")], "?"),
        ([table("t", "Patienten-Nr.", "Patienten-Nr.", "age")], "?"),
    ],
)
def test_the_key_of_people_that_most_tables_have_is_proposed(tables, unit):
    assert unit_of(*tables) == unit


@given(
    columns=st.lists(st.sampled_from(["age", "sex", "income", "Größe", "town"]), unique=True),
    key=st.sampled_from(KEYS),
    place=st.integers(0, 5),
    spell=st.sampled_from([str, str.upper, str.lower]),
)
def test_rows_are_never_proposed_where_a_column_looks_like_a_key(columns, key, place, spell):
    names = [*columns[:place], spell(key), *columns[place:]]
    assert unit_of(table("t", *names)) != "row"


def test_what_is_in_doubt_is_asked_about_with_the_columns_by_name():
    said = draft("d", [table("visits", "visit_id", "age")])
    assert "These look like keys, or repeat:\n# visits.visit_id." in said
    assert "it hides one row, not one person" in said
    said = draft("d", [table("t", "Nr", "Arzt-Nr", "age")])
    assert "Is t.nr the same in all rows of one person" in said
    assert "t.arzt_nr" in said
    said = draft("d", [table("t", "patient_id", "employee_id")])
    assert "Other columns may name people too: t.employee_id." in said


def test_a_word_that_may_name_people_is_asked_about():
    assert "Is t.subject the same in all rows of one person" in draft("d", [table("t", "subject", "grade")])


def test_a_table_without_a_way_to_its_person_is_asked_about():
    said = draft("d", [table("people", "person_id"), table("towns", "town")])
    assert '# person = "? -> people.person_id"' in said


def test_tables_are_linked_through_others_but_not_through_keys_that_several_rows_share():
    tables = [table("people", "person_id"), table("visits", "visit_id", "person_id"), table("bills", "visit_id")]
    links = propose_people(tables).links
    assert {name: (link.column.name, link.parent.table.name) for name, link in links.items()} == {
        "visits": ("person_id", "people"),
        "bills": ("visit_id", "visits"),
    }


def test_a_table_that_shares_only_another_key_with_the_people_s_own_is_told_how_to_be_linked():
    said = draft("d", [table("cases", "case_no", "patient_no"), table("findings", "case_no", "value")])
    assert "# case_no leads to rows of cases, and from there to cases.patient_no." in said
    assert '# person = "? -> cases.patient_no"' in said


def write(folder, name, header, rows):
    (folder / name).write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n", encoding="utf-8")
    return folder / name


def test_with_a_look_the_key_that_repeats_and_links_tables_is_proposed_whatever_it_is_called(tmp_path):
    people = write(tmp_path, "a.csv", "Kürzel,Jahrgang", [(f"K{n}", 1950 + n % 9) for n in range(80)])
    visits = write(tmp_path, "b.csv", "wer,was", [(f"K{n * 7 % 80}", n % 3) for n in range(300)])
    found = find_tables(tmp_path, [visits, people], look=True)
    said = draft("d", found)
    assert '# unit = "a.kurzel"' in said
    assert "Is a.kurzel the same in all rows of one person" in said
    assert '# person = "wer -> a.kurzel"' in said
    assert unit_of(*find_tables(tmp_path, [visits, people])) == "row"  # headers tell nothing, and it says so
    assert "K7" not in said


def test_with_a_look_a_column_that_may_name_people_is_asked_about_and_categories_are_not(tmp_path):
    path = write(tmp_path, "t.csv", "wer,was,age", [(f"K{n % 70}", n % 3, n % 60) for n in range(200)])
    said = draft("d", find_tables(tmp_path, [path], look=True))
    assert '# unit = "?"' in said
    assert "# t.wer. If nobody" in said
    path = write(tmp_path, "s.csv", "was,age", [(n % 3, n % 60) for n in range(200)])
    assert unit_of(*find_tables(tmp_path, [path], look=True)) == "row"


@pytest.mark.parametrize("spelled", ["{}.0", "{}", "{}00000000000000000"])
def test_with_a_look_a_key_that_repeats_is_found_however_its_numbers_are_written(tmp_path, spelled):
    """pandas writes 1001.0 where some rows have no key; rows were proposed as the unit."""
    rows = [("" if n % 50 == 0 else spelled.format(1001 + n % 70), n % 3) for n in range(200)]
    path = write(tmp_path, "t.csv", "wer,was", rows)
    assert "# t.wer. If nobody" in draft("d", find_tables(tmp_path, [path], look=True))


def test_with_a_look_the_few_people_of_a_pilot_are_asked_about(tmp_path):
    path = write(tmp_path, "t.csv", "wer,was", [(f"K{n // 3}", n % 3) for n in range(45)])
    assert "# t.wer. If nobody" in draft("d", find_tables(tmp_path, [path], look=True))


@pytest.mark.parametrize("kind", [pa.float64(), pa.decimal128(38, 0)])
def test_with_a_look_a_key_is_found_that_a_program_stored_as_a_number(tmp_path, kind):
    keys = pa.array([1001 + n % 70 for n in range(200)]).cast(kind)
    pq.write_table(pa.table({"wer": keys, "was": pa.array([n % 70 + 0.5 for n in range(200)])}), tmp_path / "t.parquet")
    assert "# t.wer. If nobody" in draft("d", find_tables(tmp_path, [tmp_path / "t.parquet"], look=True))


def test_with_a_look_a_word_for_people_with_few_values_names_none(tmp_path):
    path = write(tmp_path, "t.csv", "subject,grade", [(("Maths", "Art")[n % 2], n % 5) for n in range(100)])
    assert unit_of(*find_tables(tmp_path, [path])) == "t.subject"
    assert unit_of(*find_tables(tmp_path, [path], look=True)) == "row"


def test_with_a_look_names_are_asked_about_only_if_they_repeat(tmp_path):
    for name, repeats in (("a.csv", False), ("b.csv", True)):
        path = write(tmp_path, name, "Nachname,age", [(f"N{n % 25 if repeats else n}", n % 60) for n in range(30)])
        assert unit_of(*find_tables(tmp_path, [path], look=True)) == ("?" if repeats else "row")


def test_of_several_tables_the_people_s_own_is_the_one_in_which_no_key_repeats(tmp_path):
    visits = write(tmp_path, "a.csv", "patient_id,cost", [(n % 40, n) for n in range(200)])
    people = write(tmp_path, "b.csv", "patient_id,born", [(n, 1950) for n in range(40)])
    assert unit_of(*find_tables(tmp_path, [visits, people])) == "a.patient_id"
    assert unit_of(*find_tables(tmp_path, [visits, people], look=True)) == "b.patient_id"


def ask_about(folder, place="t.wer"):
    return f"# {place}. If nobody" in draft("d", find_tables(folder, [next(folder.glob("t.*"))], look=True))


AS_WRITTEN = {
    "thousands with points": lambda n: f"{1001 + n:,}".replace(",", "."),
    "thousands with commas": lambda n: f'"{1001 + n:,}"',
    "thousands with blanks": lambda n: f"{1001 + n:,}".replace(",", " "),
    "shortened by a spreadsheet": lambda n: f"{1 + n / 100:.2f}E+05",
    "like days": lambda n: f"{1 + n % 28:02}.{1 + n // 28:02}.1999",
    "like times": lambda n: f"1999-01-01 {n // 60:02}:{n % 60:02}",
}


@pytest.mark.parametrize("spelled", AS_WRITTEN)
def test_with_a_look_a_key_that_looks_like_something_else_is_asked_about(tmp_path, spelled):
    """Rows were proposed as the unit."""
    write(tmp_path, "t.csv", "wer,was", [(AS_WRITTEN[spelled](n % 70), n % 3) for n in range(200)])
    assert ask_about(tmp_path)


def test_with_a_look_a_key_of_bytes_is_asked_about(tmp_path):
    keys = pa.array([bytes([n % 70, 255]) for n in range(200)])
    pq.write_table(pa.table({"wer": keys, "was": pa.array([n % 3 for n in range(200)])}), tmp_path / "t.parquet")
    assert ask_about(tmp_path)


@pytest.mark.parametrize(("name", "place"), [("", "t.column_1"), ("index", "t.index"), ("Unnamed: 0", "t.unnamed_0")])
@pytest.mark.parametrize("people", [3, 70, 200])
def test_with_a_look_a_first_column_numbers_rows_only_if_it_does_not_repeat(tmp_path, name, place, people):
    write(tmp_path, "t.csv", f"{name},was", [(n % people, n % 3) for n in range(200)])
    assert ask_about(tmp_path, place) == (people < 200)
    said = draft("d", find_tables(tmp_path, [tmp_path / "t.csv"], look=True))
    assert ("it numbers the rows" in said) == (people == 200)
    assert ("but its values repeat" in said) == (people < 200)


def test_with_a_look_fractions_and_days_that_few_rows_share_are_no_keys(tmp_path):
    """Days of a DATE are days, and measures are no keys."""
    days = pa.array([date(2020, 1, 1 + n % 28) for n in range(200)])
    shares = pa.array([n % 70 + 0.5 for n in range(200)])
    pq.write_table(pa.table({"wann": days, "was": shares}), tmp_path / "t.parquet")
    assert unit_of(*find_tables(tmp_path, [tmp_path / "t.parquet"], look=True)) == "row"
