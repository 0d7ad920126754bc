"""A stored answer stays what it was: newer code gives it again only where it computes the very same."""

from __future__ import annotations

import json
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest

from adomnia.asking import replaying, sizes
from adomnia.asking.replaying import recall_stored, replay_answers
from adomnia.catalog.model import Analyst, Policy
from adomnia.curator.measurements import Record
from adomnia.errors import Failure, Refusal
from adomnia.ledger.requests import StoredAnswer
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.privacy.filters import Budget
from kit.altering import alter, altered
from kit.newer_code import other_intervals, other_rounds
from kit.old_ledgers import describe

QUANTILES = "SELECT * FROM quantiles(people, column => salary, probs => (0.25, 0.5))"
GROUPED = "SELECT sex, COUNT(*) AS n, AVG(age) AS a FROM people GROUP BY sex ORDER BY n DESC"
MARK = "Version 0.1.0 of Ad Omnia gave this answer."


def numbers(answer):
    """All that an answer says but its notes."""
    return {name: part for name, part in describe(answer).items() if name not in {"notes", "texts"}}


def stored(alice, request="mine"):
    return alice._curator.ledger.answer(alice.analyst, request)


CHANGES = [(QUANTILES, other_rounds), (GROUPED, other_intervals)]
changed = pytest.mark.parametrize(("text", "change"), CHANGES)


@changed
def test_the_same_code_gives_the_same_answer_without_a_mark(alice, text, change):
    first = alice.sql(text, epsilon=3, request_id="mine")
    for again in (alice.sql(text, epsilon=3), alice.answer("mine")):
        assert describe(again) == describe(first)
        assert MARK not in " ".join(again.notes)
    with change():
        assert numbers(alice.sql(text, epsilon=3, replay=False)) != numbers(first)


@changed
def test_other_code_shows_the_stored_answer_and_says_who_gave_it(alice, bob, text, change):
    first = alice.sql(text, epsilon=3, request_id="mine", confidence=0.9)
    spent = alice._curator.ledger.spent(None)
    with change():
        given = [
            alice.sql(text, epsilon=3, confidence=0.9),
            alice.answer("mine"),
            alice.answer("mine", confidence=0.9),
            alice.recall("mine").answer,
        ]
        for again in given:
            assert numbers(again) == numbers(first)
            assert again.notes[0].startswith(MARK)
            assert again.notes[1:] == first.notes
        assert alice.recall("mine").explain() is not None
        if change is other_intervals:  # quantiles at another level are other measurements
            assert numbers(alice.sql(text, epsilon=3, confidence=0.99)) == numbers(first)
        assert given[0].to_arrow().equals(first.to_arrow())
        shared = bob.sql(text, epsilon=3, confidence=0.9)
        assert [shared[name] for name in shared.columns] == [first[name] for name in first.columns]
        assert shared.notes[0].startswith(MARK)
    assert alice._curator.ledger.spent(None) == spent


@changed
def test_no_interval_of_a_stored_answer_is_computed_anew(alice, text, change):
    first = alice.sql(text, epsilon=3, request_id="mine")
    name = next(column.name for column in first.typed_columns if hasattr(column, "estimate"))
    with change():
        again = alice.sql(text, epsilon=3)
        assert again.interval(name) == first.interval(name) == again.interval(name, 0.95)
        asked = [
            lambda: again.interval(name, 0.99),
            lambda: again.interval(name, simultaneous=True),
            lambda: again.to_arrow(simultaneous=True),
            lambda: alice.answer("mine", confidence=0.99),
        ]
        for each in asked:
            with pytest.raises(Refusal, match=r"level 0\.95 alone.*replay=False") as refused:
                each()
            assert refused.value.code == "other_version"


def test_a_batch_is_shown_as_it_was_given(alice):
    texts = ["SELECT COUNT(*) AS n FROM people", QUANTILES]
    first = alice.batch(texts, epsilon=3, request_id="mine")
    with other_rounds():
        again = alice.batch(texts, epsilon=3)
        assert [numbers(each) for each in again] == [numbers(each) for each in first]
        assert [each.notes[0].startswith(MARK) for each in again] == [True, True]
        assert numbers(alice.answer("mine", 1)) == numbers(first[1])


