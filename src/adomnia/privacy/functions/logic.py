"""Comparisons, three-valued logic, and choices between values."""

from adomnia.privacy.functions.contract import Function, hull
from adomnia.privacy.kinds import Boolean, Day, Identity, Kind, Moment, Quantity, Text


def _equal(left: Kind, right: Kind) -> Kind | None:
    alike = isinstance(left, Quantity) and isinstance(right, Quantity)
    return Boolean() if alike or hull(left, right) is not None else None


def _ordered(left: Kind, right: Kind) -> Kind | None:
    # Texts by the numbers of their characters: collations differ from engine to engine, and so would answers.
    return _equal(left, right) if isinstance(left, Quantity | Day | Moment | Text) else None


def _logical(*kinds: Kind) -> Kind | None:
    return Boolean() if all(isinstance(kind, Boolean) for kind in kinds) else None


def _is_null(kind: Kind) -> Kind | None:
    return None if isinstance(kind, Identity) else Boolean()


def _unless(left: Kind, right: Kind) -> Kind | None:
    return hull(left, left) if _equal(left, right) else None


def _chosen(*kinds: Kind) -> Kind | None:
    """Conditions and outcomes in turn, and the outcome of last resort."""
    conditions, outcomes = kinds[:-1:2], (*kinds[1::2], kinds[-1])
    fits = len(kinds) % 2 == 1 and len(kinds) > 1 and _logical(*conditions) is not None
    return hull(*outcomes) if fits else None


_EQUAL = "two numbers, texts, dates, timestamps or booleans, alike -> boolean"
_ORDER = "two numbers, texts, dates or timestamps, alike -> boolean"
_LOGIC = "boolean, boolean -> boolean"
_VALUES = "two numbers, texts, dates, timestamps or booleans, alike -> alike"

LOGIC = (
    Function("=", "a = b", 2, _EQUAL, "equal", _equal),
    Function("<>", "a <> b, a != b", 2, _EQUAL, "different", _equal),
    Function("<", "a < b", 2, _ORDER, "below; texts by the numbers of their characters", _ordered),
    Function("<=", "a <= b", 2, _ORDER, "at most", _ordered),
    Function(">", "a > b", 2, _ORDER, "above", _ordered),
    Function(">=", "a >= b", 2, _ORDER, "at least", _ordered),
    Function("same", "a IS NOT DISTINCT FROM b", 2, _EQUAL, "equal, or both NULL; never NULL itself", _equal),
    Function("and", "p AND q", 2, _LOGIC, "both, by SQL's three-valued logic", _logical),
    Function("or", "p OR q", 2, _LOGIC, "either, by SQL's three-valued logic", _logical),
    Function("not", "NOT p", 1, "boolean -> boolean", "the contrary; NULL of NULL", _logical),
    Function(
        "is null",
        "a IS NULL",
        1,
        "any but an id -> boolean",
        "whether there is no value",
        _is_null,
    ),
    Function(
        "coalesce",
        "COALESCE(a, b)",
        2,
        _VALUES,
        "a, or b where a is NULL",
        hull,
        chooses=True,
    ),
    Function(
        "nullif",
        "NULLIF(a, b)",
        2,
        _VALUES,
        "a, or NULL where it equals b",
        _unless,
        chooses=True,
        copies=2,
    ),
    Function(
        "case",
        "CASE WHEN p THEN a ELSE b END",
        None,
        "conditions with their outcomes, and an outcome else, all alike -> alike",
        "the outcome of the first condition that is true",
        _chosen,
        chooses=True,
    ),
)
