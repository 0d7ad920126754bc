"""Requests are named by who asks, or by chance."""

from __future__ import annotations

from adomnia.asking.request_ids import choose_request_id


def test_a_request_id_that_was_named_is_kept():
    assert choose_request_id("monday") == "monday"
    assert choose_request_id("") == ""  # the ledger refuses it, in its own words


def test_fresh_request_ids_are_128_bits_that_differ():
    fresh = {choose_request_id(None) for _ in range(100)}
    assert len(fresh) == 100
    assert all(len(bytes.fromhex(each)) == 16 for each in fresh)
