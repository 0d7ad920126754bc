"""Vectors as SQL: one sum for each entry, its polynomial computed in integers by Horner's rule.

No row can make it fail: every step of an entry stays within `Vector.magnitude`, and is computed in integers that hold
it. Proof: docs/proofs/vectors.md.
"""

from adomnia.engines.render.constants import integer
from adomnia.engines.render.scalars import Scalars
from adomnia.privacy.polynomials import Term
from adomnia.privacy.vectors import Vector


def entries(vector: Vector, scalars: Scalars) -> list[str]:
    """The exact sum of each entry, NULL where no row has all that it names."""
    largest = max([vector.magnitude, *(variable.domain.magnitude for variable in vector.variables)])
    kind = "BIGINT" if largest < 2**63 else "HUGEINT"
    variables = [
        f"(CAST({scalars.grid(variable.value, variable.domain)} AS {kind}) - {integer(variable.domain.grid_lower)})"
        for variable in vector.variables
    ]
    return [f"SUM({_horner(entry.terms, variables)})" for entry in vector.entries]


def _horner(terms: tuple[Term, ...], variables: list[str]) -> str:
    """((a) * x + b) * x + c, where a, b and c are polynomials of the variables that follow."""
    if not variables:
        return integer(sum(coefficient for coefficient, _ in terms))
    first, *others = variables
    powers = _powers(terms)
    text = _horner(powers[-1], others)
    for factor in reversed(powers[:-1]):
        text = f"({text}) * {first}"
        if factor:
            text += f" + {_horner(factor, others)}"
    return text


def _powers(terms: tuple[Term, ...]) -> list[tuple[Term, ...]]:
    """What the powers of the first variable are multiplied by, from the power of 0 to the highest."""
    highest = max((exponents[0] for _, exponents in terms), default=0)
    return [
        tuple((coefficient, exponents[1:]) for coefficient, exponents in terms if exponents[0] == power)
        for power in range(highest + 1)
    ]
