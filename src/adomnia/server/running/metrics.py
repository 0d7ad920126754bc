"""What a Prometheus server reads: requests, questions, the queue, the budget. Times are told by edges of buckets."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from adomnia import __version__
from adomnia.privacy.amounts import DELTA_UNIT, EPSILON_UNIT
from adomnia.server.running.board import GAUGE, totals
from adomnia.server.running.logs import known_method
from adomnia.server.running.pace import edges, told

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from adomnia.privacy.filters import Filter
    from adomnia.server.desk import Seen
    from adomnia.server.running.board import Board
    from adomnia.server.settings import Settings
    from adomnia.session.curator import Curator

__all__ = ["MEANINGS", "Metrics"]

MEANINGS = {
    "adomnia_requests_total": ("counter", "Requests by method, route and status."),
    "adomnia_questions_total": ("counter", "Questions by what became of them."),
    "adomnia_questions_waiting": ("gauge", "Questions in the queues of all workers."),
    "adomnia_questions_running": ("gauge", "Questions that threads are busy with."),
    "adomnia_question_seconds": ("histogram", "Times of requests that read data, each rounded up to its bucket."),
    "adomnia_workers": ("gauge", "Worker processes that are alive."),
    "adomnia_budget_total": ("gauge", "The budget of the dataset."),
    "adomnia_budget_spent": ("gauge", "What was spent of it; epsilon only while every spend was pure."),
    "adomnia_budget_left": ("gauge", "What is left of it, in one amount or the other."),
    "adomnia_catalog_version": ("gauge", "The version of the data that is served."),
    "adomnia_build_info": ("gauge", "The version of Ad Omnia."),
}
_WAITING, _RUNNING = f"{GAUGE}adomnia_questions_waiting", f"{GAUGE}adomnia_questions_running"
_FINEST = 0.1  # the first edge where buckets are switched off


class Metrics:
    """The numbers of this worker, which it writes on its board, and those of all workers together."""

    def __init__(self, settings: Settings, board: Board, room: Path) -> None:
        self._board, self._room = board, room
        self._bucket, self._limit = settings.bucket or min(_FINEST, settings.limit), settings.limit

    def request(self, seen: Seen) -> None:
        labels = {"method": known_method(seen.method), "route": seen.route, "status": str(seen.status)}
        self._board.add(_series("adomnia_requests_total", labels))
        if seen.reads_data:
            end = told(seen.seconds, self._bucket, self._limit)
            self._board.add(f"adomnia_question_seconds@{end:g}")

    def question(self, outcome: str) -> None:
        self._board.add(_series("adomnia_questions_total", {"outcome": outcome}))

    def load(self, waiting: int, running: int) -> None:
        self._board.set(_WAITING, waiting)
        self._board.set(_RUNNING, running)

    def text(self, curator: Curator) -> str:
        """All workers together, and the public facts of the dataset."""
        living, numbers = totals(self._room)
        samples = [
            *_plain(numbers),
            *_histogram(numbers, edges(self._bucket, self._limit)),
            ("adomnia_workers", living),
            *_budget(curator.ledger.account()),
            ("adomnia_catalog_version", curator.catalog.version),
            (_series("adomnia_build_info", {"version": __version__}), 1),
        ]
        return "".join(_written(samples))


def _plain(numbers: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    return ((name.removeprefix(GAUGE), number) for name, number in sorted(numbers.items()) if "@" not in name)


def _histogram(numbers: Mapping[str, float], ends: Iterable[float]) -> Iterator[tuple[str, float]]:
    """Sums too are sums of edges: an exact sum would tell what the buckets hide."""
    name = "adomnia_question_seconds"
    count, total = 0.0, 0.0
    for end in ends:
        here = numbers.get(f"{name}@{end:g}", 0.0)
        count, total = count + here, total + here * end
        yield _series(f"{name}_bucket", {"le": f"{end:g}"}), count
    yield _series(f"{name}_bucket", {"le": "+Inf"}), count
    yield f"{name}_sum", total
    yield f"{name}_count", count


def _budget(account: Filter) -> Iterator[tuple[str, float]]:
    total, used, rest = account.budget, account.spent, account.left()
    spent = {"rho": used.rho_units * EPSILON_UNIT, "delta": used.delta_units * DELTA_UNIT}
    if used.pure:
        spent["epsilon"] = used.epsilon_units * EPSILON_UNIT
    for state, amounts in (
        ("total", {"epsilon": total.epsilon, "rho": total.rho, "delta": total.delta}),
        ("spent", spent),
        ("left", rest._asdict()),
    ):
        for amount, value in amounts.items():
            yield _series(f"adomnia_budget_{state}", {"amount": amount}), float(value)


def _written(samples: Iterable[tuple[str, float]]) -> Iterator[str]:
    explained: set[str] = set()
    for series, number in samples:
        name = _family(series)
        if name not in explained:
            explained.add(name)
            kind, meaning = MEANINGS[name]
            yield f"# HELP {name} {meaning}\n# TYPE {name} {kind}\n"
        yield f"{series} {_number(number)}\n"


def _family(series: str) -> str:
    name = series.partition("{")[0]
    return name if name in MEANINGS else name.rpartition("_")[0]


def _series(name: str, labels: Mapping[str, str]) -> str:
    """JSON texts are escaped as this format wants it."""
    return f"{name}{{{','.join(f'{label}={json.dumps(value)}' for label, value in labels.items())}}}"


def _number(number: float) -> str:
    return str(int(number)) if math.isfinite(number) and number == int(number) else repr(float(number))
