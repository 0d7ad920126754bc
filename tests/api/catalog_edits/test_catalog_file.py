from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from errno import ENOSPC, EROFS
from typing import TYPE_CHECKING

import pytest

from adomnia.api.catalog_edits.catalog_file import CatalogFile
from adomnia.errors import Refusal, Unavailable

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def file(tmp_path) -> CatalogFile:
    (tmp_path / ".adomnia").mkdir()
    (tmp_path / "catalog.toml").write_text("a = 1\n")
    return CatalogFile(tmp_path)


def listed(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_text_is_replaced_as_a_whole_and_the_old_one_is_kept(file):
    (file.folder / "catalog.toml").chmod(0o640)
    saved = file.replace("a = 2\n", file.read().identity, "olga")
    assert file.read() == saved
    assert saved.text == "a = 2\n"
    assert (file.folder / "catalog.toml").stat().st_mode & 0o777 == 0o640
    (kept,) = file.list_kept()
    assert (kept.who, file.read_kept(kept.name)) == ("olga", "a = 1\n")
    assert listed(file.folder) == [".adomnia", "catalog.toml"]


def test_the_last_text_is_listed_first_and_names_of_any_kind_come_back(file):
    file.replace("a = 2\n", file.read().identity, "olga")
    file.replace("a = 3\n", file.read().identity, "../Øyvind / %")
    assert [(kept.who, file.read_kept(kept.name)) for kept in file.list_kept()] == [
        ("../Øyvind / %", "a = 2\n"),
        ("olga", "a = 1\n"),
    ]


@pytest.mark.parametrize("name", ["", "../catalog.toml", "20260101T000000000000Z-x.toml", "/etc/passwd"])
def test_only_texts_that_were_kept_are_read(file, name):
    with pytest.raises(Refusal):
        file.read_kept(name)


def test_a_text_that_somebody_else_changed_is_not_replaced(file):
    began = file.read().identity
    (file.folder / "catalog.toml").write_text("a = 9\n")
    with pytest.raises(Refusal, match="somebody else has changed it") as refused:
        file.replace("a = 2\n", began, "olga")
    assert refused.value.code == "catalog_changed"
    assert file.read().text == "a = 9\n"
    assert file.list_kept() == []


def test_of_many_who_save_at_once_from_one_text_one_succeeds(file):
    began = file.read().identity

    def save(number: int) -> bool:
        try:
            file.replace(f"a = {number}\n", began, "olga")
        except Refusal:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        saved = list(pool.map(save, range(2, 18)))
    assert sum(saved) == 1
    assert file.read().text == f"a = {2 + saved.index(True)}\n"


@pytest.mark.parametrize(("number", "says"), [(ENOSPC, "no room left"), (EROFS, "cannot be written")])
@pytest.mark.parametrize("call", ["fsync", "open", "fchmod"])
def test_a_disk_that_fails_leaves_the_text_as_it_was(file, monkeypatch, number, says, call):
    began = file.read().identity

    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(Unavailable, match=says):
        file.replace("a = 2\n", began, "olga")
    monkeypatch.undo()
    assert file.read().text == "a = 1\n"
    assert listed(file.folder) == [".adomnia", "catalog.toml"]


def test_the_spelling_of_the_file_stays(file):
    (file.folder / "catalog.toml").write_bytes(b"\xef\xbb\xbfa = 1\r\nb = 2\r\n")
    file.replace(file.read().text.replace("2", "3"), file.read().identity, "olga")
    assert (file.folder / "catalog.toml").read_bytes() == b"\xef\xbb\xbfa = 1\r\nb = 3\r\n"


def test_a_link_to_the_catalog_stays_a_link(file):
    (file.folder / "catalog.toml").rename(file.folder / "real.toml")
    (file.folder / "catalog.toml").symlink_to("real.toml")
    file.replace("a = 2\n", file.read().identity, "olga")
    assert (file.folder / "catalog.toml").is_symlink()
    assert (file.folder / "real.toml").read_text() == "a = 2\n"


def test_what_is_no_text_or_not_there_is_told(file):
    (file.folder / "catalog.toml").write_bytes(b"\xff")
    with pytest.raises(Refusal, match="UTF-8"):
        file.read()
    (file.folder / "catalog.toml").unlink()
    with pytest.raises(Unavailable, match="cannot be read"):
        file.read()
