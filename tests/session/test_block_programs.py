"""Functions of one's own over blocks of people: what is paid, what is told, and how far a person moves it."""

from __future__ import annotations

from fractions import Fraction
from math import exp
from time import sleep

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import adomnia
from adomnia.errors import Failure, Refusal
from adomnia.privacy.events import Pure
from adomnia.session import block_programs
from adomnia.session.block_programs import BlockProgram, choose_grid, cut_into_blocks
from kit.bits import SeededBits

SURE = 10_000  # an epsilon at which an average over 20 blocks has noise of 1e-4 of the bounds
TRIPS = pd.DataFrame({"rider": [k // 2 for k in range(400)], "fare": [20.0 + k % 3 for k in range(400)]})


@pytest.fixture(scope="module")
def own():
    with adomnia.protect(TRIPS, unit="rider", rows_per_person=2, epsilon=10**9) as session:
        yield session


@pytest.fixture
def program():
    def build(aggregate="average", epsilon=1, blocks=20, bounds=(0, 100)):
        grid = choose_grid(bounds, aggregate)
        return BlockProgram(lambda _: 0.0, blocks, grid, aggregate, Pure(epsilon), 10.0)

    return build


def summarize(program, results, noise):
    return program.estimate(program.summary.release(results, program.price, SeededBits(noise)))


@pytest.mark.parametrize(("aggregate", "epsilon"), [("average", SURE), ("median", 19)])
def test_a_function_of_blocks_is_summed_up(own, aggregate, epsilon):
    answer = own.sample_and_aggregate(
        lambda rows: rows["fare"].mean(), bounds=(20, 22), epsilon=epsilon, blocks=20, aggregate=aggregate
    )
    (lower, upper), (value,) = answer.interval("estimate")[0], answer["estimate"]
    assert 20 <= lower <= value <= upper <= 22
    assert abs(value - 21) < 0.5
    assert answer.cost == Pure(epsilon)
    assert any("not a sandbox" in note for note in answer.notes)


def test_a_median_is_not_moved_by_a_few_odd_blocks(program):
    results = np.concatenate([np.linspace(20.5, 21.5, 190), np.full(10, 100.0)])
    estimate = summarize(program("median", epsilon=4, blocks=200), results, 3)
    (lower,), (upper,) = estimate.interval(0.95, 1)
    assert 20.5 < lower < estimate.values[0] < upper < 21.5


def test_it_is_paid_from_the_budget_of_the_session_every_time():
    with adomnia.protect(TRIPS, unit="rider", rows_per_person=2, epsilon=1) as session:
        for left in (Fraction(6, 10), Fraction(2, 10)):
            answer = session.sample_and_aggregate(len, bounds=(0, 100), epsilon=0.4, blocks=2)
            assert (answer.left.epsilon, answer.replayed) == (left, False)
        with pytest.raises(Refusal, match="budget"):
            session.sample_and_aggregate(len, bounds=(0, 100), epsilon=0.4, blocks=2)
        assert session.budget().personal.left().epsilon == Fraction(2, 10)
        assert session.answers() == []
        assert len(session.sql("SELECT COUNT(*) AS n FROM data", epsilon=0.2, allow_uninformative=True)) == 1


def test_what_fails_before_the_answer_stays_paid_and_says_nothing(own, monkeypatch):
    def break_down(*_):
        raise ValueError("Anna earns 7")

    monkeypatch.setattr(block_programs, "cut_into_blocks", break_down)
    before = own.budget().personal.left().epsilon
    with pytest.raises(Failure) as failed:
        own.sample_and_aggregate(len, bounds=(0, 1), epsilon=3, blocks=2)
    assert "Anna" not in repr(failed.value)
    assert failed.value.__context__ is None
    assert before - own.budget().personal.left().epsilon == 3


def test_the_function_runs_only_once_it_is_paid(own, monkeypatch):
    seen = []
    monkeypatch.setattr(
        block_programs, "run_program", lambda *_: seen.append(own.budget().personal.left().epsilon) or 1
    )
    before = own.budget().personal.left().epsilon
    own.sample_and_aggregate(len, bounds=(0, 1), epsilon=5, blocks=2)
    assert seen == [before, before - 5, before - 5]  # the first time on made-up rows


@pytest.mark.parametrize("made", ["text", float("nan"), None], ids=str)
def test_blocks_without_a_number_are_in_the_middle(own, made):
    answer = own.sample_and_aggregate(
        lambda _: made, bounds=(-10, 50), epsilon=SURE, blocks=4, allow_uninformative=True
    )
    assert abs(answer["estimate"][0] - 20) < 0.5


@pytest.mark.parametrize("function", [lambda rows: rows["fair"].mean(), str, lambda _: sleep(60)], ids=["a", "b", "c"])
def test_a_function_that_makes_nothing_of_made_up_rows_is_refused_before_it_is_paid(own, function):
    before = own.budget().personal.left().epsilon
    with pytest.raises(Refusal, match="makes no number of 100 made-up rows"):
        own.sample_and_aggregate(function, bounds=(0, 1), epsilon=1, time_limit_seconds=1)
    assert own.budget().personal.left().epsilon == before


def test_results_beyond_the_bounds_count_as_the_nearest(own):
    answer = own.sample_and_aggregate(lambda _: 1e9, bounds=(-10, 50), epsilon=SURE, blocks=4)
    assert abs(answer["estimate"][0] - 50) < 0.5
    assert answer.interval("estimate")[0][1] <= 50


def test_made_up_rows_are_tried_without_paying(own):
    before = own.budget().personal.left().epsilon
    with own.mock() as rehearsal:
        rehearsal.sample_and_aggregate(lambda rows: rows["fare"].max(), bounds=(0, 100), epsilon=1, blocks=3)
    assert own.budget().personal.left().epsilon == before


def test_every_row_may_be_a_person():
    with adomnia.protect({"x": [5.0] * 60}, unit="row", epsilon=SURE) as session:
        answer = session.sample_and_aggregate(lambda rows: rows["x"].max(), bounds=(0, 10), epsilon=SURE, blocks=3)
        assert abs(answer["estimate"][0] - 5) < 0.1


def test_several_tables_and_readers_are_refused_before_they_are_paid():
    visits = {"person_id": [1], "cost": [2.0]}
    tables = {"people": {"person_id": [1, 2]}, "visits": visits}
    declared = {"links": {"visits": "person_id"}, "rows_per_person": {"people": 1, "visits": 1}}
    house = adomnia.protect(tables, unit="people.person_id", epsilon=1, **declared)
    with house, pytest.raises(Refusal, match="several"):
        house.sample_and_aggregate(len, bounds=(0, 1), epsilon=1)
    with adomnia.protect(pa.table({"x": [1.0]}).to_reader(), unit="row", epsilon=1) as session:
        with pytest.raises(Refusal, match="read once"):
            session.sample_and_aggregate(len, bounds=(0, 1), epsilon=1)
        assert session.budget().personal.left().epsilon == 1


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"function": 3}, "function must be callable"),
        ({"blocks": 1}, "blocks must be"),
        ({"blocks": 2.0}, "blocks must be"),
        ({"blocks": 10_001}, "blocks must be"),
        ({"aggregate": "mode"}, "average or median"),
        ({"time_limit_seconds": 0}, "time_limit_seconds"),
        ({"time_limit_seconds": float("inf")}, "time_limit_seconds"),
        ({"bounds": 7}, "bounds must be"),
        ({"bounds": (1, 1)}, "upper must be"),
        ({"epsilon": 0}, "epsilon must be"),
        ({"confidence": 1.5}, "onfidence"),
    ],
    ids=str,
)
def test_what_cannot_be_asked_is_refused_and_free(own, options, says):
    before = own.budget().personal.left().epsilon
    with pytest.raises((ValueError, TypeError, Refusal), match=says):
        own.sample_and_aggregate(**{"function": len, "bounds": (0, 1), "epsilon": 1, "blocks": 2, **options})
    assert own.budget().personal.left().epsilon == before


