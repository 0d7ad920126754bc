"""Reads formulas as R and statsmodels write them; nothing in them is ever evaluated.

    y ~ x + z          both, and an intercept       y ~ 0 + x, y ~ x - 1   without the intercept
    a:b                their product                a*b                    a + b + a:b
    (a + b + c)^2      products of up to two        . - a                  all other columns but a
    C(city), city      a factor                     log(x)                 of a number above zero
    I(x^2), I(x*z)     a product, as a number       poly(x, 3)             x, x^2 and x^3, as they are (raw)
    C(city, Treatment('Oslo'))                      a factor whose levels are compared with Oslo, its reference level

Names with other characters than letters, digits, _ and . stand in backticks. The size of what is read is limited
before it is made.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import product
from typing import TypeAlias

from adomnia.messages.fixes import guess
from adomnia.methods.contract import BadArgument, Frame
from adomnia.privacy.keys import Label

ARGUMENT = "formula"
LONGEST = 2000  # characters
MOST_TERMS = 64
MOST_DEGREE = 4  # of one column, all its numbers together: products of two columns have twice that
_DEEPEST = 20  # brackets in brackets
_MOST_LISTED = 12  # levels in a refusal

_TOKENS = re.compile(
    r"(?P<name>[^\W\d][\w.]*|`[^`]+`)|(?P<number>\d+(?:\.\d*)?)|(?P<text>'[^']*'|\"[^\"]*\")"
    r"|(?P<sign>\*\*|[-~+:*^(),.=])|(?P<end>$)"
)
_FIX = "write it like 'y ~ x + C(group)'"


@dataclass(frozen=True)
class Number:
    """A number of a row: a column, or the logarithm of one."""

    column: str
    log: bool = False

    @property
    def name(self) -> str:
        return f"log({self.column})" if self.log else self.column


Monomial: TypeAlias = tuple[tuple[Number, int], ...]  # numbers and their powers, in the order of their names


@dataclass(frozen=True)
class Atom:
    """What terms are products of: a factor, or one or several products of numbers. `offset` is where it stands.

    `treatment`: whether the formula says how the factor is coded; `reference` is the place of its reference level.
    """

    written: str
    factor: str = ""
    monomials: tuple[Monomial, ...] = ()
    offset: int = field(default=0, compare=False)
    treatment: bool = False
    reference: int = 0


Term: TypeAlias = tuple[Atom, ...]  # in the order in which they were written; none is no term but the intercept


@dataclass(frozen=True)
class ModelFormula:
    """A formula that was read: what is explained, and by which terms, those of fewer atoms first."""

    text: str
    response: Number
    terms: tuple[Term, ...]
    intercept: bool


def read_formula(text: str, frame: Frame) -> ModelFormula:
    """The formula, whose names are columns of the frame; or a refusal that says where it goes wrong.

    >>> from adomnia.methods.contract import NumberColumn
    >>> frame = Frame(None, dict.fromkeys(("y", "a", "b", "c")), {})
    >>> [name_term(term) for term in read_formula("y ~ (a + b + c)^2 - a:b", frame).terms]
    ['a', 'b', 'c', 'a:c', 'b:c']
    """
    return _Reader(text, frame).read()


def name_term(term: Term) -> str:
    """A term as R prints it."""
    return ":".join(atom.written for atom in term) or "(Intercept)"


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    offset: int


class _Reader:
    """Reads from left to right, each rule of the grammar a method; the terms of a part are a list without repeats."""

    def __init__(self, text: str, frame: Frame) -> None:
        self.text, self.frame = text, frame
        self.tokens = list(_tokenize(text))
        self.place = self.depth = 0
        self.intercept = True
        self.response = Number("")

    def read(self) -> ModelFormula:
        self.response = self._response()
        self._expect("~", "has no ~ between what is explained and what explains it")
        terms = self._sum(outermost=True)
        if self._token.kind != "end":
            raise self._refusal(f"cannot be read from {self._token.text!r} on", _FIX)
        if not terms and not self.intercept:
            raise self._refusal("has no terms", "name at least one column, or 1, to the right of ~")
        for atom in (atom for term in terms for atom in term if self.response.column in _columns(atom)):
            name = self.response.column
            raise self._refusal(f"explains {name} by itself", f"leave {name} out to the right of ~", atom.offset)
        ordered = tuple(sorted(terms, key=len))
        return ModelFormula(self.text, self.response, ordered, self.intercept)

    def _response(self) -> Number:
        if self._token.text == "~":
            raise self._refusal("does not say what is explained", "name a column to the left of ~")
        return self._numeric()

    # Sums and products of terms.

    def _sum(self, *, outermost: bool = False) -> list[Term]:
        found: list[Term] = []
        added = self._take("+", "-") is None or self.tokens[self.place - 1].text == "+"
        while True:
            if self._token.kind == "number":
                self._constant(added, outermost)
            elif added:
                found = self._bounded([*found, *self._cross()])
            else:
                removed = set(map(frozenset, self._cross()))
                found = [term for term in found if frozenset(term) not in removed]
            if (sign := self._take("+", "-")) is None:
                return found
            added = sign.text == "+"

    def _constant(self, added: bool, outermost: bool) -> None:
        """0 and 1 say whether there is an intercept; other numbers would be offsets."""
        token = self._token
        if token.text not in {"0", "1"} or not outermost:
            raise self._refusal(
                f"has the number {token.text} as a term, and only 0 or 1 (no intercept, or one) stands there by itself",
                "leave it out, or compute a column with it in the SELECT",
            )
        self.place += 1
        if self._token.text in {":", "*", "^", "**"}:
            raise self._refusal("multiplies a number", "leave it out: coefficients take care of factors")
        self.intercept = (token.text == "1") == added

    def _cross(self) -> list[Term]:
        found = self._interaction()
        while self._take("*"):
            right = self._interaction()
            self._check_size(len(found) * len(right) + len(found) + len(right))
            found = self._bounded([*found, *right, *_multiply(found, right)])
        return found

    def _interaction(self) -> list[Term]:
        found = self._power()
        while self._take(":"):
            right = self._power()
            self._check_size(len(found) * len(right))
            found = self._bounded(_multiply(found, right))
        return found

    def _power(self) -> list[Term]:
        place = self._token.offset
        found = base = self._part()
        if self._take("^", "**"):
            if len(base) == 1 and base[0][0].monomials:
                name = name_term(base[0])
                raise self._refusal(
                    f"has {name} to a power, which as in R is {name} itself", f"write I({name}^2)", place
                )
            for _ in range(self._whole_number("the power of a bracket", 1, 8) - 1):
                self._check_size(len(found) * len(base) + len(found))
                found = self._bounded([*found, *_multiply(found, base)])
        return found

    def _part(self) -> list[Term]:
        token = self._token
        if self._take("("):
            return self._bracketed()
        if self._take("."):
            for name in self.frame.beyond:  # none of them is left out unsaid
                why, fix = self.frame.unusable[name]
                raise self._refusal(f"names {name} by a point, which {why}", fix, token.offset)
            return self._bounded([(self._atom_of(name, token),) for name in self._others()])
        if token.kind != "name":
            shown = f"{token.text!r}" if token.text else "nothing"
            raise self._refusal(f"has {shown} where a column should stand", _FIX)
        if self._is_call():
            return [(self._function(),)]
        self.place += 1
        return [(self._atom_of(self._column(token), token),)]

    def _bracketed(self) -> list[Term]:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._refusal(f"has more than {_DEEPEST} brackets in each other", "write it with fewer")
        found = self._sum()
        self._expect(")", "has a bracket that is never closed")
        self.depth -= 1
        return found

    # Functions of columns.

    def _function(self) -> Atom:
        token = self._token
        match token.text:
            case "C" | "factor":
                atom = self._factor_of_call()
            case "I":
                atom = self._product_of_call()
            case "poly":
                atom = self._poly()
            case "log":
                atom = _number_atom(self._numeric(), token.offset)
            case "offset":
                raise self._refusal("calls offset, which is an argument here", "ask poisson(..., exposure => x)")
            case name:
                raise self._refusal(
                    f"calls {name}, and knows C, I, poly and log only",
                    f"compute it in the SELECT that gives the rows: SELECT {name}(x) AS z ...",
                )
        return atom

    def _factor_of_call(self) -> Atom:
        token = self._open_call()
        name_token = self._name()
        name = self._column(name_token)
        if name not in self.frame.factors:
            raise self._refusal(
                f"takes {name} for a factor, and its values are not declared",
                "declare its categories, or group it in the SELECT",
                name_token.offset,
            )
        if self._take(","):
            return self._treatment(name, token)
        self._close_call(token.text)
        return self._factor(name, token.offset)

    def _treatment(self, name: str, call: _Token) -> Atom:
        """The rest of C(name, Treatment('level')), as patsy and formulaic write it; `reference=` may stand there."""
        coding = self._name()
        if coding.text != "Treatment":
            why, fix = f"codes {name} by {coding.text}, and knows Treatment only", "write Treatment('level')"
            raise self._refusal(why, fix, coding.offset)
        place, inside = 0, ""
        if self._take("("):
            start = self.place
            if self._token.text == "reference":
                self.place += 1
                self._expect("=", "has reference without =", "write Treatment(reference='level')")
            place = self._level(name)
            inside = f"({''.join(_write_token(each) for each in self.tokens[start : self.place])})"
            self._close_call("Treatment")
        self._close_call(call.text)
        return Atom(f"C({name}, Treatment{inside})", name, (), call.offset, True, place)

    def _level(self, name: str) -> int:
        """The place of a level of a factor, as it is written: a text, a number, or True and False."""
        levels, offset = self.frame.factors[name].levels, self._token.offset
        sign = "-" if self._take("-") else ""
        token = self._token
        if token.kind not in {"text", "number", "name"} or (sign and token.kind != "number"):
            raise self._refusal("needs a level here", f"write one of {_list_levels(levels)}", offset)
        self.place += 1
        written = token.text[1:-1] if token.kind == "text" else sign + token.text
        for place, level in enumerate(levels):
            if _is_level(level, written, quoted=token.kind == "text"):
                return place
        close = get_close_matches(written, list(map(str, levels)), n=1)
        why = f"compares {name} with {written}, which is none of its declared values"
        fix = f"use one of {_list_levels(levels)}"
        raise self._refusal(why, guess([_quote(close[0])], fix) if close else fix, offset)

    def _product_of_call(self) -> Atom:
        token = self._open_call()
        start = self.place
        powers = self._monomial()
        while self._take("*"):
            for number, power in self._monomial().items():
                powers[number] = powers.get(number, 0) + power
        written = "".join(_name_token(each) for each in self.tokens[start : self.place])
        if self._token.text in {"+", "-"}:
            raise self._refusal("adds inside I(), which takes products and powers", "compute it in the SELECT")
        self._close_call(token.text)
        self._check_degree(powers, token.offset)
        return Atom(f"I({written})", "", (_monomial(powers),), token.offset)

    def _monomial(self) -> dict[Number, int]:
        number = self._numeric()
        return {number: self._whole_number("a power", 1, MOST_DEGREE) if self._take("^", "**") else 1}

    def _poly(self) -> Atom:
        token = self._open_call()
        number = self._numeric()
        self._expect(",", "has poly() without a degree", "write poly(x, 2)")
        degree = self._whole_number("the degree of poly()", 1, MOST_DEGREE)
        self._close_call(token.text)
        monomials = tuple(((number, power),) for power in range(1, degree + 1))
        return Atom(f"poly({number.name}, {degree})", "", monomials, token.offset)

    def _numeric(self) -> Number:
        """A column of numbers, or log() of one."""
        token = self._token
        if token.text == "log" and self._is_call():
            self._open_call()
            number = Number(self._number_column(self._name()), log=True)
            self._close_call("log")
            self._check_log(number, token.offset)
            return number
        return Number(self._number_column(self._name()))

    def _number_column(self, token: _Token) -> str:
        name = self._column(token)
        if name not in self.frame.numbers:
            raise self._refusal(
                f"takes {name} for a number, and it is a category", "name a column of numbers with bounds", token.offset
            )
        return name

    def _check_log(self, number: Number, offset: int) -> None:
        column = self.frame.numbers[number.column]
        if column.domain.lower <= 0:
            name, upper = number.column, float(column.domain.upper)
            why = f"takes the logarithm of {name}, which may be {float(column.domain.lower):g} or less"
            fix = f"keep values above zero by bounds: SELECT CLAMP({name}, 1, {upper:g}) AS {name} ..."
            raise self._refusal(why, fix, offset)

    def _check_degree(self, powers: dict[Number, int], offset: int) -> None:
        if sum(powers.values()) > MOST_DEGREE:
            raise self._refusal(f"multiplies more than {MOST_DEGREE} numbers", "use fewer, or lower powers", offset)

    # Names.

    def _atom_of(self, name: str, token: _Token) -> Atom:
        if name in self.frame.numbers:
            return _number_atom(Number(name), token.offset)
        return self._factor(name, token.offset)

    def _factor(self, name: str, offset: int) -> Atom:
        return Atom(f"C({name})" if name in self.frame.numbers else name, name, (), offset)

    def _others(self) -> Iterator[str]:
        return (name for name in self.frame.names if name != self.response.column)

    def _column(self, token: _Token) -> str:
        """The column that a name stands for, in the frame's spelling."""
        written = token.text.strip("`")
        if (name := written.lower()) in self.frame.names:
            return name
        if name in self.frame.unusable:
            why, fix = self.frame.unusable[name]
            raise self._refusal(f"names {written}, which {why}", fix, token.offset)
        close = get_close_matches(name, self.frame.names, n=1)
        why = f"names {written}, which is no column of these rows with declared bounds or categories"
        fix = f"use one of {', '.join(self.frame.names[:20])}"
        raise self._refusal(why, guess(close, fix) if close else fix, token.offset)

    # Tokens.

    @property
    def _token(self) -> _Token:
        return self.tokens[self.place]

    def _take(self, *signs: str) -> _Token | None:
        token = self._token
        if token.kind != "sign" or token.text not in signs:
            return None
        self.place += 1
        return token

    def _expect(self, sign: str, why: str, fix: str = _FIX) -> None:
        if self._take(sign) is None:
            raise self._refusal(why, fix)

    def _name(self) -> _Token:
        token = self._token
        if token.kind != "name":
            raise self._refusal("needs the name of a column here", _FIX)
        self.place += 1
        return token

    def _is_call(self) -> bool:
        following = self.tokens[min(self.place + 1, len(self.tokens) - 1)]
        return following.kind == "sign" and following.text == "(" and not self._token.text.startswith("`")

    def _open_call(self) -> _Token:
        token = self._token
        self.place += 2
        return token

    def _close_call(self, function: str) -> None:
        self._expect(")", f"has more in {function}() than it takes", f"close the bracket of {function}() here")

    def _whole_number(self, what: str, least: int, most: int) -> int:
        token = self._token
        if token.kind != "number" or not token.text.isdecimal() or not least <= int(token.text[:9]) <= most:
            raise self._refusal(f"needs {what} as a whole number from {least} to {most}", "change it")
        self.place += 1
        return int(token.text)

    def _check_size(self, terms: int) -> None:
        if terms > MOST_TERMS**2:
            raise self._refusal(f"has more than {MOST_TERMS} terms", "use fewer")

    def _bounded(self, terms: Iterable[Term]) -> list[Term]:
        """Without repeats: those of the same atoms in another order are the same."""
        found = list({frozenset(term): term for term in reversed(list(terms))}.values())[::-1]
        if len(found) > MOST_TERMS:
            raise self._refusal(f"has more than {MOST_TERMS} terms", "use fewer")
        return found

    def _refusal(self, why: str, fix: str, offset: int | None = None) -> BadArgument:
        return BadArgument(ARGUMENT, why, fix, offset=self._token.offset if offset is None else offset)


