"""What is kept is found again by any spelling of its name; what is not whole is not there."""

from __future__ import annotations

import shutil

import pytest

from adomnia.engines.contract import silent
from adomnia.releases import store as release_store
from adomnia.releases.folder import write_folder
from adomnia.releases.store import ReleaseEntry, ReleaseStore
from kit.released import is_same, make_release


@pytest.fixture(params=["folder", "memory"])
def store(request, tmp_path):
    return ReleaseStore(tmp_path / "releases" if request.param == "folder" else None)


@pytest.mark.parametrize("name", ["person", "Rank", "_", "own"])
def test_every_name_that_an_analyst_may_have_has_a_folder_of_its_own(tmp_path, name):
    """No table is called person or rank, but analysts may be."""
    own = make_release(private=True, made_by=name)
    ReleaseStore(tmp_path).keep(own, silent)
    assert [each.name for each in tmp_path.iterdir()] == [f"{name}.own"]
    assert is_same(ReleaseStore(tmp_path).find("ages", name), own)
    assert ReleaseStore(tmp_path).find("ages") is None


def test_a_release_is_kept_and_told_of(store):
    assert store.find("ages") is store.describe("ages") is None
    assert store.names() == []
    store.keep(make_release("Ages"), silent)
    assert is_same(store.find("AGES"), make_release("Ages"))
    assert store.describe("ages") == ReleaseEntry.of(make_release("Ages"))
    assert store.names() == ["ages"]
    assert not store.describe("ages").private


def test_another_process_finds_it_too_with_the_same_to_tell(tmp_path):
    own = make_release(private=True, made_by="bob")
    ReleaseStore(tmp_path).keep(own, silent)
    other = ReleaseStore(tmp_path)
    assert other.describe("ages", "bob") == ReleaseEntry.of(own)
    assert other.describe("ages", "bob").private
    assert is_same(other.find("Ages", "bob"), own)


def test_what_was_bought_is_in_a_folder_of_its_buyer_alone(store):
    own, others, published = (make_release(private=True, made_by=name) for name in ("bob", "eve", None))
    for each in (own, others, published):
        store.keep(each, silent)
    assert store.names() == store.names("bob") == store.names("eve") == ["ages"]
    assert store.names("carol") == []
    assert store.find("ages", "carol") is store.describe("ages", "carol") is None
    assert [store.find("ages", name).about["made_by"] for name in ("bob", "eve", None)] == ["bob", "eve", None]


def test_only_folders_of_analysts_are_moved_and_only_once(tmp_path):
    store = ReleaseStore(tmp_path)
    store.keep(make_release(), silent)
    for name, buyer in (("mine", "bob"), ("odd", "../x")):
        write_folder(make_release(name, private=True, made_by=buyer), tmp_path / name)
    for _ in range(2):
        ReleaseStore(tmp_path).separate()
        assert sorted(each.name for each in tmp_path.iterdir()) == ["ages", "bob.own", "odd"]
    ReleaseStore(None).separate()
    assert ReleaseStore(tmp_path).names("bob") == ["mine"]


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
