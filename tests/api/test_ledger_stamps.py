from __future__ import annotations

import stat

import pytest

from adomnia.api import ledger_stamps
from adomnia.api.ledger_stamps import VERIFIED, LedgerStamp, read_stamp
from adomnia.api.ledger_view import verify_ledger
from adomnia.session.curator import STATE
from kit.visits import visit_as_owner


def test_what_cannot_be_read_is_as_if_nobody_had_looked(tmp_path):
    assert read_stamp(tmp_path, VERIFIED) is None
    (tmp_path / STATE).mkdir()
    for text in ("", "[]", '{"at": 1, "more": 2}', '{"at": 1}', '{"at": "soon"}', "\\xff"):
        (tmp_path / STATE / VERIFIED).write_text(text)
        assert read_stamp(tmp_path, VERIFIED) is None


@pytest.mark.parametrize("times", [1, 2])
def test_the_last_look_is_kept_for_its_owner_alone(own_house, times):
    folder = own_house.services.settings.folder
    with own_house.services.dataset.curator() as curator:
        found = [verify_ledger(visit_as_owner(curator)) for _ in range(times)][-1]
    assert isinstance(found, LedgerStamp)
    assert read_stamp(folder, VERIFIED) == found
    assert (found.entries, found.problem) == (1, "")
    files = [path for path in (folder / STATE).iterdir() if path.name.startswith(VERIFIED)]
    assert [stat.S_IMODE(path.stat().st_mode) for path in files] == [0o600]


def test_a_folder_that_cannot_be_written_does_not_make_a_sound_ledger_unsound(own_house, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ledger_stamps, "NamedTemporaryFile", fail)
    with own_house.services.dataset.curator() as curator:
        assert verify_ledger(visit_as_owner(curator)).problem == ""
    assert read_stamp(own_house.services.settings.folder, VERIFIED) is None
