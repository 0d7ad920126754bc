"""The table that every test returns, its words, and what a test demands of its rows.

P-values of a table are adjusted for how many they are, from what was released and free of charge:

bonferroni   times their number
holm         the least times their number, the next times one less, and so on (Holm 1979); like bonferroni it keeps
the probability of any false discovery, whatever goes together with what, and it finds more
bh           the expected share of false ones among those found (Benjamini & Hochberg 1995), for independent tests
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from adomnia.errors import Refusal
from adomnia.messages.texts import Note, NoteTemplate, define_note
from adomnia.methods.contract import BadArgument, Factor, Frame, NumberColumn, Parameter
from adomnia.statistics.contract import Bounds, Estimate, Fact, Floats, ResultTable
from adomnia.statistics.p_values import EXPLAINED, AtMost, bound_p_value

ALTERNATIVE = Parameter(
    "alternative",
    "choice",
    "which departures from the null hypothesis count",
    default="two-sided",
    choices=("two-sided", "less", "greater"),
)

ABOUT_POPULATION = define_note(
    "test_about_population",
    "The interval and the p-value are about the population that the people are a sample of: both know the sampling"
    " and the noise.",
)
SIMULATED = define_note(
    "p_value_simulated",
    "The p-value is the share of simulations of the null hypothesis, with the same noise, that are at least as far out;"
    " they follow from the released numbers alone. If none is, only a bound is known, such as < 0.0001 of"
    " 9,999 simulations.",
)
HIDDEN_SPREAD = define_note(
    "hidden_spread",
    "The noise hides the spread of the values. The p-value and the interval allow for every spread that is possible, so"
    " that they say little. Declare tighter bounds, or pay more.",
)
NOISY_ROWS = define_note("noisy_rows_in_test", "The number of rows is not public: a noisy one takes its place.")
NONE = "none"
P_VALUE = "p_value"

_METHOD = "noisy sums, and simulations of the null hypothesis"


def returns(estimate: str, term: str = "what the estimate is of") -> Mapping[str, str]:
    """The columns of a test and what they mean."""
    return {
        "term": term,
        "estimate": estimate,
        "statistic": "the statistic of the test, whose standard error knows the noise",
        "p_value": f"how probable a statistic at least as far out is if the null hypothesis holds; {EXPLAINED}",
    }


def tabulate_test(  # noqa: PLR0913 - the columns of a table
    terms: Sequence[str],
    values: Floats,
    interval: Callable[[float, int], Bounds],
    statistic: Callable[[], float],
    p_value: Callable[[], float],
    *,
    notes: tuple[Note, ...] = (),
) -> ResultTable:
    """One row of the test, then rows of whatever else was estimated, which is not tested."""
    others, held = (None,) * (len(terms) - 1), np.asarray(values, dtype=np.float64)

    def first(fact: Callable[[], float]) -> Callable[[], Sequence[Fact]]:
        return lambda: (fact(), *others)

    return ResultTable(
        labels={"term": tuple(terms)},
        estimates={"estimate": Estimate(held, lambda *asked: _hold(held, interval(*asked)), _METHOD)},
        notes=(ABOUT_POPULATION, *notes, SIMULATED, NOISY_ROWS),
        figure={"kind": "points", "x": "term", "y": "estimate"},
        facts={"statistic": first(statistic), "p_value": first(p_value)},
        about="population",
    )


def _hold(values: Floats, bounds: Bounds) -> Bounds:
    """Intervals that hold their estimates, also where few rows make these differ from the middle."""
    return np.fmin(bounds[0], values), np.fmax(bounds[1], values)


def demand_one_row_a_person(frame: Frame, name: str) -> None:
    """Refuse where a person may have several rows: these are not independent, and no test here allows for that."""
    if frame.relation.rows_per_person > 1:
        raise Refusal(
            name,
            f"takes rows for independent, and here a person may have {frame.relation.rows_per_person} of them",
            "reduce them to one row a person in the bracketed SELECT, such as"
            " (SELECT person_id, AVG(x) AS x FROM ... GROUP BY person_id)",
            code="rows_per_person",
        )


def demand_two_levels(factor: Factor, argument: str = "group") -> None:
    """Refuse a factor that does not make two groups."""
    if len(factor.levels) != 2:
        raise BadArgument(
            argument,
            f"must have two values, and {factor.name} has {len(factor.levels)}",
            f"write a condition, such as {argument} => city = 'Oslo'"
            + (", or compare all groups with oneway_anova, kruskal_wallis or chi_square_test" * (argument == "group")),
        )


def demand_spread(column: NumberColumn, argument: str = "column") -> None:
    """Refuse a column whose bounds leave it one value."""
    if column.domain.width == 0:
        raise BadArgument(
            argument,
            f"must be able to vary, and the bounds of {column.name} leave one value alone",
            "declare wider bounds, or test another column",
        )


def demand_possible(column: NumberColumn, mu: Fraction) -> None:
    """Refuse a number that no mean, and no value, of a column can be."""
    if not column.domain.lower <= mu <= column.domain.upper:
        raise BadArgument(
            "mu",
            f"must lie within the bounds of {column.name}, where all values are cut, and {float(mu):g} does not",
            f"give a number between {float(column.domain.lower):g} and {float(column.domain.upper):g}",
        )


def _bonferroni(ordered: Floats) -> Floats:
    return ordered * len(ordered)


def _holm(ordered: Floats) -> Floats:
    return np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1))


def _benjamini_hochberg(ordered: Floats) -> Floats:
    steps = ordered * len(ordered) / np.arange(1, len(ordered) + 1)
    return np.minimum.accumulate(steps[::-1])[::-1]


# From p-values in rising order to adjusted ones, of which those above 1 are 1.
_WAYS: Mapping[str, tuple[str, Callable[[Floats], Floats]]] = {
    "holm": ("Holm's method", _holm),
    "bonferroni": ("Bonferroni's method", _bonferroni),
    "bh": ("the method of Benjamini and Hochberg", _benjamini_hochberg),
}


_ADJUSTED = NoteTemplate("p_values_adjusted", "p-values are adjusted for {tests} test{tests:s} by {way}.")


ADJUST = Parameter(
    "adjust",
    "choice",
    "adjust p-values for their number, free of charge",
    default=NONE,
    choices=(NONE, *_WAYS),
)


def adjust_p_values(p_values: Sequence[Fact], way: str) -> tuple[Fact, ...]:
    """The adjusted p-values; None where there is none, which is not counted. One at its floor has an adjusted floor.

    >>> adjust_p_values([0.01, None, 0.04, 0.03], "holm")
    (0.03, None, 0.06, 0.06)
    """
    told = np.array([place for place, each in enumerate(p_values) if each is not None], dtype=np.intp)
    values = np.array([p_values[place] for place in told], dtype=np.float64)
    floors = np.array([getattr(p_values[place], "floor", p_values[place]) for place in told], dtype=np.float64)
    found: list[Fact] = [None] * len(p_values)
    for place, value, floor in zip(told, _adjust(values, way), _adjust(floors, way), strict=True):
        adjusted = min(1.0, value)
        found[place] = bound_p_value(adjusted, min(1.0, floor)) if isinstance(p_values[place], AtMost) else adjusted
    return tuple(found)


def _adjust(values: Floats, way: str) -> list[float]:
    """In the order in which they are given."""
    order = np.argsort(values, kind="stable")
    found = np.empty_like(values)
    found[order] = _WAYS[way][1](values[order])
    return [float(each) for each in found]


def adjust_table(table: ResultTable, way: str) -> ResultTable:
    """The table with adjusted p-values, and a note that says so."""
    if way == NONE:
        return table
    raw = table.facts[P_VALUE]
    many = sum(each is not None for each in raw())
    note = _ADJUSTED(tests=many, way=_WAYS[way][0])
    adjusted = {**table.facts, P_VALUE: lambda: adjust_p_values(raw(), way)}
    return replace(table, facts=adjusted, notes=(*table.notes, note))
