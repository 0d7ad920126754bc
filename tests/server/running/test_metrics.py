from __future__ import annotations

import re
import sys
from pathlib import Path
from subprocess import PIPE, Popen
from types import SimpleNamespace

import pytest
from prometheus_client import values

from adomnia.ledger import Ledger
from adomnia.privacy.events import Approximate, Concentrated, Pure
from adomnia.privacy.filters import Budget
from adomnia.server.running.metrics import Metrics
from adomnia.server.running.run_folder import FOLDER_VARIABLE, remove_gauges
from adomnia.server.services import RequestSummary
from adomnia.server.settings import Settings

SERVER_PAGE = Path(__file__).parents[3] / "docs" / "server.md"
SAMPLE = re.compile(r'([a-z_]+)(\{[a-z]+="(?:[^"\\]|\\.)*"(?:,[a-z]+="(?:[^"\\]|\\.)*")*\})? (\S+)')


@pytest.fixture
def curator():
    budget = Budget(epsilon=20, delta=1e-6, approximate=True)
    with Ledger.open(":memory:", budget, {"alice": budget}) as ledger:
        ledger.reserve("alice", "first", b"plan", Pure(0.5)).commit(b"answer")
        yield SimpleNamespace(ledger=ledger, catalog=SimpleNamespace(version=3))


@pytest.fixture
def metrics():
    return Metrics(Settings(Path("study")))


@pytest.fixture
def start_worker(tmp_path, monkeypatch):
    """Metrics as a worker process of this number has them."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    started = []

    def start(process):
        started.append(values.MultiProcessValue(lambda: process))
        monkeypatch.setattr(values, "ValueClass", started[-1])
        return Metrics(Settings(Path("study")))

    yield start
    for each in started:
        each.close_all_files()


def samples(text):
    found = [SAMPLE.fullmatch(line) for line in text.decode().splitlines() if not line.startswith("#")]
    return {f"{one[1]}{one[2] or ''}": float(one[3]) for one in found}


def seen(seconds, reads_data=True, method="POST"):
    return RequestSummary(method, "/query", 200, "alice", seconds, "r", reads_data)


def test_requests_questions_and_load_are_counted(metrics, curator):
    metrics.count_request(seen(0.05))
    metrics.count_request(seen(0.05))
    metrics.count_request(seen(0.05, method="MADE-UP"))
    metrics.count_question("answered")
    metrics.set_load(3, 2)
    told = samples(metrics.render(curator))
    assert told['adomnia_requests_total{method="POST",route="/query",status="200"}'] == 2
    assert told['adomnia_requests_total{method="other",route="/query",status="200"}'] == 1
    assert told['adomnia_questions_total{outcome="answered"}'] == 1
    assert (told["adomnia_questions_waiting"], told["adomnia_questions_running"]) == (3, 2)
    assert told["adomnia_workers"] == 1


def test_times_are_told_by_edges_and_so_is_their_sum(metrics, curator):
    for seconds in (0.001, 0.0731, 0.17, 1e9):
        metrics.count_request(seen(seconds))
    metrics.count_request(seen(0.01, reads_data=False))
    told = samples(metrics.render(curator))
    assert told['adomnia_question_seconds_bucket{le="0.1"}'] == 2
    assert told['adomnia_question_seconds_bucket{le="0.2"}'] == 3
    assert told['adomnia_question_seconds_bucket{le="51.2"}'] == 3
    assert told['adomnia_question_seconds_bucket{le="+Inf"}'] == told["adomnia_question_seconds_count"] == 4
    assert told["adomnia_question_seconds_sum"] == pytest.approx(0.1 + 0.1 + 0.2 + 60)


def test_refusals_are_counted_by_codes_of_a_closed_set(metrics, curator):
    for code in ("budget", "budget", "made up by somebody"):
        metrics.count_refusal(code)
    told = samples(metrics.render(curator))
    assert told['adomnia_refusals_total{code="budget"}'] == 2
    assert told['adomnia_refusals_total{code="refused"}'] == 1
    assert told['adomnia_questions_total{outcome="refused"}'] == 3
    assert not any("made up" in name for name in told)


def test_counts_of_questions_are_read_of_all_workers_and_the_largest_first(start_worker):
    first, second = start_worker(1), start_worker(2)
    assert (first.read_questions().outcomes, first.read_questions().refusals) == ({}, {})
    for worker, codes in ((first, ["join", "budget"]), (second, ["budget"])):
        worker.count_question("answered")
        worker.set_load(3, 2)
        for code in codes:
            worker.count_refusal(code)
    counts = first.read_questions()
    assert list(counts.refusals.items()) == [("budget", 2), ("join", 1)]
    assert counts.outcomes == {"answered": 2, "refused": 3}
    assert (counts.waiting, counts.running) == (6, 4)


def test_the_counts_of_all_workers_are_added(start_worker, curator):
    first, second = start_worker(1), start_worker(2)
    for worker in (first, second):
        worker.count_question("answered")
        worker.count_request(seen(0.17))
        worker.set_load(3, 2)
    for worker in (first, second):
        told = samples(worker.render(curator))
        assert told['adomnia_questions_total{outcome="answered"}'] == 2
        assert told['adomnia_requests_total{method="POST",route="/query",status="200"}'] == 2
        assert told['adomnia_question_seconds_bucket{le="0.1"}'] == 0
        assert told['adomnia_question_seconds_bucket{le="0.2"}'] == told["adomnia_question_seconds_count"] == 2
        assert (told["adomnia_questions_waiting"], told["adomnia_questions_running"]) == (6, 4)
        assert told["adomnia_workers"] == 2


def test_what_a_dead_worker_counted_stays_counted_and_what_it_was_doing_does_not(start_worker, curator, tmp_path):
    first, second = start_worker(1), start_worker(2)
    for worker in (first, second):
        worker.count_question("answered")
        worker.set_load(3, 2)
    remove_gauges(tmp_path, 1)
    third = start_worker(3)
    third.count_question("answered")
    told = samples(second.render(curator))
    assert told['adomnia_questions_total{outcome="answered"}'] == 3
    assert (told["adomnia_questions_waiting"], told["adomnia_questions_running"]) == (3, 2)
    assert told["adomnia_workers"] == 2


def test_a_file_that_a_killed_worker_had_only_begun_is_left_out(start_worker, curator, tmp_path):
    metrics = start_worker(1)
    metrics.count_question("answered")
    (tmp_path / "counter_2.db").touch()
    assert samples(metrics.render(curator))['adomnia_questions_total{outcome="answered"}'] == 1


COUNT_FOR_EVER = """
from prometheus_client import Counter
questions = Counter("adomnia_questions", "", ("outcome",))
questions.labels("answered").inc(1e9)
print(flush=True)
while True:
    questions.labels("answered").inc()
