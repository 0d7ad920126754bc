"""A method measures what suits the kind of its price, however that is named."""

from __future__ import annotations

import pytest

from adomnia import Question
from adomnia.pricing.payment import price_question
from adomnia.pricing.quotes import list_measures
from adomnia.sql.lower import lower
from sql.hospital import HOSPITAL

LM = "SELECT * FROM lm(people, formula => 'salary ~ age')"


@pytest.mark.parametrize(
    ("payment", "columns"),
    [
        ({"epsilon": 1}, [4, 1, 1]),  # the corners of a box, and two squares
        ({"rho": 0.01}, [1] * 6),  # one sum after the other
    ],
)
def test_sums_are_those_for_the_noise_that_is_bought(payment, columns):
    priced = price_question(Question(LM, **payment), lower(LM, HOSPITAL), HOSPITAL, 0.95)
    assert [measure.query.columns for measure in list_measures(priced.plan, priced.price)] == columns


def test_other_questions_stay_as_they_are():
    text = "SELECT COUNT(*) FROM people"
    plan = lower(text, HOSPITAL)
    assert price_question(Question(text, epsilon=1), plan, HOSPITAL, 0.95).plan == plan
