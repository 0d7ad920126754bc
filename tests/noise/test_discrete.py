"""Every sampler draws its documented distribution and no other, at every scale, and refuses what lies outside."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.special import bdtr, bdtrc, chdtrc

from adomnia.errors import Failure
from adomnia.noise.discrete import (
    LogQuadratic,
    _compare_with_exp,
    add,
    describe_array,
    discrete_gaussian,
    discrete_laplace,
    geometric,
    is_integers,
)
from kit.bits import Exhausted, ScriptedBits, SeededBits
from kit.distributions import (
    exact_gaussian,
    exact_laplace,
    fits_the_distribution,
    gaussian_distribution,
    geometric_distribution,
    laplace_distribution,
    p_value_of_counts,
    rational,
    tabulated,
)

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
ONES = 2**64 - 1
ZERO = Fraction(0)


def rejects_both_sides(draws, distribution, parameter, up, down):
    """Neither the distribution a little wider nor the distribution a little narrower passes."""
    return not fits_the_distribution(draws, distribution(parameter * up)) and not fits_the_distribution(
        draws, distribution(parameter * down)
    )


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.no_cover
def test_a_million_laplace_draws_fit_their_scale_and_none_three_percent_off(scale, seeded_bits):
    draws = discrete_laplace(scale, (MILLION,), seeded_bits)
    assert fits_the_distribution(draws, laplace_distribution(scale))
    assert rejects_both_sides(draws, laplace_distribution, scale, UP, DOWN)


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
@pytest.mark.no_cover
def test_a_million_gaussian_draws_fit_their_variance_and_no_deviation_three_percent_off(variance, seeded_bits):
    draws = discrete_gaussian(variance, (MILLION,), seeded_bits)
    assert fits_the_distribution(draws, gaussian_distribution(variance))
    assert rejects_both_sides(draws, gaussian_distribution, variance, UP**2, DOWN**2)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3), Fraction(1000), Fraction(10**7)], ids=str)
@pytest.mark.no_cover
def test_a_million_geometric_draws_fit_their_scale_and_none_three_percent_off(scale, seeded_bits):
    draws = geometric(scale, (MILLION,), seeded_bits)
    assert draws.min() >= 0
    assert fits_the_distribution(draws, geometric_distribution(scale))
    assert rejects_both_sides(draws, geometric_distribution, scale, UP, DOWN)


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_twenty_thousand_laplace_draws_reject_a_scale_ten_percent_off(scale, seeded_bits):
    draws = discrete_laplace(scale, (20_000,), seeded_bits)
    assert fits_the_distribution(draws, laplace_distribution(scale))
    assert rejects_both_sides(draws, laplace_distribution, scale, Fraction(11, 10), Fraction(9, 10))


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_twenty_thousand_gaussian_draws_reject_a_deviation_ten_percent_off(variance, seeded_bits):
    draws = discrete_gaussian(variance, (20_000,), seeded_bits)
    assert fits_the_distribution(draws, gaussian_distribution(variance))
    assert rejects_both_sides(draws, gaussian_distribution, variance, Fraction(121, 100), Fraction(81, 100))


@pytest.mark.parametrize("scale", AWKWARD_SCALES, ids=str)
@pytest.mark.no_cover
def test_scales_at_the_seams_of_the_sampler_keep_the_distribution(scale, seeded_bits):
    draws = discrete_laplace(scale, (200_000,), seeded_bits)
    assert fits_the_distribution(draws, laplace_distribution(scale))


@pytest.mark.parametrize("variance", AWKWARD_VARIANCES, ids=str)
def test_variances_at_the_seams_of_the_sampler_keep_the_distribution(variance, seeded_bits):
    draws = discrete_gaussian(variance, (200_000,), seeded_bits)
    assert fits_the_distribution(draws, gaussian_distribution(variance))


@pytest.mark.parametrize("scale", HUGE_SCALES, ids=str)
@pytest.mark.no_cover
def test_huge_laplace_scales_give_integers_of_the_right_distribution(scale, seeded_bits):
    draws = discrete_laplace(scale, (20_000,), seeded_bits)
    assert all(type(draw) is int for draw in draws.tolist())
    assert fits_the_distribution(draws, laplace_distribution(scale))
    assert rejects_both_sides(draws, laplace_distribution, scale, Fraction(11, 10), Fraction(9, 10))


@pytest.mark.parametrize("variance", HUGE_VARIANCES, ids=str)
@pytest.mark.no_cover
def test_huge_gaussian_variances_give_integers_of_the_right_distribution(variance, seeded_bits):
    draws = discrete_gaussian(variance, (20_000,), seeded_bits)
    assert all(type(draw) is int for draw in draws.tolist())
    assert fits_the_distribution(draws, gaussian_distribution(variance))
    assert rejects_both_sides(draws, gaussian_distribution, variance, Fraction(121, 100), Fraction(81, 100))


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
    assert fits_the_distribution(draws, laplace_distribution(Fraction(10)))
    assert rejects_both_sides(draws, laplace_distribution, Fraction(10), Fraction(101, 100), Fraction(99, 100))


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


def gaussian_rate(variance):
    return 1 / (2 * Fraction(variance))


@pytest.mark.parametrize("first_bits", [2, 3, 8])
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3), Fraction(10), Fraction(10**4)], ids=str)
@pytest.mark.no_cover
def test_forced_refinement_keeps_the_laplace_distribution(scale, first_bits, seeded_bits):
    draws = LogQuadratic(1 / scale, ZERO, first_bits).draw(20_000, seeded_bits)
    assert fits_the_distribution(draws, laplace_distribution(scale))
    assert not fits_the_distribution(draws, laplace_distribution(scale * Fraction(11, 10)))
    assert not fits_the_distribution(draws, laplace_distribution(scale * Fraction(9, 10)))


@pytest.mark.parametrize("first_bits", [2, 3, 8])
@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(9), Fraction(100), Fraction(10**8)], ids=str)
@pytest.mark.no_cover
def test_forced_refinement_keeps_the_gaussian_distribution(variance, first_bits, seeded_bits):
    draws = LogQuadratic(ZERO, gaussian_rate(variance), first_bits).draw(20_000, seeded_bits)
    assert fits_the_distribution(draws, gaussian_distribution(variance))
    assert not fits_the_distribution(draws, gaussian_distribution(variance * Fraction(121, 100)))
    assert not fits_the_distribution(draws, gaussian_distribution(variance * Fraction(81, 100)))


def test_a_distribution_with_both_terms_is_drawn_too(seeded_bits):
    draws = LogQuadratic(Fraction(1, 50), Fraction(1, 2000), 16).draw(200_000, seeded_bits)
    k = np.arange(-500.0, 501.0)
    assert fits_the_distribution(draws, tabulated(np.exp(-np.abs(k) / 50 - k * k / 2000), -500))
    assert not fits_the_distribution(draws, tabulated(np.exp(-np.abs(k) / 60 - k * k / 2000), -500))


def turning_points(weight, last):
    """P[K <= k] for k = 0 .. last under the distribution on k >= 0 with these weights, at the working precision."""
    weights = [weight(k) for k in range(last + 1)]
    heads = [mpmath.fsum(weights[: k + 1]) for k in range(last + 1)]
    total = mpmath.fsum(weight(k) for k in range(60 * (last + 1)))
    return [head / total for head in heads]


@pytest.mark.no_cover
@pytest.mark.parametrize("first_bits", [3, 8, 32, 40])
@pytest.mark.parametrize(
    ("linear", "quadratic", "exact"),
    [
        (Fraction(1), ZERO, lambda k: exact_laplace(k, Fraction(1))),
        (Fraction(1, 3), ZERO, lambda k: exact_laplace(k, Fraction(3))),
        (ZERO, Fraction(1, 2), lambda k: exact_gaussian(k, Fraction(1))),
        (ZERO, Fraction(1, 18), lambda k: exact_gaussian(k, Fraction(9))),
    ],
    ids=["scale 1", "scale 3", "variance 1", "variance 9"],
)
def test_cells_turn_into_the_next_at_the_exact_cumulative_probability(linear, quadratic, exact, first_bits):
    """Just below P[K <= k] the draw is k, just above it is k + 1: 64 bits beyond the first ones, against 80 digits."""
    sampler = LogQuadratic(linear, quadratic, first_bits)
    with mpmath.workdps(80):
        turns = [int(mpmath.floor(mpmath.ldexp(point, first_bits + 64))) for point in turning_points(exact, 7)]
    for k, turn in enumerate(turns):
        assert drawn_from(sampler, turn - 2, first_bits) == k
        assert drawn_from(sampler, turn + 2, first_bits) == k + 1


def drawn_from(sampler, uniform, first_bits):
    """The magnitude drawn when the first uniform number starts with these first_bits + 64 bits."""
    first = (uniform >> 64) << (64 - first_bits)
    return int(sampler.magnitudes(1, ScriptedBits([[first, 0], [uniform & ONES]]))[0])


BLOCKS = {
    "scale 1e4": (Fraction(1, 10**4), ZERO),
    "scale 1e6 + 1/3": (1 / (10**6 + Fraction(1, 3)), ZERO),
    "scale 1e12": (Fraction(1, 10**12), ZERO),
    "scale 1e14": (Fraction(1, 10**14), ZERO),
    "variance 1e8": (ZERO, gaussian_rate(10**8)),
    "variance 1e20": (ZERO, gaussian_rate(10**20)),
    "both": (Fraction(1, 10**5), gaussian_rate(10**10)),
}


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("cell", [0, 1, 2, 5])
@pytest.mark.parametrize("place", [Fraction(1, 9), Fraction(1, 2), Fraction(99, 100)], ids=str)
def test_offsets_are_accepted_up_to_the_exact_probability(name, cell, place):
    """Just below exp(-exponent) the offset stays, just above it goes: at 64 bits beyond the first ones."""
    linear, quadratic = BLOCKS[name]
    sampler = LogQuadratic(linear, quadratic)
    block_bits = sampler._block_bits
    block = 2**block_bits
    offset = int(place * block)
    length = min(52, 64 - block_bits)
    with mpmath.workdps(80):
        exponent = rational(offset * (linear + quadratic * (2 * cell * block + offset)))
        turn = int(mpmath.floor(mpmath.ldexp(mpmath.exp(-exponent), length + 64)))
    first = middle_of_cell(cell, linear * block, quadratic * block * block)
    assert proposed(sampler, first, offset, turn - 3, length) == cell * block + offset
    assert proposed(sampler, first, offset, turn + 3, length) is None


def middle_of_cell(cell, linear, quadratic):
    """A word in the middle of the cell's share of the unit interval."""
    k = np.arange(0, 2000.0)
    sums = np.cumsum(np.exp(-float(linear) * k - float(quadratic) * k * k))
    sums = np.concatenate([[0.0], sums / sums[-1]])
    return int((sums[cell] + sums[cell + 1]) / 2 * 2.0**64)


