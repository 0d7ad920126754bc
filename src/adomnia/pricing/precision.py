"""The cheapest price for an error: every output gets just as much as it needs."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import inf, isclose, isinf, isnan

import numpy as np

from adomnia.errors import Refusal
from adomnia.messages.fixes import ASK_FIRST
from adomnia.messages.references import Option
from adomnia.messages.texts import Fix, Message, write
from adomnia.methods.simulation import SUPPOSED_ROWS, simulate_less
from adomnia.plans.descriptions import describe_term
from adomnia.plans.formulas import Term, WindowFunction, walk
from adomnia.plans.plan import Output, Plan
from adomnia.plans.views import TableView
from adomnia.plans.words import term_in_words
from adomnia.pricing.parts import weigh_starts
from adomnia.pricing.simulated import Simulated
from adomnia.privacy.amounts import EPSILON_UNIT, Number, positive
from adomnia.privacy.events import Pure
from adomnia.statistics.contract import ResultTable, Statistic

_LARGEST = 10**6 / EPSILON_UNIT  # no noise is left long before
_PRIVATE = "depends on how many rows a group has, which is private"
_ASK_FIRST = write("ask for COUNT(*) of the same groups first, and give the least of them as {rows=}")
_OF_ALL_ROWS = "depends on how many rows there are in all, which is private"
_SAY_ROWS = write("ask for COUNT(*) of its rows first, and give it as {rows=}")
_NAME_PRICE = write("name a price instead: {epsilon=1}")
_MANY = 10**9  # rows, of which no cell is empty
_ROUNDED = 1e-6  # of an error, where doubles are rounded
_USUAL = 2**36  # about 0.07, in units
_FINE = 12  # bits of a price that is found for rows that are only supposed


class RowsNeeded(Refusal):
    """An error that depends on how many rows a group has, and nobody said how many; `text` is the question."""

    def __init__(self, what: str, text: str = "") -> None:
        super().__init__(what, _PRIVATE, _ASK_FIRST, code="error_not_known")
        self.text = text

    def for_question(self, text: str) -> "RowsNeeded":
        """The same, about the text of a question."""
        return RowsNeeded(self.what, text)

    def naming(self, question: str) -> Refusal:
        """The same, naming the question that would tell the rows."""
        fix = write("ask {question} first, and give the least of its counts as {rows=}", question=question)
        return Refusal(self.what, self.why, Fix(fix, ASK_FIRST, sql=question), code=self.code)


def price_for_error(plan: Plan, error: Number, confidence: float = 0.95, rows: int | None = None) -> tuple[Plan, Pure]:
    """The cheapest epsilon at which every output is within `error` with that confidence in each cell, and its split.

    What is measured for HAVING or ORDER BY alone is held to the same error. `rows` is how many rows a cell has, for
    outputs whose error depends on it.
    """
    try:
        within = float(positive(error, "price", "error"))
    except ValueError:
        named, fix = Message(Option("error", str(error))), write("write {error=50}")
        raise Refusal(named, "is not a positive number", fix, code="bad_price") from None
    if plan.view is not None:
        return plan, _price_of_method(plan, plan.view, within, confidence, rows)
    weights = []
    for term in dict.fromkeys(plan.terms):
        alone = replace(plan, outputs=(Output("", term),), order=(), having=None, weights=(), inner=())
        if _depends_on_others(alone, term):
            why, fix = "depends on how the groups compare, which is private", _NAME_PRICE
            raise Refusal(write("{error=} for {what}", what=_named(term, plan)), why, fix, code="error_not_known")
        if rows is None and _Search(alone, term, SUPPOSED_ROWS).depends_on_rows:
            raise RowsNeeded(write("{error=} for {what}", what=_named(term, plan)))
        weights.append((term, _Search(alone, term, rows or SUPPOSED_ROWS).least(within, confidence)))
    split = replace(plan, weights=tuple(weights))
    needed = weigh_starts(split)
    # Equal parts are what no weights mean, and then the plan is the one that a price alone would have.
    return (plan if len(set(needed.values())) == 1 else split), Pure(sum(needed.values()))


class _Search:
    """The least price of one output, all of whose measurements cost the same."""

    def __init__(self, plan: Plan, term: Term, rows: int) -> None:
        self._plan, self._term, self._rows = plan, term, rows
        self._size = len(weigh_starts(plan))
        self.depends_on_rows = self._supposed(Pure(self._size)).needs_rows(term)

    def least(self, within: float, confidence: float) -> Fraction:
        """In steps of what ledgers count; what is expected of supposed rows need not be known that finely."""
        rows = self._rows if self.depends_on_rows else 0

        def suffices(units: int) -> bool:
            supposed = self._supposed(Pure(self._size * units * EPSILON_UNIT))
            try:
                return supposed.largest_error(self._term, rows, confidence) <= within
            except ValueError:  # so little that the noise would be too large to draw
                return False

        found = _find_least(suffices, exact=not self.depends_on_rows)
        if found is None:
            raise _too_small(within, _named(self._term, self._plan))
        return self._size * found * EPSILON_UNIT

    def _supposed(self, price: Pure) -> Simulated:
        return Simulated(self._plan, price, self._rows)


def _find_least(suffices: Callable[[int], bool], *, exact: bool) -> int | None:
    """The least price that suffices, in units, or nearly so; None where none does."""
    # The least power of two that suffices, sought from a usual price, which is seldom far from it.
    above = 1 if suffices(1) else _USUAL
    while above > 1 and suffices(above // 2):
        above //= 2
    while above >= _USUAL and not suffices(above):
        above *= 2
        if above > _LARGEST:
            return None
    below = above // 2
    while above - below > (1 if exact else max(1, above >> _FINE)):
        middle = (above + below) // 2
        below, above = (below, middle) if suffices(middle) else (middle, above)
    return above


def _too_small(within: float, what: str) -> Refusal:
    why, fix = "is less than any price can promise", "ask for a larger error"
    return Refusal(Message(Option("error", f"{within:g}"), f" for {what}"), why, fix, code="error_too_small")


def _price_of_method(plan: Plan, view: TableView, within: float, confidence: float, rows: int | None) -> Pure:
    """The least price at which one column of a method's table is within an error, in each of its rows."""
    (analysis,) = plan.statistics
    column = _choose_column(analysis, view)
    what = f"{column} of {analysis.name}"

    def half_width(units: int, many: int) -> float:
        supposed = Simulated(plan, Pure(units * EPSILON_UNIT), many)
        with np.errstate(all="ignore"), simulate_less():
            table = supposed.result(analysis, many)
            assert isinstance(table, ResultTable)  # noqa: S101 - it has a view
            lower, upper = table.estimates[column].interval(confidence, 1)
            width = float(np.max(upper - lower)) / 2
        return inf if isnan(width) else width

    one = int(1 / EPSILON_UNIT)
    if isclose(half_width(one, _MANY), half_width(one, 2 * _MANY), rel_tol=_ROUNDED):
        rows = _MANY  # it does not depend on them, but for cells that are next to empty
    if rows is None:
        raise Refusal(write("{error=} for {what}", what=what), _OF_ALL_ROWS, _SAY_ROWS, code="error_not_known")

    def suffices(units: int) -> bool:
        try:
            return half_width(units, rows) <= within
        except ValueError:  # so little that the noise would be too large to draw
            return False

    found = _find_least(suffices, exact=False)
    if found is None:
        raise _too_small(within, what)
    return Pure(found * EPSILON_UNIT)


def _choose_column(analysis: Statistic, view: TableView) -> str:
    """The column that an error is about: the one that is shown, or the first of several."""
    offered: tuple[str, ...] = getattr(analysis, "error_columns", ())
    if not offered:
        why, fix = "depends on data, or its numbers have different units", _NAME_PRICE
        raise Refusal(write("{error=} for {what}", what=analysis.name), why, fix, code="error_not_known")
    shown = [column for _, column in view.columns]
    found = next((each for each in offered if each in shown), None)
    if found is None:
        fix = write("select {columns}, or name a price: {epsilon=1}", columns=" or ".join(offered))
        what = write("{error=} for {what}", what=analysis.name)
        raise Refusal(what, "is about no column that is shown", fix, code="error_not_known")
    return found


def _depends_on_others(plan: Plan, term: Term) -> bool:
    """Whether nothing is known before of an error, because it is that of a rank or an extreme among groups."""
    among = any(isinstance(part, WindowFunction) for part in walk(term))
    return among and isinf(Simulated(plan, Pure(1)).half_width(term, SUPPOSED_ROWS, 0.5))


def _named(term: Term, plan: Plan) -> str:
    return describe_term(term_in_words(term), plan.relation)
