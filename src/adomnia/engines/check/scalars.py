"""Expressions over one row: a closed list of nodes, each with a type, of which none can fail on any row."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from sqlglot import exp

from adomnia.engines.backtracking import count_ways
from adomnia.engines.check.columns import ProvedColumn
from adomnia.engines.check.nodes import (
    DOUBLE,
    INTEGER,
    Vocabulary,
    double,
    is_marked,
    not_proved,
    only,
    place,
    require,
    vocabulary_of,
)
from adomnia.engines.check.patterns import check_pattern
from adomnia.engines.dialect import Dialect

# Types of values. A `number` is one as it lies there: it may be cast or be NULL, no more. A `code` is the place of a
# category in its list. An `id` equals another one or not. A `time` is a day that has to be cast back to one, a `day
# number` counts days since 1970. `place`, `days` and `months` are whole constants, a `string` is a text that is written
# out, `read` what was found in a text.
SAME = frozenset({"double", "boolean", "text", "day", "code"})

_VALUES = {each: each for each in SAME - {"code"}}
_COMPARED = dict.fromkeys(SAME, "boolean")
_DOUBLE = {"double": "double"}
_EQUAL = {**_COMPARED, "id": "boolean"}
_ORDERED = {**_DOUBLE, "day": "day"}
_TRUTH = {"boolean": "boolean"}
_TEXT = {"text": "text"}
_MATCH = {"text": "boolean"}

# Nodes whose parts all have one type, and the type of their value by that of the parts. None fails: the engine computes
# in IEEE doubles, where a result beyond them is an infinity or NaN.
_RULES: dict[type[exp.Expr], dict[str, str]] = {
    **dict.fromkeys((exp.Neg, exp.Add, exp.Mul, exp.Div, exp.Mod, exp.Pow, exp.Abs, exp.Round), _DOUBLE),
    **dict.fromkeys((exp.Floor, exp.Ceil, exp.Trunc, exp.Ln, exp.Exp, exp.Sqrt), _DOUBLE),
    **dict.fromkeys((exp.LT, exp.LTE, exp.GT, exp.GTE), _COMPARED),
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.NullSafeEQ), _EQUAL),
    **dict.fromkeys((exp.And, exp.Or, exp.Not), _TRUTH),
    **dict.fromkeys((exp.Nullif, exp.Coalesce), _VALUES),
    **dict.fromkeys((exp.Greatest, exp.Least), _ORDERED),
    **dict.fromkeys((exp.Upper, exp.Lower), _TEXT),
    exp.DPipe: {"text": "joined"},  # not yet a text: it has to be cut first
    **dict.fromkeys((exp.Like, exp.StartsWith, exp.EndsWith, exp.Contains), _MATCH),
    exp.Between: {"double": "boolean", "day": "boolean"},
    exp.Sub: {**_DOUBLE, "day": "number"},
    exp.Sign: {"double": "number"},
    exp.Length: {"text": "number"},
    exp.In: {"code": "boolean"},
    exp.Paren: {each: each for each in (*SAME, "joined")},
}
# Nodes whose parts have types of their own, by the name of the part, and the type of their value.
_SHAPES: dict[type[exp.Expr], tuple[dict[str, str], str]] = {
    exp.Log: ({"this": "base", "expression": "double"}, "double"),
    exp.Trim: ({"this": "text", "expression": "string"}, "text"),
    exp.Substring: ({"this": "text", "start": "place", "length": "place"}, "text"),
    exp.Right: ({"this": "text", "expression": "place"}, "text"),
    exp.StrPosition: ({"this": "text", "substr": "text"}, "number"),
    exp.Replace: ({"this": "text", "expression": "text", "replacement": "text"}, "joined"),
    exp.RegexpLike: ({"this": "text", "expression": "text"}, "boolean"),
    exp.TimeToStr: ({"this": "day", "format": "text"}, "text"),
    exp.RegexpExtract: ({"this": "text", "expression": "string", "group": "whole"}, "read"),
    exp.Extract: ({"expression": "day"}, "number"),
    exp.TimestampTrunc: ({"this": "day"}, "time"),
}
_TOTAL_CASTS = {("number", "double"), ("boolean", "double"), ("time", "day")}
_TOTAL_CASTS |= {(given, "text") for given in ("number", "boolean", "day")}
_LONGEST, _MOST_DAYS, _MOST_MONTHS = 2**31 - 1, 10**7, 12 * 10**4
_MOST_GROWTH = 8  # how many times longer a text may become before it is cut
_FORMAT = re.compile("(?:%[YmdBbAaVGju%]|[^%]){1,64}", re.DOTALL)
_UNITS = {"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DOY", "DOW", "ISODOW"}
_WRITTEN = {"base": [exp.Literal.number(2), exp.Literal.number(10)], "whole": [exp.Literal.number(0)]}
_NUMBERED = re.compile("[1-9][0-9]{0,8}", re.ASCII)
_PATTERNS = {
    "^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$",
    "^([1-9][0-9][0-9][0-9]|0[1-9][0-9][0-9]|00[1-9][0-9]|000[1-9])-[0-9][0-9]-[0-9][0-9]$",
    "^([tT][rR][uU][eE]|[fF][aA][lL][sS][eE])$",
}


@dataclass(frozen=True)
class Row:
    """What expressions over one row may be made of: columns by label and name, bound texts, words of a dialect."""

    columns: Mapping[tuple[str, str], ProvedColumn]
    parameters: tuple[str, ...]
    dialect: Dialect

    @property
    def words(self) -> Vocabulary:
        return vocabulary_of(self.dialect)

    def column(self, node: exp.Expr) -> ProvedColumn:
        """What a bare column is."""
        found = self.columns.get(place(node) or ("", ""))
        if found is None:
            raise not_proved("a stored column")
        return found

    def type(self, node: exp.Expr) -> str:
        """The type of an expression's value, by a closed list of nodes; parts before wholes, so that depth is free."""
        types: dict[int, str] = {}
        parts = list(node.dfs())
        failing = {type(part).__name__ for part in parts if not is_total(part, self.dialect)}
        require(not failing, f"no {', '.join(sorted(failing))}, which a row can make fail")
        for part in reversed(parts):
            branch = isinstance(part, exp.If) and type(part.parent) is exp.Case
            if not branch and not isinstance(part, exp.Identifier | exp.DataType | exp.Var):
                types[id(part)] = self._type(part, types)
        return types[id(node)]

    def _type(self, node: exp.Expr, types: dict[int, str]) -> str:  # noqa: PLR0911 - one for each form
        match node:
            case exp.Is(expression=exp.Null()):
                return "boolean"
            case exp.Case():
                return _by_cases(node, types)
            case exp.Cast():
                return _cast(node, types[id(node.this)], self.words)
            case exp.Add(expression=days) if types[id(days)] in ("days", "months"):
                return _later(node, types, self.words)
            case exp.Add(expression=days) if types[id(days)] == "day number":
                return _day_of_number(node, self.words)
            case exp.Anonymous():
                return _months(node, types)
        if type(node) in _RULES:
            return self._by_rule(node, types)
        if type(node) not in _SHAPES:
            return self._leaf(node)
        self._check_constants(node)
        return _by_shape(node, types, self.words)

    def _check_constants(self, node: exp.Expr) -> None:
        """Constants that decide whether a function fails or how long its text becomes must be bound, and known."""
        match node:
            case exp.RegexpLike(expression=pattern):
                check_pattern(self._bound(pattern))
                require(count_ways(self._bound(pattern)) <= self.dialect.most_ways, "a pattern that is soon read")
            case exp.TimeToStr():
                written = self._bound(node.args["format"])
                require(_FORMAT.fullmatch(written) is not None, "a format of known fields")
                require(_in_calendar(node.this, self.words), "a day within the calendar")
            case exp.Replace():
                part, other = self._bound(node.expression), self._bound(node.args.get("replacement"))
                require(part != "" and len(other) <= _MOST_GROWTH * len(part), "texts that stay short")

    def _bound(self, node: exp.Expr | None) -> str:
        """The text that a parameter is bound to."""
        require(type(node) is exp.Placeholder and self._leaf(node) == "text", "a text that is bound")
        return self.parameters[int(str(node.this)) - 1]  # type: ignore[union-attr]  # a parameter, then

    def _leaf(self, node: exp.Expr) -> str:
        match node:
            case exp.Column():
                found = self.column(node).type
            case exp.Literal():
                found = _constant(node)
            case exp.Placeholder(this=str(number)) if _NUMBERED.fullmatch(number) and int(number) <= len(
                self.parameters
            ):
                found = "text"
            case exp.Boolean():
                found = "boolean"
            case exp.Null():
                found = "null"
            case _:
                raise not_proved(f"no {type(node).__name__}")
        return found

    def _by_rule(self, node: exp.Expr, types: dict[int, str]) -> str:
        only(node, "this", "expression", "expressions", "low", "high", "ignore_nulls")
        results, parts = _RULES[type(node)], list(node.iter_expressions())
        found = {types[id(part)] for part in parts}
        require(len(found) == 1 and found <= results.keys(), f"parts of {type(node).__name__} of one type")
        lists = {self.column(part).among for part in parts if type(part) is exp.Column}
        require(len(lists) <= 1, "codes of one list")
        return results[found.pop()]


