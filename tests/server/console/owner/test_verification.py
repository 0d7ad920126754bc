from __future__ import annotations

import stat

import pytest

from adomnia.server.console.owner.verification import VERIFIED, Verification, read_last, verify_ledger
from adomnia.session.curator import STATE


def test_what_cannot_be_read_is_as_if_nobody_had_looked(tmp_path):
    assert read_last(tmp_path) is None
    (tmp_path / STATE).mkdir()
    for text in ("", "[]", '{"at": 1, "more": 2}', "\\xff"):
        (tmp_path / STATE / VERIFIED).write_text(text)
        assert read_last(tmp_path) is None


@pytest.mark.parametrize("times", [1, 2])
def test_the_last_look_is_kept_for_its_owner_alone(own_house, times):
    folder = own_house.services.settings.folder
    with own_house.services.dataset.curator() as curator:
        found = [verify_ledger(curator) for _ in range(times)][-1]
    assert isinstance(found, Verification)
    assert read_last(folder) == found
    assert (found.entries, found.problem) == (1, "")
    files = [path for path in (folder / STATE).iterdir() if path.name.startswith(VERIFIED)]
    assert [stat.S_IMODE(path.stat().st_mode) for path in files] == [0o600]
