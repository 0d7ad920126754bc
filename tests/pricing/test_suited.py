"""A method measures what suits the kind of its price, however that is named."""

from __future__ import annotations

import pytest

from adomnia import Question
from adomnia.pricing.payment import price_question
from adomnia.pricing.quotes import list_measures
from adomnia.pricing.rules import SECOND
from adomnia.sql.lower import lower
from sql.hospital import HOSPITAL

LM = "SELECT * FROM lm(people, formula => 'salary ~ age')"


@pytest.mark.parametrize(
    ("payment", "columns"),
    [
        ({"epsilon": 1}, [4, 1, 1, 2]),  # the corners of a box, two squares, and the influences of two coefficients
        ({"rho": 0.01}, [*[1] * 6, 2]),  # one sum after the other
    ],
)
def test_sums_are_those_for_the_noise_that_is_bought(payment, columns):
    priced = price_question(Question(LM, **payment), lower(LM, HOSPITAL), HOSPITAL, 0.95)
    assert [measure.query.columns for measure in list_measures(priced.plan, priced.price)] == columns


def test_other_questions_stay_as_they_are():
    text = "SELECT COUNT(*) FROM people"
    plan = lower(text, HOSPITAL)
    assert price_question(Question(text, epsilon=1), plan, HOSPITAL, 0.95).plan == plan


def test_answers_of_the_first_version_are_found_by_what_it_measured():
    priced = price_question(Question(LM, rho=0.01), lower(LM, HOSPITAL), HOSPITAL, 0.95, SECOND)
    assert [measure.query.columns for measure in list_measures(priced.plan, priced.price)] == [1] * 6
