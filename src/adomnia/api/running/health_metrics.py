"""Metrics about the server as a whole: whether it is ready, and when its ledger was verified and backed up last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from adomnia.api.ledger_stamps import BACKED_UP, VERIFIED, read_stamp

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from prometheus_client import Metric

__all__ = ["report_ledger", "report_readiness", "report_restarts"]


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
