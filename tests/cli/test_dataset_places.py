"""Folders, addresses and tokens, as they are typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from adomnia.cli.dataset_places import Place, check_encryption, read_token, split_address
from adomnia.errors import Refusal


@pytest.mark.parametrize(
    ("text", "server", "dataset"),
    [
        ("https://h/d", "https://h", "d"),
        ("https://h:8443/base/d%20e", "https://h:8443/base", "d e"),
        ("https://h", "https://h", None),
        ("https://h/", "https://h/", None),
        ("https://h/base/", "https://h/base/", None),
    ],
)
def test_the_last_part_of_an_address_is_the_dataset(text, server, dataset):
    assert Place(text).is_address
    assert split_address(text) == (server, dataset)


def test_a_folder_is_no_address_and_has_no_token():
    assert Place("a/b").folder == Path("a/b")
    assert not Place("a/b").is_address
    with pytest.raises(Refusal, match="--token-file is for servers"):
        _ = Place("a/b", None, Path("token")).folder


@pytest.mark.parametrize("url", ["http://stats.example.org", "http://10.0.0.1:8000"])
def test_a_token_does_not_leave_this_machine_in_the_open(url):
    with pytest.raises(Refusal, match="Fix: use https://, or a tunnel") as refused:
        check_encryption(url)
    assert "insecure" not in refused.value.fix
    check_encryption("http://127.0.0.1:8000")


@pytest.mark.parametrize("url", ["ftp://h", "http://user:secret@h", "https://h:99999"])
def test_other_addresses_are_refused_as_a_client_refuses_them(url):
    with pytest.raises(Refusal) as refused:
        check_encryption(url)
    assert refused.value.code == "bad_address"
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_token_is_what_a_file_holds_without_the_end_of_its_line(tmp_path, capsys, end):
    file = tmp_path / "token"
    file.write_bytes(b"abc" + end.encode())
    file.chmod(0o600)
    assert read_token(file) == "abc"
    assert capsys.readouterr().err == ""


def test_a_file_that_others_can_read_is_warned_about(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("ADOMNIA_TOKEN", "other")
    file = tmp_path / "token"
    file.write_text("abc")
    file.chmod(0o640)
    assert read_token(file) == "abc"
    assert capsys.readouterr().err == f"Warning: others can read {file}, and ask as you. Run: chmod 600 {file}\n"


def test_a_token_may_be_written_by_any_editor_and_must_be_there(tmp_path):
    file = tmp_path / "token"
    file.touch(0o600)
    file.write_bytes(b"\xef\xbb\xbf abc \r\n\r\n")
    assert read_token(file) == "abc"
    file.write_bytes(b"\xef\xbb\xbf\r\n")
    with pytest.raises(Refusal, match="is empty"):
        read_token(file)


def test_a_token_comes_from_the_environment_or_nowhere(monkeypatch, tmp_path):
    monkeypatch.setenv("ADOMNIA_TOKEN", "abc")
    assert read_token(None) == "abc"
    monkeypatch.delenv("ADOMNIA_TOKEN")
    with pytest.raises(Refusal, match="ADOMNIA_TOKEN"):
        read_token(None)
    with pytest.raises(Refusal, match="no such file"):
        read_token(tmp_path / "nothing")
