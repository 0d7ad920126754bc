"""A question in one sentence."""

from __future__ import annotations

import pytest

from adomnia.asking.batch import plan_text
from adomnia.explaining.plan_sentences import read_plan
from adomnia.pricing.questions import Question
from adomnia.session.curator import read_catalog
from kit import hospital


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reading")
    hospital.write(folder, [], [], hospital.CATALOG)
    return read_catalog(folder)


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("SELECT COUNT(*) FROM people", "How many rows there are, in `people`. One row a person."),
        (
            "SELECT FLOOR(age / 10) * 10 AS decade, AVG(salary) FROM people WHERE sex = 'F' GROUP BY decade",
            (
                "For each of 13 values of `decade`, 0 to 120 by 10: the mean of `salary`, in `people` where "
                "`sex = 'F'`. One row a person."
            ),
        ),
        (
            "SELECT hospital, MEDIAN(cost) AS m FROM visits GROUP BY hospital HAVING COUNT(*) > 9 LIMIT 2",
            (
                "For each of 5 values of `hospital`: the median of `cost`, in `visits`. Only those with `COUNT(*) > 9` "
                "by noisy values. At most 2 of them come back. At most 3 rows of a person count."
            ),
        ),
        (
            "SELECT COUNT(DISTINCT person_id) AS n, CORR(age, score) AS c FROM people",
            "How many people there are and the correlation of `age` and `score`, in `people`. One row a person.",
        ),
        (
            "SELECT AVG(n) AS visits FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id)",
            "The mean of `COUNT(*) of a person`, in `visits`. The rows of each person are made one first.",
        ),
        (
            "SELECT AVG(z) AS z FROM (SELECT MAX(cost) AS z FROM visits GROUP BY BLOCK(9))",
            "The mean of `MAX(cost) of a block`, in `visits`. The rows of each block of people are made one first.",
        ),
    ],
)
def test_a_plan_reads_as_a_sentence(catalog, sql, sentence):
    pieces = read_plan(plan_text(Question(sql), catalog, 0.95))
    assert "".join(f"`{piece.text}`" if piece.code else piece.text for piece in pieces) == sentence


def test_where_rows_are_protected_nothing_is_said_of_people(catalog):
    pieces = read_plan(plan_text(Question("SELECT COUNT(*) AS n FROM people"), catalog, 0.95), by_row=True)
    assert pieces[-1].text.endswith("Each row is protected by itself.")


def test_what_has_no_word_is_shown_as_its_formula(catalog):
    pieces = read_plan(plan_text(Question("SELECT SUM(age) / COUNT(*) AS r FROM people"), catalog, 0.95))
    assert pieces[0].text == "R" or pieces[0].text == "r"
    assert "SUM(age" in pieces[2].text
