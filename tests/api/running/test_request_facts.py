from __future__ import annotations

from pathlib import Path

import pytest

from adomnia.api.running.request_facts import UNKNOWN, find_caller
from adomnia.api.settings import Settings

ALONE = Settings(Path("study"))
BEHIND = Settings(Path("study"), behind_proxy=True)


def scope(client, *forwarded):
    return {"client": client, "headers": [(b"x-forwarded-for", value) for value in forwarded]}


@pytest.mark.parametrize(
    ("client", "address"),
    [
        (("192.0.2.7", 5), "192.0.2.7"),
        (("2001:db8::1", 5), "2001:db8::/64"),
        (("2001:db8::ffff:ffff", 5), "2001:db8::/64"),
        (("2001:db8:0:1::1", 5), "2001:db8:0:1::/64"),
        (("::ffff:192.0.2.7", 5), "192.0.2.7"),
        (("testclient", 5), UNKNOWN),
        (None, UNKNOWN),
    ],
)
def test_an_address_is_one_or_its_network(client, address):
    assert find_caller(scope(client), ALONE) == address


def test_what_a_caller_writes_about_itself_is_not_believed():
    assert find_caller(scope(("192.0.2.7", 5), b"203.0.113.1"), ALONE) == "192.0.2.7"


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ([b"203.0.113.9"], "203.0.113.9"),
        ([b"198.51.100.1, 203.0.113.9"], "203.0.113.9"),
        ([b"198.51.100.1", b"203.0.113.9"], "203.0.113.9"),
        ([b"203.0.113.9, \xff\xfe"], UNKNOWN),
        ([b"203.0.113.9:5678"], "203.0.113.9"),
        ([b"[2001:db8::1]:443"], "2001:db8::/64"),
        ([b"2001:db8::1"], "2001:db8::/64"),
        ([b"[2001:db8::1"], "2001:db8::/64"),
        ([], UNKNOWN),
    ],
)
def test_behind_a_proxy_only_its_own_word_counts(forwarded, address):
    assert find_caller(scope(("127.0.0.1", 5), *forwarded), BEHIND) == address
