"""Every sampler draws its documented law and no other, at every scale, and refuses what lies outside."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import bdtr, bdtrc, chdtrc

from adomnia.noise.discrete import discrete_gaussian, discrete_laplace, geometric
from kit.bits import SeededBits
from kit.laws import fits_the_law, gaussian_law, geometric_law, laplace_law, p_value_of_counts

MILLION = 10**6
SCALES = [Fraction(text) for text in ("1/2", "1", "3/2", "3", "10", "100", "1e4", "1e6", "1e12")]
VARIANCES = [Fraction(text) for text in ("1/4", "1", "9", "100", "1e4", "1e8")]
AWKWARD_SCALES = [
    Fraction(text) for text in ("1/100", "1/7", "1023", "1024", "1025", "2047/2", "355/113", "123456789/1000", "1e9")
]
AWKWARD_VARIANCES = [
    Fraction(text) for text in ("1/10000", "1/10", "2", "355/113", "1e6", "1048577", "1e12", "1e18", "1e24")
]
HUGE_SCALES = [Fraction(10) ** power for power in (15, 16, 18, 19, 24, 30)]
HUGE_VARIANCES = [Fraction(10) ** power for power in (30, 36, 38, 48, 60)]
UP, DOWN = Fraction(103, 100), Fraction(97, 100)


def rejects_both_sides(draws, law, parameter, up, down):
    """Neither the law a little wider nor the law a little narrower passes."""
    return not fits_the_law(draws, law(parameter * up)) and not fits_the_law(draws, law(parameter * down))


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.no_cover
def test_a_million_laplace_draws_fit_their_scale_and_none_three_percent_off(scale, seeded_bits):
    draws = discrete_laplace(scale, (MILLION,), seeded_bits)
    assert fits_the_law(draws, laplace_law(scale))
    assert rejects_both_sides(draws, laplace_law, scale, UP, DOWN)


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
@pytest.mark.no_cover
def test_a_million_gaussian_draws_fit_their_variance_and_no_deviation_three_percent_off(variance, seeded_bits):
    draws = discrete_gaussian(variance, (MILLION,), seeded_bits)
    assert fits_the_law(draws, gaussian_law(variance))
    assert rejects_both_sides(draws, gaussian_law, variance, UP**2, DOWN**2)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3), Fraction(1000), Fraction(10**7)], ids=str)
@pytest.mark.no_cover
def test_a_million_geometric_draws_fit_their_scale_and_none_three_percent_off(scale, seeded_bits):
    draws = geometric(scale, (MILLION,), seeded_bits)
    assert draws.min() >= 0
    assert fits_the_law(draws, geometric_law(scale))
    assert rejects_both_sides(draws, geometric_law, scale, UP, DOWN)


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_twenty_thousand_laplace_draws_reject_a_scale_ten_percent_off(scale, seeded_bits):
    draws = discrete_laplace(scale, (20_000,), seeded_bits)
    assert fits_the_law(draws, laplace_law(scale))
    assert rejects_both_sides(draws, laplace_law, scale, Fraction(11, 10), Fraction(9, 10))


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_twenty_thousand_gaussian_draws_reject_a_deviation_ten_percent_off(variance, seeded_bits):
    draws = discrete_gaussian(variance, (20_000,), seeded_bits)
    assert fits_the_law(draws, gaussian_law(variance))
    assert rejects_both_sides(draws, gaussian_law, variance, Fraction(121, 100), Fraction(81, 100))


@pytest.mark.parametrize("scale", AWKWARD_SCALES, ids=str)
@pytest.mark.no_cover
def test_scales_at_the_seams_of_the_sampler_keep_the_law(scale, seeded_bits):
    draws = discrete_laplace(scale, (200_000,), seeded_bits)
    assert fits_the_law(draws, laplace_law(scale))


@pytest.mark.parametrize("variance", AWKWARD_VARIANCES, ids=str)
def test_variances_at_the_seams_of_the_sampler_keep_the_law(variance, seeded_bits):
    draws = discrete_gaussian(variance, (200_000,), seeded_bits)
    assert fits_the_law(draws, gaussian_law(variance))


@pytest.mark.parametrize("scale", HUGE_SCALES, ids=str)
@pytest.mark.no_cover
def test_huge_laplace_scales_give_integers_of_the_right_law(scale, seeded_bits):
    draws = discrete_laplace(scale, (20_000,), seeded_bits)
    assert all(type(draw) is int for draw in draws.tolist())
    assert fits_the_law(draws, laplace_law(scale))
    assert rejects_both_sides(draws, laplace_law, scale, Fraction(11, 10), Fraction(9, 10))


@pytest.mark.parametrize("variance", HUGE_VARIANCES, ids=str)
@pytest.mark.no_cover
def test_huge_gaussian_variances_give_integers_of_the_right_law(variance, seeded_bits):
    draws = discrete_gaussian(variance, (20_000,), seeded_bits)
    assert all(type(draw) is int for draw in draws.tolist())
    assert fits_the_law(draws, gaussian_law(variance))
    assert rejects_both_sides(draws, gaussian_law, variance, Fraction(121, 100), Fraction(81, 100))


@pytest.mark.parametrize("scale", [Fraction(10**6), Fraction(10**12), Fraction(10**24)], ids=str)
@pytest.mark.no_cover
def test_the_low_digits_of_large_noise_are_uniform(scale, seeded_bits):
    """Residues are uniform to within 1e-9 of their share at these scales: far below what the draws can see."""
    draws = discrete_laplace(scale, (40_000,), seeded_bits)
    for modulus in (2, 3, 16, 100, 256):
        residues = (draws % modulus).astype(np.int64)
        uniform = np.full(modulus, 1 / modulus)
        assert p_value_of_counts(np.bincount(residues, minlength=modulus), uniform) >= 5e-8  # 15 tests: 1e-6
        tilted = np.where(np.arange(len(residues)) % 10 == 0, 0, residues)
        assert p_value_of_counts(np.bincount(tilted, minlength=modulus), uniform) < 5e-8


@pytest.mark.parametrize("parameter", [Fraction(1), Fraction(3), Fraction(10**6)], ids=str)
@pytest.mark.parametrize("draw", [discrete_laplace, discrete_gaussian])
def test_signs_are_fair_and_zero_is_not_counted_twice(draw, parameter, seeded_bits):
    draws = draw(parameter, (400_000,), seeded_bits)
    above, below = int((draws > 0).sum()), int((draws < 0).sum())
    assert bdtrc(max(above, below) - 1, above + below, 0.5) >= 5e-7  # two-sided, 1e-6
    assert bdtr(int(0.49 * (above + below)), above + below, 0.5) < 1e-6  # a 2% biased sign would be seen


@pytest.mark.parametrize(
    ("draw", "edges"), [(discrete_laplace, [-8000, -2000, 2000, 8000]), (discrete_gaussian, [-80, -25, 25, 80])]
)
def test_neighbouring_draws_of_one_vector_are_independent(draw, edges, seeded_bits):
    cells = np.searchsorted(edges, draw(Fraction(10**4), (800_000,), seeded_bits))
    left, right = cells[::2], cells[1::2]
    assert pairs_are_independent(left, right)
    assert pairs_are_independent(right[:-1], left[1:])
    assert not pairs_are_independent(left, np.where(np.arange(400_000) % 20 == 0, left, right))


def pairs_are_independent(left, right, alpha=1e-6):
    """Pearson's test of a five by five table with given margins."""
    table = np.bincount(5 * left + right, minlength=25).reshape(5, 5)
    expected = np.outer(table.sum(1), table.sum(0)) / len(left)
    return chdtrc(16, ((table - expected) ** 2 / expected).sum()) >= alpha


