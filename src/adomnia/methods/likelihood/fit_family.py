"""Fits a distribution to noisy sums of its sufficient statistics: parameters, intervals, and what the noise cost."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from adomnia.messages.texts import Note, NoteTemplate, define_note
from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.contract import BY, Arguments, Factor, Frame, Method, Parameter, demand_few_tables
from adomnia.methods.models.lm import list_facts
from adomnia.methods.parts.densities.shares import ABOUT_PEOPLE, require_one_row
from adomnia.methods.parts.likelihood.families import FAMILIES
from adomnia.methods.parts.likelihood.profiles import FamilyFit
from adomnia.methods.parts.likelihood.statistic_sums import Sample, StatisticSums, check_values
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Bounds, Estimate, Floats, Measured, ResultTable

_CLEAR = 3.0  # standard deviations of the noise that the number of rows must exceed
_LEAST_ROWS = 3.0
_SEEN = 0.001  # a share of values beyond the bounds that is worth a word
_NUMBERS = 100  # that a group takes as long as, of those that are simulated elsewhere

_TAKEN_FOR_GRANTED = define_note(
    "family_taken_for_granted",
    "All figures take the distribution for granted. fit_distribution tells whether a histogram speaks against it.",
)
_BEYOND = NoteTemplate(
    "share_beyond_bounds",
    "Values beyond {lower:g} and {upper:g} count as these. By the fitted distribution that is a share of about "
    "{share:.2g}: the parameters are biased by it, and intervals do not know that. Declare wider bounds if there are "
    "such values.",
)
_WITHIN = NoteTemplate(
    "none_beyond_bounds",
    "Values beyond {lower:g} and {upper:g} would count as these; by the fitted distribution there are next to none.",
)
_EXCLUDED = NoteTemplate(
    "rows_not_positive",
    "About {rows:,} rows are left out because they are not above 0, and {family} is of numbers above 0.",
)
_LOST = define_note(
    "spread_lost",
    "The noise hides how far values spread: it was taken to be as large as the noise. The intervals say what is known.",
)
_NOT_ESTIMABLE = define_note(
    "rows_lost",
    "Not estimable: the rows are too few to be seen above the noise. Ask with a larger price, or about more people.",
)


@dataclass(frozen=True)
class FitFamily(SingleRound):
    """The parameters of a distribution from noisy sums of its sufficient statistics.

    Method      the distribution whose statistics have the means that the noisy sums have, which without noise
                is the maximum-likelihood one; intervals hold all distributions that the sums do not speak against,
                noise and sampling together.
    Guarantee   one measurement at the whole price: the Bernstein polynomials of the statistics, which add up to one.
    Bias        clamping, that of the maximum-likelihood estimate, and of second order in the noise.
    Cite        Dwork & Smith 2010 (noisy sufficient statistics); Rao 1948, Fieller 1954 (the intervals).
    """

    tag: ClassVar[str] = "Fit of a family"
    name: ClassVar[str] = "fit_family"
    relation: Relation
    by: tuple[Factor, ...]
    sample: Sample

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self.sample.query(self.relation, keys_of(*self.by)), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        sums = StatisticSums(self.sample, measured[0])
        fit, terms = FamilyFit(sums), self.sample.family.terms
        silent = sums.rows < max(_LEAST_ROWS, _CLEAR * sums.rows_deviation)
        nothing = np.full(len(terms), np.nan)

        def interval(confidence: float, cells: int) -> Bounds:
            unknown = np.full(len(terms), np.inf)
            return (-unknown, unknown) if silent else fit.interval(confidence, cells)

        def told(values: Floats) -> Floats:
            return nothing if silent else values

        return ResultTable(
            labels={"term": terms},
            estimates={"estimate": Estimate(told(fit.point), interval, "maximum likelihood from noisy sums")},
            notes=(ABOUT_PEOPLE, _TAKEN_FOR_GRANTED, *([_NOT_ESTIMABLE] if silent else self._notes(sums, fit))),
            figure={"kind": "points", "x": "term", "y": "estimate", "scales": "own"},
            facts={
                "standard_error": lambda: list_facts(told(fit.standard_errors)),
                "efficiency": lambda: list_facts(told(fit.efficiency)),
            },
            model={"family": self.sample.family_name, "point": [] if silent else fit.point.tolist()},
            about="population",
        )

    def _notes(self, sums: StatisticSums, fit: FamilyFit) -> list[Note]:
        lower, upper = (float(end) for end in (self.sample.bounds.lower, self.sample.bounds.upper))
        below, above = self._beyond(fit, lower, upper)
        said = _BEYOND if below + above > _SEEN else _WITHIN
        excluded = _EXCLUDED(rows=max(0, round(sums.excluded)), family=self.sample.family_name)
        return [
            *([said(lower=lower, upper=upper, share=below + above)] if self.sample.clamps else []),
            *([excluded] if self.sample.excludes else []),
            *([_LOST] if fit.lost else []),
        ]

    def _beyond(self, fit: FamilyFit, lower: float, upper: float) -> tuple[float, float]:
        """The shares of the fitted distribution below the lower bound and above the upper one."""
        family = self.sample.family
        short = lower - 1 if family.whole else lower
        below, within = family.below(fit.point, np.array([short, upper])).tolist()
        return below, 1 - within


def _build(frame: Frame, arguments: Arguments) -> FitFamily:
    column, by = arguments["column"], arguments["by"]
    require_one_row(frame, METHOD.name)
    check_values(column, FAMILIES[arguments["family"]])
    demand_few_tables(by, _NUMBERS)
    return FitFamily(with_values(frame.relation, column.value), by, Sample(column, arguments["family"]))


METHOD = Method(
    name="fit_family",
    chapter="likelihood",
    summary="Fits a distribution by maximum likelihood, from noisy sums of its sufficient statistics.",
    parameters=(
        Parameter("column", "column", "the column of numbers", required=True),
        Parameter("family", "choice", "the family of distributions", default="normal", choices=tuple(FAMILIES)),
        BY,
    ),
    build=_build,
    returns={
        "term": "a parameter of the distribution",
        "estimate": "its value",
        "standard_error": "how far it is off, by sampling and noise",
        "efficiency": "the variance from exact sums as a part of this one: 1 where noise costs nothing",
    },
    example="SELECT * FROM fit_family(people, column => salary, family => 'lognormal')",
    known_as={
        "R": "MASS::fitdistr",
        "SAS": "PROC UNIVARIATE, PROC SEVERITY",
        "SciPy": "stats.lognorm.fit",
    },
    notes=(
        "geometric counts failures, as in R. mu and sigma of lognormal are those of the logarithm.",
        "lognormal and gamma leave rows out that are not above 0, and say how many.",
        "Where a logarithm is taken and 0 is within the bounds, numbers below 1/65536 of the upper one count as that.",
        "There a lower bound above 0, as CLAMP(x, 5, 500) makes it in the brackets, leaves much less noise.",
    ),
)
