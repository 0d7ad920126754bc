"""What every session offers, over data on this machine or over HTTP: code moves between the two unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Unpack

from adomnia.options import CONFIDENCE, EXPLAIN, PRICE, RELEASE
from adomnia.session.queries import Queries
from adomnia.session.signatures import takes_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from adomnia.engines.contract import Progress
    from adomnia.explaining.methods import MethodList
    from adomnia.pricing.bills import Quote
    from adomnia.pricing.questions import Payment, Question
    from adomnia.releases.quality_report import Quality
    from adomnia.session.accounts import Budgets, Past
    from adomnia.session.answer import Answer
    from adomnia.session.askable import AskableRelease
    from adomnia.session.comparing import Comparison
    from adomnia.session.explanation import Explanation
    from adomnia.session.table import PrivateTable

MOST_LISTED = 1000  # answers of a page
MOST_HELD_BACK = 5  # tables by which the quality of a release is assessed


def check_page(after: str | None, limit: int) -> None:
    """Refuse what names no page of answers: a mistake of the program that asks."""
    if not isinstance(after, str | None):
        raise TypeError(f"Session answers after must be a request id, got {type(after).__name__}.")
    if type(limit) is not int or not 1 <= limit <= MOST_LISTED:
        raise ValueError(f"Session answers limit must be a whole number from 1 to {MOST_LISTED}, got {limit!r}.")


class Session(Queries, Protocol):
    """Everything one analyst may do."""

    analyst: str
    from_release: bool  # whether releases answer private questions that do not say it themselves

    @takes_options(PRICE)
    def price(
        self,
        text: str | Iterable[Question | str],
        *,
        confidence: float = CONFIDENCE,
        simultaneous: bool = False,
        **payment: Unpack[Payment],
    ) -> Quote:
        """What a question or a batch would cost, and how far off its answers may be; nothing is read or spent.

        `simultaneous`: errors that are kept in all groups at once.

        >>> quote = session.price("SELECT COUNT(*) AS n FROM people", epsilon=0.5)
        >>> quote.outputs[0].error
        6.0
        """
        ...

    @takes_options(EXPLAIN)
    def explain(self, text: str, *, confidence: float = CONFIDENCE, **payment: Unpack[Payment]) -> Explanation:
        """What a question means and measures, and if a price is named what it buys; nothing is read or spent.

        >>> print(session.explain("SELECT COUNT(*) AS n FROM people"))  # doctest: +ELLIPSIS
        1 measurement, 1 output...
        """
        ...

    @takes_options(RELEASE)
    def release(
        self,
        name: str,
        text: str,
        *,
        private: bool = False,
        confidence: float = CONFIDENCE,
        progress: Progress | None = None,
        **payment: Unpack[Payment],
    ) -> AskableRelease:
        """Make a release, `SELECT * FROM` a method that makes one, and keep it under a name for ever.

        Everybody may read it, and ask it as `releases.NAME` for free, so that the dataset alone pays for it; the
        catalog says who may do that. With `private` it is bought like any other question, and kept for oneself. The
        same under the same name is free; another question under that name is refused.

        >>> made = session.release("towns", "SELECT * FROM marginals((SELECT sex, city FROM people))", epsilon=1)
        >>> made.sql("SELECT sex, COUNT(*) AS n FROM releases.towns GROUP BY sex")["sex"]
        ['F', 'M', 'X']
        """
        ...

    @takes_options(EXPLAIN)
    def quality(
        self,
        name: str,
        *,
        columns: Iterable[Sequence[str]] | None = None,
        most: int = MOST_HELD_BACK,
        confidence: float = CONFIDENCE,
        **payment: Unpack[Payment],
    ) -> Quality:
        """How good a release of rows is in tables that it did not measure, by fresh private estimates of them.

        They are paid for as one batch, and chosen by how few cells they have, unless sets of `columns` are named.
        `open_release(name).quality()` says for free what follows from what is published.

        >>> made = session.release("rows", "SELECT * FROM mst((SELECT sex, city FROM people), size => 50)", epsilon=1)
        >>> session.quality("rows", columns=[["sex"]], epsilon=1).release
        'rows'
        """
        ...

    @takes_options(EXPLAIN)
    def compare(
        self, text: str, *, release: str, confidence: float = CONFIDENCE, **payment: Unpack[Payment]
    ) -> Comparison:
        """The same question asked privately, which is paid for, and of a release, which is free, side by side.

        Where it says releases.NAME, the private answer is about the very rows that the release was made from.

        >>> made = session.release("rows", "SELECT * FROM mst((SELECT sex, city FROM people), size => 50)", epsilon=1)
        >>> both = session.compare("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", release="rows", epsilon=1)
        >>> both.private.columns, both.released.columns
        (['sex', 'n'], ['sex', 'n'])
        """
        ...

    def preview(self, table: str, rows: int = 20) -> Answer:
        """A few rows of nobody with all columns of a table, to write questions against; they cost nothing.

        They are of the preview that the owner declared, or made up from the catalog alone: a note says which.

        >>> session.preview("people", rows=3).shape
        (3, 7)
        """
        ...

    def table(self, name: str) -> PrivateTable:
        """The rows of a table or view, to filter, join and ask about in Python.

        >>> session.table("people").where("age >= 18").count(by="sex", epsilon=0.1)["sex"]
        ['F', 'M', 'X']
        """
        ...

    def methods(self) -> MethodList:
        """The methods that can be asked: `SELECT * FROM lm(...)`, or `table.lm(...)`. `methods().page("lm")` is one.

        >>> "lm" in [method.name for method in session.methods()]
        True
        """
        ...

    def budget(self) -> Budgets:
        """What is left, and what the next question costs if a policy sets its price.

        >>> print(session.budget())  # doctest: +ELLIPSIS
        You. Spent: ...
        """
        ...

    def answers(self, *, after: str | None = None, limit: int = MOST_LISTED) -> list[Past]:
        """A page of what this analyst has paid for and got, oldest first: what came `after` a request id.

        It has at most `limit` of them, fewer where questions are long, and none only at the end.

        >>> paid = session.sql("SELECT COUNT(*) AS n FROM people", epsilon=0.1)
        >>> paid.receipt.request_id in [past.request_id for past in session.answers()]
        True
        """
        ...

    def answer(self, request_id: str, place: int = 0, *, confidence: float | None = None) -> Answer:
        """What was paid for under a request id, once more; of a batch, the answer in that place, from 0.

        >>> paid = session.sql("SELECT COUNT(*) AS n FROM people", epsilon=0.1)
        >>> session.answer(paid.receipt.request_id)["n"] == paid["n"]
        True
        """
        ...

    def explain_answer(self, request_id: str, place: int = 0) -> Explanation:
        """What was measured for an answer that was paid for, and what each part of it cost, free.

        >>> paid = session.sql("SELECT COUNT(*) AS n FROM people", epsilon=0.1)
        >>> print(session.explain_answer(paid.receipt.request_id))  # doctest: +ELLIPSIS
        1 measurement, 1 output...
        """
        ...

    def mock(self) -> Session:
        """The same session on made-up rows, to try questions out: nothing is spent.

        >>> len(session.mock().sql("SELECT sex, AVG(age) AS mean FROM people GROUP BY sex", epsilon=1))
        3
        """
        ...
