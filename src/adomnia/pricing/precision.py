"""The cheapest price for an error: every output gets just as much as it needs."""

from dataclasses import replace
from fractions import Fraction
from math import isinf

from adomnia.errors import Refusal
from adomnia.methods.supposition import SUPPOSED_ROWS
from adomnia.plans.descriptions import describe_term
from adomnia.plans.formulas import Over, Term, walk
from adomnia.plans.plan import Output, Plan
from adomnia.plans.words import term_in_words
from adomnia.pricing.parts import weigh_starts
from adomnia.pricing.supposed import Supposed
from adomnia.privacy.amounts import EPSILON_UNIT, Number, positive
from adomnia.privacy.events import Pure

_LARGEST = 10**6 / EPSILON_UNIT  # no noise is left long before
_PRIVATE = "depends on how many rows a group has, which is private"
_ASK_FIRST = "ask for COUNT(*) of the same groups first, and give the least of them as rows="
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
        fix = f"ask {question} first, and give the least of its counts as rows="
        return Refusal(self.what, self.why, fix, code=self.code)


def price_for_error(plan: Plan, error: Number, confidence: float = 0.95, rows: int | None = None) -> tuple[Plan, Pure]:
    """The cheapest epsilon at which every output is within `error` with that confidence in each cell, and its split.

    What is measured for HAVING or ORDER BY alone is held to the same error. `rows` is how many rows a cell has, for
    outputs whose error depends on it.
    """
    try:
        within = float(positive(error, "price", "error"))
    except ValueError:
        raise Refusal(f"error={error}", "is not a positive number", "write error=50", code="bad_price") from None
    if plan.view is not None:
        why, fix = "depends on data: a method has several outputs of different units", "name a price: epsilon=1"
        raise Refusal("error= for a method", why, fix, code="error_not_known")
    weights = []
    for term in dict.fromkeys(plan.terms):
        alone = replace(plan, outputs=(Output("", term),), order=(), having=None, weights=(), inner=())
        if _depends_on_others(alone, term):
            why, fix = "depends on how the groups compare, which is private", "name a price instead: epsilon=1"
            raise Refusal(f"error= for {_named(term, plan)}", why, fix, code="error_not_known")
        if rows is None and _Search(alone, term, SUPPOSED_ROWS).depends_on_rows:
            raise RowsNeeded(f"error= for {_named(term, plan)}")
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

        # The least power of two that suffices, sought from a usual price, which is seldom far from it.
        above = 1 if suffices(1) else _USUAL
        while above > 1 and suffices(above // 2):
            above //= 2
        while above >= _USUAL and not suffices(above):
            above *= 2
            if above > _LARGEST:
                why, fix = "is less than any price can promise", "ask for a larger error"
                raise Refusal(
                    f"error={within:g} for {_named(self._term, self._plan)}", why, fix, code="error_too_small"
                )
        below = above // 2
        while above - below > (max(1, above >> _FINE) if self.depends_on_rows else 1):
            middle = (above + below) // 2
            below, above = (below, middle) if suffices(middle) else (middle, above)
        return self._size * above * EPSILON_UNIT

    def _supposed(self, price: Pure) -> Supposed:
        return Supposed(self._plan, price, self._rows)


def _depends_on_others(plan: Plan, term: Term) -> bool:
    """Whether nothing is known before of an error, because it is that of a rank or an extreme among groups."""
    among = any(isinstance(part, Over) for part in walk(term))
    return among and isinf(Supposed(plan, Pure(1)).half_width(term, SUPPOSED_ROWS, 0.5))


def _named(term: Term, plan: Plan) -> str:
    return describe_term(term_in_words(term), plan.relation)
