from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from adomnia.curator.executor import Statements
from adomnia.methods.parts.robust.block_lines import BlockLines
from adomnia.pricing.deltas import with_delta
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Pure
from adomnia.sql.lower import lower
from kit.analyses import frame
from kit.bits import SeededBits
from kit.hospital import declare, load, person
from kit.in_blocks import BlockArms

FRAME = frame({"x": (10, 60), "y": (-100, 300)})
LINES = BlockLines(FRAME.numbers["y"], FRAME.numbers["x"], Numbers.bounded(-64, 64))


def lines_of(x, y, blocks, seed=0):
    """The slopes and intercepts of all blocks, and who is in which."""
    relation = LINES.rows(FRAME.relation, blocks)
    rows = BlockArms({"x": x, "y": y}, SeededBits("lines"), seed).rows(relation)
    return rows["slope"], rows["intercept"], np.random.default_rng(seed).integers(0, blocks, len(x))


def test_each_block_has_its_own_line_of_least_squares_within_the_bounds():
    random = np.random.default_rng(1)
    x = random.normal(35, 20, 600)  # some are beyond the bounds
    y = 20 + 3 * x + random.normal(0, 60, 600)
    slopes, intercepts, place = lines_of(x, y, 40)
    x, y = np.clip(x, 10, 60), np.clip(y, -100, 300)
    for block, (slope, intercept) in enumerate(zip(slopes, intercepts, strict=True)):
        own = place == block
        assert (slope, intercept) == pytest.approx(np.polyfit(x[own], y[own], 1))


def test_no_line_that_meets_the_bounds_is_clamped():
    domain = LINES.intercepts
    for slope in (-64, 0, 64):
        for x in (10, 60):
            for y in (-100, 300):
                assert domain.lower <= y - slope * x <= domain.upper
    assert (domain.lower, domain.upper) == (-100 - 64 * 60, 300 + 64 * 60)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    return declare(tmp_path_factory.mktemp("lines") / "hospital")


def read(catalog, people, blocks):
    """How many blocks have which intercept, and which slope, as the engine finds them."""
    text = "SELECT * FROM robust_lm(people, response => salary, predictor => age"
    (asked,) = with_delta(lower(f"{text}, blocks => {blocks})", catalog), Fraction(1, 10**6)).statistics
    engine, found = load(catalog, people, []), []
    statements, measures = Statements(engine, catalog), asked.rehearse(Pure(1))
    assert statements.of([measures[0].query])  # the number of blocks is proved too
    for measure in measures[1:3]:
        held: dict[float, int] = {}
        query = measure.query
        ((_, statement),) = statements.of([query])
        _, buckets, _ = engine.run(statement, (query,))[0]
        fine = replace(query, aggregate=replace(query.aggregate, buckets=tuple(dict.fromkeys(buckets.tolist()))))
        ((_, statement),) = statements.of([fine])
        domain = query.aggregate.domain
        _, values, counts = engine.run(statement, (fine,))[0]
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            held[float((value + domain.grid_lower) * domain.step)] = count
        found.append(held)
    return found


def test_an_engine_finds_the_line_that_all_rows_are_on_in_every_block(catalog):
    people = [person(k, age=20.0 + k % 50, salary=1000 + 500 * (20.0 + k % 50)) for k in range(300)]
    people += [person(1000 + k, age=30.0, salary=None) for k in range(50)]
    people += [person(2000 + k, age=None, salary=9000.0) for k in range(50)]
    intercepts, slopes = read(catalog, people, 20)
    assert sum(intercepts.values()) == sum(slopes.values()) == 20
    assert max(abs(each - 1000) for each in intercepts) <= 8
    assert max(abs(each - 500) for each in slopes) <= 0.1


@pytest.mark.parametrize("age", [73.0, 112.0])
def test_a_block_whose_predictor_is_the_same_in_all_rows_has_no_line(catalog, age):
    """Of most numbers of such equal values, doubles find a variance above zero."""
    people = [person(k, age=age, salary=1000.0 * (k % 97)) for k in range(200)]
    assert read(catalog, people, 10) == [{}, {}]
    assert read(catalog, [], 5) == [{}, {}]
