"""An explanation is an answer whose rows are lines, and costs nothing."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia.errors import Refusal
from adomnia.session.explanation import Explanation

TEXT = "SELECT sex, COUNT(*) AS n, AVG(salary) AS pay FROM people GROUP BY sex"


def nothing_spent(session):
    return session._curator.ledger.spent(None).epsilon_units == 0 and session._curator.engine.ran == []


@pytest.mark.parametrize("payment", [{}, {"epsilon": 0.5}, {"rho": 0.01}, {"error": 5000, "rows": 300}])
def test_explain_is_free_in_sql_and_in_python_and_says_the_same(bob, payment):
    asked, explained = bob.sql(f"EXPLAIN {TEXT}", **payment), bob.explain(TEXT, **payment)
    assert isinstance(asked, Explanation)
    assert repr(asked) == repr(explained)
    assert repr(asked) == str(asked.tree)
    assert asked["explanation"] == asked.tree.lines()
    assert (asked.receipt, asked.cost, asked.replayed) == (None, None, False)
    assert nothing_spent(bob)


def test_an_explanation_is_rows_and_html_too(alice):
    explained = alice.explain(TEXT, epsilon=0.5)
    assert explained.records()[0] == {"explanation": "1 measurement, 3 outputs"}
    assert explained.to_arrow().num_rows == len(explained) == len(explained.tree.lines())
    assert explained._repr_html_().startswith("<ul><li>1 measurement")
    assert explained.rows.dtype == np.intp


def test_public_tables_are_explained(alice):
    assert "exact and free" in repr(alice.sql("EXPLAIN SELECT city FROM cities"))


def test_refusals_of_an_explanation_point_into_its_text(alice):
    with pytest.raises(Refusal) as refusal:
        alice.sql("EXPLAIN SELECT AVG(salery) FROM people")
    assert refusal.value.position == (1, 20)
    with pytest.raises(Refusal, match=r"not a question|cannot be read"):
        alice.sql("EXPLAIN ANALYZE SELECT COUNT(*) FROM people")


def test_what_cannot_be_paid_is_not_explained_with_a_price(alice):
    with pytest.raises(Refusal):
        alice.explain(TEXT, epsilon=0.5, weights={"nobody": 1})
    with pytest.raises(Refusal):
        alice.explain(TEXT, epsilon=-1)
