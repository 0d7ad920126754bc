from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from subprocess import PIPE, Popen
from types import SimpleNamespace

import pytest
import yaml
from prometheus_client import values

from adomnia.api.ledger_stamps import BACKED_UP, VERIFIED
from adomnia.api.roles import API
from adomnia.api.running.metrics import Metrics, report_ledger, report_readiness, report_restarts
from adomnia.api.running.request_facts import RequestSummary
from adomnia.api.running.run_folder import FOLDER_VARIABLE, remove_gauges
from adomnia.api.settings import Settings
from adomnia.ledger import Ledger
from adomnia.privacy.events import Approximate, Concentrated, Pure
from adomnia.privacy.filters import Budget
from adomnia.session.curator import STATE

ROOT = Path(__file__).parents[3]
RUNNING_PAGE = ROOT / "docs" / "running.md"
MONITORING = ROOT / "packaging" / "monitoring"
OURS = re.compile(r"\b(?:adomnia|process)_[a-z_]+\b")
SAMPLE = re.compile(r'([a-z_]+)(\{[a-z]+="(?:[^"\\]|\\.)*"(?:,[a-z]+="(?:[^"\\]|\\.)*")*\})? (\S+)')


@pytest.fixture
def catalog(tmp_path_factory):
    return SimpleNamespace(version=3, folder=tmp_path_factory.mktemp("study"))


@pytest.fixture
def curator(catalog):
    budget = Budget(epsilon=20, delta=1e-6, approximate=True)
    with Ledger.open(":memory:", budget, {"alice": budget}) as ledger:
        ledger.reserve("alice", "first", b"plan", Pure(0.5)).commit(b"answer")
        yield SimpleNamespace(ledger=ledger, catalog=catalog)


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


def test_times_of_what_reads_no_data_are_told_by_route_as_they_are(metrics, curator):
    for seconds in (0.001, 0.3):
        metrics.count_request(seen(seconds, reads_data=False))
    metrics.count_request(seen(0.2))
    told = samples(metrics.render(curator))
    assert told['adomnia_request_seconds_bucket{le="0.005",route="/query"}'] == 1
    assert told['adomnia_request_seconds_count{route="/query"}'] == 2
    assert told['adomnia_request_seconds_sum{route="/query"}'] == pytest.approx(0.301)


def test_readiness_restarts_and_the_ledger_are_told(metrics, curator):
    told = samples(metrics.render(curator, ["the ledger cannot be used"]))
    assert told['adomnia_trouble{why="the ledger cannot be used"}'] == 1
    assert (told["adomnia_ready"], told["adomnia_worker_restarts_total"]) == (0, 0)
    assert samples(metrics.render(curator))["adomnia_ready"] == 1
    assert told["adomnia_ledger_backup_timestamp_seconds"] == 0
    assert "process_resident_memory_bytes" in told


def test_room_is_taken_for_all_that_a_worker_may_count(start_worker, tmp_path, monkeypatch):
    """On a full disk a file that has holes would end the process that writes to it."""
    taken = []
    monkeypatch.setattr(os, "posix_fallocate", lambda file, *place: taken.append((os.fstat(file).st_ino, *place)))
    start_worker(1)
    files = [path.stat().st_ino for path in tmp_path.glob(f"*_{os.getpid()}.db")]
    assert sorted(taken) == sorted((file, 0, 2**19) for file in files)
    assert len(files) == 3


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
        try:
            writer.stdout.readline()
            told = [reader.read_questions().outcomes["answered"] for _ in range(1500)]
        finally:
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
def test_what_is_spent_and_left_of_each_amount_makes_its_total(metrics, catalog, share):
    """Of delta, the budget has the part that questions may spend; the rest pays for converting rho into epsilon."""
    budget = Budget(epsilon=20, delta=1e-6, approximate=True, event_delta=share)
    with Ledger.open(":memory:", budget, {"alice": budget}) as ledger:
        ledger.reserve("alice", "first", b"plan", Approximate(0.5, 3e-8)).commit(b"answer")
        told = samples(metrics.render(SimpleNamespace(ledger=ledger, catalog=catalog)))
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


def families_of(metrics, curator):
    """The names and kinds of everything that is told; here families without a sample are among them."""
    lines = metrics.render(curator).decode().splitlines()
    return [line.split()[2:4] for line in lines if line.startswith("# TYPE")]


def test_every_family_is_explained_once_before_its_samples_and_in_the_docs(metrics, curator):
    metrics.count_request(seen(0.05))
    metrics.count_question("answered")
    metrics.set_load(0, 0)
    families = [name for name, _ in families_of(metrics, curator)]
    assert len(families) == len(set(families))
    table = RUNNING_PAGE.read_text().partition("\n## Metrics\n")[2].partition("\n## ")[0]
    cells = [row.split(" | ")[0] for row in table.splitlines() if row.startswith("| `")]
    assert sorted(families) == sorted(name for cell in cells for name in OURS.findall(cell))
    told = set()
    for line in metrics.render(curator).decode().splitlines():
        if line.startswith("# TYPE"):
            told.add(line.split()[2])
        elif not line.startswith("#"):
            assert any(line.startswith(family) for family in told)


def list_expressions():
    """What alarms and panels compute, by their names."""
    alarms = yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"][0]["rules"]
    panels = json.loads((MONITORING / "dashboard.json").read_text())["panels"]
    yield from ((alarm["alert"], alarm["expr"]) for alarm in alarms)
    yield from ((panel["title"], target["expr"]) for panel in panels for target in panel["targets"])


def test_alarms_and_panels_name_metrics_that_exist_and_nothing_is_watched_by_none(metrics, curator):
    families = families_of(metrics, curator)
    endings = {"counter": ("",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}
    samples = {name + ending for name, kind in families for ending in endings[kind]}
    used = {(place, name) for place, expression in list_expressions() for name in OURS.findall(expression)}
    assert not [(place, name) for place, name in used if name not in samples]
    watched = {name for _, name in used}
    unwatched = {name for name, kind in families if not watched & {name + ending for ending in endings[kind]}}
    assert unwatched == {"adomnia_budget_spent", "adomnia_build_info"}


def test_alarms_say_how_bad_it_is_and_what_to_do_and_the_page_names_each():
    (group,) = yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"]
    page = RUNNING_PAGE.read_text()
    for alarm in group["rules"]:
        assert set(alarm) <= {"alert", "expr", "for", "labels", "annotations"}
        assert alarm["labels"]["severity"] in {"info", "warning", "critical"}
        assert alarm["annotations"]["summary"].endswith((".", "DIR", ".timer"))
        assert f"`{alarm['alert']}`" in page
        assert alarm["expr"].count("(") == alarm["expr"].count(")")


def test_prometheus_asks_where_the_server_answers():
    (job,) = yaml.safe_load((MONITORING / "prometheus.yml").read_text())["scrape_configs"]
    assert job["metrics_path"] == f"{API}/metrics"
    jobs = {name for _, expression in list_expressions() for name in re.findall(r'job="(\w+)"', expression)}
    assert jobs == {job["job_name"]}


def test_without_buckets_times_have_edges_all_the_same(curator):
    metrics = Metrics(Settings(Path("study"), bucket=0.0))
    metrics.count_request(seen(0.0731))
    assert samples(metrics.render(curator))["adomnia_question_seconds_sum"] == pytest.approx(0.1)


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
