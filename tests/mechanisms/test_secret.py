"""A secret shows nothing, moves nowhere, and opens once for what was paid."""

from __future__ import annotations

import copy
import json
import pickle
import traceback
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.errors import Failure
from adomnia.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Secret
from adomnia.privacy.events import Approximate, BoundedRange, Composed, Concentrated, Pure
from adomnia.privacy.sensitivity import Sensitivity
from kit.bits import BrokenBits
from kit.mechanisms import AnyPrice

CANARY = 918273645546372819
ONE = Sensitivity(l1=1)
LEAST, MOST = -(2**63), 2**63 - 1


def secret_of(values, reserved=None, dtype=np.int64):
    return Secret(np.array(values, dtype=dtype), ONE, reserved or Pure(1))


def kept(values, dtype=np.int64):
    """What a mechanism would see."""
    return secret_of(values, dtype=dtype).opened_by(AnyPrice()).tolist()


@pytest.mark.parametrize("dtype", [np.int64, object])
@pytest.mark.parametrize(
    "shown",
    [
        repr,
        str,
        format,
        ascii,
        "{}".format,
        "{!r}".format,
        "%s".__mod__,
        lambda secret: repr([secret]),
        lambda secret: repr({1: secret}),
    ],
    ids=["repr", "str", "format", "ascii", "braces", "braces repr", "percent", "in a list", "in a dict"],
)
def test_no_text_of_a_secret_shows_its_values(shown, dtype):
    text = shown(secret_of([CANARY, -CANARY], dtype=dtype))
    assert "Secret" in text
    assert str(CANARY) not in text
    assert f"{CANARY:x}" not in text


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_secret_cannot_be_pickled(protocol):
    with pytest.raises(TypeError, match=r"^Secret cannot be"):
        pickle.dumps(secret_of([CANARY]), protocol)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda secret: copy.deepcopy([secret])])
def test_a_secret_cannot_be_copied(copied):
    with pytest.raises(TypeError, match=r"^Secret cannot be"):
        copied(secret_of([CANARY]))


def test_a_secret_has_no_dictionary_and_takes_no_attribute():
    secret = secret_of([CANARY])
    with pytest.raises(TypeError):
        vars(secret)
    with pytest.raises(AttributeError):
        secret.seen = True


@pytest.mark.parametrize(
    "read",
    [int, float, list, len, iter, bytes, sum, json.dumps, lambda secret: secret[0], lambda secret: secret + 1, abs],
)
def test_a_secret_is_no_number_and_no_sequence(read):
    with pytest.raises(TypeError):
        read(secret_of([CANARY]))


def test_an_array_of_a_secret_holds_the_secret_and_not_its_values():
    assert np.array(secret_of([CANARY])).dtype == object
    assert str(CANARY) not in repr(np.array([secret_of([CANARY])]))


def test_equal_values_do_not_make_equal_secrets():
    assert secret_of([CANARY]) != secret_of([CANARY])


@pytest.mark.parametrize(
    "attempt",
    [
        lambda secret: DiscreteLaplace(Fraction(1, 2)).release(secret, BrokenBits()),
        lambda secret: DiscreteLaplace(Fraction(2)).release(secret, BrokenBits()),
        lambda secret: DiscreteGaussian(Fraction(2)).release(secret, BrokenBits()),
        lambda secret: Exponential(Fraction(1, 4)).release(secret, BrokenBits()),
        lambda secret: Exponential(Fraction(4)).release(secret, BrokenBits()),
        lambda secret: (secret.opened_by(AnyPrice()), secret.opened_by(AnyPrice())),
    ],
    ids=["not covered", "broken bits", "another kind", "broken choice", "not covered choice", "twice"],
)
def test_no_traceback_shows_the_values(attempt):
    with pytest.raises((ValueError, Failure)) as error:
        attempt(secret_of([CANARY, CANARY + 1]))
    assert str(CANARY) not in "".join(traceback.format_exception(error.value))


