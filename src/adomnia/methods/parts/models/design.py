"""The design of a model: which numbers of a row a formula makes, as products of numbers and of levels of factors.

Factors are coded as in R: against their first declared level, or the one that Treatment() names, where that makes a
difference, and by all levels where nothing else in the formula spans them (`0 + city`, `city:x` without `x`). Columns
are called `city[Oslo]`, `age`, `age:city[Oslo]`, `poly(age, 2)[1]`, `(Intercept)`, and where Treatment() stands as in
statsmodels: `C(city, Treatment('Oslo'))[T.Rome]`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from math import comb, prod
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adomnia.methods.analysis import with_values
from adomnia.methods.contract import BadArgument, Factor, Frame, NumberColumn
from adomnia.methods.parts.models.formula import (
    ARGUMENT,
    MOST_DEGREE,
    Atom,
    ModelFormula,
    Number,
    Term,
    name_term,
    read_formula,
)
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Call, Expression, call
from adomnia.privacy.keys import Bucket, Label
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Floats

MOST_COLUMNS = 128
_MOST_FACTORS = 4  # in one term
_TOLERANCE = 1e-10  # of what a column adds to those before it, of the square of its length

Powers: TypeAlias = tuple[int, ...]  # of each number, in their order
Levels: TypeAlias = tuple[tuple[int, int], ...]  # factors and their levels, by their places
_Coding: TypeAlias = frozenset[tuple[int, bool]]  # factors, and whether all of their levels are coded


@dataclass(frozen=True)
class DesignColumn:
    """One number of a row: a product of powers of numbers, in the rows of some levels of factors; 0 in others."""

    tag: ClassVar[str] = "DesignColumn"
    name: str
    term: int  # its place among the terms
    levels: Levels
    powers: Powers


@dataclass(frozen=True)
class Design:
    """What a formula makes of the columns of a frame."""

    tag: ClassVar[str] = "Design"
    formula: str
    response: NumberColumn
    numbers: tuple[NumberColumn, ...]
    factors: tuple[Factor, ...]
    terms: tuple[str, ...]
    columns: tuple[DesignColumn, ...]
    logged: tuple[bool, ...]  # of each number, and of the response at last: whether it is the logarithm of a column

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called."""
        return tuple(column.name for column in self.columns)

    @property
    def intercept(self) -> bool:
        """Whether one of the columns is 1 in every row."""
        return self.terms[0] == name_term(())

    def complete_cases(self, relation: Relation) -> Relation:
        """The rows where nothing that the formula names is missing."""
        return with_values(relation, self.response.value, *(each.value for each in self.numbers), *self.factors)

    @cached_property
    def basis(self) -> tuple[tuple[Levels, Powers], ...]:
        """The columns that span these ones when each number is counted from its middle: all lower powers too."""
        lower = (
            (column.levels, powers)
            for column in self.columns
            for powers in product(*(range(power + 1) for power in column.powers))
        )
        return tuple(sorted(dict.fromkeys(lower), key=lambda each: (len(each[0]), sum(each[1]))))

    def transformation(self, middles: Sequence[float], halves: Sequence[float]) -> Floats:
        """How the columns follow from the basis of numbers u, where each number is its middle + its half width * u.

        The matrix L of one column for each of the design: columns = basis @ L.
        """
        places = {each: place for place, each in enumerate(self.basis)}
        found = np.zeros((len(self.basis), len(self.columns)))
        for place, column in enumerate(self.columns):
            for powers in product(*(range(power + 1) for power in column.powers)):
                parts = zip(column.powers, powers, middles, halves, strict=True)
                weight = prod(comb(n, k) * half**k * middle ** (n - k) for n, k, middle, half in parts)
                found[places[column.levels, powers], place] = weight
        return found

    def plain_columns(self) -> list[dict[str, object]]:
        """The columns as plain data: what predictions are made from."""
        return [
            {
                "name": column.name,
                "levels": [[self.factors[f].name, self.factors[f].levels[level]] for f, level in column.levels],
                "powers": [[*self._plain_number(k), power] for k, power in enumerate(column.powers) if power],
            }
            for column in self.columns
        ]

    def plain_factors(self) -> dict[str, list[Label]]:
        """The levels of each factor: what a row of a prediction may have there."""
        return {factor.name: list(factor.levels) for factor in self.factors}

    def _plain_number(self, place: int) -> tuple[str, bool]:
        name, logged = self.numbers[place].name, self.logged[place]
        return name.removeprefix("log(").removesuffix(")") if logged else name, logged


