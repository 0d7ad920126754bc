"""Everything that the routes of one worker process use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adomnia.api.access import Access
    from adomnia.api.running.answer_memory import AnswerMemory
    from adomnia.api.running.logs import Logs
    from adomnia.api.running.metrics import Metrics
    from adomnia.api.running.rate_limiter import RateLimiter, SharedRateLimiter
    from adomnia.api.running.readiness import Readiness
    from adomnia.api.running.request_ids import RequestSummary
    from adomnia.api.running.served_dataset import ServedDataset
    from adomnia.api.running.thread_pool import FairThreadPool
    from adomnia.api.running.time_buckets import TimeBuckets
    from adomnia.api.settings import Settings


@dataclass(frozen=True)
class Services:
    """What the routes of a worker use: settings, users, the dataset, memory, thread pools, limits, metrics and logs.

    Questions that may read data run in `time_buckets`, password hashing in `password_pool`, and everything else in
    `pool`, which therefore never waits for either.
    """

    settings: Settings
    access: Access
    dataset: ServedDataset
    answer_memory: AnswerMemory
    pool: FairThreadPool
    password_pool: FairThreadPool
    time_buckets: TimeBuckets
    rate_limiter: RateLimiter | SharedRateLimiter
    metrics: Metrics
    logs: Logs
    readiness: Readiness

    def report(self, summary: RequestSummary) -> None:
        """Log and count a request that was answered."""
        self.logs.log_request(summary)
        self.metrics.count_request(summary)