@pytest.mark.parametrize("values", [[2.5], ["a"], [True], [None], [Fraction(1)], [1, 2.0]], ids=repr)
def test_values_that_are_no_integers_are_refused_without_being_shown(values):
    with pytest.raises(TypeError, match=r"^Secret takes .*int64 or Python integers, got [\w ,.]+\.$"):
        secret_of(values, dtype=object)


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.uint64, np.bool_, "U5", "datetime64[s]"])
def test_other_dtypes_are_refused(dtype):
    with pytest.raises(TypeError, match=r"^Secret takes .*int64 or Python integers, got"):
        secret_of([1], dtype=dtype)


@pytest.mark.parametrize(
    "array",
    [
        np.ma.masked_array([1, 2], mask=[True, False]),
        np.array([np.int64(2**62)], dtype=object),
        np.rec.array([(1,)], dtype=[("count", np.int64)]),
        [1, 2],
        7,
    ],
    ids=["masked", "objects that wrap", "records", "list", "number"],
)
def test_arrays_whose_cells_could_leave_without_noise_are_refused(array):
    with pytest.raises(TypeError, match=r"^Secret takes .*int64 or Python integers, got"):
        Secret(array, ONE, Pure(1))


@pytest.mark.parametrize("dtype", [np.int64, object])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 2)])
def test_the_shape_of_a_secret_is_public_and_its_own(shape, dtype):
    secret = Secret(np.zeros(shape, dtype=dtype), ONE, Pure(1))
    assert secret.shape == shape
    assert np.shape(secret.opened_by(AnyPrice())) == shape


def test_a_secret_opens_once():
    secret = secret_of([1, 2])
    assert secret.opened_by(AnyPrice()).tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"^Secret opens once"):
        secret.opened_by(AnyPrice())


def test_of_many_threads_one_opens_the_secret():
    with ThreadPoolExecutor(8) as pool:
        for _ in range(100):
            secret = secret_of([1])
            assert sum(pool.map(opens, [secret] * 16)) == 1


def opens(secret):
    """Whether this attempt got the values."""
    try:
        return secret.opened_by(AnyPrice()).tolist() == [1]
    except ValueError:
        return False


@pytest.mark.parametrize(
    ("reserved", "mechanism", "opens"),
    [
        (Pure(1), DiscreteLaplace(Fraction(1)), True),
        (Pure(1), DiscreteLaplace(Fraction(2)), True),
        (Pure(1), DiscreteLaplace(1 - Fraction(1, 10**30)), False),
        (Pure(1), Exponential(Fraction(1, 2)), True),
        (Pure(1), Exponential(Fraction(1, 2) + Fraction(1, 10**30)), False),
        (BoundedRange(1), Exponential(Fraction(1, 2)), True),
        (BoundedRange(1), DiscreteLaplace(Fraction(1)), False),
        (Pure(1), DiscreteGaussian(Fraction(100)), False),
        (Concentrated(Fraction(1, 2)), DiscreteGaussian(Fraction(1)), True),
        (Concentrated(Fraction(1, 2)), DiscreteGaussian(1 - Fraction(1, 10**30)), False),
        (Concentrated(Fraction(1, 2)), DiscreteLaplace(Fraction(1)), True),
        (Concentrated(Fraction(1, 2)), DiscreteLaplace(Fraction(99, 100)), False),
        (Approximate(1, 1e-6), DiscreteGaussian(Fraction(100)), False),  # accounts count its epsilon, and this has none
        (Approximate(1, 1e-6), DiscreteLaplace(Fraction(1)), True),
        (Approximate(1, 1e-6), DiscreteLaplace(Fraction(99, 100)), False),
        (Composed([Pure(Fraction(1, 2)), Pure(Fraction(1, 2))]), DiscreteLaplace(Fraction(1)), False),
        (Composed([Pure(Fraction(1, 2)), Pure(Fraction(1, 2))]), DiscreteLaplace(Fraction(2)), True),
    ],
    ids=str,
)
def test_a_secret_opens_only_for_what_its_reserve_covers_in_every_currency(reserved, mechanism, opens):
    secret = secret_of([5, 6], reserved)
    if opens:
        assert secret.opened_by(mechanism).tolist() == [5, 6]
    else:
        with pytest.raises(ValueError, match=r"^Secret was reserved for .*, which does not cover"):
            secret.opened_by(mechanism)
        assert secret.opened_by(AnyPrice()).tolist() == [5, 6]


