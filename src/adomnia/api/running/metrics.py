"""Metrics for Prometheus: requests, questions, queues and the budget.

Times of what reads data are rounded up to edges of time buckets.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector

from adomnia.api.ledger_stamps import BACKED_UP, VERIFIED, read_stamp
from adomnia.api.running.dead_counts import reading_counts
from adomnia.api.running.logs import known_method
from adomnia.api.running.process_metrics import list_workers, measure_processes
from adomnia.api.running.run_folder import FOLDER_VARIABLE
from adomnia.api.running.time_buckets import list_edges, round_to_edge
from adomnia.api.running.worker_states import read_restarts
from adomnia.errors import Unavailable
from adomnia.explaining.refusal_reasons import known_code
from adomnia.privacy.amounts import DELTA_UNIT, EPSILON_UNIT
from adomnia.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from prometheus_client import Metric
    from prometheus_client.samples import Sample

    from adomnia.api.running.request_facts import RequestSummary
    from adomnia.api.settings import Settings
    from adomnia.privacy.filters import Filter
    from adomnia.session.curator import Curator

_WAITING, _RUNNING = "adomnia_questions_waiting", "adomnia_questions_running"
_FINEST = 0.1  # the first edge where time buckets are switched off
_EDGES = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0)  # of requests that read no data, whose times need not be hidden
_ROOM_BYTES = 2**19  # for the counts of each kind of one process: all routes with all their statuses fit
_FILES = ("counter", "histogram", "gauge_livesum")

disable_created_metrics()  # type: ignore[no-untyped-call] # of one process alone there would be more samples


@dataclass(frozen=True)
class QuestionCounts:
    """Questions of all workers since the server started: by outcome, refused ones by code, and those of this moment."""

    outcomes: dict[str, int]
    refusals: dict[str, int]
    waiting: int
    running: int


class Metrics:
    """Counts what this worker does, and renders the counts of all workers together."""

    def __init__(self, settings: Settings) -> None:
        _take_room()
        self._bucket, self._limit = settings.bucket or min(_FINEST, settings.limit), settings.limit
        self._registry = own = CollectorRegistry()
        self._requests = Counter(
            "adomnia_requests", "Requests by method, route and status.", ("method", "route", "status"), registry=own
        )
        self._questions = Counter("adomnia_questions", "Questions by outcome.", ("outcome",), registry=own)
        self._refusals = Counter("adomnia_refusals", "Refused questions by code.", ("code",), registry=own)
        self._ledger_errors = Counter(
            "adomnia_ledger_errors", "Errors of the ledger's files by the name of the error.", ("kind",), registry=own
        )
        self._seconds = Histogram(
            "adomnia_question_seconds",
            "Times of requests that read data, each rounded up to the edge of its time bucket.",
            buckets=list_edges(self._bucket, self._limit),
            registry=own,
        )
        self._waiting = _gauge(_WAITING, "Questions in the queues of all workers.", own)
        self._running = _gauge(_RUNNING, "Questions that threads are working on.", own)
        self._request_seconds = Histogram(
            "adomnia_request_seconds",
            "Times of requests that read no data, by route.",
            ("route",),
            buckets=_EDGES,
            registry=own,
        )
        _gauge("adomnia_workers", "Worker processes that are alive.", own).set(1)

    def count_request(self, summary: RequestSummary) -> None:
        """Count a request; the time of one that reads data is told by its edge, so that sums tell no more."""
        self._requests.labels(known_method(summary.method), summary.route, str(summary.status)).inc()
        if summary.reads_data:
            self._seconds.observe(round_to_edge(summary.seconds, self._bucket, self._limit))
        else:
            self._request_seconds.labels(summary.route).observe(summary.seconds)

    def count_question(self, outcome: str) -> None:
        """Count a question by its outcome."""
        self._questions.labels(outcome).inc()

    def count_refusal(self, code: str) -> None:
        """Count a question that was refused, by its code."""
        self.count_question("refused")
        self._refusals.labels(known_code(code)).inc()

    def count_ledger_error(self, kind: str) -> None:
        """Count an error of the ledger's files by the name that SQLite or the operating system has for it."""
        self._ledger_errors.labels(kind).inc()

    def set_load(self, waiting: int, running: int) -> None:
        """Say how many questions wait and run in this worker now."""
        self._waiting.set(waiting)
        self._running.set(running)

    def render(self, curator: Curator, problems: Sequence[str] = ()) -> bytes:
        """The text that Prometheus reads: the counts of all workers, and public facts of dataset, ledger and processes.

        `problems` are the reasons why the server is not ready.
        """
        facts = (_facts(curator), report_ledger(curator.catalog.folder), report_readiness(problems), _processes())
        return generate_latest(_Families([*self._collect(), *chain(*facts)]))

    def read_questions(self) -> QuestionCounts:
        """What all workers counted of questions."""
        samples = {family.name: family.samples for family in self._collect()}  # of what was counted at least once
        return QuestionCounts(
            _by_label(samples.get("adomnia_questions", ()), "outcome"),
            _by_label(samples.get("adomnia_refusals", ()), "code"),
            *(int(sum(sample.value for sample in samples.get(name, ()))) for name in (_WAITING, _RUNNING)),
        )

    def _collect(self) -> Iterable[Metric]:
        folder = os.environ.get(FOLDER_VARIABLE)
        if folder is None:
            return self._registry.collect()
        with reading_counts(Path(folder)):
            # A worker that was killed while it created its file has left an empty one, which the library cannot read.
            files = [str(path) for path in sorted(Path(folder).glob("*.db")) if _size(path)]
            merged: Iterable[Metric] = MultiProcessCollector.merge(files)  # type: ignore[no-untyped-call]
            return merged