def test_an_answer_whose_price_a_policy_sets_is_shown_as_it_was_given(curator):
    analysts = (Analyst("dora", Budget(10), Policy("equal_split", questions=5)),)
    alter(curator, catalog=replace(curator.catalog, analysts=analysts))
    with altered(curator, ledger=type(curator.ledger).open(":memory:", Budget(10), {"dora": Budget(10)})):
        dora = curator.session("dora")
        first = dora.sql(QUANTILES)
        with other_rounds():
            again = dora.sql(QUANTILES)
        assert numbers(again) == numbers(first)
        assert again.notes[0].startswith(MARK)
        ranked = "SELECT sex, RANK() OVER (ORDER BY COUNT(*)) AS r FROM people GROUP BY sex"
        assert not dora.sql(ranked).replayed
        assert dora.sql(ranked).replayed
        curator.ledger.close()


def test_another_spelling_has_the_numbers_that_it_shares_or_is_refused(alice):
    alice.sql(GROUPED, epsilon=3)
    renamed = GROUPED.replace("AS n", "AS many").replace("BY n", "BY many")
    filtered = "SELECT sex, COUNT(*) AS n, AVG(age) AS a FROM people GROUP BY sex HAVING COUNT(*) > -1000000"
    computed = "SELECT sex, AVG(age) - COUNT(*) AS d FROM people GROUP BY sex"
    for text in (renamed, filtered, computed):
        again = alice.sql(text, epsilon=3)
        assert again.replayed
        assert MARK not in " ".join(again.notes)
    with other_intervals():
        assert alice.sql(renamed, epsilon=3)["many"] == alice.sql(GROUPED, epsilon=3)["n"]
        with pytest.raises(Refusal, match=r"answered by version 0\.1\.0.*other columns or other rows") as refused:
            alice.sql(filtered, epsilon=3)
        assert refused.value.code == "other_version"
        assert not alice.sql(filtered, epsilon=3, replay=False).replayed


def test_what_is_too_large_to_be_kept_is_given_again_by_the_same_code_alone(alice):
    with patch.object(replaying, "bound_results", lambda priced: [10] * len(priced)):
        first = alice.sql(GROUPED, epsilon=3, request_id="mine")
    assert Record.from_bytes(stored(alice).payload).results[0]["shown"] is None
    assert numbers(alice.sql(GROUPED, epsilon=3)) == numbers(first)
    with other_intervals(), pytest.raises(Refusal, match="too large to be kept") as refused:
        alice.answer("mine")
    assert refused.value.code == "other_version"


def test_code_that_fails_on_a_stored_answer_shows_it(alice):
    first = alice.sql(GROUPED, epsilon=3, request_id="mine")
    with patch.object(replaying, "draft_answer", side_effect=ZeroDivisionError):
        again = alice.answer("mine")
    assert numbers(again) == numbers(first)
    assert again.notes[0].startswith(MARK)


def test_the_first_records_are_computed_as_ever(alice):
    first = alice.sql(GROUPED, epsilon=3, request_id="mine")
    kept, priced = stored(alice), [alice.recall("mine").priced]
    arrays = Record.from_bytes(kept.payload).values
    plain = json.dumps([{"shape": list(each.shape), "values": each.ravel().tolist()} for each in arrays]).encode()
    (draft,) = replay_answers(priced, StoredAnswer(plain, kept.receipt), 0.95)
    assert [column.name for column in draft.columns] == ["sex", "n", "a"]
    assert draft.columns[1].estimate.values[draft.rows].tolist() == first["n"]
    assert draft.notes == first.notes
    assert recall_stored(StoredAnswer(plain, kept.receipt)) is None
    for payload in (b"[]", b"{", b"{}", b"null"):
        with pytest.raises(Failure, match="mine"):
            replay_answers(priced, StoredAnswer(payload, kept.receipt), 0.95)


def _damage(record, place):
    if place == "none":
        record["results"] = []
    elif place == "numbers":
        record["results"][0]["shown"]["columns"][1]["packed"] = "AAAA"
    elif place == "letters":
        record["results"][0]["shown"]["rows"] = "?"
    else:
        del record["results"][0][place]
    return json.dumps(record).encode()


