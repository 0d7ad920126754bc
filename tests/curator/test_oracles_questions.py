"""What could once be told from how questions fail, and what short questions could cost beside their price."""

from __future__ import annotations

import pytest

from adomnia.engines.check import check_statement
from adomnia.engines.contract import Statement
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.errors import Failure, Refusal
from kit.effort import do_within
from kit.hospital import curated, declare, person, visit

pytestmark = pytest.mark.no_cover  # tests of the modules have one example of each branch

NEAR = 2**63 // 256_000 * 256_000  # below 2**63, and as a double it is written with all of its digits
OVER = NEAR + 256_000


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    return declare(tmp_path_factory.mktemp("questions") / "hospital")


def _outcome(catalog, people, text, **payment):
    with curated(catalog, people, []) as curator:
        try:
            curator.session("bob").sql(text, **payment)
        except (Refusal, Failure) as reason:
            return type(reason)
    return None


@pytest.mark.parametrize("payment", [{"epsilon": 1e-6}, {"rho": 1}])
@pytest.mark.parametrize("key", [f"FLOOR(age * 4096 + {NEAR})", f"FLOOR(0 - age * 4096 - {NEAR})"])
def test_no_key_near_the_end_of_64_bits_tells_whether_somebody_is_beyond_it(catalog, key, payment):
    """Older than 60 is beyond 2**63: a failure for those alone would name them, at any price."""
    text = f"SELECT {key} AS k, COUNT(*) AS n FROM people WHERE name = 'eve' GROUP BY 1"
    rows = [[], [person(1, name="eve", age=20.0)], [person(1, name="eve", age=100.0)]]
    outcomes = [_outcome(catalog, people, text, **payment) for people in rows]
    assert outcomes in ([None] * 3, [Refusal] * 3)


def test_a_key_beyond_64_bits_is_refused_and_not_charged(catalog):
    text = f"SELECT FLOOR(age * 4096 + {OVER}) AS k, COUNT(*) AS n FROM people GROUP BY 1"
    assert _outcome(catalog, [], text, epsilon=1) is Refusal


@pytest.mark.parametrize("ends", [(2**63 - 1024, 2**63 + 2048), (-(2**63) - 2048, -(2**63))])
def test_the_second_look_proves_no_key_beyond_64_bits(catalog, ends):
    """Cells are numbered in 64 bits: a row whose key is beyond them could not be placed."""
    value = 'CAST("age" AS DOUBLE)'
    first, last = (f"({float(end)!r})".replace("e+", "e") for end in ends)
    clamped = (
        f"CASE WHEN {value} < {first} THEN ({ends[0]}) WHEN {value} > {last} THEN ({ends[1]}) "
        f"ELSE TRY_CAST(FLOOR({value} / 1.0e0 + 0.5e0) AS HUGEINT) END"
    )
    text = f'SELECT {clamped} AS k0, COUNT(*) AS m0 FROM "people" WHERE "rank" <= 1 GROUP BY 1'
    near = text.replace(str(ends[0]), "0").replace(str(ends[1]), "9").replace(first, "0.0e0").replace(last, "9.0e0")
    check_statement(Statement(near, ()), catalog, DUCKDB)  # it is the size alone that is not proved
    with pytest.raises(Failure):
        check_statement(Statement(text, ()), catalog, DUCKDB)


def test_a_key_of_many_listed_texts_is_refused_or_quick(catalog):
    """Each of the listed texts is compared with what is itself one comparison for each of them."""
    cases = " ".join(f"WHEN age = {number} THEN 'a{number}'" for number in range(200))
    text = f"SELECT CASE {cases} END AS k, COUNT(*) AS n FROM people GROUP BY 1"
    do_within(3, lambda: _outcome(catalog, [person(1, age=20.0)], text, rho=1))


@pytest.mark.parametrize(
    "payment",
    [
        {"epsilon": 1, "confidence": float("nan")},
        {"epsilon": 1, "confidence": float("inf")},
        {"epsilon": 1e-300},
        {"epsilon": 1e300},
        {"rho": 1e300},
        {"epsilon": 1, "weights": {"n": 1e300}},
        {"epsilon": 1, "weights": {"n": 1e-300}},
    ],
)
def test_what_cannot_be_paid_is_refused_in_words(catalog, payment):
    text = "SELECT COUNT(*) AS n, MEDIAN(age) AS m, AVG(age) AS a FROM people"
    assert _outcome(catalog, [], text, **payment) is Refusal


@pytest.mark.parametrize("counted", ["COUNT(*) AS n, COUNT({}) AS c", "COUNT({}) AS c, AVG({}) AS a, COUNT(*) AS n"])
def test_what_is_no_number_is_no_value_where_rows_are_counted_with_and_without_one(catalog, counted):
    """NaN is not NULL to the engine, and is to us: both counts come from one measurement by whether there is one."""
    people = [person(number, weight=1e4 if number < 60 else 1.0) for number in range(100)]
    text = f"SELECT {counted.format(*['CLAMP(EXP(weight) - EXP(weight), 0, 5)'] * 2)} FROM people"
    with curated(catalog, people, []) as curator:
        answer = curator.session("bob").sql(text, epsilon=20).to_arrow()
    assert abs(answer["c"][0].as_py() - 40) < 10
    assert abs(answer["n"][0].as_py() - 100) < 10


@pytest.mark.parametrize("asked", ["MEDIAN(cost) AS m", "MIN(cost) AS a, MAX(cost) AS b"])
def test_quantiles_are_found_for_keys_that_nobody_declared(catalog, asked):
    """Nobody knows how many groups there will be: what they may be at most must not refuse every such question."""
    people = [person(number) for number in range(300)]
    visits = [visit(number, diagnosis="flu", cost=100.0 * number) for number in range(300)]
    with curated(catalog, people, visits) as curator:
        text = f"SELECT diagnosis, {asked} FROM visits GROUP BY diagnosis"
        answer = curator.session("bob").sql(text, rho=3, delta=1e-9)
    assert answer.to_arrow()["diagnosis"].to_pylist() == ["flu"]


def test_no_row_decides_how_conditions_on_the_rows_of_others_are_simplified(catalog):
    """An engine that knows the least and the greatest value of a column must not conclude anything from them."""
    text = "SELECT COUNT(*) AS n FROM visits WHERE STARTS_WITH(NULLIF(diagnosis, 'H1'), 'H')"
    visits = [visit(number, diagnosis="H1") for number in range(200)]
    counts = []
    for others in ([], [visit(300, diagnosis="X")]):
        with curated(catalog, [person(number) for number in range(400)], [*visits, *others]) as curator:
            counts.append(curator.session("bob").sql(text, epsilon=20)["n"][0])
    assert max(map(abs, counts)) < 60  # the noise of three rows a person passes that once in 1e170; 200 rows are far