def _tokenize(text: str) -> Iterator[_Token]:
    if len(text) > LONGEST:
        raise BadArgument(ARGUMENT, f"has more than {LONGEST} characters", "shorten it", offset=LONGEST)
    place = 0
    while True:
        while place < len(text) and text[place].isspace():
            place += 1
        found = _TOKENS.match(text, place)
        if found is None:
            why = f"has {text[place]!r}, which stands for nothing in formulas"
            raise BadArgument(ARGUMENT, why, f"{_FIX}; odd names stand in backticks", offset=place)
        yield _Token(found.lastgroup or "", found.group(), place)
        if found.lastgroup == "end":
            return
        place = found.end()


def _name_token(token: _Token) -> str:
    return token.text.strip("`").lower() if token.kind == "name" else token.text


def _write_token(token: _Token) -> str:
    """Inside Treatment(), as statsmodels names its terms: texts in single quotes where they have none themselves."""
    return _quote(token.text[1:-1]) if token.kind == "text" else token.text


def _quote(text: str) -> str:
    return f'"{text}"' if "'" in text else f"'{text}'"


def _list_levels(levels: Sequence[Label]) -> str:
    shown = ", ".join(
        str(level) if isinstance(level, int | float) else _quote(str(level)) for level in levels[:_MOST_LISTED]
    )
    return shown if len(levels) <= _MOST_LISTED else f"{shown} and {len(levels) - _MOST_LISTED} others"


def _is_level(level: Label, written: str, *, quoted: bool) -> bool:
    """Whether a level is the one that is written; a number may be written as 3 and as 3.0, and not as '3'."""
    if isinstance(level, bool):
        return written.lower() == str(level).lower()
    if not isinstance(level, int | float):
        return quoted and str(level) == written
    try:
        return not quoted and float(level) == float(written)
    except ValueError:
        return False


def _number_atom(number: Number, offset: int) -> Atom:
    return Atom(number.name, "", (((number, 1),),), offset)


def _columns(atom: Atom) -> set[str]:
    return {atom.factor} | {number.column for monomial in atom.monomials for number, _ in monomial}


def _monomial(powers: dict[Number, int]) -> Monomial:
    return tuple(sorted(powers.items(), key=lambda each: each[0].name))


def _multiply(left: list[Term], right: list[Term]) -> Iterator[Term]:
    """Each term of the one with each of the other; an atom times itself is that atom."""
    return (tuple(dict.fromkeys((*one, *two))) for one, two in product(left, right))