def is_total(node: exp.Expr, dialect: Dialect) -> bool:
    """Whether no row can make a node fail: it is none of those that the engine raises in, or of a phrase that is."""
    return type(node).__name__ not in dialect.raises or is_marked(node)


def _by_cases(node: exp.Case, types: dict[int, str]) -> str:
    """CASE WHEN condition THEN ..., or CASE code WHEN code THEN ..., or of texts; all outcomes of one type, or NULL."""
    only(node, "this", "ifs", "default")
    asked = "boolean" if node.this is None else "text" if types[id(node.this)] == "text" else "code"
    tests = [branch.this for branch in node.args["ifs"]] + ([] if node.this is None else [node.this])
    require(all(types[id(test)] == asked for test in tests), "a CASE")
    outcomes = [branch.args["true"] for branch in node.args["ifs"]] + [node.args.get("default")]
    found = {types[id(outcome)] for outcome in outcomes if outcome is not None} - {"null"}
    require(len(found) == 1 and found <= SAME, "outcomes of one type")
    return found.pop()


def _by_shape(node: exp.Expr, types: dict[int, str], words: Vocabulary) -> str:
    shape, result = _SHAPES[type(node)]
    units = {name: part for name, part in node.args.items() if type(part) is exp.Var}
    require(all(unit.name in _UNITS for unit in units.values()), "a part of a date")
    sides = ["position"] * (type(node) is exp.Trim)  # from which spaces are removed; elsewhere it is a number
    only(node, *shape, *units, *sides, "null_if_pos_overflow")
    if types.get(id(node.this)) == "joined":
        require(type(node) is exp.Substring and node.args.get("length") == words.cut, "texts that stay short")
        types[id(node.this)] = "text"
    for name, wanted in shape.items():
        part = node.args.get(name)
        require(part in _WRITTEN.get(wanted, ()) or types.get(id(part)) == wanted, f"parts of {type(node).__name__}")
    require(result != "read" or node.expression.name in _PATTERNS, "a pattern of a number, a date or a truth")
    require(result != "time" or _in_calendar(node.this, words), "a day within the calendar")
    return result


