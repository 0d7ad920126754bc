from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from adomnia.api import encoding
from adomnia.api.encoding import encode_answer, encode_batch, encode_json, encode_pasts, encode_record
from adomnia.plans.columns import KeyColumn, ValueColumn
from adomnia.privacy.filters import Left
from adomnia.session.answer import Answer
from adomnia.statistics.contract import Estimate
from adomnia.wire.answers import answer_record


def answered(rows: int, unbounded: bool = False) -> Answer:
    """An answer with a key and two columns of numbers."""
    values, ends = np.arange(rows) - 5.0, np.full(rows, np.inf if unbounded else 0.5)
    columns = [KeyColumn("city", tuple(f"é{row}" for row in range(rows)))]
    for name, whole in (("n", True), ("mean", False)):
        estimate = Estimate(values / (1 if whole else 7), lambda *_: (values - ends, values + ends), "noise", whole)
        columns.append(ValueColumn(name, estimate))
    return Answer(tuple(columns), np.arange(rows, dtype=np.intp)[::-1], 0.95, None, False, Left(*[Fraction(1, 3)] * 3))


def answer(rows: int) -> dict:
    key = {"name": 'c"ity', "kind": "key", "values": [f"é{row}" for row in range(rows)]}
    value = {"name": "n", "values": list(range(rows)), "lower": [None] * rows, "cells": rows, "method": None}
    return {"columns": [key, value], "rows": rows, "caps": [], "left": {"epsilon": "1/3"}, "replayed": False}


@pytest.mark.parametrize("rows", [0, 1, 10_000, 10_001, 25_000])
def test_however_many_pieces_it_is_the_same_json(rows):
    assert b"".join(encode_record(answer(rows))) == encode_json(answer(rows))


@pytest.mark.parametrize("rows", [1, 3_333, 3_334, 10_001, 25_000])
@pytest.mark.parametrize("unbounded", [False, True])
def test_a_large_answer_is_written_like_a_small_one(rows, unbounded):
    asked = answered(rows, unbounded)
    assert b"".join(encode_answer(asked)) == encode_json(answer_record(asked))
    assert b"".join(encode_answer(asked, simultaneous=True)) == encode_json(answer_record(asked, simultaneous=True))
    facts = {name: part for name, part in answer_record(asked).items() if name not in {"left", "rows"}}
    assert b"".join(encode_answer(asked, without={"left", "rows"})) == encode_json(facts)


def test_answers_of_a_batch_are_written_likewise():
    answers = [answered(2), answered(10_001)]
    assert json.loads(b"".join(encode_batch(answers))) == {"answers": [answer_record(each) for each in answers]}


def test_the_list_of_what_was_asked_is_the_same_json():
    for record in (
        {"answers": [], "next": None},
        {"answers": [{"request_id": "é"}, {"questions": ["a"]}], "next": "é"},
    ):
        assert json.loads(encode_pasts(record)) == record


def test_no_piece_of_a_large_answer_is_large(monkeypatch):
    sizes = []

    def watched(part: object) -> bytes:
        sizes.append(len(part) if isinstance(part, list) else 1)
        return json.dumps(part).encode()

    monkeypatch.setattr(encoding, "encode_json", watched)
    pieces = encode_answer(answered(25_000))
    assert max(sizes) == encoding.SLICE
    assert all(2**17 <= len(piece) < 2**20 for piece in pieces[:-1])