SAMPLERS = [
    (discrete_laplace, "scale", (Fraction(1, 100), Fraction(10**30))),
    (discrete_gaussian, "variance", (Fraction(1, 10**4), Fraction(10**60))),
    (geometric, "scale", (Fraction(1, 100), Fraction(10**30))),
]


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 4), (0, 5), (2, 0, 3), (50,)])
@pytest.mark.parametrize(("sampler", "limits"), [(sampler, limits) for sampler, _, limits in SAMPLERS])
def test_noise_has_the_shape_that_was_asked_for(sampler, limits, shape, seeded_bits):
    for parameter in (Fraction(3), Fraction(10**5), limits[1]):
        assert sampler(parameter, shape, seeded_bits).shape == shape
    assert sampler(Fraction(3), shape, seeded_bits).dtype == np.int64


@pytest.mark.soak
def test_ten_million_draws_come_in_one_request():
    draws = discrete_laplace(Fraction(10), (10**7,), SeededBits("ten million"))
    assert draws.shape == (10**7,)
    assert fits_the_law(draws, laplace_law(Fraction(10)))
    assert rejects_both_sides(draws, laplace_law, Fraction(10), Fraction(101, 100), Fraction(99, 100))


@pytest.mark.parametrize(("sampler", "field", "limits"), SAMPLERS)
def test_the_limits_of_the_range_are_drawn_and_what_lies_beyond_is_refused(sampler, field, limits, seeded_bits):
    smallest, largest = limits
    assert sampler(smallest, (100,), seeded_bits).tolist() == [0] * 100  # P[0] > 1 - 1e-40
    assert len(set(sampler(largest, (10,), seeded_bits).tolist())) == 10
    for outside in (
        smallest * Fraction(999, 1000),
        largest + 1,
        Fraction(1, 10**400),
        Fraction(10**400),
        Decimal("1e-400"),
    ):
        with pytest.raises(ValueError, match=f"^{sampler.__name__} {field} must be .*, got "):
            sampler(outside, (1,), seeded_bits)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (0.0, "0.0"),
        (-1, "-1"),
        (Fraction(-1, 2), "-1/2"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (float("-inf"), "-inf"),
        (Decimal("NaN"), "NaN"),
        ("3", "'?3'?"),
        (None, "None"),
        (True, "True"),
        (np.float64("nan"), "nan"),
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    ("sampler", "field"),
    [(discrete_laplace, "scale"), (discrete_gaussian, "variance"), (geometric, "scale")],
)
def test_a_parameter_that_is_no_positive_number_is_refused_by_name_field_rule_and_value(
    sampler, field, value, shown, seeded_bits
):
    with pytest.raises(ValueError, match=f"^{sampler.__name__} {field} must be .*, got .*{shown}.*\\.$"):
        sampler(value, (1,), seeded_bits)


@pytest.mark.parametrize("same", [Fraction(5, 2), 2.5, Decimal("2.5")], ids=repr)
def test_equal_parameters_draw_equal_noise_however_they_are_written(same):
    expected = discrete_laplace(Fraction(5, 2), (50,), SeededBits(1))
    assert (discrete_laplace(same, (50,), SeededBits(1)) == expected).all()
