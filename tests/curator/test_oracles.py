"""Questions that were once oracles: one person's rows made them fail, take long, or show an exact number."""

from __future__ import annotations

import pyarrow as pa
import pytest

from adomnia.engines.duckdb import DuckDB
from adomnia.errors import Failure, Refusal
from adomnia.ledger import Ledger
from adomnia.privacy.kinds import LONGEST_TEXT
from adomnia.session.curator import Curator
from adomnia.sql.lower import lower
from kit.bits import SeededBits
from kit.effort import do_within
from kit.hospital import CATALOG, LINKED, curated, declare, person, visit

pytestmark = pytest.mark.no_cover  # tests of the modules have one example of each branch

GROWING = (
    "WITH t0 AS (SELECT person_id, CASE WHEN name = 'alice' THEN '{long}' ELSE 'y' END AS s FROM people), "
    "t1 AS (SELECT person_id, {copies} AS s FROM t0 UNION ALL SELECT person_id, 'z' AS s FROM people) "
    "SELECT COUNT(*) FROM t1 WHERE LENGTH(s) > {most}"
)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    return declare(tmp_path_factory.mktemp("oracles") / "hospital", LINKED)


def exact(curator, text):
    """The exact count before noise."""
    (output,) = lower(text, curator.catalog).outputs
    query = output.source.query
    (values,) = curator.engine.inner.run(curator.engine.render(query.inner), query.inner)
    return int(values)


def test_texts_do_not_grow_beyond_what_is_kept(catalog):
    long = "x" * LONGEST_TEXT
    text = GROWING.format(long=long, copies=" || ".join(["s"] * 4), most=LONGEST_TEXT - 1)
    longer = text.replace(f"> {LONGEST_TEXT - 1}", f"> {LONGEST_TEXT}")
    with curated(catalog, [person(1, name="alice"), person(2, name="bob")], []) as curator:
        assert exact(curator, text) == 1
        assert exact(curator, longer) == 0
        with pytest.raises(Refusal) as refused:
            lower(text.replace(long, long + "x"), catalog)
    assert refused.value.code == "bad_literal"


def test_texts_that_multiply_from_step_to_step_are_refused(catalog):
    steps = ", ".join(
        f"t{n} AS (SELECT person_id, {' || '.join(['s'] * 32)} AS s FROM t{n - 1} "
        "UNION ALL SELECT person_id, 'z' AS s FROM people)"
        for n in range(1, 4)
    )
    with pytest.raises(Refusal) as refused:
        lower(f"WITH t0 AS (SELECT person_id, name AS s FROM people), {steps} SELECT COUNT(*) FROM t3", catalog)
    assert refused.value.code == "too_complex"


def test_long_texts_are_cut_when_they_are_read(catalog):
    with curated(catalog, [person(1, name="x" * 5000)], []) as curator:
        assert exact(curator, f"SELECT COUNT(*) FROM people WHERE LENGTH(name) = {LONGEST_TEXT}") == 1


@pytest.mark.parametrize("days", [-(2**31) + 2, 2**31 - 1, -719_529])
def test_days_beyond_the_calendar_fail_nothing(catalog, days):
    people = pa.table({"person_id": [1]})
    frames = {
        "people": _empty(catalog, "people", people),
        "visits": _empty(
            catalog, "visits", pa.table({"person_id": [1], "day": pa.array([days], pa.int32()).cast(pa.date32())})
        ),
        "items": _empty(catalog, "items", pa.table({})),
    }
    ledger = Ledger.open(":memory:", catalog.budget, {each.name: each.budget for each in catalog.analysts})
    with Curator.open(catalog, DuckDB.load(catalog, frames), ledger, SeededBits(0)) as curator:
        parts = ("WEEK(day)", "YEAR(day)", "EXTRACT(doy FROM day)", "DATE_DIFF('day', day, DATE '2020-01-01')")
        asked = ", ".join(f"COUNT({part})" for part in (*parts, "DATE_TRUNC('week', day)", "day + 10"))
        assert _is_answered(curator.session("alice"), f"SELECT {asked} FROM visits")


def _is_answered(session, text):
    try:
        return len(session.sql(text, epsilon=1)) == 1
    except Failure:
        return False


def _empty(catalog, name, table):
    """A frame with all columns of a table, NULL where none is given."""
    rows = max(1, table.num_rows) if table.num_columns else 0
    columns = {
        column.name: table[column.name] if column.name in table.column_names else pa.nulls(rows)
        for column in catalog.table(name).columns
    }
    return pa.table(columns)


def test_pairs_of_one_persons_rows_are_few(catalog):
    sides = ", ".join(f"visits v{n}" for n in range(9))
    same = " AND ".join(f"v{n}.person_id = v0.person_id" for n in range(1, 9))
    with pytest.raises(Refusal) as refused:
        lower(f"SELECT COUNT(*) FROM {sides} WHERE {same}", catalog)
    assert refused.value.code == "too_complex"
    assert "pairs of the rows of one person" in refused.value.why


def test_different_values_of_one_person_are_counted_among_capped_rows(catalog):
    """They have to be remembered, and a person may have more rows than memory holds."""
    text = "SELECT SUM(n) FROM (SELECT person_id, COUNT(DISTINCT diagnosis) AS n FROM visits GROUP BY person_id)"
    rows = [visit(1, diagnosis=f"d{n}") for n in range(50)]
    cap = catalog.table("visits").rows_per_person
    with curated(catalog, [], rows) as curator:
        assert exact(curator, text) == cap
        assert '"rank" <=' in curator.engine.render((lower(text, catalog).outputs[0].source.query,)).text


def test_patterns_are_short_and_all_of_them_together_too(catalog):
    with pytest.raises(Refusal, match="256"):
        lower(f"SELECT COUNT(*) FROM people WHERE name LIKE '%{'a' * 300}'", catalog)
    many = " OR ".join(f"name LIKE '%_{'a' * 200}{n}%'" for n in range(50))
    with pytest.raises(Refusal) as refused:
        lower(f"SELECT COUNT(*) FROM people WHERE {many}", catalog)
    assert refused.value.code == "too_complex"


def test_outputs_times_groups_are_bounded(catalog):
    outputs = ", ".join(f"SUM(age + {n})" for n in range(101))
    with pytest.raises(Refusal) as refused:
        lower(f"SELECT {outputs} FROM people", catalog)
    assert refused.value.code == "too_complex"


def test_many_declared_values_are_looked_at_quickly(tmp_path):
    values = [f"v{n}" for n in range(1500)]
    large = declare(tmp_path / "hospital", CATALOG.replace('values = ["F", "M", "X"]', f"values = {values}"))
    with curated(large, [], []) as curator:
        text = "SELECT COUNT(*) FROM people WHERE name = sex"
        # Spelled out, and once looked at in a time that grew with the square.
        do_within(2, lambda: curator.session("alice").price(text, epsilon=1))
