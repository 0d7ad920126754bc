"""A dataset under protection: its catalog, its engine and its ledger, and sessions for those who ask."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from errno import EDQUOT, ENOSPC
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack

from adomnia.asking.asker import open_dataset
from adomnia.asking.batch import Batch, bind_question
from adomnia.asking.releasing import publish, restore_releases
from adomnia.catalog.read import read
from adomnia.curator.paying import Kernel
from adomnia.engines.contract import silent
from adomnia.engines.limits import USUAL
from adomnia.engines.registry import load_engine
from adomnia.errors import Refusal, Unavailable
from adomnia.noise import SystemBits
from adomnia.options import CONFIDENCE, EXPLAIN
from adomnia.pricing.questions import Question
from adomnia.releases.store import FOLDER
from adomnia.session import mock
from adomnia.session.agreement import agreeing, describe_deployment
from adomnia.session.askable import AskableRelease, make_askable
from adomnia.session.ledgers import LEDGER, MEMORY, STATE, open_ledger, place_ledger
from adomnia.session.previewing import publish_previews
from adomnia.session.session import LocalSession
from adomnia.session.signatures import takes_options
from adomnia.sql.rows.blocks import check_views
from adomnia.work import limit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from adomnia.asking.asker import Dataset
    from adomnia.asking.sizes import AnswerSize
    from adomnia.catalog.facts import FactsOf
    from adomnia.catalog.model import Catalog
    from adomnia.engines.contract import Engine, Progress
    from adomnia.engines.limits import Limits
    from adomnia.ledger import Ledger
    from adomnia.noise import Bits
    from adomnia.pricing.questions import Payment

__all__ = [
    "LEDGER",
    "MEMORY",
    "STATE",
    "Curator",
    "MockCurator",
    "facts_in",
    "open_folder",
    "open_ledger",
    "open_mock",
    "read_catalog",
]


class Curator:
    """A dataset under protection: it holds the data, and analysts hold sessions."""

    made_up = False

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset

    @classmethod
    def open(  # noqa: PLR0913, PLR0917 - the parts of a dataset
        cls,
        catalog: Catalog,
        engine: Engine,
        ledger: Ledger,
        bits: Bits,
        progress: Progress = silent,
        releases: Path | None = None,
    ) -> Self:
        """Measure what is measured once for all, where it was not yet."""
        return cls(open_dataset(Kernel(catalog, engine, ledger, bits), progress, releases))

    def serve(self, wait: Callable[[float], None], admit: Callable[[AnswerSize], None]) -> Curator:
        """The same where answers wait before they are kept, and large ones may be refused."""
        return Curator(replace(self.dataset, kernel=replace(self.dataset.kernel, wait=wait), admit=admit))

    @property
    def catalog(self) -> Catalog:
        """What the owner declared, with what was measured once for all."""
        return self.dataset.catalog

    @property
    def engine(self) -> Engine:
        """Where the data is."""
        return self.dataset.engine

    @property
    def ledger(self) -> Ledger:
        """Where budgets are."""
        return self.dataset.ledger

    def session(self, analyst: str) -> LocalSession:
        """A session for an analyst whom the catalog names."""
        if self.catalog.analyst(analyst) is None:
            known = ", ".join(each.name for each in self.catalog.analysts)
            why = f"is not in the catalog, which names {known or 'nobody'}"
            raise Refusal(f"Analyst {analyst}", why, f"ask as one of them, or have the owner add [analysts.{analyst}]")
        return LocalSession(self, analyst)

    @takes_options(EXPLAIN)
    def release(
        self,
        name: str,
        text: str,
        *,
        confidence: float = CONFIDENCE,
        progress: Progress = silent,
        **payment: Unpack[Payment],
    ) -> AskableRelease:
        """Publish a release as the owner: the dataset alone pays, and everybody who may ask may ask it for free."""
        with limit():
            question = bind_question(Question(text, **payment))
            batch = Batch((question,), confidence, self.catalog.version)
            return make_askable(publish(self.dataset, name, batch, None, progress))

    def mock(self) -> Curator:
        """The same questions on made-up rows."""
        return open_mock(self.catalog)

    def close(self) -> None:
        """Let go of index and ledger."""
        self.engine.close()
        self.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class MockCurator(Curator):
    """A dataset whose rows are made up: it protects nobody."""

    made_up = True


def open_folder(folder: str | Path, progress: Progress = silent, limits: Limits = USUAL) -> Curator:
    """The dataset of a folder with a catalog.toml; index and ledger live beside it.

    >>> alice = open_folder("examples/hospital").session("alice")  # doctest: +SKIP
    """
    place = Path(folder)
    catalog = read_catalog(place)
    check_views(catalog)
    try:
        engine = load_engine(catalog.engine.name).open(catalog, place / STATE, progress, limits)
    except OSError as error:
        says = "is full" if error.errno in {ENOSPC, EDQUOT} else "cannot be written"
        fix = "free space, or let this process write it"
        raise Unavailable(f"The disk of {STATE}, the folder of the index,", says, fix) from error
    with ExitStack() as opened:  # closed again if what follows fails: it may be tried often
        opened.callback(engine.close)
        with ExitStack() as recorded:
            if catalog.ledger is not None:  # before budgets are declared: those of an older catalog must not come back
                recorded.enter_context(agreeing(catalog.ledger.url, describe_deployment(catalog, place / STATE)))
            ledger = opened.enter_context(open_ledger(catalog, place_ledger(catalog)))
        curator = Curator.open(catalog, engine, ledger, SystemBits(), progress, place / STATE / FOLDER)
        restore_releases(curator.dataset, progress)
        publish_previews(curator.dataset, progress)
        opened.pop_all()
    return curator


def open_mock(catalog: Catalog, public: Mapping[str, object] | None = None) -> Curator:
    """A catalog over rows made up from it alone: nothing is spent, and only public tables are read.

    `public` are those that are in memory, and not in files.
    """
    engine = load_engine().load(catalog, {**mock.frames(catalog), **(public or {})})
    free = replace(catalog, vacuous_answers="warn")
    return MockCurator.open(free, engine, open_ledger(catalog, MEMORY), SystemBits())


def read_catalog(folder: Path) -> Catalog:
    """The catalog of a folder; public tables are read for what their columns hold, private ones are not."""
    return read(folder, facts_in(folder))


def facts_in(folder: Path) -> FactsOf:
    """What reads the facts of a public table in a folder."""
    return lambda table: load_engine().find_facts(table.locate(folder), table)
