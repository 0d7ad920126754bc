"""Groups by expressions whose values are known in advance: bounded whole numbers, days, conditions and texts."""

from collections.abc import Iterator
from datetime import date, datetime

from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Call, Expression, Literal, call, conjuncts, number
from adomnia.privacy.keys import MOST_CELLS, Bucket
from adomnia.privacy.kinds import Boolean, Day, Moment, Text
from adomnia.privacy.relations import Relation, Where
from adomnia.privacy.wall_time import count_seconds
from adomnia.sql.values.date_functions import SECONDS, count_days, count_moment_seconds
from adomnia.sql.values.possible_texts import find_whole_numbers, list_texts, number_texts

MOST_LISTED = 1_000

_DAYS_A_WEEK = 7


def find_bucket(written: Expression, relation: Relation, *, computes: bool = True) -> Bucket | None:
    """The groups that an expression makes; None where its values are not known before data is read.

    Texts that follow from declared values are listed if it `computes` them: with a delta, they are found instead.
    """
    match written.kind:
        case Boolean():
            return Bucket(written, None, written)
        case Text():
            listed = _texts_of_case(written) or _texts_of_where(written, relation)
            if 0 < len(listed) <= MOST_LISTED:
                return Bucket(written, tuple(listed), written)
            texts = list_texts(written, MOST_LISTED) if computes else []
            return Bucket(number_texts(written, texts) or written, tuple(texts), written) if texts else None
        case Day():
            return _days(written)
        case Moment(lower=lower, upper=upper):
            return None if lower is None or upper is None else _moments(written, lower, upper)
    numbers = find_whole_numbers(written, MOST_CELLS)
    return None if numbers is None else Bucket(written, numbers, written)


def _days(written: Expression) -> Bucket | None:
    """Groups of days; those of the first days of weeks, months, quarters or years are numbered by these."""
    if not isinstance(written.kind, Day) or written.kind.lower is None or written.kind.upper is None:
        return None
    value, shown = _date_number(written)
    return Bucket(value, _date_range(shown, written.kind.lower, written.kind.upper), written, shown)


def _date_number(written: Expression) -> tuple[Expression, str]:
    match written:
        case Call(function="start of year", arguments=(day,)):
            return call("year", day), "year"
        case Call(function="start of quarter", arguments=(day,)):
            return _part_number(day, "quarter", 4), "quarter"
        case Call(function="start of month", arguments=(day,)):
            return _part_number(day, "month", 12), "month"
        case Call(function="start of week", arguments=(_,)):
            return call("/", count_days(written), number(_DAYS_A_WEEK)), "week"
    return count_days(written), "day"


def _moments(written: Expression, lower: datetime, upper: datetime) -> Bucket | None:
    """Groups of seconds, or of minutes or hours; None where there are too many."""
    shown = written.function.removeprefix("start of ") if isinstance(written, Call) else "second"
    shown = shown if shown in SECONDS else "second"
    first, last = (count_seconds(end) // SECONDS[shown] for end in (lower, upper))
    if last - first >= MOST_CELLS:
        return None
    value = call("/", count_moment_seconds(written), number(SECONDS[shown]))
    return Bucket(value, Numbers.integers(first, last), written, shown)


def _part_number(day: Expression, part: str, parts: int) -> Expression:
    return call("-", call("+", call("*", call("year", day), number(parts)), call(part, day)), number(1))


def _date_range(shown: str, lower: date, upper: date) -> Numbers:
    def place(day: date) -> int:
        days = day.toordinal() - 1
        months = 12 * day.year + day.month - 1
        return {"day": days, "week": days // _DAYS_A_WEEK, "month": months, "quarter": months // 3}.get(shown, day.year)

    return Numbers.integers(place(lower), place(upper))


def _texts_of_case(value: Expression) -> list[str]:
    """The texts that a CASE can give, if all of them are constants; NULL is no group."""
    match value:
        case Call(function="case", arguments=arguments):
            outcomes = (*arguments[1:-1:2], arguments[-1])
            texts = [each.value for each in outcomes if isinstance(each, Literal)]
            return sorted({text for text in texts if isinstance(text, str)}) if len(texts) == len(outcomes) else []
    return []


def _texts_of_where(value: Expression, relation: Relation) -> list[str]:
    """The texts that a condition allows: WHERE value IN ('a', 'b') lists its groups."""
    for condition in _conditions(relation):
        parts = list(_alternatives(condition))
        found = [_equal_text(part, value) for part in parts]
        if None not in found:
            return sorted({each for each in found if each is not None})
    return []


def _conditions(relation: Relation) -> Iterator[Expression]:
    while isinstance(relation, Where):
        yield from conjuncts(relation.condition)
        relation = relation.source


def _alternatives(condition: Expression) -> Iterator[Expression]:
    if isinstance(condition, Call) and condition.function == "or":
        for part in condition.arguments:
            yield from _alternatives(part)
    else:
        yield condition


def _equal_text(condition: Expression, value: Expression) -> str | None:
    match condition:
        case Call(function="=", arguments=(left, Literal(value=str(constant)))) if left == value:
            return constant
    return None
