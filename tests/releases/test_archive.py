"""A release travels as one file, and is checked as a folder is."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from adomnia.errors import Refusal
from adomnia.releases.archive import pack_archive, unpack_archive
from adomnia.releases.folder import FILES, SUMMARY
from kit.released import is_same, make_release


def repack(content, form=0, **changes):
    buffer = BytesIO()
    with ZipFile(BytesIO(content)) as old, ZipFile(buffer, "w", form) as new:
        for name in old.namelist():
            short = name.rpartition("/")[2]
            if changes.get(short, b"") is not None:
                new.writestr(name, changes.get(short, old.read(name)))
    return buffer.getvalue()


def test_a_release_comes_out_as_it_went_in():
    content = pack_archive(make_release())
    assert is_same(unpack_archive(content), make_release())
    assert content == pack_archive(make_release())
    assert ZipFile(BytesIO(content)).namelist() == [f"ages/{name}" for name in (*FILES, SUMMARY)]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no archive",
        pack_archive(make_release())[:-30],
        repack(pack_archive(make_release()), **{"data.csv": b"changed"}),
        repack(pack_archive(make_release()), **{"data.csv": None}),
        repack(pack_archive(make_release()), ZIP_DEFLATED),  # what is packed may be of any size
    ],
)
def test_what_is_not_whole_is_refused(content):
    with pytest.raises(Refusal):
        unpack_archive(content)
