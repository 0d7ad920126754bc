from __future__ import annotations

import pytest

from adomnia.client.addresses import Address, check_address
from adomnia.errors import Refusal


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("http://127.0.0.1:8000", Address("http://127.0.0.1:8000", loopback=True)),
        ("http://localhost:8000/", Address("http://localhost:8000", loopback=True)),
        ("http://[::1]:8000", Address("http://[::1]:8000", loopback=True)),
        ("https://data.example.org/study/", Address("https://data.example.org/study", loopback=False)),
    ],
)
def test_an_address_is_a_machine_a_port_and_a_path(url, found):
    assert check_address(url, insecure=False) == found


@pytest.mark.parametrize(
    "url",
    [
        *("", "127.0.0.1:8000", "ftp://127.0.0.1", "http://", "http://[::1", None, 5),
        *("http://127.0.0.1:99999999", "http://127.0.0.1:0"),
        *("https://me:secret@example.org", "https://example.org/?token=secret", "https://example.org/#secret"),
    ],
)
def test_anything_else_is_refused_and_not_repeated(url):
    with pytest.raises(Refusal, match=r"write it like http://127.0.0.1:8000") as raised:
        check_address(url, insecure=True)
    assert raised.value.code == "bad_address"
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("url", ["http://example.org", "http://10.0.0.1:8000", "http://localhost.example.org"])
def test_a_token_leaves_the_machine_encrypted_unless_told_otherwise(url):
    with pytest.raises(Refusal, match="pass insecure=True") as raised:
        check_address(url, insecure=False)
    assert raised.value.code == "insecure"
    assert check_address(url, insecure=True) == Address(url, loopback=False)
