"""A house in which nothing is left to chance or to the clock: seeded noise, a known index, one moment for all times."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from adomnia.engines.registry import EMBEDDED
from adomnia.ledger import Ledger
from adomnia.session.curator import STATE, Curator
from kit import corpus, hospital, house
from kit.altering import altered
from kit.bits import SeededBits
from kit.engines import loaded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOMENT = datetime.fromtimestamp(house.MovingClock().time, UTC)


class _AnyMoment(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, datetime)


class _Standing(datetime, metaclass=_AnyMoment):
    @classmethod
    def now(cls, tz: Any = None) -> datetime:
        return MOMENT.astimezone(tz)


@contextmanager
def standing_clock() -> Iterator[None]:
    """The time of day stands still for all modules that may ask what it is now."""
    with ExitStack() as patched:
        for name, module in sorted(sys.modules.items()):
            if name.startswith("adomnia.") and {"UTC", "datetime"} <= vars(module).keys():
                patched.enter_context(patch.object(module, "datetime", _Standing))
        yield


@contextmanager
def open_house(
    catalog: str = hospital.CATALOG, write: Callable[[Path, str], Path] = house.write_few
) -> Iterator[house.House]:
    """The server's app over an index whose key is known, in the time that stands still."""

    def write_apart(folder: Path, text: str) -> Path:
        return write(folder, text)  # a function of its own: other tests have houses whose index is drawn

    drawn = SeededBits("tokens")  # of equally old ones the lists are in order of their ids
    with (
        TemporaryDirectory() as folder,
        standing_clock(),
        patch("adomnia.api.access.credentials.SystemBits", lambda: drawn),
        patch("adomnia.engines.sources.state.fresh_key", lambda: hospital.KEY),
        patch("adomnia.engines.duckdb.engine.fresh_key", lambda: hospital.KEY),
        house.opened(Path(folder), catalog, write_apart) as opened,
    ):
        yield opened


@contextmanager
def open_corpus() -> Iterator[house.House]:
    """The app over the schema and the rows of the corpus, which no file declares."""

    def write(folder: Path, text: str) -> Path:
        corpus.declare(folder)
        (folder / "catalog.toml").write_text(text)  # whose changes the server watches, and nothing else is read of it
        (folder / STATE).mkdir()
        return folder

    def open_folder(folder: Path, **_options: Any) -> Curator:
        catalog = replace(corpus.declare(folder), folder=folder)
        engine = loaded(EMBEDDED, catalog, corpus.frames(catalog))
        ledger = Ledger.open(":memory:", catalog.budget, {each.name: each.budget for each in catalog.analysts})
        return Curator.open(catalog, engine, ledger, SeededBits(0))

    with patch.object(house, "open_folder", open_folder), open_house("", write) as opened:
        yield opened


@contextmanager
def seeded(curator: Curator, seed: object) -> Iterator[None]:
    """Noise that depends on the seed alone."""
    with altered(curator, bits=SeededBits(seed)):
        yield
