from __future__ import annotations

import json

import pytest

from adomnia.api.ledger_stamps import BACKED_UP, VERIFIED
from adomnia.api.running.health_metrics import report_ledger, report_readiness, report_restarts
from adomnia.session.curator import STATE


def told(families):
    samples = [sample for family in families for sample in family.samples]
    return {(sample.name, *sample.labels.values()): sample.value for sample in samples}


def test_readiness_is_1_or_0_with_every_reason():
    assert told(report_readiness([])) == {("adomnia_ready",): 1}
    assert told(report_readiness(["the ledger cannot be used", "the index is not open"])) == {
        ("adomnia_ready",): 0,
        ("adomnia_trouble", "the ledger cannot be used"): 1,
        ("adomnia_trouble", "the index is not open"): 1,
    }


def test_restarts_are_a_counter():
    assert told(report_restarts(3)) == {("adomnia_worker_restarts_total",): 3}


@pytest.mark.parametrize(("problem", "sound"), [("", 1), ("Entry 3 does not follow", 0)])
def test_the_last_verification_and_the_last_backup_are_told_by_their_time(tmp_path, problem, sound):
    (tmp_path / STATE).mkdir()
    found = {"at": "2030-01-02T12:00:00+00:00", "entries": 3, "head": "ab", "problem": problem}
    (tmp_path / STATE / VERIFIED).write_text(json.dumps(found))
    (tmp_path / STATE / BACKED_UP).write_text(json.dumps({"at": "2030-01-02T13:00:00+00:00"}))
    assert told(report_ledger(tmp_path)) == {
        ("adomnia_ledger_verified_timestamp_seconds",): 1893585600,
        ("adomnia_ledger_sound",): sound,
        ("adomnia_ledger_backup_timestamp_seconds",): 1893589200,
    }


def test_never_is_0_and_says_nothing_about_what_was_found(tmp_path):
    assert told(report_ledger(tmp_path)) == {
        ("adomnia_ledger_verified_timestamp_seconds",): 0,
        ("adomnia_ledger_backup_timestamp_seconds",): 0,
    }
