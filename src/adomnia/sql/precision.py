"""The cheapest price for an error: every output gets just as much as it needs."""

from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.privacy.amounts import EPSILON_UNIT, Number, positive
from adomnia.privacy.events import Pure
from adomnia.sql.explain import describe_term
from adomnia.sql.formulas import Formula
from adomnia.sql.parse import parsed
from adomnia.sql.parts import shares, wanted
from adomnia.sql.plan import Output, Plan
from adomnia.sql.price import SUPPOSED_ROWS, Supposed
from adomnia.sql.words import term_in_words
from adomnia.statistics.contract import Statistic

_LARGEST = 10**6 / EPSILON_UNIT  # no noise is left long before
_PRIVATE = "depends on how many rows a group has, which is private"
_ASK_FIRST = "ask for COUNT(*) of the same groups first, and give the least of them as rows="
_FINE = 12  # bits of a price that is found for rows that are only supposed


def price_for_error(plan: Plan, error: Number, confidence: float = 0.95, rows: int | None = None) -> tuple[Plan, Pure]:
    """The cheapest epsilon at which every output is within `error` with that confidence in each cell, and its split.

    What is measured for HAVING or ORDER BY alone is held to the same error. `rows` is how many rows a cell has, for
    outputs whose error depends on it.
    """
    try:
        within = float(positive(error, "price", "error"))
    except ValueError:
        raise Refusal(f"error={error}", "is not a positive number", "write error=50", code="bad_price") from None
    weights = []
    for term in dict.fromkeys(plan.terms):
        alone = replace(plan, outputs=(Output("", term),), order=(), having=None, weights=())
        if rows is None and _Search(alone, term, SUPPOSED_ROWS).depends_on_rows:
            raise Refusal(f"error= for {_named(term)}", _PRIVATE, _ASK_FIRST, code="error_not_known")
        weights.append((term, _Search(alone, term, rows or SUPPOSED_ROWS).least(within, confidence)))
    split = replace(plan, weights=tuple(weights))
    needed = wanted(split, Pure(1))
    # Equal parts are what no weights mean, and then the plan is the one that a price alone would have.
    return (plan if len(set(needed.values())) == 1 else split), Pure(sum(needed.values()))


class _Search:
    """The least price of one output, all of whose measurements cost the same."""

    def __init__(self, plan: Plan, term: Statistic | Formula, rows: int) -> None:
        self._plan, self._term, self._rows = plan, term, rows
        self._size = len(wanted(plan, Pure(1)))
        self.depends_on_rows = self._supposed(Pure(self._size)).needs_rows(term)

    def least(self, within: float, confidence: float) -> Fraction:
        """In steps of what ledgers count; what is expected of supposed rows need not be known that finely."""

        def suffices(units: int) -> bool:
            supposed = self._supposed(Pure(self._size * units * EPSILON_UNIT))
            try:
                return supposed.error(self._term, confidence) <= within
            except ValueError:  # so little that the noise would be too large to draw
                return False

        above = 1
        while not suffices(above):
            above *= 2
            if above > _LARGEST:
                why, fix = "is less than any price can promise", "ask for a larger error"
                raise Refusal(f"error={within:g} for {_named(self._term)}", why, fix, code="error_too_small")
        below = above // 2
        while above - below > (max(1, above >> _FINE) if self.depends_on_rows else 1):
            middle = (above + below) // 2
            below, above = (below, middle) if suffices(middle) else (middle, above)
        return self._size * above * EPSILON_UNIT

    def _supposed(self, price: Pure) -> Supposed:
        return Supposed(zip(self._plan.statistics, shares(self._plan, price), strict=True), self._rows)


def _named(term: Statistic | Formula) -> str:
    return describe_term(term_in_words(term))


def count_of_groups(text: str) -> str:
    """The question how many rows each group has that a question is about."""
    select = parsed(text)
    items = list(select.expressions)
    group = select.args.get("group")
    if group is not None:
        group.set("expressions", [_written_out(key, items) for key in group.expressions])
    select.set("expressions", [*(item for item in items if item.find(exp.AggFunc) is None), exp.Count(this=exp.Star())])
    for clause in {"having", "order", "limit", "offset"}:  # noqa: PLC0208 - in any order
        select.set(clause, None)
    return select.sql(dialect="duckdb")


def _written_out(key: exp.Expr, items: list[exp.Expr]) -> exp.Expr:
    """A key by what it is, where GROUP BY counts the outputs: some of them are left out."""
    return items[int(key.name) - 1].unalias().copy() if isinstance(key, exp.Literal) else key
