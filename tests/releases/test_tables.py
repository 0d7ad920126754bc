"""Releases as tables: what each column can hold follows from what was published."""

from datetime import date

from adomnia.privacy.kinds import Boolean, Day, Quantity, Text
from adomnia.releases.tables import AttributeTable, build_catalog
from adomnia.statistics.products import Attribute

BINNED = Attribute("age", ("0 to 4", "5 to 9", None), "integer", (-0.5, 4.5, 9.5))


def columns(*attributes: Attribute) -> dict[str, object]:
    return {column.name: column.kind for column in AttributeTable("made", attributes).columns}


def test_declared_values_are_those_of_a_category_and_missing_is_null():
    assert columns(Attribute("sex", ("f", "m", None))) == {"sex": Text(("f", "m"))}
    assert columns(Attribute("smokes", (False, True, None), "boolean")) == {"smokes": Boolean()}
    assert columns(Attribute("kids", (0, 2, 5), "integer")) == {"kids": Quantity(0, 5, whole=True)}


def test_bins_are_numbers_between_their_ends_beside_a_category_of_them():
    assert columns(BINNED) == {"age": Quantity(0, 9, whole=True), "age_bin": Text(("0 to 4", "5 to 9"))}
    score = columns(Attribute("score", ("a", "b"), "number", (0.5, 1.5, 2.5)))["score"]
    assert (score.lower, score.upper, score.whole) == (0.5, 2.5, False)
    days = columns(Attribute("day", ("first",), "date", (-0.5, 30.5)))["day"]
    assert days == Day(date(1, 1, 1), date(1, 1, 31))


def test_a_bin_holds_its_lower_end_and_the_last_one_its_upper_end_too():
    table = AttributeTable("made", (BINNED, Attribute("score", ("a", "b"), "number", (0.0, 1.0, 2.0))))
    age, score, *_ = table.columns
    assert table.ends(age) == ((0.0, 4.0), (5.0, 9.0), (None, None))
    (first, below), (second, last) = table.ends(score)
    assert (first, second, last) == (0.0, 1.0, 2.0)
    assert 0.999 < below < 1.0


def test_the_catalog_has_releases_alone_whose_rows_are_nobodys():
    catalog = build_catalog([AttributeTable("made", (BINNED,))])
    assert [table.name for table in catalog.tables] == ["made"]
    assert str(catalog.unit) == "row"
    assert catalog.analysts == ()
