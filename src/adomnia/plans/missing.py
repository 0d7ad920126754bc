"""Which keys of a question a row may be without: such rows are in no group. It follows from question and catalog."""

from collections.abc import Iterator

from adomnia.plans.plan import Plan
from adomnia.privacy.expressions import Call, Column, Expression, Literal
from adomnia.privacy.keys import Bucket, Key
from adomnia.privacy.kinds import Text
from adomnia.privacy.relations import Named, PerBlock, PerPerson, Relation, Select, Where
from adomnia.work import spend

_COMPARED = ("=", "<>", "<", "<=", ">", ">=", "like")
# What has a value where all of its arguments have one; what leaves the doubles stands in another call that says so.
_OF_VALUES = (
    *(*_COMPARED, "and", "or", "not", "boolean as number"),
    *("+", "-", "*", "negative", "abs", "sign", "round", "floor", "ceil", "trunc", "clamp"),
    *("year", "quarter", "month", "start of year", "start of quarter", "start of month", "start of week"),
)


def keys_without_value(plan: Plan) -> tuple[Key, ...]:
    """The keys that a row of the question may have no value of: missing, or none of those that are declared."""
    rows = _Rows()
    return tuple(key for key in plan.keys if rows.may_lack(_written(key), plan.relation))


def reads_undeclared(key: Key) -> bool:
    """Whether values that nobody declared are as good as missing."""
    return isinstance(key, Column) and isinstance(key.kind, Text) and not key.kind.others


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
