"""Noisy integers as numbers: the last conversion, and the interval that the noise's own law gives."""

from fractions import Fraction

import numpy as np

from adomnia.noise import Integers
from adomnia.statistics.contract import Bounds, Estimate, Floats, Measured


def in_steps(measured: Measured, step: Fraction, method: str) -> Estimate:
    """The estimate whose unit is one step: the noisy integers times the step, and as far around them as noise goes."""

    def interval(confidence: float, cells: int) -> Bounds:
        reach = measured.noise.interval(confidence, cells).half_width
        # In Python's integers, because both may be near the end of 64 bits.
        values = measured.values.astype(object)
        return times(values - reach, step), times(values + reach, step)

    parts = ((measured, step),)
    return Estimate(times(measured.values, step), interval, method, whole=step.denominator == 1, parts=parts)


def times(integers: Integers, step: Fraction) -> Floats:
    """Integers times a step, as doubles."""
    # Multiplied first and divided last: 123 tenths are then the double nearest to 12.3, not one beside it.
    return np.asarray(integers, dtype=np.float64) * step.numerator / step.denominator
