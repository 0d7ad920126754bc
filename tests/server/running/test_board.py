from __future__ import annotations

from threading import Thread

import pytest

from adomnia.server.running.board import GAUGE, SLOTS, Board, open_room, totals


def test_the_numbers_of_all_processes_are_added(tmp_path):
    boards = [Board.open(tmp_path, process) for process in (1, 2)]
    for board in boards:
        board.add("answers")
        board.add("answers", 2.5)
        board.set(f"{GAUGE}waiting", 9)
        board.set(f"{GAUGE}waiting", 4)
    assert totals(tmp_path) == (2, {"answers": 7.0, f"{GAUGE}waiting": 8.0})
    boards[0].close()
    assert totals(tmp_path) == (1, {"answers": 7.0, f"{GAUGE}waiting": 4.0})  # what it did stays done
    boards[1].close()


def test_a_board_does_not_grow(tmp_path):
    board = Board.open(tmp_path, 1)
    for k in range(SLOTS + 10):
        board.add(f"series {k}")
    board.add("x" * 1000)
    board.set("y" * 1000, 1.0)
    assert len(totals(tmp_path)[1]) == SLOTS
    assert all(len(name) < 100 for name in totals(tmp_path)[1])
    board.close()


def test_rooms_of_dead_servers_are_taken_away_and_those_of_living_ones_stay(tmp_path):
    run = tmp_path / "run"
    first, alive = open_room(run, 1)
    Board.open(first, 11).close()
    _, also_alive = open_room(run, 2)
    assert first.is_dir()
    alive.close()
    third, last = open_room(run, 3)
    assert not first.exists()
    assert {path.name for path in run.iterdir()} == {"2", "3"}
    assert totals(third) == (0, {})
    also_alive.close()
    last.close()


def test_a_server_with_the_number_of_a_dead_one_begins_at_nothing(tmp_path):
    room, alive = open_room(tmp_path, 7)
    board = Board.open(room, 8)
    board.add("answers")
    board.close()
    alive.close()
    room, alive = open_room(tmp_path, 7)
    assert totals(room) == (0, {})
    alive.close()


def test_what_is_half_written_is_not_read(tmp_path):
    (tmp_path / "5.counts").write_bytes(b"\0" * 100)
    assert totals(tmp_path) == (0, {})


def test_two_processes_do_not_share_a_board(tmp_path):
    board = Board.open(tmp_path, 1)
    with pytest.raises(BlockingIOError):
        Board.open(tmp_path, 1)
    board.close()


def test_only_rooms_of_dead_servers_are_deleted(tmp_path):
    """Whatever folder it is given."""
    for place in ("ledger.sqlite", "index.key", "77"):
        (tmp_path / place).write_text("precious")
    for place in ("spill", "88", "dataset"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "file").write_text("precious")
    (tmp_path / "dataset" / "alive").write_text("")
    _, alive = open_room(tmp_path, 5)
    alive.close()
    assert {path.name for path in tmp_path.iterdir()} == {
        "ledger.sqlite", "index.key", "77", "spill", "88", "dataset", "5",
    }  # fmt: skip


def test_servers_that_start_at_once_leave_each_other_alone(tmp_path):
    def start(process):
        opened.append(open_room(tmp_path, process))

    opened = []
    threads = [Thread(target=start, args=(process,)) for process in range(1, 21)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(opened) == 20
    for room, alive in opened:
        assert (room / "alive").is_file()
        alive.close()