@pytest.mark.parametrize(("epsilon", "blocks"), [(4, 10), (1, 200)])
def test_the_noise_of_an_average_hides_a_block_that_goes_from_end_to_end(program, epsilon, blocks):
    # Replacing one result moves the average by width / blocks: Laplace noise of that over epsilon, and not of half.
    built = program(epsilon=epsilon, blocks=blocks, bounds=(0, 1000))
    (lower,), (upper,) = summarize(built, np.full(blocks, 500.0), 1).interval(1 - exp(-3), 1)
    assert upper - lower == pytest.approx(2 * 3 * 1000 / (epsilon * blocks), rel=1e-3)


@pytest.mark.parametrize("aggregate", ["average", "median"])
def test_an_interval_holds_results_between_the_steps_of_the_grid(program, aggregate):
    built = program(aggregate, epsilon=19, blocks=400, bounds=(0, 1))
    between = (built.domain.middle + 0.49) * float(built.domain.step)
    (lower,), (upper,) = summarize(built, np.full(400, between), 2).interval(0.999, 1)
    assert lower <= between <= upper


def test_a_price_that_no_noise_can_be_drawn_for_is_explained(own):
    with pytest.raises(Refusal, match=r"half of epsilon=10000.*twice"):
        own.sample_and_aggregate(len, bounds=(0, 1), epsilon=SURE, blocks=2, aggregate="median")


