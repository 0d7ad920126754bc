"""What tests of access try with, and how a try ends."""

from __future__ import annotations

from dataclasses import dataclass

from adomnia.errors import Refusal
from adomnia.server.access import Access

PASSWORD = "five words that I drew"
HERE, THERE = "192.0.2.1", "198.51.100.2"


@dataclass
class Time:
    """The machine's clock, which may be set, and its monotonic one, which only goes on."""

    wall: float = 1_000_000.0
    monotonic: float = 50.0

    def go_on(self, seconds: float) -> None:
        self.wall += seconds
        self.monotonic += seconds

    def opened(self, folder) -> Access:
        return Access.open(folder, clock=lambda: self.wall, monotonic=lambda: self.monotonic)


def code_of(ask, *arguments) -> str:
    """How a try ends: a refusal's code, or nothing."""
    try:
        ask(*arguments)
    except Refusal as refusal:
        return refusal.code
    return ""