def _by_label(samples: Iterable[Sample], label: str) -> dict[str, int]:
    """Counts by the value of a label; the largest first."""
    counts = {sample.labels[label]: int(sample.value) for sample in samples if label in sample.labels}
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def _take_room() -> None:
    """Take room on the disk for the counts of this process: on one that is full later, writing them would end it."""
    folder = os.environ.get(FOLDER_VARIABLE)
    for kind in () if folder is None else _FILES:
        with (Path(folder or "") / f"{kind}_{os.getpid()}.db").open("ab") as file:
            os.posix_fallocate(file.fileno(), 0, _ROOM_BYTES)


class _Families:
    """Metrics in the form that `generate_latest` takes."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def _gauge(name: str, meaning: str, registry: CollectorRegistry) -> Gauge:
    return Gauge(name, meaning, registry=registry, multiprocess_mode="livesum")


def _processes() -> Iterator[Metric]:
    """What the processes of the server use, and how often one was replaced; without a parent, of this one alone."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder is None:
        yield from measure_processes(os.getpid(), ())
        yield from report_restarts(0)
        return
    yield from measure_processes(os.getppid(), list_workers(Path(folder)))
    yield from report_restarts(read_restarts(Path(folder)))


def _facts(curator: Curator) -> Iterator[Metric]:
    with suppress(Unavailable):  # a ledger in trouble tells of no budget, and all other numbers are wanted then
        yield from _budget(curator.ledger.account())
    version = curator.catalog.version
    yield GaugeMetricFamily("adomnia_catalog_version", "The version of the data that is served.", version)
    yield InfoMetricFamily("adomnia_build", "The version of Ad Omnia.", {"version": __version__})


def _budget(account: Filter) -> Iterator[Metric]:
    total, used, rest = account.budget, account.spent, account.left()
    spent = {"rho": used.rho_units * EPSILON_UNIT, "delta": used.delta_units * DELTA_UNIT}
    if (epsilon := account.spent_epsilon()) is not None:
        spent["epsilon"] = epsilon
    # Not all of delta: the rest pays for converting rho into epsilon, and no question can spend it.
    whole = {"epsilon": total.epsilon, "rho": total.rho, "delta": total.event_delta}
    yield _amounts(
        "adomnia_budget_total", "The budget of the dataset; of delta, the part that questions may spend.", whole
    )
    yield _amounts(
        "adomnia_budget_spent", "What was spent of it; epsilon only while it is what the budget is held to.", spent
    )
    yield _amounts("adomnia_budget_left", "What is left of it, in one amount or the other.", rest._asdict())


def _amounts(name: str, meaning: str, amounts: Mapping[str, object]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, meaning, labels=["amount"])
    for amount, value in amounts.items():
        family.add_metric([amount], float(value))  # type: ignore[arg-type] # numbers of several exact types
    return family


def _size(path: Path) -> int:
    """The size of a file; 0 if it was deleted meanwhile, as files of gauges are when their worker dies."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def report_readiness(problems: Sequence[str]) -> Iterator[Metric]:
    """Whether questions can be answered, and if not why; the reasons are those of /ready, a closed set."""
    yield GaugeMetricFamily("adomnia_ready", "1 if /ready says yes, else 0.", float(not problems))
    troubles = GaugeMetricFamily("adomnia_trouble", "1 for each reason why it is not ready.", labels=["why"])
    for why in problems:
        troubles.add_metric([why], 1.0)
    yield troubles


def report_restarts(count: int) -> Iterator[Metric]:
    """How often a worker was replaced."""
    yield CounterMetricFamily("adomnia_worker_restarts", "Workers that died or hung and were replaced.", count)


def report_ledger(folder: Path) -> Iterator[Metric]:
    """When the ledger was verified and backed up last on this machine; 0 is never."""
    verified, backed_up = read_stamp(folder, VERIFIED), read_stamp(folder, BACKED_UP)
    yield GaugeMetricFamily(
        "adomnia_ledger_verified_timestamp_seconds",
        "When the ledger was verified last, in Unix time; 0 is never.",
        verified.timestamp if verified else 0.0,
    )
    sound = GaugeMetricFamily("adomnia_ledger_sound", "1 if nothing was wrong then, else 0; missing if never.")
    if verified:
        sound.add_metric([], float(not verified.problem))
    yield sound
    yield GaugeMetricFamily(
        "adomnia_ledger_backup_timestamp_seconds",
        "When the ledger was backed up last, in Unix time; 0 is never.",
        backed_up.timestamp if backed_up else 0.0,
    )
