"""The folder of a release: written at once or not at all, and read by anybody without the private data.

A folder may come from a stranger. Only files of known names are opened, their sizes are bounded, every one must have
the hash that `release.json` states, and nothing in them is ever run.
"""

from __future__ import annotations

import json
import os
import stat
from contextlib import suppress
from errno import EDQUOT, ENOSPC
from functools import partial
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import numpy as np

from adomnia.catalog.model import is_name
from adomnia.errors import Refusal, Unavailable
from adomnia.json_text import read_json
from adomnia.ledger.failpoints import failpoint
from adomnia.messages.texts import note_of, note_record
from adomnia.releases.arrays import Packer, Unpacker
from adomnia.releases.facts import ReleaseFacts
from adomnia.releases.model import Release
from adomnia.releases.parquet_files import (
    FAULTS,
    MOST_BYTES,
    read_numbers,
    read_table,
    write_csv,
    write_numbers,
    write_table,
)
from adomnia.releases.product_form import from_plain, to_plain
from adomnia.releases.readme import write_readme

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    ReadFile = Callable[[str, int], bytes]  # the content of a file, or a Refusal

FORMAT = 2
_FORMATS = (1, FORMAT)  # the first had notes as sentences alone
SUMMARY = "release.json"
_TABLE, _SHEET, _INTEGERS, _NUMBERS, _README = (
    "data.parquet",
    "data.csv",
    "integers.parquet",
    "numbers.parquet",
    "README.md",
)
FILES = (_TABLE, _SHEET, _INTEGERS, _NUMBERS, _README)  # beside the summary
_SUMMARY_BYTES = 2**26
_PARTS = {"format", "name", "question", "about", "notes", "product", "measurements", "files", "sha256"}
_OPEN = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe or device must not keep us waiting


def silent(_step: str, _share: float) -> None:
    """Tell nobody."""


def write_folder(release: Release, place: Path, progress: Callable[[str, float], None] = silent) -> None:
    """Write a release to a place, in the stead of what was there; Unavailable where the disk does not allow that."""
    progress(f"writing {release.name}", 0.5)
    contents = write_contents(release)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        _clear_drafts(place)
        draft = Path(mkdtemp(prefix=_draft_prefix(place), dir=place.parent))
        try:
            _write_durably(draft, contents, private=bool(release.facts.private))
            failpoint("release-drafted")
            _put_in_place(draft, place)
        except BaseException:
            rmtree(draft, ignore_errors=True)
            raise
    except OSError as error:
        says = "is full" if error.errno in {ENOSPC, EDQUOT} else "cannot be written"
        fix = "free space or let this process write it, then ask again under the same name: nothing is paid twice"
        raise Unavailable(f"The folder of release {release.name}", says, fix) from error


def save_folder(release: Release, folder: str | Path) -> Path:
    """Write a release to a new folder; refuse a name that is there."""
    place = Path(folder)
    if place.exists():
        raise Refusal(f"Folder {place.name}", "is there already", "name a new one", code="folder_exists")
    write_folder(release, place)
    return place


def read_folder(place: str | Path) -> Release:
    """The release of a folder; a Refusal that says what is wrong with it."""
    folder = Path(place)
    return read_files(folder.name, partial(_read_file, folder))


def read_files(folder: str, read: ReadFile) -> Release:
    """The release of files that are read by their names, with the most bytes that each may have."""
    summary = _read_summary(folder, read)
    contents = {name: _check_content(folder, name, read(name, MOST_BYTES), summary) for name in FILES}
    try:
        unpacker = Unpacker(
            read_numbers(contents[_INTEGERS], np.int64).astype(np.int64, copy=False),
            read_numbers(contents[_NUMBERS], np.float64).astype(np.float64, copy=False),
        )
        found = {part: unpacker.unpack(summary[part]) for part in ("about", "product", "measurements")}
        unpacker.finish()
        return Release(
            summary["name"],
            from_plain(found["product"]),
            summary["question"],
            ReleaseFacts.from_record(found["about"]),
            tuple(map(note_of, summary["notes"])),
            read_table(contents[_TABLE]),
            tuple(_check_integers(each) for each in found["measurements"]),
        )
    except (*FAULTS, RecursionError) as fault:
        raise _odd(folder, f"holds what no release holds ({type(fault).__name__})") from fault


def read_summary(folder: Path) -> dict[str, Any]:
    """What `release.json` says, once it has proved to be whole."""
    return _read_summary(folder.name, partial(_read_file, folder))


