"""What was done, or may be done, as plain data: a price and an event are the same thing before and after.

Accountants interpret events (`losses`, `groups`, `calculators`); an event knows nothing of them. Fields are only ever
added, with a default, so that old ledgers stay readable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from adomnia.privacy.amounts import Number, positive, proportion, whole
from adomnia.privacy.hashing import hashed_once

if TYPE_CHECKING:
    from collections.abc import Iterable


@hashed_once
@dataclass(frozen=True, init=False)
class Pure:
    """Pure epsilon-differential privacy.

    >>> Pure(0.3) / 3
    Pure(epsilon=Fraction(1, 10))
    """

    tag: ClassVar[str] = "Pure"
    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "Pure", "epsilon"))

    def __mul__(self, share: Number) -> Pure:
        return Pure(self.epsilon * positive(share, "Pure", "share"))

    def __truediv__(self, parts: Number) -> Pure:
        return Pure(self.epsilon / positive(parts, "Pure", "parts"))


@dataclass(frozen=True, init=False)
class BoundedRange:
    """Log-likelihood ratios within an interval of that length: the exponential mechanism.

    Cite        Dong, Durfee & Rogers 2020; Cesar & Rogers 2021 (epsilon**2 / 8).
    """

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "BoundedRange", "epsilon"))


@hashed_once
@dataclass(frozen=True, init=False)
class Concentrated:
    """delta-approximate rho-zero-concentrated differential privacy; delta is 0 for Gaussian noise alone.

    Cite        Bun & Steinke 2016, definitions 1.1 and 8.1.
    """

    tag: ClassVar[str] = "Concentrated"
    rho: Fraction
    delta: Fraction

    def __init__(self, rho: Number, delta: Number = 0) -> None:
        object.__setattr__(self, "rho", positive(rho, "Concentrated", "rho"))
        object.__setattr__(self, "delta", proportion(delta, "Concentrated", "delta"))

    def __mul__(self, share: Number) -> Concentrated:
        factor = positive(share, "Concentrated", "share")
        return Concentrated(self.rho * factor, self.delta * factor)

    def __truediv__(self, parts: Number) -> Concentrated:
        return self * (1 / positive(parts, "Concentrated", "parts"))


@dataclass(frozen=True, init=False)
class Approximate:
    """(epsilon, delta)-differential privacy."""

    tag: ClassVar[str] = "Approximate"
    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "Approximate", "epsilon"))
        object.__setattr__(self, "delta", proportion(delta, "Approximate", "delta"))


@dataclass(frozen=True, init=False)
class ScalarLaplace:
    """Discrete Laplace noise of that scale on one integer that a person moves by at most `distance`."""

    scale: Fraction
    distance: int

    def __init__(self, scale: Number, distance: Number) -> None:
        object.__setattr__(self, "scale", positive(scale, "ScalarLaplace", "scale"))
        object.__setattr__(self, "distance", whole(distance, "ScalarLaplace", "distance"))


@dataclass(frozen=True, init=False)
class ScalarGaussian:
    """Discrete Gaussian noise of that variance parameter on one integer that a person moves by at most `distance`."""

    variance: Fraction
    distance: int

    def __init__(self, variance: Number, distance: Number) -> None:
        object.__setattr__(self, "variance", positive(variance, "ScalarGaussian", "variance"))
        object.__setattr__(self, "distance", whole(distance, "ScalarGaussian", "distance"))


@dataclass(frozen=True, init=False)
class Composed:
    """Several events on the same data, each chosen in sight of the outcomes of those before it."""

    events: tuple[Event, ...]

    def __init__(self, events: Iterable[Event]) -> None:
        parts = tuple(events)
        if not parts:
            raise ValueError("Composed events must hold at least one event, got ().")
        for part in parts:
            if type(part) not in _NAMES:
                raise ValueError(f"Composed events must be events, got {part!r}.")
        object.__setattr__(self, "events", parts)


Event: TypeAlias = Pure | BoundedRange | Concentrated | Approximate | ScalarLaplace | ScalarGaussian | Composed
Price: TypeAlias = Pure | Concentrated
AnyPrice: TypeAlias = Price | Approximate  # of what is private but for a delta: of single measurements, and of searches


def add_delta(price: Price, delta: Number) -> Approximate | Concentrated:
    """The price with a delta beside it.

    >>> add_delta(Pure(0.5), 1e-9).epsilon
    Fraction(1, 2)
    """
    return Approximate(price.epsilon, delta) if isinstance(price, Pure) else Concentrated(price.rho, delta)


_KINDS: dict[str, type[Event]] = {
    "pure": Pure,
    "bounded_range": BoundedRange,
    "concentrated": Concentrated,
    "approximate": Approximate,
    "scalar_laplace": ScalarLaplace,
    "scalar_gaussian": ScalarGaussian,
    "composed": Composed,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_AMOUNT = re.compile(r"[0-9]+(/[1-9][0-9]*)?")


def to_record(event: Event) -> dict[str, Any]:
    """The event for a ledger: JSON-safe and exact.

    >>> to_record(Pure(0.1))
    {'kind': 'pure', 'epsilon': '1/10'}
    """
    values = {field.name: getattr(event, field.name) for field in fields(event)}
    return {"kind": _NAMES[type(event)]} | {name: _written(value) for name, value in values.items()}


def from_record(record: Mapping[str, Any]) -> Event:
    """The event of a ledger's record; a field that did not exist when it was written takes its default."""
    name = record.get("kind") if isinstance(record, Mapping) else None
    if not isinstance(name, str) or name not in _KINDS:
        raise ValueError(f"Event kind must be one of {', '.join(_KINDS)}, got {record!r}.")
    kind = _KINDS[name]
    # A field from the future may carry a cost, so it is refused and not skipped.
    unknown = record.keys() - {"kind"} - {field.name for field in fields(kind)}
    if unknown:
        raise ValueError(f"{kind.__name__} record must have no field but its own, got {min(unknown)!r}.")
    values = {field: _read(value, kind, field) for field, value in record.items() if field != "kind"}
    try:
        return kind(**values)
    except TypeError as error:
        raise ValueError(f"{kind.__name__} record must have all its fields, got {sorted(values)}.") from error


def _written(value: Fraction | int | tuple[Event, ...]) -> str | list[dict[str, Any]]:
    return [to_record(part) for part in value] if isinstance(value, tuple) else str(value)


def _read(value: object, kind: type[Event], field: str) -> Any:  # noqa: ANN401 - the constructor checks what it gets
    if kind is Composed and isinstance(value, list):
        return [from_record(part) for part in value]
    if kind is not Composed and isinstance(value, str) and _AMOUNT.fullmatch(value):
        return Fraction(value)
    rule = "a list of records" if kind is Composed else "a whole number or a fraction in text"
    raise ValueError(f"{kind.__name__} {field} must be {rule}, got {value!r}.")