def proposed(sampler, first, offset, uniform, length):
    """The magnitude if the one proposal that is not hopeless is accepted, else None."""
    hopeless = ONES  # the largest uniform number beside the largest offset
    word = (uniform >> 64) << (64 - length) | offset
    bits = ScriptedBits([[first], [word, hopeless], [uniform & ONES]])
    try:
        return int(sampler.magnitudes(1, bits)[0])
    except Exhausted:
        assert bits.requests[-1] > 1, "64 further bits must decide"
        return None


@pytest.mark.parametrize("length", [16, 27, 52])
@pytest.mark.no_cover
def test_the_fast_acceptance_is_never_wrong_and_seldom_open(length):
    """Exponents over the whole range, uniforms at and around the turn and at random, against 50 digits."""
    words = SeededBits(("fast", length)).words(6000)
    exponents = (words[:3000] >> np.uint64(11)) * 2.0**-53 * np.repeat([1.5, 0.5, 1e-3], 1000)
    with mpmath.workdps(50):
        chances = [mpmath.exp(-mpmath.mpf(float(exponent))) for exponent in exponents]
        turns = np.array([int(mpmath.floor(mpmath.ldexp(chance, length))) for chance in chances], dtype=np.uint64)
        near = turns + np.repeat([0, 1, 2], 1000).astype(np.uint64) - (turns > 0).astype(np.uint64)
        for uniforms in (near, words[3000:] >> np.uint64(64 - length)):
            accepted, left_open = _compare_with_exp(uniforms, length, exponents)
            undecided = set(left_open.tolist())
            for index, chance in enumerate(chances):
                scaled = mpmath.ldexp(chance, length)
                if accepted[index]:
                    assert int(uniforms[index]) + 1 <= scaled
                elif index not in undecided:
                    assert int(uniforms[index]) >= scaled
        assert sum(index >= 1000 for index in undecided) <= (5 if length > 16 else 20)  # beyond 1/2 all stay open


