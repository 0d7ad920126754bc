"""The adversarial corpus, as far as this language reaches: what must be refused is, with the code the corpus names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from adomnia.errors import Refusal
from adomnia.sql.explain import line
from adomnia.sql.lower import lower
from sql.hospital import HOSPITAL

CORPUS = yaml.safe_load((Path(__file__).parents[1] / "fixtures" / "adversarial_sql.yaml").read_text())
OUTCOMES = re.compile(r"(REJECT|ANSWER|PUBLIC)(?:\((\w+))?")

# Entries that need what is not built yet. They are refused, by these codes.
LATER = {
    **dict.fromkeys(("E02", "E04", "E05", "E06", "E09", "E10", "E23"), "function_not_allowed"),
    **dict.fromkeys(("A01", "A18", "A20", "A21"), "function_not_allowed"),
    **dict.fromkeys(("R08", "A06"), "aggregate_not_allowed"),
    "G07": "needs_key_domain",
    "C13": "private_subquery",
    "N03": "having",
    "X09": "cte",
}
# Where the corpus offers two outcomes, this is the one taken.
TAKEN = {
    "R15": "grouping_sets",
    "G11": "needs_key_domain",
    "C06": "set_operation",
    "C09": "private_subquery",
    "A13": "aggregate_not_allowed",
    "A23": "type_error",
}
ANSWERED = {"E03", "E08", "R06", "R07", "G02", "G12", "C01", "A04", "A07", "A08", "N01", "B02", "B06", "X21"}


def requests():
    for entry in CORPUS:
        texts = entry["sql"] if isinstance(entry["sql"], list) else [entry["sql"]]
        for number, text in enumerate(texts):
            yield pytest.param(entry, text, id=f"{entry['id']}.{number}")


def code_of(text):
    with pytest.raises(Refusal) as refused:
        lower(text, HOSPITAL)
    return refused.value.code


@pytest.mark.parametrize(("entry", "text"), list(requests()))
def test_every_entry_has_its_outcome(entry, text):
    outcome, code = OUTCOMES.match(entry["expected"]).groups()
    if entry["id"] in LATER | TAKEN:
        assert code_of(text) == (LATER | TAKEN)[entry["id"]]
    elif outcome == "REJECT":
        assert code_of(text) == code
    else:
        assert entry["id"] in ANSWERED
        assert line(lower(text, HOSPITAL))


def test_the_lists_speak_of_entries_that_exist():
    known = {entry["id"] for entry in CORPUS}
    assert known >= LATER.keys() | TAKEN.keys() | ANSWERED
    assert not ANSWERED & (LATER.keys() | TAKEN.keys())


def test_what_is_taken_is_one_of_the_two_outcomes_offered():
    offered = {entry["id"]: entry["expected"] for entry in CORPUS}
    for entry, code in TAKEN.items():
        assert f"REJECT({code}" in offered[entry]


def reply(text):
    try:
        return line(lower(text, HOSPITAL))
    except Refusal as refusal:
        return str(refusal)


@pytest.mark.parametrize(("entry", "text"), list(requests()))
def test_a_reply_is_the_same_every_time_and_a_refusal_has_a_place(entry, text):
    assert reply(text) == reply(text)
    assert re.search(r"\(line \d+, column \d+\)$", reply(text)) or entry["id"] in ANSWERED


def test_the_same_aggregate_four_times_is_one_measurement():
    (entry,) = (entry for entry in CORPUS if entry["id"] == "A07")
    assert len(lower(entry["sql"], HOSPITAL).statistics) == 1


def test_an_aggregate_to_sort_by_is_measured_too():
    (entry,) = (entry for entry in CORPUS if entry["id"] == "R06")
    assert len(lower(entry["sql"], HOSPITAL).statistics) == 2
