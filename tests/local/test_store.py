"""One report for each token, for good: in the file, through faults of the disk, and against whoever sends twice."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import pytest

from adomnia.errors import Refusal, Unavailable
from adomnia.local.kary import KaryResponse
from adomnia.local.store import STORE, ReportStore, read_reports
from adomnia.local.survey import Survey, draw_token

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


def test_rows_have_no_time_and_no_order_of_arrival(store, tmp_path):
    for _ in range(20):
        store.add(draw_token(), (0,))
    [columns] = [store._file._connection.execute("SELECT sql FROM sqlite_master WHERE name = 'reports'").fetchone()]
    assert "WITHOUT ROWID" in columns[0]
    rows = store._file._connection.execute("SELECT token, report FROM reports").fetchall()
    assert rows == sorted(rows)
    assert {len(token) for token, _ in rows} == {32}
    assert {json.loads(report)[0] for _, report in rows} == {0}
