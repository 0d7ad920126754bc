from __future__ import annotations

from threading import Thread

from adomnia.api.running.run_folder import open_run_folder


def test_folders_of_dead_servers_are_deleted_and_those_of_living_ones_stay(tmp_path):
    run = tmp_path / "run"
    first, lock = open_run_folder(run, 1)
    (first / "counter_11.db").write_bytes(b"counts")
    _, second_lock = open_run_folder(run, 2)
    assert first.is_dir()
    lock.close()
    third, third_lock = open_run_folder(run, 3)
    assert not first.exists()
    assert {path.name for path in run.iterdir()} == {"2", "3"}
    assert list(third.glob("*.db")) == []
    second_lock.close()
    third_lock.close()


def test_a_server_with_the_process_number_of_a_dead_one_begins_with_an_empty_folder(tmp_path):
    folder, lock = open_run_folder(tmp_path, 7)
    (folder / "counter_8.db").write_bytes(b"counts")
    lock.close()
    folder, lock = open_run_folder(tmp_path, 7)
    assert list(folder.glob("*.db")) == []
    lock.close()


def test_nothing_but_folders_of_dead_servers_is_deleted(tmp_path):
    """Whatever folder it is given."""
    for place in ("ledger.sqlite", "index.key", "77"):
        (tmp_path / place).write_text("precious")
    for place in ("spill", "88", "dataset"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "file").write_text("precious")
    (tmp_path / "dataset" / "alive").write_text("")
    _, lock = open_run_folder(tmp_path, 5)
    lock.close()
    assert {path.name for path in tmp_path.iterdir()} == {
        "ledger.sqlite", "index.key", "77", "spill", "88", "dataset", "5",
    }  # fmt: skip


def test_servers_that_start_at_once_leave_each_other_alone(tmp_path):
    def start(process):
        opened.append(open_run_folder(tmp_path, process))

    opened = []
    threads = [Thread(target=start, args=(process,)) for process in range(1, 21)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(opened) == 20
    for folder, lock in opened:
        assert (folder / "alive").is_file()
        lock.close()
