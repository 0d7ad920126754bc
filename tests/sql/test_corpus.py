"""The adversarial corpus, as far as this language reaches: what must be refused is, with the code the corpus names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from adomnia.errors import Refusal
from adomnia.plans.plan import Plan
from adomnia.sql.lower import lower, plan_question
from adomnia.sql.reading.parse import parse
from kit.plan_lines import describe_plan
from sql.hospital import HOSPITAL

CORPUS = yaml.safe_load((Path(__file__).parents[1] / "fixtures" / "adversarial_sql.yaml").read_text())
ENTRIES = {entry["id"]: entry for entry in CORPUS}
OUTCOMES = re.compile(r"(REJECT|ANSWER|PUBLIC)(?:\((\w+))?")


def requests():
    for entry in CORPUS:
        texts = entry["sql"] if isinstance(entry["sql"], list) else [entry["sql"]]
        for number, text in enumerate(texts):
            yield pytest.param(entry, text, id=f"{entry['id']}.{number}")


def reply(text):
    """The outcome of a text, and what it says."""
    try:
        found = plan_question(parse(text), HOSPITAL)
    except Refusal as refusal:
        return "REJECT", refusal.code, str(refusal)
    return ("ANSWER", None, describe_plan(found)) if isinstance(found, Plan) else ("PUBLIC", None, repr(found))


@pytest.mark.parametrize(("entry", "text"), list(requests()))
def test_every_entry_has_its_outcome(entry, text):
    outcome, code = OUTCOMES.match(entry["expected"]).groups()
    assert reply(text)[:2] == (outcome, code if outcome == "REJECT" else None)


def test_one_outcome_is_pinned_for_every_entry():
    for entry in CORPUS:
        assert OUTCOMES.match(entry["expected"])
        assert " or REJECT" not in entry["expected"]
        assert " or ANSWER" not in entry["expected"]


@pytest.mark.parametrize(("entry", "text"), list(requests()))
def test_a_reply_is_the_same_every_time_and_a_refusal_has_a_place_and_a_way_out(entry, text):
    outcome, _, said = reply(text)
    assert reply(text)[2] == said
    assert outcome != "REJECT" or re.search(r"\. Fix: .+\. \(line \d+, column \d+\)$", said)


def plan(name):
    return lower(ENTRIES[name]["sql"], HOSPITAL)


def test_the_same_aggregate_four_times_is_one_measurement():
    assert len(plan("A07").statistics) == 1


def test_an_aggregate_to_sort_by_is_measured_too():
    assert len(plan("R06").statistics) == 2


def test_the_analysts_bounds_are_taken_within_the_declared_ones():
    (statistic,) = plan("A18").statistics
    assert (statistic.query.aggregate.domain.lower, statistic.query.aggregate.domain.upper) == (0, 500_000)


def test_an_expression_is_clamped_after_it_was_evaluated():
    (statistic,) = plan("A01").statistics
    assert (statistic.query.aggregate.domain.lower, statistic.query.aggregate.domain.upper) == (0, 500_000 * 10**6)


@pytest.mark.parametrize(("name", "change"), [("C01", 10), ("C06", 2), ("C09", 1), ("A23", 1)])
def test_one_person_changes_as_much_as_the_corpus_says(name, change):
    (statistic,) = plan(name).statistics
    assert statistic.query.sensitivity().l1 == change


@pytest.mark.parametrize(("name", "change"), [("C13", 1_000_000), ("E02", 1)])
def test_one_person_changes_a_sum_by_as_much_as_its_bounds_say(name, change):
    (statistic,) = plan(name).statistics
    assert statistic.query.sensitivity().l1 * statistic.query.aggregate.domain.step == change


def test_a_name_of_with_hides_the_private_table_of_that_name():
    rows = plan_question(parse(ENTRIES["X09"]["sql"]), HOSPITAL)
    assert rows.names == ("city", "region", "population")
    assert rows.rows.source.name == "cities"
