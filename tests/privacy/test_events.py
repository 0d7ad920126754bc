from __future__ import annotations

import copy
import json
import pickle
from dataclasses import FrozenInstanceError, fields, replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.privacy.events import (
    Approximate,
    BoundedRange,
    Composed,
    Concentrated,
    Pure,
    ScalarGaussian,
    ScalarLaplace,
    from_record,
    to_record,
)
from privacy.references import NOT_FINITE_NUMBERS, NOT_POSITIVE, TOO_EXTREME, events, fractions, some

ONE_OF_EACH = [
    Pure(0.1),
    BoundedRange(0.1),
    Concentrated(0.1, 1e-6),
    Approximate(0.1, 1e-6),
    ScalarLaplace(10, 2),
    ScalarGaussian(10, 2),
]
AMOUNTS = [(type(event), field.name) for event in ONE_OF_EACH for field in fields(event) if field.name != "distance"]


def changed(kind, field, value):
    example = next(event for event in ONE_OF_EACH if type(event) is kind)
    return replace(example, **{field: value})


@pytest.mark.parametrize(("kind", "field"), AMOUNTS)
@pytest.mark.parametrize("value", NOT_FINITE_NUMBERS + TOO_EXTREME, ids=lambda value: type(value).__name__)
def test_what_no_amount_can_be_is_refused_by_class_and_field(kind, field, value):
    with pytest.raises(ValueError, match=f"^{kind.__name__} {field} must be (a finite number|0 or between 1e-300)"):
        changed(kind, field, value)


@pytest.mark.parametrize(("kind", "field"), [pair for pair in AMOUNTS if pair[1] != "delta"])
@pytest.mark.parametrize("value", NOT_POSITIVE)
def test_amounts_other_than_delta_are_above_zero(kind, field, value):
    with pytest.raises(ValueError, match=f"^{kind.__name__} {field} must be > 0, got {value}\\.$"):
        changed(kind, field, value)


@pytest.mark.parametrize("kind", [Concentrated, Approximate])
@pytest.mark.parametrize("value", [-1e-9, 1, 2.5])
def test_deltas_lie_between_zero_and_one(kind, value):
    with pytest.raises(ValueError, match=f"^{kind.__name__} delta must be >= 0 and < 1, got {value}\\.$"):
        changed(kind, "delta", value)


@pytest.mark.parametrize("kind", [ScalarLaplace, ScalarGaussian])
@pytest.mark.parametrize("value", [0, -1, 0.5, True, None, "1", float("nan")])
def test_an_integer_moves_by_whole_steps(kind, value):
    with pytest.raises(ValueError, match=f"^{kind.__name__} distance must be "):
        kind(1, value)


@pytest.mark.parametrize("tenth", [0.1, Fraction(1, 10), Decimal("0.1"), np.float64(0.1)])
def test_every_way_to_write_a_tenth_makes_the_same_event(tenth):
    assert Pure(tenth) == Pure(epsilon=0.1)
    assert hash(Pure(tenth)) == hash(Pure(0.1))
    assert Pure(tenth).epsilon == Fraction(1, 10)


@pytest.mark.parametrize("event", [*ONE_OF_EACH, Composed([Pure(1)])], ids=lambda event: type(event).__name__)
def test_events_are_values(event):
    assert pickle.loads(pickle.dumps(event)) == copy.deepcopy(event) == event
    with pytest.raises(FrozenInstanceError):
        setattr(event, fields(event)[0].name, 1)


@some
@given(fractions, st.integers(1, 100), st.fractions(min_value=Fraction(1, 100), max_value=1))
def test_prices_split_exactly(amount, parts, share):
    assert Pure(amount) / parts * parts == Pure(amount)
    assert Pure(amount) * share == Pure(amount * share)
    price = Concentrated(amount, Fraction(1, 10**6))
    assert price / parts == Concentrated(amount / parts, Fraction(1, parts * 10**6))
    assert price / parts * parts == price
    assert price * share == Concentrated(amount * share, share / 10**6)


