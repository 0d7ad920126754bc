from __future__ import annotations

import asyncio
import json
from fractions import Fraction

import numpy as np
import pytest

from adomnia.api import replies
from adomnia.api.replies import (
    JSON,
    CachedReply,
    EncodedReply,
    PiecewiseResponse,
    ReplyCache,
    ReplyKey,
    choose_form,
    encode_answer,
    encode_batch,
    encode_json,
    encode_pasts,
    encode_record,
    encode_within,
)
from adomnia.api.running.answer_memory import AnswerMemory, needed_bytes
from adomnia.asking.sizes import AnswerSize
from adomnia.plans.columns import KeyColumn, ValueColumn
from adomnia.privacy.filters import Left
from adomnia.session.answer import Answer
from adomnia.statistics.contract import Estimate
from adomnia.wire.answers import answer_record
from adomnia.wire.tables import ARROW, CSV

LARGE = AnswerSize(10**6, 10**6, 0)
BODY = [b"x" * 50, b"x" * 50]


def test_pieces_are_sent_one_after_the_other_and_their_memory_is_given_back_at_the_end():
    memory, taken, sent = AnswerMemory(needed_bytes(LARGE)), [], []

    def encode():
        memory.admit(LARGE)
        taken.append(memory.used_bytes)
        return [b"[1,", b"2,", b"3]"]

    async def send(message):
        taken.append(memory.used_bytes)
        sent.append(message)

    reply = PiecewiseResponse(encode_within(memory, encode))
    asyncio.run(reply({}, None, send))
    start, *bodies = sent
    assert dict(start["headers"])[b"content-length"] == b"7"
    assert dict(start["headers"])[b"content-type"] == b"application/json"
    assert [(body["body"], body["more_body"]) for body in bodies] == [(b"[1,", True), (b"2,", True), (b"3]", False)]
    assert taken == [needed_bytes(LARGE), 7, 7, 7, 7]
    assert memory.used_bytes == 0


def test_the_same_pieces_can_be_sent_again():
    pieces, sent = [b"a", b"b"], []

    async def send(message):
        sent.append(message.get("body", b""))

    for _ in range(2):
        asyncio.run(PiecewiseResponse(EncodedReply(pieces))({}, None, send))
    assert b"".join(sent) == b"abab"


def test_a_caller_who_reads_too_slowly_is_cut_off_and_the_memory_is_given_back(monkeypatch):
    monkeypatch.setattr(replies, "PATIENCE_SECONDS", 0.05)
    memory, sent = AnswerMemory(needed_bytes(LARGE)), []

    def encode():
        memory.admit(LARGE)
        return [b"[1,", b"2]"]

    async def send(message):
        sent.append(message)
        if len(sent) == 2:
            await asyncio.sleep(60)

    asyncio.run(PiecewiseResponse(encode_within(memory, encode))({}, None, send))
    assert [message.get("more_body") for message in sent] == [None, True]
    assert memory.used_bytes == 0


def test_a_connection_that_breaks_gives_the_memory_back():
    memory = AnswerMemory(needed_bytes(LARGE))

    def encode():
        memory.admit(LARGE)
        return [b"[1]"]

    async def send(_message):
        raise ConnectionError

    with pytest.raises(ConnectionError):
        asyncio.run(PiecewiseResponse(encode_within(memory, encode))({}, None, send))
    assert memory.used_bytes == 0


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        (None, JSON),
        ("", JSON),
        ("*/*", JSON),
        ("text/html,*/*;q=0.8", JSON),
        (ARROW, ARROW),
        (ARROW.upper(), ARROW),
        (CSV, CSV),
        (f"{CSV};charset=utf-8", CSV),
        (f"{CSV};q=0.4, {ARROW};q=0.5", ARROW),
        (f"{JSON}, {ARROW};q=0.5", JSON),
        (f"{ARROW};q=0", JSON),
        (f"{ARROW};q=nan", JSON),
        (f"{ARROW};q=x", JSON),
        (f"{ARROW};q=2", JSON),
        ("," * 100 + ARROW, JSON),
    ],
)
def test_json_is_sent_unless_another_form_is_preferred(accept, form):
    assert choose_form(accept) == form


def asked(question: str, analyst: str = "alice", edition: str = "one") -> ReplyKey:
    return ReplyKey(analyst, edition, question)


def test_a_reply_is_found_by_analyst_edition_and_question_together():
    replies = ReplyCache()
    replies.put(asked("a"), CachedReply("id", BODY))
    assert replies.get(asked("a")) == CachedReply("id", BODY)
    assert replies.get(asked("b")) is None
    assert replies.get(asked("a", analyst="bob")) is None
    assert replies.get(asked("a", edition="two")) is None


def test_what_was_not_used_for_longest_makes_room():
    replies = ReplyCache(largest_bytes=8_000)
    for name in "abcdefghijklm":  # thirteen of about six hundred bytes fit
        replies.put(asked(name), CachedReply(name, BODY))
    replies.get(asked("a"))
    replies.put(asked("n"), CachedReply("n", BODY))
    assert replies.get(asked("b")) is None
    assert all(replies.get(asked(name)) for name in "acdefghijklmn")


def test_the_same_question_takes_room_once():
    replies = ReplyCache(largest_bytes=8_000)
    replies.put(asked("first"), CachedReply("first", BODY))
    for number in range(100):
        replies.put(asked("a"), CachedReply(str(number), BODY))
    assert replies.get(asked("a")) == CachedReply("99", BODY)
    assert replies.get(asked("first"))


def test_a_very_large_reply_is_not_kept_and_pushes_nothing_out():
    replies = ReplyCache(largest_bytes=8_000)
    replies.put(asked("a"), CachedReply("a", BODY))
    replies.put(asked("large"), CachedReply("large", [b"x" * 500, b"x" * 500]))
    assert replies.get(asked("large")) is None
    assert replies.get(asked("a"))


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

    monkeypatch.setattr(replies, "encode_json", watched)
    pieces = encode_answer(answered(25_000))
    assert max(sizes) == replies.SLICE
    assert all(2**17 <= len(piece) < 2**20 for piece in pieces[:-1])
