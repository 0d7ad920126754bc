"""Secrets are drawn, shown once, and recognised by their digest."""

from __future__ import annotations

from hashlib import sha256

import pytest

from adomnia.server.access.keys import Kind, csrf_of, draw, parse


@pytest.mark.parametrize("kind", Kind)
def test_a_secret_opens_what_was_kept_of_it(kind):
    text, key = draw(kind)
    assert text.startswith(f"{kind}_")
    assert parse(kind, text) == key
    assert parse(kind, text).opens(key.digest)
    assert key.digest == sha256(text.split("_")[2].encode()).digest()


def test_no_two_secrets_are_alike():
    drawn = [draw(Kind.TOKEN) for _ in range(100)]
    assert len({text for text, _ in drawn}) == len({key.id for _, key in drawn}) == 100


def test_another_secret_under_the_same_id_opens_nothing():
    text, key = draw(Kind.TOKEN)
    other = text[:-1] + ("0" if text[-1] != "0" else "1")
    assert parse(Kind.TOKEN, other).id == key.id
    assert not parse(Kind.TOKEN, other).opens(key.digest)


@pytest.mark.parametrize("other", [Kind.VISIT, Kind.LINK])
def test_a_secret_of_one_kind_is_not_one_of_another(other):
    assert parse(other, draw(Kind.TOKEN)[0]) is None


@pytest.mark.parametrize(
    "text", ["", "ao", "ao__", "ao_0_1", "é" * 84, "\ud800", "ao_" + "0" * 16 + "_" + "0" * 64 + "\n", "x" * 10**6]
)
def test_what_no_draw_can_have_made_is_no_key(text):
    assert parse(Kind.TOKEN, text) is None


def test_a_key_does_not_show_its_digest():
    text, key = draw(Kind.VISIT)
    assert repr(key) == f"Key(id='{key.id}')"
    assert csrf_of(text) == csrf_of(text) != csrf_of(draw(Kind.VISIT)[0])
    assert csrf_of(text) not in {text, key.digest.hex(), text.split("_")[2]}
