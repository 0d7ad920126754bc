"""Where data, noise and budget meet: nothing is read that is not proved and paid."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from weakref import ref

import numpy as np
import pytest

from adomnia.curator import executor as executor_module
from adomnia.curator.executor import Executor, Statements, drive
from adomnia.engines.check import check_histogram, check_statement
from adomnia.engines.contract import Statement
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.errors import Failure
from adomnia.pricing.parts import bill, split_price
from adomnia.pricing.quotes import list_measures
from adomnia.privacy.events import Composed, Concentrated, Pure
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import everything, recap
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.privacy.transforms.distances import Candidate, Distances, Guess
from adomnia.sql.lower import lower
from adomnia.statistics.contract import Estimate, Measure, Measured
from kit.hospital import CountedBits

TEXT = "SELECT COUNT(*), SUM(salary), AVG(salary), COUNT(DISTINCT person_id) FROM people"


@pytest.fixture
def plan(catalog):
    return lower(TEXT, catalog)


def executor(curator, reserved, seed=0):
    return Executor(curator.engine, Statements(curator.engine, curator.catalog), reserved, CountedBits(seed))


def test_all_measures_of_one_relation_and_cap_are_one_statement(curator, plan):
    drive(split_price(plan, Pure(1)), executor(curator, Pure(1)))
    assert len(curator.engine.ran) == 2  # people are counted without a cap, everything else with one


def test_values_are_the_exact_ones_plus_noise_of_the_recorded_distribution(curator, plan):
    (count,) = (m for m in list_measures(lower("SELECT COUNT(*) FROM people", curator.catalog), Pure(1)))
    draws = []
    for seed in range(100):
        (measured,) = executor(curator, Pure(1), seed).measure((count,))
        draws.append(int(measured.values))
    # Scale 1: a mean of 100 draws is off by 0.9 with probability below 1e-9, one of them by 40 with one below 1e-14.
    assert abs(np.mean(draws) - 5) < 0.9
    assert max(abs(draw - 5) for draw in draws) < 40
    assert len(set(draws)) > 3


def test_more_than_was_reserved_is_not_measured(curator, plan):
    asked = list_measures(plan, Pure(1))
    running = executor(curator, Pure(Fraction(99, 100)))
    with pytest.raises(ValueError, match="more than was reserved"):
        running.measure(asked)
    assert curator.engine.ran == []
    assert running.record.values == []


def test_what_was_measured_before_counts_towards_the_reserve(curator, plan):
    asked = list_measures(plan, Pure(1))
    running = executor(curator, bill((plan, Pure(1))))
    running.measure(asked)
    with pytest.raises(ValueError, match="more than was reserved"):
        running.measure(asked[:1])


def test_exactly_what_was_reserved_is_measured(curator, plan):
    running = executor(curator, Composed([bill((plan, Pure(1)))]))
    assert len(running.measure(list_measures(plan, Pure(1)))) == len(running.record.values)


def test_each_text_that_carries_a_query_is_held_to_what_was_planned_and_not_the_first_alone(curator, monkeypatch):
    asked = lower("SELECT COUNT(*), SUM(cost) FROM visits", curator.catalog)
    planned = [each.query for each in list_measures(asked, Pure(1))]
    count, total = (replace(each, relation=recap(each.relation, {"visits": 1})) for each in planned)
    statements, render = Statements(curator.engine, curator.catalog), curator.engine.render
    statements.of([count, total])
    # Alone, as in a later round, it is rendered wrongly: of as many rows of a person as the catalog allows.
    monkeypatch.setattr(curator.engine, "render", lambda queries: render(tuple(planned[: len(queries)])))
    with pytest.raises(ValueError, match="above the planned"):
        statements.of([count])


@pytest.mark.parametrize("norm", ["l1", "l2_squared", "linf"])
def test_a_statement_that_moves_further_than_planned_is_not_run(curator, monkeypatch, norm):
    planned = Sensitivity(l1=3, l2_squared=5, linf=2)
    wider = {"l1": Sensitivity(4, 5, 2), "l2_squared": Sensitivity(3, 6, 2), "linf": Sensitivity(3, 5, Fraction(11, 5))}
    monkeypatch.setattr(Query, "sensitivity", lambda _: planned)
    # A price of its own, because noise may be remembered by measure.
    (count,) = list_measures(lower("SELECT COUNT(*) FROM people", curator.catalog), Pure(Fraction(1, 7919)))
    monkeypatch.setattr(executor_module, "check_statement", lambda *_: (wider[norm],))
    with pytest.raises(ValueError, match="above the planned one"):
        executor(curator, Pure(1)).measure((count,))
    assert curator.engine.ran == []


@pytest.mark.parametrize(
    "text",
    [
        'SELECT COUNT(*) AS m0 FROM "people"',
        'SELECT COUNT(*) AS m0 FROM "people" WHERE "rank" <= 2',
        'SELECT SUM("salary") AS m0 FROM "people" WHERE "rank" <= 1',
        'SELECT COUNT(*) AS m0 FROM "people" AS a, "people" AS b WHERE "rank" <= 1',
    ],
)
def test_a_planted_wrong_statement_is_not_run(curator, monkeypatch, text):
    (count,) = list_measures(lower("SELECT COUNT(*) FROM people", curator.catalog), Pure(1))
    monkeypatch.setattr(curator.engine, "render", lambda _: Statement(text, ()))
    with pytest.raises(Failure):
        executor(curator, Pure(1)).measure((count,))
    assert curator.engine.ran == []


def test_a_count_of_more_rows_than_planned_is_not_run(curator, monkeypatch):
    """The text proves three rows a person, the plan paid for one."""
    (count,) = list_measures(lower("SELECT COUNT(*) FROM visits", curator.catalog), Pure(1))
    thrifty = replace(count, query=replace(count.query, relation=replace(count.query.relation, rows_per_person=1)))
    rendered = curator.engine.render((count.query,))
    monkeypatch.setattr(curator.engine, "render", lambda _: rendered)
    with pytest.raises(ValueError, match="above the planned one"):
        executor(curator, Pure(1)).measure((thrifty,))


@dataclass(frozen=True)
class Adaptive:
    """Two rounds: the second asks for what the first did not."""

    first: Measure
    second: Measure

    def steps(self, price):
        (one,) = yield (self.first,)
        (two,) = yield (self.second,)
        return Estimate(np.array([int(one.values), int(two.values)]), lambda *_: None, "adaptive")


@dataclass
class Counter:
    """Measures by counting how often it was asked."""

    rounds: list[int]

    def measure(self, wanted):
        self.rounds.append(len(wanted))
        return tuple(Measured(np.array(len(self.rounds)), each.mechanism) for each in wanted)


def test_statistics_advance_in_lock_step_and_equal_measures_are_measured_once(catalog):
    plans = (lower(f"SELECT {asked} FROM people", catalog) for asked in ("COUNT(*)", "COUNT(age)"))
    one, other = (list_measures(plan, Pure(1))[0] for plan in plans)
    counter = Counter([])
    found = drive([(Adaptive(one, other), Pure(1)), (Adaptive(one, one), Pure(1))], counter)
    assert counter.rounds == [1, 2]
    assert [each.values.tolist() for each in found] == [[1, 2], [1, 2]]


UNPROVED = {
    "no cap": 'SELECT COUNT(*) AS m0 FROM "visits"',
    "a cap above the declared one": 'SELECT COUNT(*) AS m0 FROM "visits" WHERE "rank" <= 4',
    "a cap that one may choose": 'SELECT COUNT(*) AS m0 FROM "visits" WHERE ("rank" <= 3 OR TRUE)',
    "a sum of doubles": 'SELECT CAST(SUM("cost") AS BIGINT) AS m0 FROM "visits" WHERE "rank" <= 3',
    "a public table": 'SELECT COUNT(*) AS m0 FROM "cities" WHERE "rank" <= 1',
    "a table twice": 'SELECT COUNT(*) AS m0 FROM "visits" AS a, "visits" AS b WHERE "rank" <= 3',
    "a subquery": 'SELECT COUNT(*) AS m0 FROM "visits" WHERE "rank" <= 3 AND (EXISTS (SELECT 1))',
    "a key that is not grouped by": 'SELECT "hospital" AS k0, COUNT(*) AS m0 FROM "visits" WHERE "rank" <= 3',
    "a key without declared values": (
        'SELECT "diagnosis" AS k0, COUNT(*) AS m0 FROM "visits" WHERE "rank" <= 3 GROUP BY "diagnosis"'
    ),
    "a centre for more than the values": (
        'SELECT CAST(SUM("cost grid") - CAST(5 AS HUGEINT) * COUNT("urgent") AS DECIMAL(38, 0)) AS m0 '
        'FROM "visits" WHERE "rank" <= 3'
    ),
}


@pytest.mark.parametrize("name", UNPROVED)
def test_a_statement_that_proves_nothing_is_not_believed(catalog, name):
    with pytest.raises(Failure):
        check_statement(Statement(UNPROVED[name], ()), catalog, DUCKDB)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*), SUM(-salary), SUM(age - 200), AVG(score) FROM people",
        "SELECT hospital, COUNT(DISTINCT person_id), COUNT(cost), AVG(cost) FROM visits GROUP BY hospital",
        "SELECT urgent, COUNT(DISTINCT person_id), SUM(cost * -2) FROM visits GROUP BY urgent",
        "SELECT COUNT(DISTINCT person_id) FROM visits WHERE cost > 1",
    ],
)
def test_both_derivations_of_a_sensitivity_agree(curator, text):
    for measure in list_measures(lower(text, curator.catalog), Pure(1)):
        statement = curator.engine.render((measure.query,))
        assert check_statement(statement, curator.catalog, DUCKDB) == (measure.query.sensitivity(),)


def test_a_statement_that_is_less_monotone_than_planned_is_not_proved(curator, monkeypatch):
    (count,) = list_measures(lower("SELECT COUNT(*) FROM people", curator.catalog), Pure(1))
    looser = replace(count.query.sensitivity(), monotone=False)
    monkeypatch.setattr(executor_module, "check_statement", lambda *_: (looser,))
    with pytest.raises(ValueError, match="above the planned one"):
        Statements(curator.engine, curator.catalog).of([count.query])


def test_a_statement_with_another_number_of_cells_is_not_proved(curator):
    query = list_measures(lower("SELECT sex, COUNT(*) FROM people GROUP BY sex", curator.catalog), Pure(1))[0].query
    key = replace(query.keys[0], kind=replace(query.keys[0].kind, values=("F",)))
    with pytest.raises(Failure):
        Statements(curator.engine, curator.catalog).of([Query(query.relation, (key,), query.aggregate)])


RANKED = "SELECT sex, MEDIAN(salary) AS middle, MAX(salary) AS top FROM people GROUP BY sex"


def test_all_that_is_read_of_a_histogram_is_proved(curator, catalog, monkeypatch):
    proved = []

    def spy(statement, known, dialect):
        proved.append(statement)
        return check_histogram(statement, known, dialect)

    monkeypatch.setattr(executor_module, "check_histogram", spy)
    plan = lower(RANKED, catalog)
    drive(split_price(plan, Pure(1)), executor(curator, Pure(1)))
    assert len(proved) >= 2
    assert set(curator.engine.ran) == set(proved)


OTHERS = [("AS BIGINT) - 0", "AS BIGINT) - 1"), ('"rank" <= 1', '"rank" <= 1 AND ("sex" = 0)')]


@pytest.mark.parametrize("wrong", OTHERS)
def test_a_second_look_into_other_rows_or_values_than_the_first_is_not_taken(curator, catalog, monkeypatch, wrong):
    (measure, _) = list_measures(lower(RANKED, catalog), Pure(1))
    statements = Statements(curator.engine, curator.catalog)
    statements.of([measure.query])
    narrowed = replace(measure.query, aggregate=replace(measure.query.aggregate, buckets=(3,)))
    right = curator.engine.render((narrowed,))
    assert wrong[0] in right.text
    monkeypatch.setattr(
        curator.engine, "render", lambda _: replace(right, text=right.text.replace(*wrong)), raising=False
    )
    with pytest.raises((ValueError, Failure)):
        statements.of([narrowed])


def test_other_buckets_than_the_planned_ones_are_not_read(curator, catalog, monkeypatch):
    (measure, _) = list_measures(lower(RANKED, catalog), Pure(1))
    narrowed = replace(measure.query, aggregate=replace(measure.query.aggregate, buckets=(3,)))
    right = curator.engine.render((narrowed,))
    monkeypatch.setattr(curator.engine, "render", lambda _: replace(right, text=right.text.replace("(3)", "(4)")))
    with pytest.raises(ValueError, match="another histogram"):
        Statements(curator.engine, curator.catalog).of([narrowed])


ESTIMATED = "SELECT * FROM mle(people, column => salary, family => 'normal')"
OTHER_BLOCKS = [
    ("% 16777216) %", "% 16777215) %"),
    ("% 16777216) % {}", "% 16777216) % 7"),
    ('("person" % 16777216) % {}', 'CAST(FLOOR("age") AS BIGINT) % {}'),
    ('"rank" <= 1', '"rank" <= (SELECT COUNT(*) FROM "people")'),
]


@pytest.mark.parametrize(("right", "wrong"), OTHER_BLOCKS)
def test_estimates_of_other_than_the_planned_blocks_of_people_are_not_read(curator, catalog, monkeypatch, right, wrong):
    query = list_measures(lower(ESTIMATED, catalog), Pure(1))[-1].query
    (blocks,) = query.shape
    rendered = curator.engine.render(query.inner)
    assert right.format(blocks) in rendered.text
    changed = replace(rendered, text=rendered.text.replace(right.format(blocks), wrong.format(blocks)))
    monkeypatch.setattr(curator.engine, "render", lambda _: changed, raising=False)
    with pytest.raises((ValueError, Failure)):
        Statements(curator.engine, curator.catalog).of([query])


def test_sums_of_blocks_are_read_for_estimates_and_never_measured_as_they_are(curator, catalog):
    """Without a cap on the rows of a person nothing says how far they move."""
    query = list_measures(lower(ESTIMATED, catalog), Pure(1))[-1].query
    uncapped = replace(query, relation=everything(query.relation))
    statements = Statements(curator.engine, curator.catalog)
    ((_, statement),) = statements.of([uncapped])
    assert "rank" not in statement.text
    with pytest.raises(Failure):
        statements.of(uncapped.inner)


def test_noise_is_not_added_to_whatever_values_or_keys_some_rows_have(curator):
    """A mechanism opens answers of its own form: which values there are in a histogram is private."""
    (median,) = list_measures(lower("SELECT MEDIAN(salary) FROM people", curator.catalog), Pure(1))
    (count,) = list_measures(lower("SELECT COUNT(*) FROM people", curator.catalog), Pure(1))
    for wrong in (replace(median, by=""), replace(count, by="quantiles")):
        with pytest.raises((ValueError, TypeError), match=r"opens answers that are|must be of a Histogram"):
            executor(curator, Pure(1)).measure((wrong,))
    assert curator.engine.ran == []


@pytest.fixture
def counts(curator):
    """The counts of people by sex, and by sex and membership."""
    grouped = "SELECT {0}, COUNT(*) FROM people GROUP BY {0}"
    return tuple(
        list_measures(lower(grouped.format(keys), curator.catalog), Pure(1))[0].query for keys in ("sex", "sex, member")
    )


def compare(counts, *guesses, **options):
    """A choice by how far these counts are from guesses, of which several may be of one table."""
    candidates = tuple(Candidate((Guess(table, np.array(held)),)) for table, held in guesses)
    return Query(counts[0].relation, (), Distances(tuple(each.keys for each in counts), candidates, **options))


def exact(running, *queries):
    return {query: values.tolist() for query, values in running._answer(queries).items()}


def test_scores_are_computed_from_tables_that_are_read_once(curator, counts):
    running = executor(curator, Pure(1))
    sexes, both = (exact(running, each)[each] for each in counts)
    curator.engine.ran.clear()
    first = compare(counts, (0, [1, 2, 3]), (1, [0] * 6), scale=2)
    scores = exact(running, first)[first]
    assert scores == [sum(abs(2 * a - b) for a, b in zip(sexes, (1, 2, 3), strict=True)), 2 * sum(map(sum, both))]
    assert len(curator.engine.ran) == 2
    second = compare(counts, (0, sexes), norm="each")
    assert exact(running, second)[second] == [0, 0, 0]
    assert len(curator.engine.ran) == 2


def test_of_tables_that_are_kept_the_zeros_are_let_go_before_the_next_one_is_read(curator, counts, monkeypatch):
    """There may be thousands of tables of a million cells: all of them at once fill no memory."""
    whole, alive = [], []
    run = curator.engine.run

    def run_counted(statement, queries):
        alive.append(sum(each() is not None for each in whole))
        found = run(statement, queries)
        whole.extend(map(ref, found))
        return found

    monkeypatch.setattr(curator.engine, "run", run_counted)
    exact(executor(curator, Pure(1)), compare(counts, (0, [1, 2, 3]), (1, [0] * 6)))
    assert alive == [0, 0]


def test_a_kept_table_that_is_measured_itself_is_the_same_and_is_not_read_again(curator, counts):
    running = executor(curator, Pure(1))
    plain = exact(executor(curator, Pure(1)), *counts)
    asked = compare(counts, (0, [0, 0, 0]), norm="each")
    found = exact(running, asked, counts[0])  # compared and measured in one round
    assert found == {asked: plain[counts[0]], counts[0]: plain[counts[0]]}
    curator.engine.ran.clear()
    assert exact(running, counts[1]) == {counts[1]: plain[counts[1]]}
    assert curator.engine.ran == []


def test_a_kept_table_of_other_rows_is_not_compared(curator):
    """Two questions of one batch may have the same keys: what is proved and read of one is nothing of the other."""
    grouped = "SELECT sex, COUNT(*) FROM people{} GROUP BY sex"
    everybody, nobody = (
        list_measures(lower(grouped.format(where), curator.catalog), Pure(1))[0].query for where in ("", " WHERE FALSE")
    )
    assert everybody.keys == nobody.keys
    running = executor(curator, Pure(1))
    first, second = (compare((each,), (0, [0, 0, 0]), norm="each") for each in (everybody, nobody))
    assert sum(exact(running, first)[first]) > 0
    assert exact(running, second)[second] == [0, 0, 0]


def test_a_kept_table_beside_what_is_not_kept_is_read_with_it(curator, counts):
    running = executor(curator, Pure(1))
    asked = compare(counts, (0, [0, 0, 0]))
    exact(running, asked)
    (summed,) = (
        each.query
        for each in list_measures(lower("SELECT sex, SUM(salary) FROM people GROUP BY sex", curator.catalog), Pure(1))
    )
    simultaneous = replace(summed, relation=counts[0].relation)
    found = exact(running, simultaneous, counts[0])
    assert found[counts[0]] == exact(executor(curator, Pure(1)), counts[0])[counts[0]]


def test_measuring_a_kept_table_is_paid_for(curator, counts):
    """Nothing is free because it lies in memory already."""
    price = Concentrated(Fraction(1, 4))
    running = executor(curator, Composed([price, price]))
    choice = Measure(compare(counts, (0, [1, 0, 0]), (1, [0] * 6)), price, "exponential")
    (chosen,) = running.measure((choice,))
    assert chosen.values.shape == ()
    assert int(chosen.values) in (0, 1)
    table = Measure(counts[0], price)
    (noisy,) = running.measure((table,))
    assert noisy.values.tolist() != exact(executor(curator, Pure(1)), counts[0])[counts[0]]
    for again in (table, choice):
        with pytest.raises(ValueError, match="more than was reserved"):
            running.measure((again,))


@pytest.mark.parametrize(("weight", "expected"), [(1, 0), (-1, 1)])
def test_the_furthest_is_chosen_or_the_nearest(curator, counts, weight, expected):
    """Of 5 people: one candidate is 40 away or more, one at most 10. At rho 1/2 one in exp(15) would be the other."""
    asked = compare(counts, (0, [0, 0, 45]), (0, [2, 2, 1]))
    candidates = tuple(replace(each, weight=weight) for each in asked.aggregate.candidates)
    asked = replace(asked, aggregate=replace(asked.aggregate, candidates=candidates))
    choice = Measure(asked, Concentrated(Fraction(1, 2)), "exponential")
    assert int(executor(curator, Concentrated(1)).measure((choice,))[0].values) == expected


@pytest.mark.parametrize("norm", ["total", "largest", "each"])
def test_scores_that_move_further_than_planned_are_not_computed(curator, counts, monkeypatch, norm):
    asked = compare(counts, (0, [1, 0, 0]), (1, [0] * 6), norm=norm, scale=3)
    less = Sensitivity(6, 18, Fraction(29, 10))
    monkeypatch.setattr(Distances, "row", less)
    with pytest.raises(ValueError, match="above the planned one"):
        executor(curator, Pure(1)).measure((Measure(asked, Pure(1), "exponential"),))
    assert curator.engine.ran == []


def test_tables_of_more_rows_a_person_than_planned_are_not_compared(curator, monkeypatch):
    (count,) = list_measures(lower("SELECT urgent, COUNT(*) FROM visits GROUP BY urgent", curator.catalog), Pure(1))
    rendered = curator.engine.render((count.query,))
    thrifty = replace(count.query, relation=replace(count.query.relation, rows_per_person=1))
    monkeypatch.setattr(curator.engine, "render", lambda _: rendered)
    with pytest.raises(ValueError, match="above the planned one"):
        executor(curator, Pure(1)).measure((Measure(compare((thrifty,), (0, [0, 0])), Pure(1), "exponential"),))


def test_scores_may_be_measured_with_noise_instead(curator, counts):
    asked = compare(counts, (0, [1, 0, 0]), (1, [0] * 6))
    (noisy,) = executor(curator, Pure(1)).measure((Measure(asked, Pure(1)),))
    assert noisy.values.shape == (2,)
    assert noisy.noise.scale == 2  # the L1 norm of both
