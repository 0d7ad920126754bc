"""Both halves of a count are proved together, and what is only like them is not believed."""

from __future__ import annotations

import duckdb
import pytest

from adomnia.engines.check import check_histogram
from adomnia.engines.contract import Statement
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.errors import Failure
from adomnia.privacy.sensitivity import Sensitivity
from engines.check.looks import check, mutants_of, refused
from engines.check.wards import WARDS, neighbours
from sql.hospital import HOSPITAL

ROWS = 'FROM "visits" WHERE "rank" <= 3'
HALVES = 'COUNT("cost grid") AS m0, COUNT(*) - COUNT("cost grid") AS n0'
RIGHT = f'SELECT "hospital" AS k0, {HALVES}, CAST(SUM("cost grid") AS BIGINT) AS m1 {ROWS} GROUP BY 1'
ALONE = f"SELECT {HALVES} {ROWS}"


def test_a_person_moves_both_halves_together_by_as_many_as_their_rows():
    once = Sensitivity(l1=1, monotone=True).times(3)
    assert check(ALONE, shape=(range(2),)) == (once,)
    assert check(RIGHT, catalog=WARDS, shape=(range(2), range(2)))[0] == once


def test_what_has_no_other_half_moves_as_it_does_alone():
    (plain,) = check(
        f'SELECT "hospital" AS k0, CAST(SUM("cost grid") AS BIGINT) AS m0 {ROWS} GROUP BY 1', catalog=WARDS
    )
    assert check(RIGHT, catalog=WARDS)[1] == plain


ENTRIES = ", ".join(
    f'CAST(CAST({factor} AS HUGEINT) * SUM(1 + 0 * CAST("cost grid" AS BIGINT)) AS BIGINT) AS m{place}'
    for place, factor in ((1, 2), (2, 5))
)


def test_a_vector_beside_two_halves_moves_as_it_does_alone():
    text = f"SELECT {HALVES}, {ENTRIES} {ROWS}"
    once, both = Sensitivity(l1=1, monotone=True), Sensitivity(7, 4 + 25, 5, monotone=True)
    found = check(text, catalog=WARDS, shape=(range(2),), columns=(1, 2))
    assert found == (once.times(3), both.times(3))


def test_no_entry_of_a_vector_has_another_half():
    text = f"SELECT {HALVES}, {ENTRIES} {ROWS}"
    assert "one count with its other half" in refused(text, catalog=WARDS, columns=(2, 1))
    second = text.replace(" AS m1,", ' AS m1, COUNT(*) - COUNT("cost grid") AS n1,')
    assert second != text
    assert "a count of a value" in refused(second, catalog=WARDS)
    assert "one count with its other half" in refused(second, catalog=WARDS, columns=(1, 2))


PRESENT, ABSENT = HALVES.split(", ")
PLANTED = {
    "another value is left": ('- COUNT("cost grid")', '- COUNT("day")', "without the value"),
    "all rows in the second half": (ABSENT, "COUNT(*) AS n0", "without the value"),
    "the first half again": (ABSENT, 'COUNT("cost grid") AS n0', "without the value"),
    "values of another column less these": ("COUNT(*) -", 'COUNT("day") -', "a count of all rows"),
    "all rows in both": (HALVES, "COUNT(*) AS m0, COUNT(*) - COUNT(*) AS n0", "a count of a value"),
    "different values": ('COUNT("cost grid")', 'COUNT(DISTINCT "cost grid")', "no Distinct"),
    "a sum": ('COUNT("cost grid") AS m0', 'SUM("cost grid") AS m0', "a count of a value"),
    "both added up": ("COUNT(*) -", "COUNT(*) +", "without the value"),
    "twice as many": ("COUNT(*) -", "2 * COUNT(*) -", "a count of all rows"),
    "no cap": (' WHERE "rank" <= 3', "", "a cap"),
    "a half of nothing": (" AS n0", " AS n1", "the names of outputs"),
    "a half too many": (" AS n0", " AS n0, COUNT(*) AS n0", "the names of outputs"),
    "a half of no output": ("SELECT", 'SELECT (SELECT MAX("cost") FROM "visits") AS "n-1",', "the names of outputs"),
    "a half before its other": (HALVES, f"{ABSENT}, {PRESENT}", "the names of outputs"),
    "an unknown value": ('"cost grid"', '"salary"', "a stored column"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_only_like_two_halves_is_caught(name):
    before, after, why = PLANTED[name]
    assert before in ALONE
    assert why in refused(ALONE.replace(before, after))


@pytest.mark.parametrize("text", [RIGHT, ALONE], ids=["by hospital", "alone"])
def test_two_halves_are_one_more_key_of_two_values(text):
    assert "the cells of the keys" in refused(text, catalog=WARDS, shape=(range(2), range(3)))
    assert "the cells of the keys" in refused(text, catalog=WARDS, shape=())


def test_a_histogram_has_no_halves():
    grid = 'CAST("cost grid" AS BIGINT) - 0'
    text = f"SELECT ({grid}) >> 3 AS k0, {HALVES} {ROWS} GROUP BY 1"
    with pytest.raises(Failure):
        check_histogram(Statement(text, ()), HOSPITAL, DUCKDB)


def test_a_count_that_has_another_half_is_no_value_of_a_histogram():
    """Read as one, a single row moves all rows of the other half from one value to the next."""
    counted = PRESENT.replace('COUNT("cost grid")', '(CAST(COUNT("cost grid") AS BIGINT) - 0) >> 0')
    for keys, grouped in (("", ""), ('"hospital" AS k0, ', " GROUP BY 1")):
        with pytest.raises(Failure) as failure:
            check_histogram(Statement(f"SELECT {keys}{counted}, {ABSENT} {ROWS}{grouped}", ()), WARDS, DUCKDB)
        assert "without another half" in str(failure.value.__cause__)


def moved(text, before, after):
    """By how much each output and its other half move together, over all groups."""
    found = [connection.execute(text) for connection in (before, after)]
    names = [name for name, *_ in found[0].description]
    keys = sum(name.startswith("k") for name in names)
    cells = [{row[:keys]: row[keys:] for row in each.fetchall() if None not in row[:keys]} for each in found]
    moves: dict[str, list[int]] = {}
    for key in cells[0] | cells[1]:
        rows = [each.get(key, (0,) * (len(names) - keys)) for each in cells]
        for name, one, other in zip(names[keys:], *rows, strict=True):
            moves.setdefault(name[1:], []).append(abs(int(one or 0) - int(other or 0)))
    return moves


@pytest.mark.parametrize("text", [RIGHT, ALONE], ids=["by hospital", "alone"])
@pytest.mark.no_cover
def test_whatever_passes_moves_by_no_more_than_was_said_on_neighbours(text):
    pairs, passed = [neighbours(variant) for variant in range(3)], 0
    for mutant in [text, *mutants_of(text, ["rank", '"day"', "+", "2"])]:
        try:
            allowed = check(mutant, catalog=WARDS)
            moves = [moved(mutant, *pair) for pair in pairs]
        except (Failure, duckdb.ParserException, duckdb.BinderException):
            continue  # not run by us, or not by any database
        passed += 1
        for move in moves:
            for place, sensitivity in enumerate(allowed):
                assert sum(move.get(str(place), [])) <= sensitivity.l1, mutant
                assert max(move.get(str(place), [0])) <= sensitivity.linf, mutant
    assert passed > 1
