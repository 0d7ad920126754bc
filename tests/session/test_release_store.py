"""What is kept is found again by any spelling of its name; what is not whole is not there."""

from __future__ import annotations

import shutil

import pytest

from adomnia.engines.contract import silent
from adomnia.session import release_store
from adomnia.session.release_store import ReleaseEntry, ReleaseStore
from kit.released import is_same, make_release


@pytest.fixture(params=["folder", "memory"])
def store(request, tmp_path):
    return ReleaseStore(tmp_path / "releases" if request.param == "folder" else None)


def test_a_release_is_kept_and_told_of(store):
    assert store.find("ages") is store.describe("ages") is None
    assert store.names() == []
    store.keep(make_release("Ages"), silent)
    assert is_same(store.find("AGES"), make_release("Ages"))
    assert store.describe("ages") == ReleaseEntry.of(make_release("Ages"))
    assert store.names() == ["ages"]
    assert not store.describe("ages").private


def test_another_process_finds_it_too_with_the_same_to_tell(tmp_path):
    ReleaseStore(tmp_path).keep(make_release(private=True), silent)
    other = ReleaseStore(tmp_path)
    assert other.describe("ages") == ReleaseEntry.of(make_release(private=True))
    assert other.describe("ages").private
    assert is_same(other.find("Ages"), make_release(private=True))


def test_few_stay_in_memory_where_there_is_a_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(release_store, "_OPEN", 2)
    store, alone = ReleaseStore(tmp_path), ReleaseStore(None)
    for name in ("a", "b", "c"):
        store.keep(make_release(name), silent)
        alone.keep(make_release(name), silent)
    shutil.rmtree(tmp_path / "a")
    shutil.rmtree(tmp_path / "c")
    assert store.find("a") is None
    assert [store.find(name).name for name in ("b", "c")] == ["b", "c"]
    assert alone.names() == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["..", "a/b", ".hidden", "", "x" * 64])
def test_a_name_never_leads_elsewhere(tmp_path, name):
    store = ReleaseStore(tmp_path / "releases")
    store.keep(make_release(), silent)
    assert store.find(name) is store.describe(name) is None


@pytest.mark.parametrize("text", ["{}", "no JSON"])
def test_a_folder_that_is_not_whole_is_not_there(tmp_path, text):
    ReleaseStore(tmp_path).keep(make_release(), silent)
    (tmp_path / "ages" / "release.json").write_text(text)
    store = ReleaseStore(tmp_path)
    assert store.find("ages") is store.describe("ages") is None
    assert store.names() == ["ages"]
