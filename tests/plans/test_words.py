"""What a quote calls the things that a question did not name itself."""

from __future__ import annotations

import pytest

from adomnia.pricing.quotes import quote_plan
from adomnia.privacy.events import Pure
from adomnia.sql.lower import lower
from sql.hospital import HOSPITAL

OWN = "(SELECT person_id, COUNT(*) AS n, SUM(cost) AS s, MAX(cost) AS m FROM visits GROUP BY person_id)"
JOINED = "(SELECT v.person_id, v.cost + 1 AS c FROM visits v JOIN people w USING (person_id))"
KEYED = "(SELECT person_id, cost + 1 AS x, COUNT(*) AS n FROM visits GROUP BY person_id, cost + 1)"
UNITED = "(SELECT age AS x FROM people UNION ALL SELECT cost FROM visits)"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT COUNT(*) FROM people", ["rows"]),
        ("SELECT SUM(z) FROM (SELECT MAX(cost) AS z FROM visits GROUP BY BLOCK(9))", ["sum of MAX(cost) of a block"]),
        (f"SELECT SUM(n), SUM(s) FROM {OWN}", ["sum of COUNT(*) of a person", "sum of SUM(cost) of a person"]),
        (f"SELECT SUM(x + 1) FROM {UNITED}", ["sum of (age + 1)"]),
        (
            f"SELECT SUM(a.m * p.age) FROM people p JOIN {OWN} a USING (person_id)",
            ["sum of (MAX(cost) of a person * people.age)"],
        ),
        (
            f"SELECT SUM(q.c) FROM people p JOIN {JOINED} q USING (person_id) WHERE p.age > 3",
            ["sum of (visits.cost + 1)"],
        ),
        (f"SELECT COUNT(x) FROM {KEYED}", ["values of (cost + 1)"]),
        (f"SELECT COUNT(DISTINCT x) FROM {KEYED}", ["different values of (cost + 1)"]),
    ],
)
def test_a_quote_speaks_of_what_was_asked(text, words):
    found = quote_plan(lower(text, HOSPITAL), Pure(1))
    assert sorted(each.what for each in found.measurements) == sorted(words)


def test_outputs_and_arithmetic_between_them_are_in_words_too():
    text = "SELECT SUM(n) / COUNT(n) FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id)"
    (output,) = quote_plan(lower(text, HOSPITAL), Pure(1)).outputs
    assert "COUNT(*) of a person" in output.what
    assert "v0" not in output.what


def test_both_values_of_a_pair_are_in_words():
    (output,) = quote_plan(lower(f"SELECT CORR(s, n) FROM {OWN}", HOSPITAL), Pure(1)).outputs
    assert output.what.startswith("CORR(")
    assert "COUNT(*) of a person in " in output.what
    assert "SUM(cost) of a person in " in output.what
