"""What a reader of an answer has to know beside its numbers: sentences that follow from question and catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.messages.texts import Note, NoteTemplate, define_note
from adomnia.methods.analysis import Analysis
from adomnia.plans.descriptions import describe
from adomnia.privacy.expressions import Call, Column, Expression, Literal
from adomnia.privacy.keys import Bucket, Key
from adomnia.privacy.kinds import Text
from adomnia.privacy.relations import Named, PerBlock, PerPerson, Relation, Select, Where
from adomnia.privacy.units import ROW
from adomnia.statistics.one_round import is_about_population
from adomnia.work import spend

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from adomnia.catalog.model import Catalog
    from adomnia.plans.plan import Plan

EACH_ROW = define_note("each_row", "Each row is protected on its own, not each person.")
OF_POPULATION = NoteTemplate(
    "of_population",
    "Intervals are about the population that these {who} are a sample of, drawn from it independently: noise and "
    "sampling together.",
)
SPREAD_EVENLY = define_note(
    "spread_evenly",
    "Errors to expect are those of values that lie evenly between their bounds: sampling adds to the noise.",
)
FREE_RELEASE = NoteTemplate(
    "free_release", "The release {release} answers it for nothing, within {error:.4g}: pass {from_release=True}."
)
FROM_CATALOG = define_note("from_catalog", "From the catalog: no data was read, and nothing was paid.")
MISSING = NoteTemplate("missing", "Rows whose {columns} is missing are in no group.")
_UNDECLARED = NoteTemplate("missing_or_undeclared", "Rows whose {columns} is missing or not declared are in no group.")
_LEFT_OUT = NoteTemplate("columns_left_out", "Not in it, because neither values nor bounds are declared: {columns}.")
_COMPARED = ("=", "<>", "<", "<=", ">", ">=", "like")
# What has a value where all of its arguments have one; what leaves the doubles stands in another call that says so.
_OF_VALUES = (
    *(*_COMPARED, "and", "or", "not", "boolean as number"),
    *("+", "-", "*", "negative", "abs", "sign", "round", "floor", "ceil", "trunc", "clamp"),
    *("year", "quarter", "month", "start of year", "start of quarter", "start of month", "start of week"),
)


def list_notes(plan: Plan, catalog: Catalog) -> tuple[Note, ...]:
    """The notes of a question, in the order in which they are told."""
    alone = catalog.unit == ROW
    sampled = (OF_POPULATION(who="rows" if alone else "people"),) if is_of_population(plan) else ()
    return (
        *((EACH_ROW,) if alone else ()),
        *sampled,
        *_tell_missing(plan),
        *_tell_left_out(plan),
        *_tell_compared(plan),
    )


def hides_rows(notes: Iterable[Note]) -> bool:
    """Whether a question with these notes hides each row by itself, and not each person."""
    return any(note.code == EACH_ROW.code for note in notes)


def is_of_population(plan: Plan) -> bool:
    """Whether the intervals of a plan are about a population."""
    return any(map(is_about_population, plan.statistics))


def list_suppositions(plan: Plan) -> tuple[Note, ...]:
    """What a quote supposes of the values, where errors depend on how far they scatter, and what it cannot tell."""
    caveats = (line for each in plan.statistics if isinstance(each, Analysis) for line in each.caveats)
    return (*((SPREAD_EVENLY,) if is_of_population(plan) else ()), *caveats)


def _tell_missing(plan: Plan) -> Iterator[Note]:
    """Which rows are in no group; whether there are any is private."""
    found = keys_without_value(plan)
    for undeclared, note in ((True, _UNDECLARED), (False, MISSING)):
        names = [_name(key) for key in found if reads_undeclared(key) == undeclared]
        if names:
            yield note(columns=" or ".join(names))


def _tell_left_out(plan: Plan) -> Iterator[Note]:
    if plan.view is not None and plan.view.left_out:
        yield _LEFT_OUT(columns=list(plan.view.left_out))


def _tell_compared(plan: Plan) -> Iterator[Note]:
    for statistic in plan.statistics:
        if isinstance(statistic, Analysis) and statistic.comparison:
            yield statistic.comparison


def _name(key: Key) -> str:
    return describe(key.written if isinstance(key, Bucket) else key)


def keys_without_value(plan: Plan) -> tuple[Key, ...]:
    """The keys that a row of the question may have no value of: missing, or none of those that are declared."""
    rows = _Rows()
    return tuple(key for key in plan.keys if rows.may_lack(_written(key), plan.relation))


def reads_undeclared(key: Key) -> bool:
    """Whether values that nobody declared are as good as missing."""
    written = _written(key)
    return isinstance(written, Column) and isinstance(written.kind, Text) and not written.kind.others


def _written(key: Key) -> Expression:
    return key.written if isinstance(key, Bucket) else key


class _Rows:
    """Whether rows may be without a value. What was found is kept: a value may be named twice in each of many steps."""

    def __init__(self) -> None:
        self._known: dict[tuple[Expression, Relation], bool] = {}

    def may_lack(self, value: Expression, relation: Relation) -> bool:
        if (value, relation) not in self._known:
            spend(1)
            required = any(_requires(condition, value) for condition in _conditions(relation))
            self._known[value, relation] = not required and self._is_open(value, relation)
        return self._known[value, relation]

    def _is_open(self, value: Expression, relation: Relation) -> bool:
        match value:
            case Literal(value=constant):
                return constant is None
            case Column(optional=optional):
                return optional or self._column_may_lack(value, relation)
            case Call(function="coalesce", arguments=arguments):
                return all(self.may_lack(each, relation) for each in arguments)
        needed = _needed(value)
        return needed is None or any(self.may_lack(each, relation) for each in needed)

    def _column_may_lack(self, column: Column, relation: Relation) -> bool:
        """Whether a column may be without a value, where it comes from: counts never are, and any stored column may."""
        match relation:
            case Where(source=source) | Named(source=source):
                inner = next((each for each in source.columns if each.name == column.name), None)
                return inner is None or self.may_lack(inner, source)
            case Select(source=source, outputs=outputs):
                return any(self.may_lack(each.value, source) for each in outputs if each.name == column.name)
            case PerPerson(outputs=outputs) | PerBlock(outputs=outputs):
                counts = {each.name for each in outputs if each.aggregate.counts}
                return column.name not in counts
        return True


def _needed(value: Call) -> tuple[Expression, ...] | None:
    """The arguments without which a function has no value; None where it may have none all the same."""
    match value.function, value.arguments:
        case (("is null" | "same"), _):
            return ()
        case "case", arguments:
            return (*arguments[1:-1:2], arguments[-1])
        case "/", (left, Literal(value=constant)) if constant:
            return (left,)
    return value.arguments if value.function in _OF_VALUES else None


def _conditions(relation: Relation) -> Iterator[Expression]:
    while isinstance(relation, Where):
        yield relation.condition
        relation = relation.source


def _requires(condition: Expression, value: Expression) -> bool:
    """Whether a condition is true of no row that is without the value."""
    match condition:
        case Call(function="and", arguments=arguments):
            return any(_requires(each, value) for each in arguments)
        case Call(function="or", arguments=arguments):
            return all(_requires(each, value) for each in arguments)
        case Call(function="not", arguments=(Call(function="is null", arguments=(inner,)),)):
            return inner == value
        case Call(function="not", arguments=(Call(function=function, arguments=arguments),)) if function in _COMPARED:
            return value in arguments
        case Call(function=function, arguments=arguments) if function in _COMPARED:
            return value in arguments
    return condition == value  # a boolean that is true has a value
