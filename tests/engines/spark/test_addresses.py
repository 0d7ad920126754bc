"""Where a Connect server is: TLS and a token for other machines, and no token in a catalog."""

from __future__ import annotations

import pytest

from adomnia.engines.spark.addresses import TOKEN, TOKEN_FILE, complete_address, is_loopback
from adomnia.errors import Refusal

SECRET = "dapi-0123456789"


@pytest.fixture(autouse=True)
def no_token(monkeypatch):
    monkeypatch.delenv(TOKEN, raising=False)
    monkeypatch.delenv(TOKEN_FILE, raising=False)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("sc://localhost", "sc://localhost:15002"),
        ("sc://127.0.0.1:4000/", "sc://127.0.0.1:4000"),
        ("sc://[::1]:4000", "sc://[::1]:4000"),
    ],
)
def test_this_machine_needs_neither_tls_nor_a_token(url, address):
    assert complete_address(url) == address


@pytest.mark.parametrize("host", ["spark.example.org", "192.0.2.7", "[2001:db8::1]", "localhost.example.org"])
def test_another_machine_is_spoken_to_through_tls_and_with_a_token(host, monkeypatch):
    assert not is_loopback(host)
    with pytest.raises(Refusal, match="takes a token, and there is none"):
        complete_address(f"sc://{host}")
    monkeypatch.setenv(TOKEN, SECRET)
    assert complete_address(f"sc://{host}") == f"sc://{host}:15002/;use_ssl=true;token={SECRET}"


def test_a_token_is_read_from_a_file(monkeypatch, tmp_path):
    (tmp_path / "token").write_text(f"{SECRET}\n")
    monkeypatch.setenv(TOKEN_FILE, str(tmp_path / "token"))
    assert complete_address("sc://spark.example.org").endswith(f"token={SECRET}")
    monkeypatch.setenv(TOKEN_FILE, str(tmp_path / "other"))
    with pytest.raises(Refusal, match="cannot be read from its file"):
        complete_address("sc://spark.example.org")


@pytest.mark.parametrize("token", ["", "two words", "a;user_id=other", "line\nbreak"])
def test_a_token_that_could_say_more_than_itself_is_none(token, monkeypatch):
    monkeypatch.setenv(TOKEN, token)
    with pytest.raises(Refusal, match="there is none") as refused:
        complete_address("sc://spark.example.org")
    assert token == "" or token not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        f"sc://localhost/;token={SECRET}",
        f"sc://user:{SECRET}@localhost",
        "sc://spark.example.org/;use_ssl=false",
        "http://localhost",
        "sc://",
        "sc://localhost:1/x",
    ],
)
def test_an_address_holds_nothing_else_and_is_never_repeated(url):
    with pytest.raises(Refusal, match="no address of a Spark Connect server") as refused:
        complete_address(url)
    assert SECRET not in str(refused.value)
