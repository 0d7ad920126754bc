"""Answers as plain data: whatever they hold comes back as it was."""

from __future__ import annotations

import json
from datetime import date, datetime

import numpy as np
import pytest

from adomnia.asking.stored_answers import AnswerForm, StoredResult, describe_form
from adomnia.errors import Refusal
from adomnia.messages.texts import Note
from adomnia.plans.columns import Cap, DraftAnswer, KeyColumn, LeftOut, ValueColumn
from adomnia.sql.lower import lower
from adomnia.statistics.contract import Estimate
from sql.hospital import HOSPITAL

NUMBERS = np.array([1.5, -np.nan, np.inf, -0.0])
LABELS = ("a", None, 2**60, True, 0.1, date(2020, 2, 29), datetime.fromisoformat("2020-02-29T12:30"))


def draft(values=NUMBERS, width=1.0):
    ends = values - width, values + width
    estimate = Estimate(
        values, lambda *_: ends, "a method", whole=False, dates=True, limits=(0.0, np.inf), about="population"
    )
    columns = (KeyColumn("k", LABELS, fact=True), ValueColumn("v", estimate))
    caps = (Cap("t", 3, LeftOut(0.5, 0.25, 7, 100)), Cap("u", 1, shortened=True))
    figure, model = {"kind": "line", "places": np.array([1, 2])}, {"rows": np.int64(5), "ends": (1.0, 2.0)}
    return DraftAnswer(columns, np.array([3, 0]), 0.9, caps, (Note("A note.", "a_note", n=3),), figure, model)


FORM = AnswerForm("layout", ("key", "value"))


def stored(given, most=10**6):
    return StoredResult.from_record(json.loads(json.dumps(StoredResult.of(given, FORM, most).to_record())))


def test_an_answer_comes_back_as_it_was():
    given = draft()
    again = stored(given).show(None, "1")
    keys, values = again.columns
    assert (keys.name, keys.values, keys.fact) == ("k", LABELS, True)
    assert [type(each) for each in keys.values] == [type(each) for each in LABELS]
    estimate = values.estimate
    assert estimate.values.tobytes() == np.array([1.5, np.nan, np.inf, -0.0]).tobytes()
    assert np.array_equal(estimate.interval(0.9, 1), given.columns[1].estimate.interval(0.9, 1), equal_nan=True)
    assert (estimate.method, estimate.whole, estimate.dates, estimate.possible) == (
        "a method",
        False,
        True,
        (0.0, np.inf),
    )
    assert (again.rows.tolist(), again.confidence, again.caps, again.notes) == ([3, 0], 0.9, given.caps, given.notes)
    assert [(note.code, note.facts) for note in again.notes] == [("a_note", {"n": 3})]
    assert (estimate.about, estimate.shortened) == ("population", False)
    assert again.figure == {"kind": "line", "places": [1, 2]}
    assert again.model == {"rows": 5, "ends": [1.0, 2.0]}


@pytest.mark.parametrize(
    "other", [draft(NUMBERS + 1e-15), draft(width=2.0), draft(np.array([1.5, np.nan, np.inf, 0.0]))]
)
def test_the_last_bit_of_a_number_or_of_an_end_is_another_answer(other):
    assert stored(draft()).agrees(draft(), FORM)
    assert not stored(draft()).agrees(other, FORM)


def test_what_is_too_large_is_compared_and_not_shown():
    small = stored(draft(), most=10)
    assert small.agrees(draft(), FORM)
    assert not small.agrees(draft(width=2.0), FORM)
    with pytest.raises(Refusal, match="too large to be kept"):
        small.show(None, "1")


@pytest.mark.parametrize(
    ("one", "other", "shares"),
    [
        ("SELECT COUNT(*) AS a FROM people", "SELECT COUNT(*) AS b FROM people LIMIT 5", True),
        ("SELECT sex, COUNT(*) FROM people GROUP BY sex", "SELECT COUNT(*) FROM people GROUP BY sex ORDER BY 1", True),
        (
            "SELECT sex, COUNT(*) FROM people GROUP BY sex",
            "SELECT sex, COUNT(*) FROM people GROUP BY ROLLUP(sex)",
            False,
        ),
        (
            "SELECT sex, RANK() OVER (ORDER BY COUNT(*)) FROM people GROUP BY sex",
            "SELECT sex, RANK() OVER (ORDER BY COUNT(*)) FROM people GROUP BY sex HAVING COUNT(*) > 1",
            False,
        ),
        ("SELECT COUNT(*) FROM people", "SELECT COUNT(*) + 1 FROM people", False),
    ],
)
def test_spellings_share_the_columns_that_mean_the_same(one, other, shares):
    forms = [describe_form(lower(text, HOSPITAL)) for text in (one, other)]
    assert forms[0].layout != forms[1].layout
    assert bool({*forms[0].terms} & {*forms[1].terms} - {None}) is shares


def test_what_the_first_version_stored_is_shown_with_all_that_it_kept():
    record = json.loads(json.dumps(StoredResult.of(draft(), FORM, 10**6).to_record()))
    record["shown"]["notes"] = ["A note."]
    for column in record["shown"]["columns"]:
        for later in ("about", "shortened"):
            column.pop(later, None)
    again = StoredResult.from_record(record).show(None, "1")
    assert (again.notes, again.notes[0].code) == (("A note.",), "")
    assert (again.columns[1].estimate.about, again.columns[1].estimate.shortened) == ("data", False)
