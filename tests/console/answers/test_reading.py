from __future__ import annotations

import pytest

from adomnia.console.answers.reading import AnswerReading, hold_together
from adomnia.errors import Refusal
from kit.answers import make_answer, measured


def test_an_address_says_how_an_answer_is_read_and_is_read_back():
    reading = AnswerReading(101, simultaneous=True, confidence=0.99, place=2)
    assert reading.address("a b/c") == "/answers/a%20b%2Fc?from=101&simultaneous=1&confidence=0.99&place=2"
    query = {"from": "101", "simultaneous": "1", "confidence": "0.99", "place": "2"}
    assert AnswerReading.from_query(query) == reading
    assert AnswerReading.from_query({}) == AnswerReading()
    assert AnswerReading().address("r") == "/answers/r"


def test_a_file_has_all_rows_with_the_intervals_that_are_read():
    reading = AnswerReading(201, simultaneous=True, again=True, checked=True)
    assert reading.file_address("r", "/export", form="csv") == "/answers/r/export?simultaneous=1&form=csv"


@pytest.mark.parametrize(
    "query",
    [{"from": "-1"}, {"from": "x"}, {"from": "9" * 13}, {"from": "²"}, {"place": "1.5"}]
    + [{"confidence": each} for each in ("0", "1", "nan", "inf", "-0.5", "sure")],
)
def test_what_means_nothing_is_refused(query):
    with pytest.raises(Refusal) as refused:
        AnswerReading.from_query(query)
    assert refused.value.code == "malformed"


def test_intervals_can_hold_all_cells_at_once():
    simultaneous = hold_together(make_answer(measured("n", (90, 100, 110), (0, 5, 10))))
    assert simultaneous.interval("n") == [(80.0, 120.0), (-5.0, 15.0)]