def _read_summary(folder: str, read: ReadFile) -> dict[str, Any]:
    try:
        found = read_json(read(SUMMARY, _SUMMARY_BYTES))
    except ValueError as fault:
        raise _odd(folder, f"has a {SUMMARY} that cannot be read") from fault
    if not isinstance(found, dict) or type(found.get("format")) is not int:
        raise _odd(folder, f"has a {SUMMARY} without a format")
    if found["format"] not in _FORMATS:
        why = f"has format {found['format']:.6g}, and this version reads formats up to {FORMAT}"
        raise Refusal(f"Folder {folder}", why, "open it with a newer version of adomnia", code="release_format")
    if set(found) != _PARTS or _digest(found) != found["sha256"]:
        raise _odd(folder, f"has a {SUMMARY} that was changed after it was written")
    _check_summary(folder, found)
    return found


def write_contents(release: Release) -> dict[str, bytes]:
    """The files of a release."""
    packer = Packer()
    summary: dict[str, Any] = {"format": FORMAT, "name": release.name, "question": release.question}
    summary |= {"about": packer.pack(release.about), "notes": list(map(note_record, release.notes))}
    summary |= {"product": packer.pack(to_plain(release.product)), "measurements": packer.pack(release.measurements)}
    integers, numbers = packer.columns()
    contents = {
        _TABLE: write_table(release.table),
        _SHEET: write_csv(release.table),
        _INTEGERS: write_numbers(integers),
        _NUMBERS: write_numbers(numbers),
        _README: write_readme(release).encode(),
    }
    summary["files"] = {name: sha256(content).hexdigest() for name, content in contents.items()}
    summary["sha256"] = _digest(summary)
    return {**contents, SUMMARY: (json.dumps(summary, indent=1, allow_nan=False) + "\n").encode()}


def _digest(summary: Mapping[str, Any]) -> str:
    """The hash of all of a summary but its own hash."""
    rest = {part: content for part, content in summary.items() if part != "sha256"}
    return sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _check_summary(folder: str, summary: Mapping[str, Any]) -> None:
    match summary:
        case {"name": str(name), "question": str(), "about": dict(), "notes": list(notes), "files": dict(files)} if (
            is_name(name)
            and all(map(_is_note, notes))
            and set(files) == set(FILES)
            and isinstance(summary["measurements"], list)
        ):
            return
    raise _odd(folder, f"has a {SUMMARY} that is none of a release")


def _is_note(told: object) -> bool:
    """Whether it is a note as they are written, or a sentence as they were."""
    match told:
        case str():
            return True
        case {"code": str(), "says": str(), "facts": dict(facts)}:
            return all(map(_is_fact, facts.values()))
    return False


def _is_fact(value: object) -> bool:
    if isinstance(value, list):
        return all(isinstance(each, str) for each in value)
    return value is None or isinstance(value, str | int | float)


def _write_durably(draft: Path, contents: Mapping[str, bytes], *, private: bool) -> None:
    for name, content in contents.items():
        with (draft / name).open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    if not private:
        draft.chmod(0o755)  # everybody may read what is published
    _sync_folder(draft)


def _put_in_place(draft: Path, place: Path) -> None:
    """Move the draft to its name. What was there goes aside first: a folder with files in it cannot be replaced."""
    if place.is_symlink() or place.exists():
        aside = Path(mkdtemp(prefix=_draft_prefix(place), dir=place.parent))
        place.rename(aside / place.name)
        draft.rename(place)
        rmtree(aside, ignore_errors=True)
    else:
        draft.rename(place)
    _sync_folder(place.parent)


def _draft_prefix(place: Path) -> str:
    return f".{place.name}."  # no name of a release begins with a dot or has one


def _clear_drafts(place: Path) -> None:
    """Remove what a process left that was cut off; whoever writes a name has locked it."""
    for left in place.parent.glob(f"{_draft_prefix(place)}*"):
        rmtree(left, ignore_errors=True)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _check_content(folder: str, name: str, content: bytes, summary: Mapping[str, Any]) -> bytes:
    if sha256(content).hexdigest() != summary["files"][name]:
        raise _odd(folder, f"has a file {name} that was changed after it was written")
    return content


def _read_file(folder: Path, name: str, most_bytes: int) -> bytes:
    try:
        descriptor = os.open(folder / name, _OPEN)
    except OSError as error:
        why = f"has no file {name} that can be read"
        fix = "name the folder of a release, such as adomnia release writes, and check that it may be read"
        raise Refusal(f"Folder {folder.name}", why, fix, code="bad_release") from error
    with os.fdopen(descriptor, "rb") as file, suppress(OSError):
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            content = file.read(most_bytes + 1)
            if len(content) > most_bytes:
                raise _odd(folder.name, f"has a file {name} of more than {most_bytes:,} bytes")
            return content
    raise _odd(folder.name, f"has a {name} that is no file")


def _check_integers(array: Any) -> Any:  # noqa: ANN401 - from a stranger
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iuO":
        raise ValueError("Release measurements must be integers.")
    return array


def _odd(folder: str, why: str) -> Refusal:
    fix = "get the folder again from whoever published it"
    return Refusal(f"Folder {folder}", why, fix, code="bad_release")
