"""From statistics of the rows to those of the population that their people are a sample of."""

from collections.abc import Set as AbstractSet
from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.messages.texts import write
from adomnia.plans.formulas import Formula, Term, map_leaves, statistics_of
from adomnia.plans.plan import Plan
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import call
from adomnia.privacy.keys import Key
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Rows, Total
from adomnia.sql.reading.refusals import refusal
from adomnia.sql.values.aggregates import AGGREGATES
from adomnia.statistics.contract import Statistic
from adomnia.statistics.count import Count
from adomnia.statistics.mean import Mean
from adomnia.statistics.one_round import is_about_population
from adomnia.statistics.population.mean import PopulationMean
from adomnia.statistics.population.quantile import PopulationQuantile, with_ladder
from adomnia.statistics.population.share import PopulationShare, is_one_of_two
from adomnia.statistics.population.variance import PopulationVariance
from adomnia.statistics.quantile import PlainQuantile, Quantile
from adomnia.statistics.sum import plain_total
from adomnia.statistics.variance import Variance

ONE_ROW = "SELECT AVG(x) FROM (SELECT person_id, AVG(amount) AS x FROM visits GROUP BY person_id)"

_LEFT_OUT = write("leave {inference=population} out")
# Why there is no population form of what SQL calls so, and what to ask instead.
_REFUSED = {
    "COUNT": ("the population has no size here", "ask for a share, COUNT(...) / COUNT(*), or " + _LEFT_OUT),
    "SUM": ("the population has no size here", "ask AVG or " + _LEFT_OUT),
    "MIN": ("a sample does not tell how far a population goes", "ask QUANTILE or " + _LEFT_OUT),
    "MAX": ("a sample does not tell how far a population goes", "ask QUANTILE or " + _LEFT_OUT),
}
_UNMEASURED = ("how far sampling moves it is not measured", _LEFT_OUT)


def infer_population(select: exp.Select, plan: Plan) -> Plan:
    """The same plan about the population. What only chooses or sorts rows may stay about the data."""
    rows = plan.relation.rows_per_person
    if plan.relation.has_blocks:
        why, fix = "takes rows for people, and these are of blocks", "ask sample_and_aggregate(...) for it"
        raise refusal("population", select, why, fix, "Population inference")
    if rows > 1:
        why = f"takes rows to be independent, and a person has up to {rows:,} of them here"
        raise refusal("population", select, why, f"one row a person first: {ONE_ROW}", "Population inference")
    inferred: dict[Key | Term, Key | Term] = {each.source: _infer(each.source, select) for each in plan.outputs}
    changed = replace(
        plan,
        outputs=tuple(replace(each, source=inferred[each.source]) for each in plan.outputs),
        order=tuple(replace(each, by=inferred.get(each.by, each.by)) for each in plan.order),
    ).with_statistics(lambda each: _find_form(each) or each)
    spread = {each.query for each in changed.statistics if isinstance(each, PopulationVariance)}
    return changed.with_statistics(lambda each: _measure_with(each, spread))


def _infer(source: Key | Term, select: exp.Select) -> Key | Term:
    """What an output is in the population; a Refusal where it is nothing there."""
    if isinstance(source, Key):
        return source
    found = map_leaves(_spell_shares(source), lambda each: _find_form(each) or each)
    for statistic in statistics_of(found):
        if not is_about_population(statistic):
            raise _refusal_of(statistic, select)
    return found


def _find_form(statistic: Statistic) -> Statistic | None:
    """The statistic of the population, if there is one."""
    match statistic:
        case Mean(query=query):
            share = is_one_of_two(plain_total(query, "Mean"))
            return PopulationShare(query) if share else PopulationMean(query)
        case Variance(query=query, name=name):
            return PopulationVariance(query, name)
        case Quantile(query=query, share=share):
            return PopulationQuantile(with_ladder(query, share), share)
    return None


def _measure_with(statistic: Statistic, spread: AbstractSet[Query]) -> Statistic:
    """A mean beside a spread of the same values takes the sums that this measures: one measurement serves both."""
    if isinstance(statistic, PopulationMean) and statistic.query in spread:
        return replace(statistic, degree=PopulationVariance.degree)
    return statistic


def _spell_shares(term: Term) -> Term:
    """COUNT(x) / COUNT(*), and multiples of it, as the mean of whether x is there."""
    if not isinstance(term, Formula):
        return term
    if term.function == "/":
        above, below = term.terms
        factor, counted = _split_factor(above)
        many = below.terms[0] if isinstance(below, Formula) and below.function == "at least 1" else below
        share = _share_of(counted, many)
        if share is not None:
            return share if factor == 1 else Formula("*", (factor, share))
    return replace(term, terms=tuple(map(_spell_shares, term.terms)))


def _split_factor(term: Term) -> tuple[Fraction, Term]:
    """A term as a constant times another."""
    match term:
        case Formula(function="*", terms=(Fraction() as factor, other)):
            inner, found = _split_factor(other)
            return factor * inner, found
        case Formula(function="*", terms=(other, Fraction() as factor)):
            inner, found = _split_factor(other)
            return factor * inner, found
    return Fraction(1), term


def _share_of(counted: Term, many: Term) -> PopulationShare | None:
    if not isinstance(counted, Count) or not isinstance(many, Count):
        return None
    query, value = counted.query, counted.query.aggregate.counted
    if value is None or replace(query, aggregate=Rows()) != many.query:
        return None
    there = call("boolean as number", call("not", call("is null", value)))
    return PopulationShare(replace(query, aggregate=Total(there, Numbers.integers(0, 1))))


def _refusal_of(statistic: Statistic, select: exp.Select) -> Refusal:
    """At the first aggregate of that name."""
    if isinstance(statistic, PlainQuantile):
        why, fix = "is about intervals, and none is bought", write("leave {interval=False} out")
        return refusal("population", select, why, fix, "Population inference")
    why, fix = _REFUSED.get(statistic.name, _UNMEASURED)
    kinds = tuple(kind for kind, each in AGGREGATES.items() if each.name == statistic.name)
    node = next(iter(select.find_all(*kinds)), select)
    what = f"Population inference of {statistic.name}"
    return refusal("population", node, f"is not offered: {why}", fix, what)