def evaluate_basis(
    basis: Iterable[tuple[Levels, Powers]], numbers: Sequence[Floats], codes: Sequence[NDArray[np.int64]], rows: int
) -> Floats:
    """The values of basis columns in some rows, from the numbers and the places of the levels that they hold."""
    columns = []
    for levels, powers in basis:
        values = np.ones(rows)
        for factor, level in levels:
            values = values * (codes[factor] == level)
        for held, power in zip(numbers, powers, strict=True):
            values = values * held**power
        columns.append(values)
    return np.stack(columns, axis=1) if columns else np.empty((rows, 0))


def build_design(text: str, frame: Frame) -> Design:
    """The design of a formula, or a refusal: of too many columns, constants, or columns that others make up."""
    formula = read_formula(text, frame)
    design = _Builder(formula, frame).build()
    if len(design.basis) > MOST_COLUMNS:
        why = f"makes more than {MOST_COLUMNS} columns, lower powers of products included"
        raise BadArgument(ARGUMENT, why, "use fewer terms, or lower powers")
    _check_rank(design)
    return design


class _Builder:
    """Codes the terms of a formula one after the other."""

    def __init__(self, formula: ModelFormula, frame: Frame) -> None:
        self.formula, self.frame = formula, frame
        atoms = list(dict.fromkeys(atom for term in formula.terms for atom in term))
        variables = [number for atom in atoms for monomial in atom.monomials for number, _ in monomial]
        self.variables = tuple(dict.fromkeys(variables))
        self.factors = tuple(dict.fromkeys(atom.factor for atom in atoms if atom.factor))
        self.offsets = {number: atom.offset for atom in reversed(atoms) for m in atom.monomials for number, _ in m}
        self.codings = {atom.factor: atom for atom in atoms}
        self.spanned: dict[frozenset[Atom], set[frozenset[int]]] = {}

    def build(self) -> Design:
        self._check_levels()
        terms = ((),) * self.formula.intercept + self.formula.terms
        columns: list[DesignColumn] = []
        for place, term in enumerate(terms):
            columns.extend(self._columns(place, term, MOST_COLUMNS - len(columns)))
        return Design(
            self.formula.text,
            self._number(self.formula.response, 0),
            tuple(self._number(each, self.offsets[each]) for each in self.variables),
            tuple(self.frame.factors[name] for name in self.factors),
            tuple(map(name_term, terms)),
            tuple(columns),
            tuple(each.log for each in (*self.variables, self.formula.response)),
        )

    def _number(self, number: Number, offset: int) -> NumberColumn:
        column = self.frame.numbers[number.column]
        if column.domain.width == 0:
            raise BadArgument(ARGUMENT, f"names {column.name}, whose bounds are equal", "leave it out", offset=offset)
        return take_logarithm(column) if number.log else column

    def _check_levels(self) -> None:
        for term in self.formula.terms:
            for atom in term:
                if atom.factor and len(self.frame.factors[atom.factor].levels) < 2:
                    why = f"names {atom.factor}, which has one value only"
                    raise BadArgument(ARGUMENT, why, "leave it out", offset=atom.offset)
                if atom.factor and atom != self.codings[atom.factor]:
                    other = self.codings[atom.factor].written
                    why = f"codes {atom.factor} in two ways: {atom.written} and {other}"
                    raise BadArgument(ARGUMENT, why, f"write {other} everywhere", offset=atom.offset)

    def _columns(self, place: int, term: Term, room: int) -> Iterator[DesignColumn]:
        factors = [self.factors.index(atom.factor) for atom in term if atom.factor]
        numeric = [atom for atom in term if atom.monomials]
        offset = term[0].offset if term else 0
        if len(factors) > _MOST_FACTORS:
            raise BadArgument(ARGUMENT, f"multiplies more than {_MOST_FACTORS} factors", "use fewer", offset=offset)
        codings = self._codings(factors, frozenset(numeric))
        size = sum(prod(len(self._level_range(each)) for each in coding) for coding in codings)
        if size * prod(len(atom.monomials) for atom in numeric) > room:
            why = f"makes more than {MOST_COLUMNS} columns: every level of a factor is one"
            raise BadArgument(ARGUMENT, why, "use fewer terms, or factors of fewer levels", offset=offset)
        for coding in codings:
            for powers, written in self._monomials(numeric, offset):
                for levels in self._combine_levels(factors, coding):
                    name = self._name(term, dict(levels), dict(written), coding)
                    yield DesignColumn(name, place, tuple(sorted(levels)), powers)

    def _codings(self, factors: list[int], numeric: frozenset[Atom]) -> list[_Coding]:
        """How the factors of a term are coded so that it spans what the terms before it do not, and nothing twice.

        A term spans the effects of all sets of its factors. Two new effects that differ by one factor become one in
        which that factor has all of its levels.
        """
        spanned = self.spanned.setdefault(numeric, set())
        sets = [frozenset(chosen) for size in range(len(factors) + 1) for chosen in combinations(factors, size)]
        found: list[_Coding] = [frozenset((f, False) for f in effect) for effect in sets if effect not in spanned]
        spanned.update(sets)
        while (pair := _find_pair(found)) is not None:
            short, long, factor = pair
            merged = (long - {(factor, False)}) | {(factor, True)}
            found = [merged if each == long else each for each in found if each != short]
        return found

    def _level_range(self, coded: tuple[int, bool]) -> list[int]:
        """The levels that are coded: all of them, or all but the reference level."""
        name, full = self.factors[coded[0]], coded[1]
        places = range(len(self.frame.factors[name].levels))
        return [place for place in places if full or place != self.codings[name].reference]

    def _combine_levels(self, factors: list[int], coding: _Coding) -> Iterator[Levels]:
        """All levels of all factors; that of the first one changes fastest, as in R."""
        ordered = sorted(coding, key=lambda each: -factors.index(each[0]))
        for chosen in product(*map(self._level_range, ordered)):
            yield tuple((factor, level) for (factor, _), level in zip(ordered, chosen, strict=True))

    def _monomials(self, numeric: list[Atom], offset: int) -> Iterator[tuple[Powers, list[tuple[str, str]]]]:
        """The powers of each product of the atoms' numbers, and what each atom is called there."""
        for chosen in product(*(enumerate(atom.monomials, 1) for atom in numeric)):
            powers = dict.fromkeys(self.variables, 0)
            for _, monomial in chosen:
                for number, power in monomial:
                    powers[number] += power
            if sum(powers.values()) > MOST_DEGREE:
                why = f"multiplies more than {MOST_DEGREE} numbers"
                raise BadArgument(ARGUMENT, why, "use fewer, or lower powers", offset=offset)
            names = [
                (atom.written, f"{atom.written}[{k}]" if len(atom.monomials) > 1 else atom.written)
                for atom, (k, _) in zip(numeric, chosen, strict=True)
            ]
            yield tuple(powers.values()), names

    def _name(self, term: Term, levels: Mapping[int, int], written: Mapping[str, str], coding: _Coding) -> str:
        parts = []
        for atom in term:
            if not atom.factor:
                parts.append(written[atom.written])
            elif (factor := self.factors.index(atom.factor)) in levels:
                label = self.frame.factors[atom.factor].levels[levels[factor]]
                compared = "T." if atom.treatment and (factor, False) in coding else ""
                parts.append(f"{atom.written}[{compared}{label}]")
        return ":".join(parts) or name_term(())