def test_a_source_that_follows_a_boundary_for_ever_ends_in_failure():
    """The digits of P[K = 0] = 1 - exp(-1) itself: no number of them decides, so the draw ends without noise."""
    with mpmath.workdps(800):
        digits = int(mpmath.floor(mpmath.ldexp(1 - mpmath.exp(-1), 32 + 64 * 30)))
    first, words = digits >> 64 * 30 << 32, [digits >> 64 * place & ONES for place in reversed(range(30))]
    with pytest.raises(Failure):
        LogQuadratic(Fraction(1), ZERO, 32).magnitudes(1, ScriptedBits([[first], *([word] for word in words)]))


def test_a_source_stuck_at_minus_zero_ends_in_failure():
    """Words that propose minus zero for ever: the loop is bounded, and ends without noise."""

    class Stuck:
        def words(self, count):
            return np.ones(count, dtype=np.uint64)

    with pytest.raises(Failure):
        LogQuadratic(Fraction(1), ZERO).draw(1, Stuck())


@pytest.mark.parametrize("count", [0, 1, 2, 1000, 40_000, 100_001])
def test_as_many_draws_come_as_were_asked_for(count, seeded_bits):
    for linear in (Fraction(1, 3), Fraction(1, 10**6)):
        assert LogQuadratic(linear, ZERO).draw(count, seeded_bits).shape == (count,)
        assert LogQuadratic(linear, ZERO).magnitudes(count, seeded_bits).shape == (count,)