def test_what_happens_to_the_array_afterwards_does_not_reach_the_secret():
    for dtype in (np.int64, object):
        values = np.array([1, 2, 3], dtype=dtype)
        secret = Secret(values, ONE, Pure(1))
        values[:] = 7
        assert secret.opened_by(AnyPrice()).tolist() == [1, 2, 3]


@given(st.lists(st.tuples(st.integers(LEAST, MOST), st.integers(LEAST, MOST)), min_size=1, max_size=8))
def test_saturation_moves_no_two_values_apart(pairs):
    left, right = kept([pair[0] for pair in pairs]), kept([pair[1] for pair in pairs])
    assert max(map(abs, left + right)) <= 2**62
    for before, after in zip(pairs, zip(left, right, strict=True), strict=True):
        assert abs(after[0] - after[1]) <= abs(before[0] - before[1])


@given(st.integers(-(2**62), 2**62))
def test_saturation_leaves_what_fits_as_it_is(value):
    assert kept([value]) == [value]


@pytest.mark.parametrize("value", [2**62 - 1, 2**62, -(2**62) - 1, MOST, MOST - 1, LEAST, LEAST + 1])
def test_neighbours_at_the_ends_of_64_bits_stay_neighbours(value):
    other = value - 1 if value == MOST else value + 1
    [left], [right] = kept([value]), kept([other])
    assert abs(left - right) <= 1
    assert abs(left) <= 2**62


@given(st.integers(-(10**40), 10**40))
def test_python_integers_stay_as_they_are(value):
    assert kept([value], dtype=object) == [value]


class TestCounterExamples:
    """What an adversary got out of earlier versions."""

    def test_masked_cells_do_not_leave_without_noise(self):
        hidden = np.ma.MaskedArray(np.array([CANARY, 7, 99]), mask=[1, 0, 1])
        with pytest.raises(TypeError, match=r"^Secret takes an array .*, got MaskedArray of int64"):
            Secret(hidden, ONE, Pure(1))

    def test_numpy_integers_inside_an_object_array_are_refused(self):
        wrapping = np.empty(1, dtype=object)
        wrapping[0] = np.int64(2**62)
        with pytest.raises(TypeError, match=r"^Secret takes an array"):
            Secret(wrapping, ONE, Pure(1))

    def test_introspection_shows_no_value(self):
        secret = secret_of([CANARY])
        seen = [repr(getattr(secret, name)) for name in dir(secret)]
        assert not any(str(CANARY) in each for each in seen)
        with pytest.raises(TypeError, match="cannot be copied"):
            secret.__getstate__()

    def test_a_scalar_stays_an_array(self):
        assert type(secret_of(5).opened_by(AnyPrice())) is np.ndarray

    @pytest.mark.parametrize("mechanism", [DiscreteLaplace, DiscreteGaussian])
    @pytest.mark.parametrize("size", [Fraction(1, 10**9), Fraction(10**61)])
    def test_noise_that_cannot_be_drawn_is_refused_before_anything_is_sealed(self, mechanism, size):
        with pytest.raises(ValueError, match="must be between"):
            mechanism(size)

    def test_broken_bits_leave_the_secret_unopened(self):
        secret = secret_of([CANARY])
        with pytest.raises(Failure):
            DiscreteLaplace(Fraction(2)).release(secret, BrokenBits())
        assert secret.opened_by(AnyPrice()).tolist() == [CANARY]
