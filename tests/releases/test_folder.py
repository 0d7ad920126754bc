"""A folder is written at once or not at all, opens anywhere, and is refused if it is not whole, whoever wrote it."""

from __future__ import annotations

import errno
import json
import os
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adomnia
from adomnia.errors import Refusal, Unavailable
from adomnia.releases import folder as folders
from adomnia.releases.folder import FILES, FORMAT, SUMMARY, read_folder, read_summary, save_folder, write_folder
from kit.released import NOTE, is_same, make_release
from kit.searches import examples


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    place = tmp_path_factory.mktemp("kept") / "ages"
    write_folder(make_release(), place)
    return place


@pytest.fixture
def copied(kept, tmp_path):
    place = tmp_path / "ages"
    place.mkdir()
    for each in kept.iterdir():
        (place / each.name).write_bytes(each.read_bytes())
    return place


def rewrite(place, **changes):
    """Change the summary as somebody would who knows how its hash is made."""
    summary = json.loads((place / SUMMARY).read_text()) | changes
    summary["sha256"] = folders._digest(summary)
    (place / SUMMARY).write_text(json.dumps(summary))


def test_a_release_opens_from_its_folder_as_it_was(kept):
    found = adomnia.open_release(kept)
    assert is_same(found, make_release())
    assert found.columns == ("sex", "age", "day")
    assert found.to_pandas()["count"].tolist() == [5.0, 14.0]


def test_the_folder_has_what_readers_look_for(kept):
    assert {each.name for each in kept.iterdir()} == {*FILES, SUMMARY}
    summary = json.loads((kept / SUMMARY).read_text())
    assert summary["format"] == FORMAT
    assert {name: sha256((kept / name).read_bytes()).hexdigest() for name in FILES} == summary["files"]
    assert read_summary(kept)["about"]["mechanism"] == "marginals"


def test_notes_keep_what_programs_know_them_by(kept):
    (note,) = adomnia.open_release(kept).notes
    assert (note, note.code, note.facts) == (NOTE, NOTE.code, NOTE.facts)


def test_a_folder_of_the_first_format_has_notes_that_are_sentences(copied):
    rewrite(copied, format=1, notes=["A note."])
    found = read_folder(copied)
    assert [(str(note), note.code) for note in found.notes] == [("A note.", "")]
    assert found.columns == make_release().columns


def test_what_was_there_is_replaced_as_a_whole_and_nothing_is_left_beside_it(copied):
    (copied / "data.csv").write_text("broken")
    (copied.parent / ".ages.left").mkdir()
    write_folder(make_release(made_by="alice"), copied)
    assert read_folder(copied).about["made_by"] == "alice"
    assert [each.name for each in copied.parent.iterdir()] == ["ages"]


def test_everybody_may_read_what_is_published_and_nobody_what_is_private(tmp_path):
    write_folder(make_release(), tmp_path / "open")
    write_folder(make_release(private=True), tmp_path / "own")
    assert (tmp_path / "open").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "own").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EIO])
@pytest.mark.parametrize("call", ["fsync", "open"])
def test_a_disk_that_takes_nothing_leaves_nothing_and_says_that_nothing_is_paid_twice(
    tmp_path, monkeypatch, code, call
):
    def fail(*_arguments, **_options):
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(folders.os if call == "fsync" else folders.Path, call, fail)
        with pytest.raises(Unavailable, match="nothing is paid twice"):
            write_folder(make_release(), tmp_path / "ages")
    assert list(tmp_path.iterdir()) == []
    write_folder(make_release(), tmp_path / "ages")


def test_saving_leaves_what_is_there_alone(kept, tmp_path):
    assert is_same(read_folder(save_folder(make_release(), tmp_path / "new" / "ages")), make_release())
    with pytest.raises(Refusal, match="is there already"):
        save_folder(make_release(), tmp_path / "new")


