"""How large an answer is follows from its shape; what is too large is refused before anything is paid."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import adomnia
from adomnia.api.replies import encode_answer
from adomnia.api.running.answer_memory import needed_bytes
from adomnia.asking.sizes import ENTRY_BYTES, FOUND_BYTES, LARGE_NUMBER_BYTES, NUMBER_BYTES, bound_results
from adomnia.catalog.model import Quota
from adomnia.curator.measurements import Record
from adomnia.errors import Refusal
from kit.altering import alter

COUNT = "SELECT COUNT(*) AS n FROM people"
GROUPED = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
QUESTIONS = {
    "a count": (COUNT, {"epsilon": 1e-9}),
    "groups": (GROUPED, {"epsilon": 1}),
    "a mean": ("SELECT AVG(age) AS a FROM people", {"epsilon": 1}),
    "sums": ("SELECT SUM(salary) AS s, SUM(salary * salary) AS t FROM people", {"epsilon": 1e-6}),
    "a variance": ("SELECT sex, VAR_POP(age) AS v FROM people GROUP BY sex", {"epsilon": 1}),
    "a correlation": ("SELECT CORR(age, salary) AS c FROM people", {"epsilon": 1}),
    "quantiles": ("SELECT sex, MEDIAN(age) AS m, QUANTILE(age, 0.9) AS q FROM people GROUP BY sex", {"epsilon": 1}),
    "high effort": (
        "SELECT sex, SUM(salary) AS s, AVG(age) AS a FROM people GROUP BY sex",
        {"rho": 1, "effort": "high"},
    ),
    "found values": ("SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis", {"rho": 1, "delta": 1e-8}),
    "a formula": ("SELECT AVG(age) - AVG(salary) AS d FROM people", {"epsilon": 1}),
}


@pytest.fixture
def sizes(curator):
    """What the curator was asked to admit."""
    admitted = []
    alter(curator, admit=admitted.append)
    return admitted


def allow(curator, name, **quota):
    """Give an analyst a quota."""
    analysts = tuple(
        replace(each, quota=replace(each.quota, **quota)) if each.name == name else each
        for each in curator.catalog.analysts
    )
    alter(curator, catalog=replace(curator.catalog, analysts=analysts))


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_size_of_an_answer_is_known_before_it_is_asked_for(curator, bob, sizes, name):
    text, payment = QUESTIONS[name]
    bob.sql(text, request_id="mine", **payment)
    payload = curator.ledger.answer("bob", "mine").payload
    (size,) = sizes
    assert [each["shown"] is not None for each in Record.from_bytes(payload).results] == [True]
    measured = sum(array.size for array in Record.from_bytes(payload).values)
    assert len(payload) <= size.stored_bytes + ENTRY_BYTES
    assert size.largest <= size.numbers
    if name == "found values":
        assert size.stored_bytes >= (NUMBER_BYTES + FOUND_BYTES) * 1000 > 1000 * measured  # not how many were found
    else:
        assert measured <= size.numbers <= measured * (1.2 if name == "high effort" else 1)
        assert NUMBER_BYTES * measured <= size.stored_bytes - size.result_bytes <= LARGE_NUMBER_BYTES * size.numbers


def test_the_size_of_a_batch_is_that_of_all_its_questions(bob, sizes):
    bob.batch([COUNT, "SELECT sex, VAR_POP(age) AS v, SUM(salary) AS s FROM people GROUP BY sex"], epsilon=1)
    assert (sizes[0].numbers, sizes[0].largest) == (1 + 3 * 3 + 3, 3 * 3)


def test_every_way_to_an_answer_is_admitted(alice, sizes):
    alice.sql(GROUPED, epsilon=1, request_id="one")
    alice.sql(GROUPED, epsilon=1)
    alice.answer("one")
    alice.sql("SELECT city, population FROM cities")
    assert sizes[0] == sizes[1] == sizes[2]
    assert sizes[3].numbers == 2 * len(alice.sql("SELECT city FROM cities"))
    assert sizes[3].stored_bytes == 0
    alice.price(GROUPED, epsilon=1)
    assert len(sizes) == 5


def test_what_is_not_admitted_costs_nothing(curator, alice):
    def refuse(_size):
        raise Refusal("The server", "has no room", "wait")

    alter(curator, admit=refuse)
    with pytest.raises(Refusal, match="has no room"):
        alice.sql(COUNT, epsilon=1, request_id="mine")
    assert (alice.budget().personal.spent.epsilon_units, alice.answers()) == (0, [])


def test_an_answer_larger_than_its_quota_is_refused_before_it_is_paid_for(curator, alice, bob):
    allow(curator, "alice", largest_answer=3)
    alice.sql(GROUPED, epsilon=1)
    for ask in (alice.sql, alice.price, alice.explain):
        with pytest.raises(Refusal, match="measures 6 numbers, more than the 3 that alice may have in one") as refused:
            ask("SELECT sex, AVG(age) AS a FROM people GROUP BY sex", epsilon=1)
        assert refused.value.code == "too_many_cells"
    with pytest.raises(Refusal, match="measures 4 numbers"):
        alice.batch([COUNT, GROUPED], epsilon=1)
    assert alice.budget().personal.spent.epsilon_units == 10**12
    bob.sql("SELECT sex, AVG(age) AS a FROM people GROUP BY sex", epsilon=1)


def test_a_full_quota_of_the_ledger_is_refused_before_it_is_paid_for(curator, alice, bob):
    asked = alice.sql(COUNT, epsilon=1, request_id="one") and alice.answers()[0].receipt.asked
    priced = alice.recall("one").priced
    needed = NUMBER_BYTES + sum(bound_results([priced])) + len(asked) + ENTRY_BYTES
    allow(curator, "alice", storage=2 * needed - 1)
    with pytest.raises(Refusal, match=f"needs {needed:,} bytes of the ledger, and alice has {needed - 1:,} left"):
        alice.sql(COUNT, epsilon=2)
    assert alice.budget().personal.spent.epsilon_units == 10**12
    assert alice.sql(COUNT, epsilon=1).replayed
    assert len(alice.answer("one")) == 1
    allow(curator, "alice", storage=2 * needed)
    alice.sql(COUNT, epsilon=2)
    assert Quota().storage == 10**10
    bob.sql(COUNT, epsilon=1)


# Where numbers have most digits, and where correlations can be told from the noise, so that they are computed.
@pytest.mark.no_cover
@pytest.mark.parametrize(("aggregate", "rows", "epsilon"), [("COUNT(*)", 1, 1e-7), ("CORR(x, a)", 40, 10)])
def test_a_large_answer_takes_no_more_memory_than_is_counted_for_it(aggregate, rows, epsilon):
    """From the measurements to the reply; numpy reports its arrays to tracemalloc."""
    k = np.arange(12_000 * rows)
    table = pa.table({"a": k % 60, "b": k // 60 % 200, "x": (k // 12_000 * 7 + k % 60) % 50})
    session = adomnia.protect(table, unit="row", epsilon=100, bounds={"a": (0, 59), "b": (0, 199), "x": (0, 49)})
    sizes = []
    alter(session._curator, admit=sizes.append)
    session.sql(f"SELECT b, {aggregate} AS v FROM data GROUP BY b", epsilon=1)  # what is loaded once
    tracemalloc.start()
    try:
        answer = session.sql(
            f"SELECT a, b, {aggregate} AS v FROM data GROUP BY a, b", epsilon=epsilon, allow_uninformative=True
        )
        pieces = encode_answer(answer)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(answer) == 12_000
    assert sum(map(len, pieces)) > 2**16
    assert peak <= needed_bytes(sizes[-1])