@pytest.mark.parametrize("place", ["none", "numbers", "letters", "layout", "prints", "shown"])
def test_a_damaged_result_is_a_failure_and_no_answer(alice, place):
    alice.sql(GROUPED, epsilon=3, request_id="mine")
    kept, priced = stored(alice), [alice.recall("mine").priced]
    damaged = StoredAnswer(_damage(json.loads(kept.payload), place), kept.receipt)
    with other_intervals(), pytest.raises(Failure, match="mine"):
        replay_answers(priced, damaged, 0.95)
    if place != "none":
        with pytest.raises(Failure, match="mine"):
            recall_stored(damaged)


def test_a_count_that_is_stored_at_another_level_says_nothing_of_the_number_of_rows(alice):
    alter(alice._curator, catalog=replace(alice._curator.catalog, vacuous_answers="refuse"))
    alice.sql("SELECT COUNT(*) AS n FROM people", epsilon=1, confidence=0.5)
    with other_intervals():
        alice._curator.dataset.counts._known.clear()
        assert alice.price("SELECT AVG(age) FROM people", epsilon=5)


def test_what_cannot_be_kept_is_a_failure_that_was_paid_for(alice):
    with patch.object(replaying, "draft_answer", side_effect=ValueError), pytest.raises(Failure, match="mine"):
        alice.sql(GROUPED, epsilon=3, request_id="mine")
    assert alice.budget().personal.spent.epsilon_units > 0
    with pytest.raises(Failure, match="mine"):
        alice.answer("mine")


def test_intervals_of_an_answer_are_computed_once(alice):
    calls = []
    before = DiscreteLaplace.interval

    def counted(self, confidence, cells=1):
        calls.append(confidence)
        return before(self, confidence, cells)

    with patch.object(DiscreteLaplace, "interval", counted):
        answer = alice.sql("SELECT COUNT(*) AS n FROM people", epsilon=2)
        once = len(calls)
        answer.interval("n")
        answer.records()
        assert len(calls) == once
        answer.interval("n", 0.5)
        assert len(calls) > once


def test_what_no_number_is_comes_back_as_it_was(alice):
    text = "SELECT sex, SQRT(COUNT(*) - 1000000) AS r, 1 / NULLIF(COUNT(*) - COUNT(*), 0) AS q FROM people GROUP BY sex"
    first = alice.sql(text, epsilon=1)
    with other_intervals():
        again = alice.sql(text, epsilon=1)
    assert again["r"] == first["r"] == [None] * 3
    for name in ("r", "q"):
        assert np.array_equal(again.interval(name), first.interval(name), equal_nan=True)


def test_notes_on_earlier_answers_are_not_kept_for_others(alice, bob):
    alice.sql("SELECT COUNT(*) AS n FROM people", epsilon=50, request_id="secret")
    text = "SELECT AVG(salary) AS a FROM people"
    first = alice.sql(text, epsilon=0.001, allow_uninformative=True, request_id="mine")
    assert "by your answer secret" in first.notes[0]
    assert b"secret" not in stored(alice).payload
    with other_intervals():
        shared = bob.sql(text, epsilon=0.001, allow_uninformative=True)
        assert shared["a"] == first["a"]
        assert "secret" not in " ".join(shared.notes)
        assert "by your answer secret" in " ".join(alice.sql(text, epsilon=0.001, allow_uninformative=True).notes)


def test_what_somebody_else_asked_for_is_not_recalled_under_another_catalog(alice, bob):
    alice.sql("SELECT COUNT(*) AS alices_own_word FROM people", epsilon=3, request_id="first")
    assert bob.sql("SELECT COUNT(*) AS n FROM people", epsilon=3, request_id="second").replayed
    catalog = replace(alice._curator.catalog, tables=())
    with altered(alice._curator, catalog=catalog):
        assert alice.answer("first").columns[0] == "alices_own_word"
        with pytest.raises(Refusal) as refused:
            bob.answer("second")
        assert refused.value.code == "catalog_changed"


def test_the_answers_of_a_batch_are_kept_together_in_what_one_may_take(alice):
    texts = [GROUPED, GROUPED.replace("AVG(age)", "AVG(salary)")]
    with patch.object(sizes, "MOST_RESULT_BYTES", 1000):
        alice.batch(texts, epsilon=3, request_id="mine")
        kept = Record.from_bytes(stored(alice).payload).results
        assert [each["shown"] for each in kept] == [None, None]
        alice.sql(GROUPED, epsilon=3, request_id="alone")
        assert Record.from_bytes(stored(alice, "alone").payload).results[0]["shown"] is not None