@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_any_flipped_bit_is_noticed_or_changes_nothing(kept, tmp_path_factory, data):
    name = data.draw(st.sampled_from((*FILES, SUMMARY)))
    content = bytearray((kept / name).read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    place = tmp_path_factory.mktemp("flipped")
    for each in kept.iterdir():
        (place / each.name).write_bytes(bytes(content) if each.name == name else each.read_bytes())
    outcome = try_to_read(place)
    if isinstance(outcome, Refusal):
        assert outcome.code in {"bad_release", "release_format"}
    else:  # white space between the parts of the summary
        assert name == SUMMARY
        assert is_same(outcome, make_release())


def try_to_read(place):
    try:
        return read_folder(place)
    except Refusal as refusal:
        return refusal


@pytest.mark.parametrize("name", [*FILES, SUMMARY])
def test_a_missing_file_is_named(copied, name):
    (copied / name).unlink()
    with pytest.raises(Refusal, match=name):
        read_folder(copied)


@pytest.mark.parametrize("name", [*FILES, SUMMARY])
def test_no_link_leads_out_of_the_folder_and_no_pipe_keeps_anybody_waiting(copied, tmp_path, name):
    secret = tmp_path / "secret"
    secret.write_bytes((copied / name).read_bytes())
    (copied / name).unlink()
    (copied / name).symlink_to(secret)
    with pytest.raises(Refusal, match=name):
        read_folder(copied)
    (copied / name).unlink()
    os.mkfifo(copied / name)
    with pytest.raises(Refusal, match=name):
        read_folder(copied)


def test_a_file_that_is_too_large_is_not_read_to_its_end(copied, monkeypatch):
    monkeypatch.setattr(folders, "MOST_BYTES", 100)
    with pytest.raises(Refusal, match="more than 100 bytes"):
        read_folder(copied)


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "../../etc"},
        {"name": "a b"},
        {"question": 5},
        {"notes": [1]},
        {"notes": [{"says": "A note."}]},
        {"notes": [{"code": 1, "says": "A note.", "facts": {}}]},
        {"notes": [{"code": "a", "says": "A note.", "facts": {"rows": {"n": 1}}}]},
        {"notes": [{"code": "a", "says": "A note.", "facts": {"rows": ["a", 1]}}]},
        {"about": []},
        {"measurements": {}},
        {"files": {}},
        {"measurements": [1.5]},
        {"measurements": [{"$array": ["float64", 0, [0]]}]},
        {"product": {}},
        {"product": None},
        {"product": {"attributes": [{"name": "a", "sort": "text", "levels": [9**999], "edges": []}]}},
        {"about": {"a": {"$array": ["int64", 0, [2**62, 2**62]]}}},
        {"about": {"$integer": "5"}},
        {"about": {"a": {"$fraction": "1/0"}}},
        {"extra": 1},
    ],
)
def test_a_foreign_folder_with_odd_or_huge_contents_is_refused(copied, changes):
    rewrite(copied, **changes)
    with pytest.raises(Refusal) as caught:
        read_folder(copied)
    assert caught.value.code == "bad_release"


def test_numbers_in_the_place_of_a_column_are_refused(copied):
    product = json.loads((copied / SUMMARY).read_text())["product"]
    rewrite(copied, product=product | {"attributes": [*product["attributes"][:-1], {"$large": [[1], ["5"]]}]})
    with pytest.raises(Refusal) as caught:
        read_folder(copied)
    assert caught.value.code == "bad_release"


def test_a_path_among_the_files_is_never_opened(copied):
    summary = json.loads((copied / SUMMARY).read_text())
    rewrite(copied, files={**summary["files"], "../../secret": "0" * 64})
    with pytest.raises(Refusal, match="none of a release"):
        read_folder(copied)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 1, "format": 1}', '{"format": NaN}', "[" * 100_000, '{"format": "1"}']
)
def test_a_summary_that_is_none_is_refused(copied, text):
    (copied / SUMMARY).write_text(text)
    with pytest.raises(Refusal, match=SUMMARY):
        read_folder(copied)


def test_a_later_format_asks_for_a_newer_version(copied):
    rewrite(copied, format=FORMAT + 1)
    with pytest.raises(Refusal, match="newer version"):
        read_folder(copied)


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(Refusal, match=r"has no file release\.json"):
        read_folder(tmp_path / "nowhere")
