"""What a curator works with, altered while it is open, for sessions that are open already."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.session.curator import Curator


def alter(curator: Curator, **parts: Any) -> None:
    """Put another catalog, engine, ledger, source of bits or wait in the place of one that is there."""
    inner = {name: part for name, part in parts.items() if hasattr(curator.dataset.kernel, name)}
    others = {name: part for name, part in parts.items() if name not in inner}
    curator.dataset = replace(curator.dataset, kernel=replace(curator.dataset.kernel, **inner), **others)


@contextmanager
def altered(curator: Curator, **parts: Any) -> Iterator[None]:
    """The same, for a while."""
    before = curator.dataset
    alter(curator, **parts)
    try:
        yield
    finally:
        curator.dataset = before
