"""The second look agrees with every right plan that a question becomes."""

from __future__ import annotations

import pytest

from adomnia.engines.check import check_histogram, check_statement
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.render import render
from adomnia.privacy.events import Pure
from adomnia.privacy.scans import Histogram
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.sql.lower import lower
from sql.hospital import HOSPITAL
from sql.test_fixtures import cases

ACCEPTED = [case.values[0] for case in cases() if not case.values[1].startswith(("refused ", "public "))]


def batches(question):
    """The statements that a question is answered by, with the queries they answer."""
    found = {}
    for statistic in lower(question, HOSPITAL).statistics:
        for measure in next(statistic.steps(Pure(1))):
            query = measure.query
            found.setdefault(query.scan, {})[query] = None
    return [tuple(queries) for queries in found.values()]


@pytest.mark.parametrize("question", ACCEPTED)
def test_the_sensitivity_of_a_right_plan_is_found_again_from_its_text(question):
    for queries in batches(question):
        if isinstance(queries[0].aggregate, Histogram):
            moved, cells, reading = check_histogram(render(queries, DUCKDB), HOSPITAL, DUCKDB)
            assert (cells[:-1], len(cells[-1])) == (queries[0].cells, queries[0].aggregate.values)
            assert reading.shift == queries[0].aggregate.shift
            found = (moved,)
        else:
            found = check_statement(render(queries, DUCKDB), HOSPITAL, DUCKDB, queries[0].cells)
        assert found == tuple(query.sensitivity() for query in queries)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "condition",
    [
        "1/(" * 3 + "age" + ")" * 3 + " > 0",
        " OR ".join(f"age = {value}" for value in range(1000)),
        "NOT (" * 60 + "active" + ")" * 60,
        "weight" + " * 1.5" * 60 + " > 0",
    ],
    ids=["quotients", "alternatives", "negations", "products without bounds"],
)
def test_the_largest_conditions_that_are_accepted_can_be_checked(condition):
    (queries,) = batches(f"SELECT COUNT(*) FROM people WHERE {condition}")
    assert check_statement(render(queries, DUCKDB), HOSPITAL, DUCKDB, ()) == (Sensitivity(l1=1, monotone=True),)
