"""What reports about releases, previews and tables ask of a session: questions, and what is public."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Unpack

from adomnia.options import ASK, BATCH, CONFIDENCE
from adomnia.session.signatures import takes_options

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adomnia.catalog.model import Catalog
    from adomnia.pricing.questions import Payment, Question
    from adomnia.releases.page import ReleaseList
    from adomnia.session.answer import Answer
    from adomnia.session.askable import AskableRelease


class Queries(Protocol):
    """Questions that are answered, and what may be asked about."""

    @takes_options(ASK)
    def sql(
        self,
        text: str,
        *,
        confidence: float = CONFIDENCE,
        request_id: str | None = None,
        replay: bool = True,
        allow_uninformative: bool = False,
        **payment: Unpack[Payment],
    ) -> Answer:
        """The answer to a question. An equal question at the same price gets the same answer, free, if `replay`.

        `EXPLAIN SELECT ...` is answered with the explanation, `SHOW TABLES` and `DESCRIBE table` from the catalog, and
        `SHOW METHODS` with the analyses that can be asked: they cost nothing. What would say almost nothing is refused
        before it is paid, as far as that is known, unless `allow_uninformative`. `parameters` are the values of ? or
        :name in the text: each becomes a constant, and none is read as SQL.

        >>> answer = session.sql("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", epsilon=0.1)
        >>> answer["sex"]
        ['F', 'M', 'X']
        """
        ...

    @takes_options(BATCH)
    def batch(
        self,
        questions: Iterable[Question | str],
        *,
        confidence: float = CONFIDENCE,
        request_id: str | None = None,
        allow_uninformative: bool = False,
        **payment: Unpack[Payment],
    ) -> list[Answer]:
        """Several questions paid for at once: one reserve, one look at the data; one refusal refuses all.

        Each names its price, or one price is split over all that they measure. What is equal is paid once.

        >>> count, mean = session.batch(["SELECT COUNT(*) FROM people", "SELECT AVG(age) FROM people"], epsilon=0.2)
        >>> count.receipt == mean.receipt
        True
        """
        ...

    def releases(self) -> ReleaseList:
        """The releases that may be asked: those of everybody, and one's own.

        >>> made = session.release("towns", "SELECT * FROM marginals((SELECT sex, city FROM people))", epsilon=1)
        >>> "towns" in [release.name for release in session.releases()]
        True
        """
        ...

    def open_release(self, name: str) -> AskableRelease:
        """A release by its name: its table, its columns, its guarantee. `release.save(folder)` takes it elsewhere.

        >>> made = session.release("towns", "SELECT * FROM marginals((SELECT sex, city FROM people))", epsilon=1)
        >>> session.open_release("towns").columns
        ('sex', 'city')
        """
        ...

    def catalog(self) -> Catalog:
        """What may be asked about: all of it is public.

        >>> [table.name for table in session.catalog().tables]
        ['people', 'visits', 'items', 'cities']
        """
        ...

    def mock(self) -> Queries:
        """The same session on made-up rows, to try questions out: nothing is spent.

        >>> session.mock().catalog().name
        'hospital'
        """
        ...
