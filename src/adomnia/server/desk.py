"""The desk: everything that the routes of one worker process need, and what is told about each request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adomnia.server.access import Access
    from adomnia.server.running.counter import Counter
    from adomnia.server.running.logs import Logs
    from adomnia.server.running.metrics import Metrics
    from adomnia.server.running.pace import Pace
    from adomnia.server.running.rates import Rates
    from adomnia.server.running.served import Served
    from adomnia.server.settings import Settings


@dataclass(frozen=True)
class Desk:
    """What a worker has at hand: who may come in, the dataset, and the bounds on how much is done at a time.

    `pace` takes what may read data, `doors` what hashes passwords, and `counter` everything else, which so never waits
    for either.
    """

    settings: Settings
    access: Access
    served: Served
    counter: Counter
    doors: Counter
    pace: Pace
    rates: Rates
    metrics: Metrics
    logs: Logs


@dataclass(frozen=True)
class Seen:
    """A request that was answered, as logs and metrics hear of it: `route` is the template, never the path itself.

    Of a route that `reads_data` the time is told only in whole buckets.
    """

    method: str
    route: str
    status: int
    user: str | None
    seconds: float
    request_id: str
    reads_data: bool
