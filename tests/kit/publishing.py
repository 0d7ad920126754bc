"""A house in which alice may publish, with releases of every kind: counts, ranges, rows, and one of bob's own."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from kit import hospital, house

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CATALOG = hospital.CATALOG.replace("[analysts.alice]\n", "[analysts.alice]\npublish = true\n")
COUNTS = "SELECT * FROM marginals((SELECT sex, city, member FROM people), ways => 2)"
APART = "SELECT * FROM marginals((SELECT sex, city FROM people), ways => 1)"
RANGES = "SELECT * FROM range_counts(people, column => age, bins => 24)"
ROWS = "SELECT * FROM mwem((SELECT sex, city FROM people), size => 50)"


@contextmanager
def published(folder: Path) -> Iterator[house.House]:
    """The house, once all of it is made."""
    with house.opened(folder, CATALOG) as opened:
        with opened.services.dataset.curator() as curator:
            alice = curator.session("alice")
            for name, text in (("sexes", COUNTS), ("apart", APART), ("years", RANGES), ("nobody", ROWS)):
                alice.release(name, text, epsilon=1)
            curator.session("bob").release("mine", COUNTS, epsilon=1, private=True)
        yield opened