@pytest.mark.no_cover
def test_one_vector_and_many_single_draws_have_the_same_distribution(seeded_bits):
    """A batch that stops at its first acceptances must not prefer those that are accepted early."""
    sampler = LogQuadratic(Fraction(1, 3000), ZERO)
    draws = np.concatenate([sampler.draw(1, seeded_bits) for _ in range(20_000)])
    assert fits_the_distribution(draws, laplace_distribution(Fraction(3000)))
    assert not fits_the_distribution(draws, laplace_distribution(Fraction(3300)))


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 2)])
@pytest.mark.parametrize("dtype", [np.int64, object])
def test_a_sum_keeps_its_shape_and_is_an_array_even_without_dimensions(shape, dtype):
    """A 0-dimensional sum of Python integers used to come back as a bare number, which has no shape."""
    exact, noise = np.full(shape, 5, dtype=dtype), np.full(shape, -2, dtype=np.int64)
    total = add(exact, noise)
    assert type(total) is np.ndarray
    assert total.shape == shape
    assert total.dtype == dtype
    assert (total == 3).all()


def test_python_integers_stay_exact_beyond_64_bits():
    exact = np.array(10**30, dtype=object)
    assert add(exact, np.array(1, dtype=np.int64)).item() == 10**30 + 1


@pytest.mark.parametrize(
    ("array", "words"),
    [
        ([1, 2], "list"),
        (np.array([1.5]), "ndarray of float64"),
        (np.array([True]), "ndarray of bool"),
        (np.array([1], dtype=np.uint64), "ndarray of uint64"),
        (np.ma.MaskedArray([1], mask=[1]), "MaskedArray of int64"),
        (np.array([1, "a"], dtype=object), "ndarray of object"),
    ],
    ids=str,
)
def test_everything_else_is_named_without_a_value(array, words):
    assert not is_integers(array)
    assert describe_array(array) == words


def test_plain_arrays_are_taken():
    assert is_integers(np.array([1, 2]))
    assert is_integers(np.array([1, 10**40], dtype=object))