@pytest.mark.parametrize("price", [Pure(1), Concentrated(1)])
@pytest.mark.parametrize("factor", [0, -1, float("nan"), "2", None, True])
def test_prices_are_split_by_positive_numbers_only(price, factor):
    name = type(price).__name__
    with pytest.raises(ValueError, match=f"^{name} share must be "):
        price * factor
    with pytest.raises(ValueError, match=f"^{name} parts must be "):
        price / factor


@some
@given(events)
def test_a_ledger_reads_back_exactly_what_was_written(event):
    assert from_record(json.loads(json.dumps(to_record(event)))) == event


def test_records_are_what_old_ledgers_hold():
    assert [to_record(event) for event in ONE_OF_EACH] == [
        {"kind": "pure", "epsilon": "1/10"},
        {"kind": "bounded_range", "epsilon": "1/10"},
        {"kind": "concentrated", "rho": "1/10", "delta": "1/1000000"},
        {"kind": "approximate", "epsilon": "1/10", "delta": "1/1000000"},
        {"kind": "scalar_laplace", "scale": "10", "distance": "2"},
        {"kind": "scalar_gaussian", "variance": "10", "distance": "2"},
    ]
    assert to_record(Composed([Pure(1)])) == {"kind": "composed", "events": [{"kind": "pure", "epsilon": "1"}]}


def test_a_field_added_later_takes_its_default():
    assert from_record({"kind": "concentrated", "rho": "1/2"}) == Concentrated(0.5, 0)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"kind": "telepathy"}, r"^Event kind must be one of pure, .*composed, got \{'kind': 'telepathy'\}\.$"),
        ({"epsilon": "1"}, r"^Event kind must be one of .*, got \{'epsilon': '1'\}\.$"),
        ({"kind": ["pure"]}, r"^Event kind must be one of .*, got \{'kind': \['pure'\]\}\.$"),
        ({"kind": "composed", "events": ["pure"]}, r"^Event kind must be one of .*, got 'pure'\.$"),
        ({"kind": "composed", "events": [7]}, r"^Event kind must be one of .*, got 7\.$"),
        ({"kind": "composed", "events": []}, r"^Composed events must hold at least one event, got \(\)\.$"),
        ({"kind": "composed", "events": "1"}, r"^Composed events must be a list of records, got '1'\.$"),
        ({"kind": "pure"}, r"^Pure record must have all its fields, got \[\]\.$"),
        ({"kind": "pure", "epsilon": "1", "tau": "2"}, r"^Pure record must have no field but its own, got 'tau'\.$"),
        ({"kind": "pure", "epsilon": 0.1}, r"^Pure epsilon must be a whole number or a fraction in text, got 0\.1\.$"),
        (
            {"kind": "pure", "epsilon": "1/0"},
            r"^Pure epsilon must be a whole number or a fraction in text, got '1/0'\.$",
        ),
        (
            {"kind": "pure", "epsilon": "1e9"},
            r"^Pure epsilon must be a whole number or a fraction in text, got '1e9'\.$",
        ),
        ({"kind": "pure", "epsilon": "0"}, r"^Pure epsilon must be > 0, got 0\.$"),
    ],
)
def test_a_record_that_cannot_be_trusted_is_refused(record, message):
    with pytest.raises(ValueError, match=message):
        from_record(record)


def test_a_composition_holds_events_and_at_least_one():
    assert Composed(iter([Pure(1), Composed([Pure(2)])])).events == (Pure(1), Composed([Pure(2)]))
    with pytest.raises(ValueError, match=r"^Composed events must hold at least one event, got \(\)\.$"):
        Composed([])
    with pytest.raises(ValueError, match=r"^Composed events must be events, got 0\.5\.$"):
        Composed([Pure(1), 0.5])
