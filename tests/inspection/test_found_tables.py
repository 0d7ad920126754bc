"""Names are clean and distinct whatever a header says; types are guessed from names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.catalog.document_keys import NAME
from adomnia.catalog.model import RESERVED
from adomnia.inspection.found_tables import guess_type, numbers_rows, propose_names


@given(header=st.lists(st.text(max_size=80)))
def test_every_column_gets_a_name_that_a_catalog_accepts_and_no_two_the_same(header):
    names = propose_names(header)
    assert all(NAME.holds(name) and name == name.lower() and name not in RESERVED for name in names)
    assert len(set(names)) == len(names) == len(header)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Education Num", "education_num"),
        ("playerID", "player_id"),
        ("Culmen Length (mm)", "culmen_length_mm"),
        ("Größe", "grosse"),
        ("2B", "_2b"),
        ("order", "order_"),
        ("rank", "rank_"),
        ("日付", "column_1"),
    ],
)
def test_a_name_is_in_snake_case_and_means_nothing_to_sql(written, name):
    assert propose_names([written]) == [name]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("player_id", "id"),
        ("id", "id"),
        ("year_id", "integer"),
        ("date_egg", "date"),
        ("created_at", "date"),
        ("is_member", "boolean"),
        ("is", "text"),
        ("body_mass_g", "number"),
        ("age", "integer"),
        ("city", "text"),
    ],
)
def test_a_name_often_tells_a_type(name, kind):
    assert guess_type(name) == kind


def test_the_row_numbers_of_pandas_and_r_are_known():
    assert all(numbers_rows(0, written) for written in ("", "Unnamed: 0", "rownames", "index"))
    assert not numbers_rows(1, "")
    assert not numbers_rows(0, "indexed")