def _later(node: exp.Add, types: dict[int, str], words: Vocabulary) -> str:
    """A day and a constant number of days or months, where no day is so far off that there is none after it."""
    only(node, "this", "expression")
    require(_in_calendar(node.this, words) and types[id(node.this)] == "day", "a day within the calendar")
    return "day" if types[id(node.expression)] == "days" else "time"


def _months(node: exp.Anonymous, types: dict[int, str]) -> str:
    """TO_MONTHS of a whole constant."""
    only(node, "this", "expressions")
    named = str(node.this).upper() == "TO_MONTHS" and [types[id(each)] for each in node.expressions] == ["days"]
    require(named and abs(double(node.expressions[0].this)) <= _MOST_MONTHS, "a number of months")
    return "months"


def _day_of_number(node: exp.Add, words: Vocabulary) -> str:
    """The first of 1970 and a number of days that stays within the calendar."""
    only(node, "this", "expression")
    require(node.this == words.epoch, "the day that days are counted from")
    return "day"


def _is_day_number(node: exp.Expr, words: Vocabulary) -> bool:
    """FLOOR(seconds / 86400), of seconds within the calendar."""
    match node:
        case exp.Floor(this=exp.Div(this=seconds, expression=each)):
            return each == words.seconds_a_day and _is_between(seconds, words.seconds_ends)
    return False


def _in_calendar(node: exp.Expr, words: Vocabulary) -> bool:
    """A day of the years 1 to 9999, or NULL."""
    return _is_between(node, words.days_ends)


def _is_between(node: exp.Expr, ends: tuple[exp.Expr, exp.Expr]) -> bool:
    """CASE WHEN value BETWEEN first AND last THEN value END."""
    if type(node) is not exp.Case or node.this is not None or node.args.get("default") is not None:
        return False
    (branch, *others), value = node.args["ifs"], node.args["ifs"][0].args["true"]
    return not others and branch.this == exp.Between(this=value, low=ends[0], high=ends[1])


def _cast(node: exp.Cast, given: str, words: Vocabulary) -> str:
    """A value as another that it always is, NULL of a type, or a constant; no cast that a row could make fail."""
    only(node, "this", "to")
    target = node.to.this
    if target in (words.long, words.days):
        if type(node) is exp.TryCast and target is words.days:
            require(given == "double" and _is_day_number(node.this, words), "a number of a day")
            return "day number"
        return _integer(node, given, characters=target is words.long)
    result, constant = words.targets.get(target, ("", None))
    if type(node) is exp.TryCast:
        fits = given == "read" and result in ("double", "day", "boolean")
    else:
        readable = given == "string" and constant is not None and constant.fullmatch(node.this.name) is not None
        readable = readable and (result != "day" or _is_day(node.this.name))
        fits = result != "" and (given == "null" or (given, result) in _TOTAL_CASTS or readable)
    require(fits, "a cast that cannot fail")
    return result


def _is_day(text: str) -> bool:
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False


def _integer(node: exp.Cast, given: str, *, characters: bool) -> str:
    """TRY_CAST(double AS BIGINT), or a constant: a number of characters as BIGINT, one of days as INTEGER."""
    if type(node) is exp.TryCast:
        require(characters and given == "double", "an integer")
        return "number"
    amount = double(node.this)
    require(
        amount.is_integer() and (0 <= amount <= _LONGEST if characters else abs(amount) <= _MOST_DAYS), "a constant"
    )
    return "place" if characters else "days"


def _constant(node: exp.Literal) -> str:
    if node.is_string:
        return "string"
    require((DOUBLE if "e" in node.name else INTEGER).fullmatch(node.name) is not None, "a number")
    return "double" if "e" in node.name else "code"
