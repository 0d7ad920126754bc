"""Where a ledger is: in memory, in a file, or where the caller says."""

from __future__ import annotations

from adomnia.ledger.ledger_places import FilePlace, MemoryPlace, find_lasting_place, find_place
from ledger.references import answered, opened


def test_paths_name_files_and_one_word_names_memory(tmp_path):
    path = tmp_path / "ledger.db"
    assert find_place(path) == find_place(str(path)) == find_lasting_place(path) == FilePlace(path.resolve())
    assert isinstance(find_place(":memory:"), MemoryPlace)
    place = FilePlace(path)
    assert find_place(place) is find_lasting_place(place) is place


def test_a_file_is_there_once_somebody_opened_it_and_memory_never_was(tmp_path):
    place = FilePlace(tmp_path / "ledger.db")
    assert not place.exists()
    opened(place).close()
    assert place.exists()
    assert not MemoryPlace().exists()


def test_what_belongs_to_another_process_is_left_open(tmp_path):
    ledger = opened(tmp_path / "ledger.db")
    own, ledger._writer._process = ledger._writer._process, -1
    forget = ledger._forget
    ledger.close()
    ledger._writer._process = own
    answered(ledger)
    assert forget.detach() is None
    ledger._writer.stop()
