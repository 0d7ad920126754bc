"""Reads ROLLUP, CUBE, GROUPING SETS and GROUP BY ALL: which groupings a GROUP BY asks for."""

from itertools import combinations, product
from math import prod

from sqlglot import exp

from adomnia.sql.reading.refusals import refusal
from adomnia.sql.values.scope import check_parts, strip_brackets

MOST_GROUPINGS = 64
_MOST_IN_CUBE = 6

Grouping = tuple[exp.Expr, ...]


def list_groupings(select: exp.Select, group: exp.Group) -> list[Grouping]:
    """The parts of each grouping: one, or those of every combination of what is listed."""
    if group.args.get("all"):
        return [tuple(item.unalias() for item in select.expressions if not _is_aggregated(item))]
    listed = [_expand(strip_brackets(part)) for part in group.expressions]
    if prod(map(len, listed)) > MOST_GROUPINGS:
        raise _refusal_of_many(group)
    return [tuple(part for each in chosen for part in each) for chosen in product(*listed)]


def _is_aggregated(item: exp.Expr) -> bool:
    return item.find(exp.AggFunc, exp.Window, exp.Grouping, exp.GroupingId) is not None


def _expand(part: exp.Expr) -> list[Grouping]:
    """The groupings that one part of GROUP BY stands for."""
    match part:
        case exp.Rollup():
            check_parts(part, "expressions")
            keys = [_group(each) for each in part.expressions]
            return [_join(keys[:length]) for length in range(len(keys), -1, -1)]
        case exp.Cube():
            check_parts(part, "expressions")
            keys = [_group(each) for each in part.expressions]
            if len(keys) > _MOST_IN_CUBE:
                raise _refusal_of_many(part)
            return [_join(some) for length in range(len(keys), -1, -1) for some in combinations(keys, length)]
        case exp.GroupingSets():
            check_parts(part, "expressions")
            return [each for inner in part.expressions for each in _expand(strip_brackets(inner))]
    return [_group(part)]


def _group(part: exp.Expr) -> Grouping:
    """Keys in brackets, which count as one, or a single one."""
    part = strip_brackets(part)
    return tuple(map(strip_brackets, part.expressions)) if isinstance(part, exp.Tuple) else (part,)


def _join(parts: "list[Grouping] | tuple[Grouping, ...]") -> Grouping:
    return tuple(key for part in parts for key in part)


def _refusal_of_many(node: exp.Expr) -> Exception:
    why = f"makes more than {MOST_GROUPINGS} groupings"
    return refusal("too_complex", node, why, "list those that you need: GROUPING SETS ((a, b), (a))")
