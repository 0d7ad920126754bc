from __future__ import annotations

import json

import pytest

from adomnia.server import encoding
from adomnia.server.encoding import encode_answer, encode_batch, encode_pasts


def answer(rows: int) -> dict:
    key = {"name": 'c"ity', "kind": "key", "values": [f"é{row}" for row in range(rows)]}
    value = {"name": "n", "values": list(range(rows)), "lower": [None] * rows, "cells": rows, "method": None}
    return {"columns": [key, value], "rows": rows, "caps": [], "left": {"epsilon": "1/3"}, "replayed": False}


@pytest.mark.parametrize("rows", [0, 1, 10_000, 10_001, 25_000])
def test_however_many_pieces_it_is_the_same_json(rows):
    assert json.loads(encode_answer(answer(rows))) == answer(rows)


def test_answers_of_a_batch_are_written_likewise():
    record = {"answers": [answer(2), answer(10_001)]}
    assert json.loads(encode_batch(record)) == record


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
    encode_answer(answer(25_000))
    assert max(sizes) == encoding.SLICE