"""


def test_counts_never_go_down_while_another_process_writes_them(start_worker, curator):
    """Prometheus would take that for a restart, and add the whole count once more."""
    reader = start_worker(1)
    with Popen([sys.executable, "-c", COUNT_FOR_EVER], stdout=PIPE) as writer:
        writer.stdout.readline()
        told = [samples(reader.render(curator))['adomnia_questions_total{outcome="answered"}'] for _ in range(1500)]
        writer.kill()
    assert told == sorted(told)
    assert told[0] < told[-1]


def test_the_budget_and_the_version_are_public(metrics, curator):
    told = samples(metrics.render(curator))
    assert told['adomnia_budget_total{amount="epsilon"}'] == 20
    assert told['adomnia_budget_spent{amount="epsilon"}'] == 0.5
    assert told['adomnia_budget_left{amount="epsilon"}'] == 19.5
    assert told["adomnia_catalog_version"] == 3
    assert any(name.startswith('adomnia_build_info{version="') for name in told)


@pytest.mark.parametrize("share", [None, 1e-7])
def test_what_is_spent_and_left_of_each_amount_makes_its_total(metrics, share):
    """Of delta, the budget has the part that questions may spend; the rest pays for converting rho into epsilon."""
    budget = Budget(epsilon=20, delta=1e-6, approximate=True, event_delta=share)
    with Ledger.open(":memory:", budget, {"alice": budget}) as ledger:
        ledger.reserve("alice", "first", b"plan", Approximate(0.5, 3e-8)).commit(b"answer")
        told = samples(metrics.render(SimpleNamespace(ledger=ledger, catalog=SimpleNamespace(version=3))))
    amounts = [
        [told[f'adomnia_budget_{name}{{amount="{amount}"}}'] for name in ("spent", "left", "total")]
        for amount in ("rho", "delta")
    ]
    assert [spent + left for spent, left, _ in amounts] == pytest.approx([total for _, _, total in amounts])
    assert amounts[1] == pytest.approx([3e-8, (share or 5e-7) - 3e-8, share or 5e-7])


def test_after_a_spend_that_is_not_pure_epsilon_is_not_told_as_spent(metrics, curator):
    curator.ledger.reserve("alice", "second", b"other", Concentrated(0.01)).commit(b"answer")
    told = samples(metrics.render(curator))
    assert 'adomnia_budget_spent{amount="epsilon"}' not in told
    assert told['adomnia_budget_spent{amount="rho"}'] == pytest.approx(0.135)


def test_every_family_is_explained_once_before_its_samples_and_in_the_docs(metrics, curator):
    metrics.count_request(seen(0.05))
    metrics.count_question("answered")
    metrics.set_load(0, 0)
    lines = metrics.render(curator).decode().splitlines()
    families = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(families) == len(set(families))
    assert set(families) == set(re.findall(r"`(adomnia_[a-z_]+)`", SERVER_PAGE.read_text()))
    told = set()
    for line in lines:
        if line.startswith("# TYPE"):
            told.add(line.split()[2])
        elif not line.startswith("#"):
            assert any(line.startswith(family) for family in told)


def test_without_buckets_times_have_edges_all_the_same(curator):
    metrics = Metrics(Settings(Path("study"), bucket=0.0))
    metrics.count_request(seen(0.0731))
    assert samples(metrics.render(curator))["adomnia_question_seconds_sum"] == pytest.approx(0.1)
