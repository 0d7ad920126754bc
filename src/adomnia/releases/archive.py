"""The folder of a release as one file: a ZIP of its files, for those who are far away."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from adomnia.errors import Refusal
from adomnia.releases.folder import read_files, write_contents

if TYPE_CHECKING:
    from adomnia.releases.model import Release

_FAULTS = (BadZipFile, KeyError, OSError, ValueError, NotImplementedError, RuntimeError)


def pack_archive(release: Release) -> bytes:
    """The files of a release; the same bytes every time."""
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_STORED) as archive:
        for name, content in write_contents(release).items():
            archive.writestr(ZipInfo(f"{release.name}/{name}"), content)
    return buffer.getvalue()


def unpack_archive(content: bytes) -> Release:
    """The release of such a file, checked like that of a folder; nothing is written anywhere."""
    try:
        with ZipFile(BytesIO(content)) as archive:
            files = {info.filename.rpartition("/")[2]: info for info in archive.infolist()}

            def read(name: str, most_bytes: int) -> bytes:
                # What is packed smaller than it is may be of any size.
                if files[name].compress_type != ZIP_STORED or files[name].file_size > most_bytes:
                    raise ValueError("Archive files must be stored as they are.")
                return archive.read(files[name])

            return read_files("of the release", read)
    except _FAULTS as fault:
        fix = "get it again from whoever published it"
        raise Refusal("The archive of the release", "cannot be read", fix, code="bad_release") from fault
