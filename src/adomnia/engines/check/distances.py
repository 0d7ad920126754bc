"""Distances of counts from guesses: how far one person moves the scores, from how far the text lets them move counts.

Guesses are public, and compared by us as they are here; what is derived again is what one changed count of each table
makes of every score. Proof: docs/proofs/distances.md.
"""

from collections.abc import Sequence
from fractions import Fraction

from adomnia.privacy.distances import Candidate, Distances
from adomnia.privacy.sensitivity import Sensitivity


def distance_sensitivity(tables: Sequence[Sensitivity], distances: Distances) -> Sensitivity:
    """Of all scores together: a score moves by no more than what it is computed from, whichever way."""
    scores = [move for each in distances.candidates for move in _moves(tables, each, distances)]
    furthest = max(largest for _, _, largest in scores)
    return Sensitivity(sum(total for total, _, _ in scores), sum(squares for _, squares, _ in scores), furthest)


def _moves(
    tables: Sequence[Sensitivity], candidate: Candidate, distances: Distances
) -> list[tuple[Fraction, Fraction, Fraction]]:
    factor = abs(candidate.weight) * distances.scale
    moved = [tables[guess.table] for guess in candidate.guesses]
    if distances.norm == "each":  # every cell of one table is a score, and moves as its count does, for each guess
        (table,) = {guess.table for guess in candidate.guesses}
        by, counts = factor * len(candidate.guesses), tables[table]
        return [(by * counts.l1, by**2 * counts.l2_squared, by * counts.linf)]
    added = sum((each.l1 for each in moved), start=Fraction(0))
    far = factor * (max(each.linf for each in moved) if distances.norm == "largest" else added)
    return [(far, far**2, far)]