def table(**columns):
    return pa.table(columns)


def test_all_rows_of_a_person_are_in_one_block_in_their_order():
    frame = table(who=[k % 40 for k in range(200)], place=list(range(200)))
    blocks = cut_into_blocks(frame, "who", 7, SeededBits(1))
    homes = {who: {n for n, block in enumerate(blocks) if who in block["who"].to_pylist()} for who in range(40)}
    assert all(len(home) == 1 for home in homes.values())
    assert sorted(row for block in blocks for row in block["place"].to_pylist()) == list(range(200))
    assert all(block["place"].to_pylist() == sorted(block["place"].to_pylist()) for block in blocks)


def test_where_every_row_is_a_person_rows_are_spread():
    blocks = cut_into_blocks(table(x=[1.0] * 4000), None, 4, SeededBits(2))
    # Binomial with deviation 27: beyond 8 of them with probability below 1e-14.
    assert sum(map(len, blocks)) == 4000
    assert all(abs(len(block) - 1000) < 220 for block in blocks)


@pytest.mark.parametrize(
    "keys", [["7", " 7", "7.0"], [7.0, 7.0, 7.0], [0.0, -0.0, 0.0], [np.float64(1e300)] * 3], ids=str
)
def test_keys_that_the_index_takes_for_one_person_are_one(keys):
    for chance in range(5):
        blocks = cut_into_blocks(table(who=keys), "who", 50, SeededBits(chance))
        assert max(map(len, blocks)) == 3


def test_rows_of_nobody_are_in_no_block():
    frame = table(who=[1.0, None, float("nan"), 2.0], x=[1, 2, 3, 4])
    found = [row for block in cut_into_blocks(frame, "who", 3, SeededBits(3)) for row in block["x"].to_pylist()]
    assert sorted(found) == [1, 4]


def test_a_block_does_not_carry_the_categories_or_the_length_of_the_whole_table():
    whole = pd.DataFrame(
        {"who": range(300), "city": pd.Categorical([f"c{k}" for k in range(300)])}, index=range(5, 305)
    )
    for block in cut_into_blocks(pa.Table.from_pandas(whole), "who", 60, SeededBits(4)):
        rows = block.to_pandas()
        assert block.schema.metadata is None
        assert rows["city"].dtype == object
        assert list(rows.index) == list(range(len(rows)))


def test_a_table_without_rows_is_as_many_empty_blocks():
    empty = table(who=pa.array([], pa.int64()), x=pa.array([], pa.float64()))
    assert [len(block) for block in cut_into_blocks(empty, "who", 3, SeededBits(5))] == [0, 0, 0]


def test_a_person_who_joins_changes_one_block_alone():
    people = [k % 50 for k in range(100)]
    before = cut_into_blocks(table(who=people, x=list(range(100))), "who", 9, SeededBits(6))
    joined = table(who=[*people, 99, 99, 99], x=list(range(103)))
    after = cut_into_blocks(joined, "who", 9, SeededBits(6))
    assert [block.equals(other) for block, other in zip(before, after, strict=True)].count(False) == 1