def _find_pair(codings: list[_Coding]) -> tuple[_Coding, _Coding, int] | None:
    for short in codings:
        for long in codings:
            added = long - short
            if len(added) == 1 and len(long) == len(short) + 1 and not next(iter(added))[1]:
                return short, long, next(iter(added))[0]
    return None


def take_logarithm(column: NumberColumn) -> NumberColumn:
    """The logarithm of a column above zero, between those of its bounds."""
    value = call("ln", column.value)
    kind = value.kind
    assert isinstance(kind, Quantity)  # noqa: S101 - of a number above zero
    assert kind.lower is not None  # noqa: S101 - it has bounds
    assert kind.upper is not None  # noqa: S101 - both of them
    return NumberColumn(f"log({column.name})", value, Numbers.bounded(kind.lower, kind.upper))


# Whether some columns are made up by others whatever the data: seen in rows of values that are possible.


def _check_rank(design: Design) -> None:
    seen: set[tuple[Levels, Powers]] = set()
    for column in design.columns:
        if (column.levels, column.powers) in seen:
            raise _dependent(design, column)
        seen.add((column.levels, column.powers))
    middles = [float(number.domain.lower + number.domain.upper) / 2 for number in design.numbers]
    halves = [float(number.domain.upper - number.domain.lower) / 2 for number in design.numbers]
    directions, _ = np.linalg.qr(design.transformation(middles, halves))
    rows = 64 + 24 * len(design.basis)
    numbers, codes = _possible_rows(design, rows)
    scaled = [(held - m) / h for held, m, h in zip(numbers, middles, halves, strict=True)]
    columns = evaluate_basis(design.basis, scaled, codes, rows) @ directions
    _refuse_dependent(design, columns.T @ columns)


