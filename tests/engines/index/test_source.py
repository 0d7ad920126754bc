from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from adomnia.engines.duckdb import DuckDB
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.index.source import TableSource
from adomnia.errors import Refusal
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean, Day, Identity, Moment, Quantity, Text
from engines.databases import catalog, category, contents, people, whole

KINDS = {
    "number": Column("c", Quantity()),
    "boolean": Column("c", Boolean()),
    "text": Column("c", Text()),
    "category": category("c", "1", "a"),
    "date": Column("c", Day()),
    "timestamp": Column("c", Moment(zone="Europe/Oslo")),
    "id": Column("c", Identity()),
}
ARRAYS = {
    "whole": pa.array([1, None]),
    "unsigned": pa.array([1, None], pa.uint64()),
    "single": pa.array([1.0, None], pa.float32()),
    "double": pa.array([1.0, None]),
    "decimal": pa.array([Decimal("1.5"), None], pa.decimal128(10, 2)),
    "truth": pa.array([True, None]),
    "words": pa.array(["a", None]),
    "large words": pa.array(["a", None], pa.large_string()),
    "dictionary": pa.array(["a", None]).dictionary_encode(),
    "day": pa.array([date(2020, 1, 1), None]),
    "moment": pa.array([datetime(2020, 1, 1, 10), None]),  # noqa: DTZ001 - files hold moments without a zone
    "zoned": pa.array([datetime(2020, 1, 1, 10), None], pa.timestamp("us", "Europe/Oslo")),  # noqa: DTZ001 - as above
    "nothing": pa.nulls(2),
    "list": pa.array([[1], None]),
    "bytes": pa.array([b"a", None]),
    "struct": pa.array([{"a": 1}, None]),
}
FITS = {
    "number": {"whole", "unsigned", "single", "double", "decimal", "nothing"},
    "boolean": {"truth", "nothing"},
    "text": {"whole", "unsigned", "words", "large words", "dictionary", "nothing"},
    "category": {"whole", "unsigned", "words", "large words", "dictionary", "nothing"},
    "date": {"day", "moment", "zoned", "nothing"},
    "timestamp": {"day", "moment", "zoned", "words", "large words", "dictionary", "nothing"},
    "id": set(ARRAYS) - {"list", "bytes", "struct"},
}


@pytest.mark.no_cover
@pytest.mark.parametrize("held", ARRAYS)
@pytest.mark.parametrize("declared", KINDS)
def test_a_column_is_taken_if_it_holds_what_is_declared_and_refused_otherwise(declared, held):
    table = people(KINDS[declared])
    frame = pa.table({"person_id": [1, 2], "c": ARRAYS[held]})
    if held in FITS[declared]:
        engine = DuckDB.load(catalog(table), {"people": frame})
        assert len(contents(engine, "people")) == 2
        engine.close()
    else:
        with pytest.raises(Refusal, match=f"Column people.c is declared as {KINDS[declared].kind}, and people holds"):
            DuckDB.load(catalog(table), {"people": frame})


def test_a_declared_column_that_is_not_there_is_refused():
    with pytest.raises(Refusal, match=r"Column people\.age is declared, and people has none of that name"):
        DuckDB.load(catalog(people(whole("age", 0, 120))), {"people": pa.table({"person_id": [1], "years": [30]})})


def test_names_are_found_whatever_their_case():
    source = TableSource("people.csv", "people", {"Person_ID": "VARCHAR", "AGE": "DECIMAL(10,2)"}, DUCKDB, spelled=True)
    source.check(people(whole("age", 0, 120)))
    assert source.type_of("age") == "DECIMAL"
