from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from adomnia.ledger import Ledger
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.filters import Budget
from adomnia.server.desk import Seen
from adomnia.server.running.board import Board
from adomnia.server.running.metrics import MEANINGS, Metrics
from adomnia.server.settings import Settings

SAMPLE = re.compile(r'([a-z_]+)(\{[a-z]+="(?:[^"\\]|\\.)*"(?:,[a-z]+="(?:[^"\\]|\\.)*")*\})? (\S+)')


@pytest.fixture
def curator():
    budget = Budget(epsilon=20, delta=1e-6, approximate=True)
    with Ledger.open(":memory:", budget, {"alice": budget}) as ledger:
        ledger.reserve("alice", "first", b"plan", Pure(0.5)).commit(b"answer")
        yield SimpleNamespace(ledger=ledger, catalog=SimpleNamespace(version=3))


@pytest.fixture
def board(tmp_path):
    board = Board.open(tmp_path, 1)
    yield board
    board.close()


@pytest.fixture
def metrics(board, tmp_path):
    return Metrics(Settings(Path("study")), board, tmp_path)


def samples(text):
    found = [SAMPLE.fullmatch(line) for line in text.splitlines() if not line.startswith("#")]
    return {f"{one[1]}{one[2] or ''}": float(one[3]) for one in found}


def seen(seconds, reads_data=True, method="POST"):
    return Seen(method, "/query", 200, "alice", seconds, "r", reads_data)


def test_requests_questions_and_load_are_counted(metrics, curator):
    metrics.request(seen(0.05))
    metrics.request(seen(0.05))
    metrics.request(seen(0.05, method="MADE-UP"))
    metrics.question("answered")
    metrics.load(3, 2)
    told = samples(metrics.text(curator))
    assert told['adomnia_requests_total{method="POST",route="/query",status="200"}'] == 2
    assert told['adomnia_requests_total{method="other",route="/query",status="200"}'] == 1
    assert told['adomnia_questions_total{outcome="answered"}'] == 1
    assert (told["adomnia_questions_waiting"], told["adomnia_questions_running"]) == (3, 2)
    assert told["adomnia_workers"] == 1


def test_times_are_told_by_edges_and_so_is_their_sum(metrics, curator):
    for seconds in (0.001, 0.0731, 0.17, 1e9):
        metrics.request(seen(seconds))
    metrics.request(seen(0.01, reads_data=False))
    told = samples(metrics.text(curator))
    assert told['adomnia_question_seconds_bucket{le="0.1"}'] == 2
    assert told['adomnia_question_seconds_bucket{le="0.2"}'] == 3
    assert told['adomnia_question_seconds_bucket{le="51.2"}'] == 3
    assert told['adomnia_question_seconds_bucket{le="+Inf"}'] == told["adomnia_question_seconds_count"] == 4
    assert told["adomnia_question_seconds_sum"] == pytest.approx(0.1 + 0.1 + 0.2 + 60)


def test_the_numbers_of_other_workers_are_in_it(metrics, curator, tmp_path):
    other = Board.open(tmp_path, 2)
    Metrics(Settings(Path("study")), other, tmp_path).question("answered")
    metrics.question("answered")
    told = samples(metrics.text(curator))
    assert told['adomnia_questions_total{outcome="answered"}'] == 2
    assert told["adomnia_workers"] == 2
    other.close()


def test_the_budget_and_the_version_are_public(metrics, curator):
    told = samples(metrics.text(curator))
    assert told['adomnia_budget_total{amount="epsilon"}'] == 20
    assert told['adomnia_budget_spent{amount="epsilon"}'] == 0.5
    assert told['adomnia_budget_left{amount="epsilon"}'] == 19.5
    assert told["adomnia_catalog_version"] == 3
    assert any(name.startswith('adomnia_build_info{version="') for name in told)


def test_after_a_spend_that_is_not_pure_epsilon_is_not_told_as_spent(metrics, curator):
    curator.ledger.reserve("alice", "second", b"other", Concentrated(0.01)).commit(b"answer")
    told = samples(metrics.text(curator))
    assert 'adomnia_budget_spent{amount="epsilon"}' not in told
    assert told['adomnia_budget_spent{amount="rho"}'] == pytest.approx(0.135)


def test_every_family_is_explained_once_and_before_its_samples(metrics, curator):
    metrics.request(seen(0.05))
    metrics.question("answered")
    metrics.load(0, 0)
    lines = metrics.text(curator).splitlines()
    families = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert sorted(families) == sorted(MEANINGS)
    told = set()
    for line in lines:
        if line.startswith("# TYPE"):
            told.add(line.split()[2])
        elif not line.startswith("#"):
            assert any(line.startswith(family) for family in told)


def test_without_buckets_times_have_edges_all_the_same(board, tmp_path, curator):
    metrics = Metrics(Settings(Path("study"), bucket=0.0), board, tmp_path)
    metrics.request(seen(0.0731))
    assert samples(metrics.text(curator))["adomnia_question_seconds_sum"] == pytest.approx(0.1)
