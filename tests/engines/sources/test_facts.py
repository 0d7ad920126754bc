"""What a public file shows of its columns is counted on what the index stores, and nothing else is read for it."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from math import inf, nan

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adomnia.catalog.facts import Facts
from adomnia.catalog.model import Table
from adomnia.engines.sources import facts
from adomnia.engines.sources.facts import find_facts
from adomnia.errors import Refusal
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean, Day, Identity, Moment, Quantity, Text
from engines.databases import category, whole

FREE, WHOLE, NOTE, DAY = (Column("c", kind) for kind in (Quantity(), Quantity(whole=True), Text(), Day()))
TIME, FIVE = Column("c", Moment(zone="Europe/Oslo")), datetime.fromisoformat("2020-01-01T05:00:00")
FIRST, LAST = date(2020, 1, 1), date(2021, 1, 1)


def table(*columns):
    return Table("cities", "cities.parquet", columns, public=True)


def found(folder, column, values):
    pq.write_table(pa.table({"c": values}), folder / "cities.parquet")
    (fact,) = find_facts(folder / "cities.parquet", table(column))
    return fact


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        (FREE, [1.5, -2.0, 1.5, None, nan, nan], Facts(2, -2.0, 1.5)),
        (FREE, [1.5, inf, inf, inf], Facts(1, 1.5, inf)),  # without bounds, infinities are NULL
        (FREE, [-inf, 3.0], Facts(1, -inf, 3.0)),
        (FREE, [-0.0, 0.0], Facts(2, 0.0, 0.0)),
        (FREE, pa.array([Decimal("0.10"), Decimal("7.50")]), Facts(1, 0.1, 7.5)),
        (FREE, pa.array([None, None], pa.float64()), Facts(0)),
        (WHOLE, [1, 1, 3], Facts(2, 1.0, 3.0)),
        (WHOLE, [0.6, 1.4, 2.0], Facts(2, 0.6, 2.0)),  # the index rounds before a join compares
        (whole("c", 0, 10), [-5, 0, 10, 11, 12], Facts(3, -5.0, 12.0)),  # and clamps
        (NOTE, ["a", "b", "a", "a", None], Facts(3, values=("a", "b"))),
        (NOTE, pa.array([], pa.string()), Facts(0)),
        (category("c", "a"), ["a", "b", "b", "b"], Facts(1)),
        (Column("c", Boolean()), [True, True, False], Facts(2)),
        (DAY, [LAST, FIRST, FIRST, None], Facts(2, FIRST, LAST)),
        (DAY, [datetime(2020, 1, 1, 5), datetime(2020, 1, 1, 9)], Facts(2, FIRST, FIRST)),  # noqa: DTZ001
        (DAY, pa.array([None], pa.date32()), Facts(0)),
        (TIME, ["2020-01-01 05:00:00Z", "2020-01-01T06:00"], Facts(2, FIVE.replace(hour=6), FIVE.replace(hour=6))),
        (TIME, pa.array([None], pa.timestamp("s")), Facts(0)),
        (DAY, pa.array([-1_000_000, 0], pa.date32()), Facts(1, date.min, date(1970, 1, 1))),  # before the first year
        (Column("c", Day(FIRST, LAST)), [date(1999, 1, 1), date(1998, 1, 1)], Facts(2, FIRST, FIRST)),
        (Column("c", Identity()), [1, 2, 3], Facts(3)),
    ],
)
def test_values_that_the_index_would_store_alike_are_counted_together(tmp_path, column, values, expected):
    fact = found(tmp_path, column, values)
    assert (fact.repeats, fact.lower, fact.upper) == (expected.repeats, expected.lower, expected.upper)
    assert sorted(fact.values) == sorted(expected.values)


def test_every_declared_column_has_facts_in_the_order_of_the_catalog(tmp_path):
    (tmp_path / "cities.csv").write_text(
        "city,n,region,code\nOslo,1,East,x\nBergen,2,West,y\nMoss,x,East,z\n,7,East,z\n"
    )
    columns = [Column("region", Text()), Column("code", Identity()), Column("n", Quantity(whole=True))]
    region, code, n = find_facts(tmp_path / "cities.csv", table(*columns))
    assert (region.repeats, sorted(region.values)) == (3, ["East", "West"])
    assert code == Facts(4)
    assert n == Facts(1, 1.0, 7.0)


def test_a_column_may_have_the_name_of_anything_that_counts_it(tmp_path):
    for name in ("x", "n", "rows", "cities", "count"):
        pq.write_table(pa.table({name: [5, 5, 6]}), tmp_path / "cities.parquet")
        assert find_facts(tmp_path / "cities.parquet", table(Column(name, Quantity()))) == (Facts(2, 5.0, 6.0),)


def test_more_texts_than_a_category_may_have_are_not_all_read(tmp_path, monkeypatch):
    monkeypatch.setattr(facts, "_MOST_VALUES", 3)
    assert len(found(tmp_path, NOTE, ["a", "b", "c", "d"]).values) == 3


def test_a_public_table_of_too_many_rows_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(facts, "MOST_ROWS", 3)
    assert found(tmp_path, NOTE, ["a"] * 3).repeats == 3
    with pytest.raises(Refusal, match=r"Source cities\.parquet has more than 3 rows, and a public table is read whole"):
        found(tmp_path, NOTE, ["a"] * 4)


def test_a_public_source_that_is_not_there_or_lacks_a_column_is_refused(tmp_path):
    with pytest.raises(Refusal, match="is not a file that can be read"):
        find_facts(tmp_path / "cities.csv", table(NOTE))
    (tmp_path / "cities.csv").write_text("city\nOslo\n")
    with pytest.raises(Refusal, match=r"Column cities\.c is declared, and cities\.csv has none of that name"):
        find_facts(tmp_path / "cities.csv", table(NOTE))


def test_a_public_source_of_another_type_is_refused(tmp_path):
    with pytest.raises(Refusal, match=r"Column cities\.c is declared as number, and cities\.parquet holds VARCHAR"):
        found(tmp_path, FREE, ["a"])


def test_a_public_source_that_cannot_be_read_to_its_end_is_refused(tmp_path):
    (tmp_path / "cities.csv").write_text("c\nOslo\nBergen,x\n")
    with pytest.raises(Refusal, match=r"Source cities\.csv cannot be read"):
        find_facts(tmp_path / "cities.csv", table(NOTE))


def test_a_name_that_would_match_other_files_means_itself(tmp_path):
    (tmp_path / "p1.csv").write_text("c\nMoss\n")
    (tmp_path / "p[1a]*?.csv").write_text("c\nOslo\n")
    (fact,) = find_facts(tmp_path / "p[1a]*?.csv", table(NOTE))
    assert fact.values == ("Oslo",)


def test_a_public_table_in_memory_shows_the_same():
    (fact,) = find_facts(pa.table({"c": ["a", "b", "a"]}), table(NOTE))
    assert (fact.repeats, sorted(fact.values)) == (2, ["a", "b"])
