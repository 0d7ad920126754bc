"""One report for each token, for good: in the file, through faults of the disk, and against whoever sends twice."""

from __future__ import annotations

import json
import os
import random
import re
import sqlite3
import stat
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from fractions import Fraction

import pytest

from adomnia import anchored_file
from adomnia.errors import Refusal, Unavailable
from adomnia.survey.kary import KaryResponse
from adomnia.survey.store import FORMAT, STORE, ReportStore, read_reports
from adomnia.survey.subset import SubsetSelection
from adomnia.survey.survey import Survey, draw_token

SURVEY = Survey("ab" * 16, "Why?", ("yes", "no", "perhaps"), KaryResponse(3, Fraction(3)))


@pytest.fixture
def store(tmp_path):
    with ReportStore.open(tmp_path, SURVEY) as opened:
        yield opened


def test_the_first_report_of_a_token_counts_and_the_same_again_changes_nothing(store):
    token = draw_token()
    assert store.add(token, (2,)) is True
    assert store.add(token, (2,)) is False
    with pytest.raises(Refusal, match="first report counts") as refused:
        store.add(token, (1,))
    assert refused.value.code == "reported"
    assert store.counts() == {(2,): 1}


def test_only_its_owner_may_read_the_file_and_no_token_is_in_it(store, tmp_path):
    token = draw_token()
    store.add(token, (0,))
    for path in tmp_path.glob(f"{STORE}*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert token.encode() not in path.read_bytes()
        assert bytes.fromhex(token) not in path.read_bytes()


def test_reports_are_there_after_the_file_was_closed_and_for_others_while_it_is_open(store, tmp_path):
    store.add(draw_token(), (0,))
    assert read_reports(tmp_path, SURVEY) == {(0,): 1}
    store.close()
    with ReportStore.open(tmp_path, SURVEY) as again:
        again.add(draw_token(), (0,))
        assert again.counts() == {(0,): 2}


def test_no_reports_are_none(tmp_path):
    assert read_reports(tmp_path, SURVEY) == Counter()
    (tmp_path / STORE).touch()
    assert read_reports(tmp_path, SURVEY) == Counter()


def test_what_the_design_cannot_have_made_is_refused(store):
    for report in [(3,), (-1,), (), (0, 1)]:
        with pytest.raises(Refusal, match="none that this survey can have"):
            store.add(draw_token(), report)


def test_a_survey_that_changed_after_the_first_report_is_refused(store, tmp_path):
    store.close()
    for other in (replace(SURVEY, question="Why not?"), replace(SURVEY, design=KaryResponse(3, Fraction(4)))):
        with pytest.raises(Refusal, match="another survey") as refused:
            ReportStore.open(tmp_path, other)
        assert refused.value.code == "survey_changed"
        with pytest.raises(Refusal, match="another survey"):
            read_reports(tmp_path, other)


def test_with_invitations_only_invited_tokens_report(tmp_path):
    token = draw_token()
    with ReportStore.open(tmp_path, replace(SURVEY, invited=True)) as store:
        store.invite([token, draw_token()])
        assert store.add(token, (1,))
        with pytest.raises(Refusal, match="not invited"):
            store.add(draw_token(), (1,))
        assert store.counts() == {(1,): 1}


def test_many_at_once_lose_and_double_nothing(store):
    tokens = [draw_token() for _ in range(40)]
    with ThreadPoolExecutor(8) as pool:
        firsts = list(pool.map(lambda token: store.add(token, (1,)), tokens * 3))
    assert sum(firsts) == 40
    assert store.counts() == {(1,): 40}


def test_a_full_disk_is_told_and_the_report_can_be_sent_again(store, tmp_path):
    token = draw_token()
    pages = store._file._connection.execute("PRAGMA page_count").fetchone()[0]
    store._file._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(Unavailable, match="no room left"):
        for _ in range(2000):
            store.add(draw_token(), (0,))
    before = store.counts()[(0,)]
    store._file._connection.execute("PRAGMA max_page_count = 100000")
    assert store.add(token, (0,))
    assert store.add(token, (0,)) is False
    assert store.counts() == {(0,): before + 1}


def test_a_file_that_may_not_be_written_is_told(store, monkeypatch):
    token = draw_token()
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    with pytest.raises(Unavailable, match="may not be written"):
        store.add(token, (0,))
    monkeypatch.undo()
    assert store.add(token, (0,))


def test_a_file_that_was_removed_takes_no_reports_into_nowhere(store, tmp_path):
    store.add(draw_token(), (0,))
    (tmp_path / STORE).unlink()
    with pytest.raises(Unavailable, match="removed or replaced"):
        store.add(draw_token(), (0,))


def test_another_program_s_file_is_left_alone(tmp_path):
    (tmp_path / STORE).write_text("a letter to grandmother, which is long enough to be something else" * 20)
    with pytest.raises(Unavailable, match="not a database"):
        ReportStore.open(tmp_path, SURVEY)
    (tmp_path / STORE).unlink()
    other = sqlite3.connect(tmp_path / STORE)
    other.execute("CREATE TABLE letters (text)")
    other.commit()
    other.close()
    with pytest.raises(Refusal, match="another program"):
        ReportStore.open(tmp_path, SURVEY)


MANY = Survey("cd" * 16, "Which?", tuple(map(str, range(40))), SubsetSelection(40, Fraction(3), 5))
_NAMES = re.compile(rb"[0-9a-f]{32}")


def see_file(folder):
    """The bytes of the file, but for the random names of changes."""
    return _NAMES.sub(b"x" * 32, (folder / STORE).read_bytes())


def list_arrivals(number):
    seed = random.Random(11)
    return [(f"{seed.getrandbits(128):032x}", tuple(sorted(seed.sample(range(40), 5)))) for _ in range(number)]


def receive(folder, arrivals):
    """What the file is while the survey runs, and after it."""
    folder.mkdir()
    with ReportStore.open(folder, MANY) as store:
        for token, report in arrivals:
            store.add(token, report)
        running = see_file(folder)
    return running, see_file(folder)


def test_two_orders_of_arrival_leave_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(anchored_file, "_KEPT", 10)  # changes of which names are kept; they come in no time
    arrivals = list_arrivals(100)  # more than a page
    first, after_first = receive(tmp_path / "a", arrivals)
    second, after_second = receive(tmp_path / "b", arrivals[::-1])
    assert after_first == after_second
    assert first != second  # as SQLite leaves it: the order of arrival is in its pages


def test_a_file_that_was_left_by_a_kill_is_put_in_order_when_it_is_opened(tmp_path):
    shown = []
    for name, order in (("a", 1), ("b", -1)):
        (tmp_path / name).mkdir()
        store = ReportStore.open(tmp_path / name, MANY)
        for token, report in list_arrivals(20)[::order]:
            store.add(token, report)
        store._file.close()  # nothing else is done, as by a kill
        assert read_reports(tmp_path / name, MANY).total() == 20
        shown.append(see_file(tmp_path / name))
    assert shown[0] == shown[1]


def test_reports_of_one_survey_are_of_one_length_whatever_they_say(tmp_path):
    with ReportStore.open(tmp_path, MANY) as store:
        store.add(draw_token(), (0, 1, 2, 3, 4))
        store.add(draw_token(), (10, 11, 12, 13, 14))
        rows = store._file._connection.execute("SELECT report FROM reports").fetchall()
        assert len({len(report) for (report,) in rows}) == 1
        assert store.counts() == {(0, 1, 2, 3, 4): 1, (10, 11, 12, 13, 14): 1}


def test_reports_of_an_earlier_version_are_made_of_one_length_and_known_again(tmp_path):
    token = draw_token()
    with ReportStore.open(tmp_path, MANY) as store:
        store.add(token, (0, 1, 2, 3, 4))
    with closing(sqlite3.connect(tmp_path / STORE)) as file:
        file.execute("UPDATE reports SET report = TRIM(report)")
        file.execute("PRAGMA user_version = 2")
        file.commit()
    with ReportStore.open(tmp_path, MANY) as store:
        assert store.add(token, (0, 1, 2, 3, 4)) is False
        store.add(draw_token(), (10, 11, 12, 13, 14))
        rows = store._file._connection.execute("SELECT report FROM reports").fetchall()
        assert len({len(report) for (report,) in rows}) == 1


def test_nothing_is_lost_where_the_file_cannot_be_rewritten(tmp_path, caplog):
    with ReportStore.open(tmp_path, SURVEY) as store:
        store.add(draw_token(), (0,))
        reader = sqlite3.connect(tmp_path / STORE)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM reports").fetchall()
        store._file._format = replace(FORMAT, busy_seconds=0.0)
        store.forget_order()
        reader.close()
        assert "still shows the order of arrival" in caplog.text
        assert store.counts() == {(0,): 1}


def test_a_longer_file_has_the_anchor_of_its_newest_report_after_it_was_rewritten(tmp_path):
    with ReportStore.open(tmp_path, SURVEY) as store:
        store.add(draw_token(), (0,))
        older = (tmp_path / STORE).read_bytes()
        store.add(draw_token(), (1,))
    (tmp_path / STORE).write_bytes(older)
    with pytest.raises(Unavailable, match="older copy"):
        ReportStore.open(tmp_path, SURVEY)


def test_rows_have_no_time_and_lie_by_the_hash_of_their_token(store):
    for _ in range(20):
        store.add(draw_token(), (0,))
    [columns] = [store._file._connection.execute("SELECT sql FROM sqlite_master WHERE name = 'reports'").fetchone()]
    assert "WITHOUT ROWID" in columns[0]
    rows = store._file._connection.execute("SELECT token, report FROM reports").fetchall()
    assert rows == sorted(rows)
    assert {len(token) for token, _ in rows} == {32}
    assert {json.loads(report)[0] for _, report in rows} == {0}
