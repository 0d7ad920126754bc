"""Vectors as SQL: each entry is a combination of sums of products, exact, and put together by the engine.

Entries of one vector share most of their products, which are computed and added up once: so written, nine polynomials
of two columns cost a quarter of what they cost one by one. No row can make it fail: every step stays within
`Vector.magnitude`, and is computed in integers that hold it. Proof: docs/proofs/vectors.md.
"""

from collections.abc import Mapping
from math import prod

from adomnia.engines.dialect import Types
from adomnia.engines.render.constants import integer
from adomnia.engines.render.scalars import Scalars
from adomnia.privacy.polynomials import Exponents, Polynomial
from adomnia.privacy.vectors import Variable, Vector


def render_entries(vector: Vector, scalars: Scalars) -> list[str]:
    """The exact sum of each entry, NULL where no row has all that it names; then how much the rows without one add."""
    grids = [scalars.grid(variable.value, variable.domain) for variable in vector.variables]
    variables, types = list(zip(grids, vector.variables, strict=True)), scalars.dialect.types
    entries = [_render_entry(entry, variables, types) for entry in vector.entries]
    if vector.absent:
        entries.append(f"{_widen(vector.absent, types)} * (COUNT(*) - COUNT({grids[0]}))")
    return entries


def _render_entry(entry: Polynomial, variables: list[tuple[str, Variable]], types: Types) -> str:
    """A * SUM(x * x * y) + b * SUM(x * y) + ..., each sum over the rows where all variables of the entry have a value.

    The products with constants are of the widest integers, because in others enough rows would make them fail.
    """
    named = [any(exponents[place] for _, exponents in entry.terms) for place in range(len(variables))]
    terms = entry.terms or ((0, (0,) * len(variables)),)
    return " + ".join(
        f"{_widen(coefficient, types)} * {_render_sum(exponents, named, variables, types)}"
        for coefficient, exponents in terms
    )


def _render_sum(exponents: Exponents, named: list[bool], variables: list[tuple[str, Variable]], types: Types) -> str:
    """The sum of one product; where nothing is multiplied of one variable, how many rows have it: that is quicker."""
    if not any(exponents) and sum(named) == 1:
        return f"COUNT({variables[named.index(True)][0]})"
    return f"SUM({render_product(exponents, _render_steps(exponents, named, variables, types))})"


def _widen(constant: int, types: Types) -> str:
    return f"CAST({integer(constant)} AS {types.wide.name})"


def _render_steps(
    exponents: Exponents, named: list[bool], variables: list[tuple[str, Variable]], types: Types
) -> dict[int, str]:
    """The variables that an entry names, in integers that hold the product of one of its terms."""
    domains = [variable.domain for _, variable in variables]
    size = prod(max(1, domain.width) ** exponent for domain, exponent in zip(domains, exponents, strict=True))
    # A variable that is not in the product is still counted from its lower end, to be multiplied by 0.
    largest = max([size, *(max(domain.magnitude, domain.width) for domain in domains)])
    kind = types.long if largest <= types.long.largest else types.wide
    return {
        place: f"(CAST({grid} AS {kind.name}) - {integer(variable.domain.grid_lower)})"
        for place, (grid, variable) in enumerate(variables)
        if named[place]
    }


def render_product(exponents: Exponents, steps: Mapping[int, str]) -> str:
    """X * x * y, with 0 times what is not in it: so that it is NULL where that is."""
    factors = [step for place, step in steps.items() for _ in range(exponents[place])]
    absent = [f"0 * {step}" for place, step in steps.items() if not exponents[place]]
    return " + ".join([" * ".join(factors) or "1", *absent])
