"""The catalog's text over the API: read by owners and auditors, checked and saved by owners."""

from __future__ import annotations

import json

import pytest

from kit import hospital, house

TEXT, CHECK = f"{house.DATASET}/catalog/text", f"{house.DATASET}/catalog/check"
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def owned(own_house):
    own_house.services.access.set_password("olga", house.PASSWORD)
    return own_house


def save(opened, text, **body):
    identity = opened.ask("olga", "GET", TEXT).json()["identity"]
    return opened.ask("olga", "PUT", TEXT, json={"text": text, "identity": identity, "password": house.PASSWORD} | body)


def on_disk(opened):
    return (opened.services.settings.folder / "catalog.toml").read_text()


def test_the_text_is_told_with_its_state(shared_house):
    told = shared_house.ask("audrey", "GET", TEXT).json()
    assert (told["text"], told["state"], told["problems"], told["kept"]) == (hospital.CATALOG, "served", [], [])


def test_what_a_change_does_is_told_and_nothing_is_saved(shared_house):
    changed = hospital.CATALOG.replace("upper = 500_000", "upper = 9")
    told = shared_house.ask("olga", "POST", CHECK, json={"text": changed}).json()
    assert told["problems"] == []
    assert any(each["about"] == "people.salary" for each in told["changes"])
    assert any("salary" in each["sql"] for each in told["effects"])
    assert told["consequences"]
    assert on_disk(shared_house) == hospital.CATALOG


def test_what_is_wrong_is_told_at_its_place(shared_house):
    told = shared_house.ask("olga", "POST", CHECK, json={"text": "[dataset]\nname = 1\n"}).json()
    assert told["problems"]
    assert told["problems"][0]["position"] is not None
    assert told["consequences"] == []


def test_a_private_file_is_not_made_public_by_a_program_either(shared_house):
    leak = (
        '\n[tables.leak]\nsource = "people.parquet"\npublic = true\n[tables.leak.columns]\nage = { type = "integer" }\n'
    )
    reply = shared_house.ask("olga", "POST", CHECK, json={"text": hospital.CATALOG + leak})
    assert any("pages do not make private files public" in each["why"] for each in reply.json()["problems"])
    assert house.CANARY not in reply.text


def test_a_text_with_the_line_ends_of_windows_is_saved_as_it_was_examined(owned):
    windows = (hospital.CATALOG + "# changed\n").replace("\n", "\r\n").encode()
    (owned.services.settings.folder / "catalog.toml").write_bytes(windows.replace(b"# changed\r\n", b""))
    assert save(owned, windows.decode()).status_code == 200
    assert (owned.services.settings.folder / "catalog.toml").read_bytes() == windows


def test_a_text_that_is_no_unicode_is_malformed(owned):
    identity = owned.ask("olga", "GET", TEXT).json()["identity"]
    for method, path, more in (("POST", CHECK, {}), ("PUT", TEXT, {"identity": identity, "password": house.PASSWORD})):
        body = json.dumps({"text": hospital.CATALOG + "# \ud800", **more})
        assert owned.ask("olga", method, path, content=body, headers=JSON).status_code == 422


def test_a_text_is_saved_with_the_password_and_the_one_from_before_is_kept(owned):
    changed = hospital.CATALOG.replace("version = 1", "version = 2", 1)
    assert save(owned, changed, password="wrong horse").status_code == 401
    assert save(owned, changed, identity="0" * 64).status_code == 409
    assert save(owned, "[dataset]").status_code == 400
    assert on_disk(owned) == hospital.CATALOG
    saved = save(owned, changed)
    assert saved.status_code == 200
    assert on_disk(owned) == changed
    told = owned.ask("olga", "GET", TEXT).json()
    assert told["identity"] == saved.json()["identity"]
    assert [each["who"] for each in told["kept"]] == ["olga"]
