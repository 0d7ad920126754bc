"""`adomnia.protect`: tables of your own under protection, and a session with them."""

from __future__ import annotations

import os
import weakref
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from adomnia.engines.registry import load_engine
from adomnia.errors import Refusal
from adomnia.options import CONFIDENCE
from adomnia.privacy.events import Pure
from adomnia.privacy.filters import Budget
from adomnia.session import mock
from adomnia.session.block_programs import BlockProgram, answer_program, choose_grid, find_person
from adomnia.session.curator import MEMORY, Curator, open_mock
from adomnia.session.declared import Declared
from adomnia.session.own_tables import open_tables, refuse_in_python, remove_folder
from adomnia.session.programs import check_platform
from adomnia.session.protect import OWNER, protect_tables
from adomnia.session.session import LocalSession

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    import pyarrow as pa

    from adomnia.curator.block_results import Kind
    from adomnia.privacy.amounts import Number
    from adomnia.session.answer import Answer
    from adomnia.session.declared import Bounds, Cap, Choice, Values


_MADE_UP = 100  # rows that a function is tried out on


class OwnSession(LocalSession):
    """A session with tables of your own: it closes what it opened, and refuses in the words of `protect`."""

    def __init__(
        self, curator: Curator, public: Mapping[str, object], opened: ExitStack, read: Callable[[], Mapping[str, Any]]
    ) -> None:
        super().__init__(curator, OWNER)
        self._public, self._opened, self._read = public, opened, read

    def sample_and_aggregate(  # noqa: PLR0913 - what is computed and paid has to be said
        self,
        function: Callable[[Any], object],
        *,
        bounds: tuple[Number, Number],
        epsilon: Number,
        blocks: int = 200,
        aggregate: Kind = "average",
        time_limit_seconds: float = 5.0,
        confidence: float = CONFIDENCE,
        allow_uninformative: bool = False,
    ) -> Answer:
        """The noisy average or median, over blocks of people, of a number that a function of yours makes of each block.

        The function is given the rows of one block as a pandas table, in a copy of this process that is killed after
        `time_limit_seconds`. Where it raises, gives no number or is too slow, the block counts as the middle of the
        `bounds`, and what is beyond them as the nearest. It must look at nothing but its rows: a time limit is not a
        sandbox, and a function can read anything that this process can. Every call is paid for; none is replayed. A
        function that makes no number of a few made-up rows is refused before it is paid, unless `allow_uninformative`.

        >>> trips = {"rider": list(range(600)), "fare": [20.0 + k % 5 for k in range(600)]}
        >>> with protect(trips, unit="rider", rows_per_person=1, epsilon=100) as own:
        ...     answer = own.sample_and_aggregate(lambda rows: rows.fare.max(), bounds=(0, 99), blocks=20, epsilon=90)
        >>> answer.columns
        ['estimate']
        """
        with refuse_in_python():
            grid = choose_grid(bounds, aggregate)
            program = BlockProgram(function, blocks, grid, aggregate, Pure(epsilon), time_limit_seconds)
            table, _ = find_person(self._dataset.catalog)
            check_platform()
            if not allow_uninformative:
                program.try_out(mock.frames(self._dataset.catalog)[table].slice(0, _MADE_UP))
            return answer_program(program, self._dataset.kernel, self._read()[table], confidence)

    def mock(self) -> OwnSession:
        opened, catalog = ExitStack(), self._dataset.catalog
        curator = opened.enter_context(open_mock(catalog, self._public))
        return OwnSession(curator, self._public, opened, lambda: mock.frames(catalog))

    @property
    def _heading(self) -> str:
        return "Session with tables of your own."

    @contextmanager
    def _asking(self) -> Iterator[None]:
        with refuse_in_python(), super()._asking():
            yield

    def close(self) -> None:
        """Let go of the tables and of the ledger.

        >>> own = protect({"rider": [1, 2], "fare": [9.0, 12.5]}, unit="rider", rows_per_person=1, epsilon=1)
        >>> own.close()
        """
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def protect(  # noqa: PLR0913 - what is declared has to be said
    data: object,
    *,
    unit: str,
    epsilon: Number,
    delta: Number = 0,
    rows_per_person: Cap | Mapping[str, Cap] | None = None,
    bounds: Bounds | None = None,
    categories: Values | None = None,
    columns: Choice | Mapping[str, Choice] | None = None,
    links: Mapping[str, str] | None = None,
    public: Mapping[str, object] | None = None,
    ledger: str | Path = MEMORY,
    spill: str | Path | None = None,
) -> OwnSession:
    """A session over tables of your own: of pandas, Polars, Arrow or DuckDB, or the name of a Parquet or CSV file.

    One table is asked about as `data`: `unit` is the column that says whose row it is, and `rows_per_person` how many
    rows of one person count; with {"max": 200, "epsilon": 0.05} each question's cap is chosen privately. With
    unit="row" each row is protected on its own, not each person. Several tables are {"people": ..., "visits": ...},
    with unit="people.person_id", links={"visits": "person_id -> people.person_id"} and
    rows_per_person={"people": 1, "visits": 10}.

    `bounds` and `categories` say which values may occur: {"age": (0, 120)}, {"city": ["Oslo", "Bergen"]}, or
    {"city": {"values": ["Oslo"], "others": "elsewhere"}}. `columns` chooses some, or names types: {"zip": "text"}.
    `public` tables are about nobody, and read exactly. The ledger lives in memory unless you give it a path.

    What does not fit into memory is written to disk, unencrypted, into a new folder that only you can read, and which
    is removed with the session: in the folder `spill`, or in that of the system for temporary files. With
    spill=":memory:" nothing is written, and tables that do not fit are refused.

    >>> trips = {"rider": [1, 1, 2, 3], "fare": [12.5, 8.0, 30.0, 7.5]}
    >>> own = protect(trips, unit="rider", rows_per_person=2, bounds={"fare": (0, 100)}, epsilon=100)
    >>> own.sql("SELECT COUNT(*) AS n FROM data", epsilon=90)["n"]
    [4]
    """
    budget = Budget(epsilon, delta, approximate=delta != 0)
    declared = Declared(unit, budget, rows_per_person, bounds or {}, categories or {}, columns, links or {})
    own = open_tables(data, public or {}, declared, ledger, spill)
    known = {name: own.frames[name] for name in public or {}}
    read_again = partial(_read_again, data, public or {}, declared)
    session = OwnSession(Curator(own.dataset), known, own.opened, read_again)
    weakref.finalize(session, remove_folder, own.room, os.getpid())  # of a session that nobody closes
    return session


def _read_again(data: object, public: Mapping[str, object], declared: Declared) -> dict[str, pa.Table]:
    """The tables as they were given: they are not kept beside the index, which may be on disk to save memory."""
    import pyarrow as pa

    if isinstance(data, pa.RecordBatchReader):
        why, fix = "can be read once alone, and the index has read it", "pass a table: reader.read_all()"
        raise Refusal("The reader", why, fix, code="bad_table")
    return protect_tables(data, public, declared, load_engine().find_facts).frames