def _refuse_dependent(design: Design, products: Floats) -> None:
    """Refuses the first column whose part that the columns before it do not make up is nothing."""
    left, lengths = products.copy(), np.diagonal(products)
    for place, column in enumerate(design.columns):
        own = left[place, place]
        if own <= _TOLERANCE * lengths[place]:
            raise _dependent(design, column)
        left -= np.outer(left[place], left[place] / own)


def _dependent(design: Design, column: DesignColumn) -> BadArgument:
    why = f"has {column.name}, which the columns before it make up, whatever the data"
    return BadArgument(ARGUMENT, why, f"leave {design.terms[column.term]} out")


def _possible_rows(design: Design, rows: int) -> tuple[list[Floats], list[NDArray[np.int64]]]:
    """Values that are possible together: columns that are computed from the same column hold the same."""
    places: dict[Expression, int] = {}
    for value in (*(_source(each.value) for each in design.numbers), *map(_factor_source, design.factors)):
        places.setdefault(value, len(places))
    spread = {value: np.arange(1, rows + 1) * np.sqrt(_PRIMES[place]) % 1 for value, place in places.items()}
    labels = {_factor_source(each): each.levels for each in design.factors}
    codes = [(spread[_factor_source(each)] * len(each.levels)).astype(np.int64) for each in design.factors]
    numbers = []
    for number in design.numbers:
        share = spread[source := _source(number.value)]
        if source in labels:
            values = np.array([float(label) for label in labels[source]])[(share * len(labels[source])).astype(int)]  # type: ignore[arg-type]
        else:
            domain = number.domain
            values = (domain.grid_lower + np.floor(share * (domain.width + 1))) * float(domain.step)
        numbers.append(values)
    return numbers, codes


def _source(value: Expression) -> Expression:
    """What a number is computed from: a condition that is taken as 0 and 1 is that condition."""
    return value.arguments[0] if isinstance(value, Call) and value.function == "boolean as number" else value


def _factor_source(factor: Factor) -> Expression:
    return factor.key.value if isinstance(factor.key, Bucket) else factor.key


_PRIMES = [n for n in range(2, 1000) if all(n % k for k in range(2, int(n**0.5) + 1))]
