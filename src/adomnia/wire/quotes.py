"""Quotes: what a question would cost, what is measured for it, and how far off its outputs may be."""

from dataclasses import fields
from fractions import Fraction
from itertools import chain
from typing import Any, Literal

from pydantic import Field, model_validator

from adomnia.mechanisms.brackets import Brackets
from adomnia.mechanisms.contract import Numeric
from adomnia.mechanisms.earlier_brackets import EarlierBrackets
from adomnia.mechanisms.envelopes import LogRange, OrderStatistic
from adomnia.mechanisms.exponential import Exponential
from adomnia.mechanisms.halving import Halving
from adomnia.mechanisms.propose_test_release import ProposeTestRelease
from adomnia.mechanisms.quantiles import Quantiles
from adomnia.mechanisms.registry import NOISES
from adomnia.mechanisms.round_numbers import RoundNumbers, Target
from adomnia.mechanisms.smooth import SmoothCauchy, SmoothLaplace, SmoothNoise, SmoothStudent
from adomnia.messages.surfaces import Surface
from adomnia.messages.texts import show_all
from adomnia.pricing.bills import Expected, Measurement, Quote, Search, noise_in_words
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.wire.amounts import ExactText
from adomnia.wire.answers import CapReply
from adomnia.wire.models import CostReply, Reply, TextReply, notes_of, require, texts_record

_BY_RANK: dict[str, type[Halving | Brackets | EarlierBrackets]] = {
    "halving": Halving,
    "brackets": Brackets,
    "earlier_brackets": EarlierBrackets,
}
_SMOOTH: dict[str, type[SmoothNoise]] = {
    "smooth_cauchy": SmoothCauchy,
    "smooth_student": SmoothStudent,
    "smooth_laplace": SmoothLaplace,
}
_SENTENCES = ("warnings", "notes", "vacuous")


class ExpectedReply(Reply):
    """How far off one output may be."""

    name: str
    what: str
    error: float | None = Field(description="Null where none is known.")
    rows: int | None = Field(description="Where the error depends on it: in a group of so many rows.")
    relative: float | None = Field(description="The error as a part of the output's own value.")
    method: str
    days: bool = Field(False, description="Whether the error is a number of days, because the output is a date.")
    output: str = Field(
        "", description="The output that it is of: a line of a table, or of sums of groups, has a name of its own."
    )
    groups: int = Field(1, description="How many groups are taken as one, as in coarser groupings.")


class SensitivityReply(Reply):
    """How far one person moves what is measured."""

    l1: ExactText
    l2_squared: ExactText
    linf: ExactText
    monotone: bool


class TargetReply(Reply):
    """A rank that is wanted: share * rows + offset."""

    share: ExactText
    offset: ExactText
    beyond: int


class NoiseReply(Reply):
    """The mechanism that adds the noise, or chooses, and its parameters."""

    mechanism: Literal[  # type: ignore[valid-type]  # those of the registry first
        *NOISES,
        "exponential",
        "ranks",
        "halving",
        "brackets",
        "earlier_brackets",
        "smooth_cauchy",
        "smooth_student",
        "smooth_laplace",
        "propose_test_release",
    ]
    scale: ExactText | None = None
    variance: ExactText | None = None
    rate: ExactText | None = None
    shares: list[ExactText] | None = None
    values: int | None = None
    targets: list[TargetReply] | None = None
    ratio: ExactText | None = None
    bound: int | None = None
    first: str | None = Field(None, description="Of the grid, in steps: where round numbers lie is told by both.")
    step: ExactText | None = None
    cells: int | None = None
    rows: ExactText | None = None
    price: CostReply | None = None
    says: str


class MeasurementReply(Reply):
    """One noisy vector and its part of the price."""

    what: str
    cells: int
    sensitivity: SensitivityReply
    why: str
    noise: NoiseReply
    price: CostReply
    bounds: str
    sums: int = Field(1, description="in each group")

    @model_validator(mode="before")
    @classmethod
    def _tell(cls, told: Measurement | dict[str, Any]) -> dict[str, Any]:
        if isinstance(told, dict):
            return told
        return {**vars(told), "noise": {**_describe_noise(told.noise), "says": noise_in_words(told)}}


class SearchReply(Reply):
    """How the values of keys that nobody declared will be found."""

    says: str
    price: CostReply
    people: int = Field(description="A value that about so many people have is named every second time.")
    minimum: int = Field(description="None that fewer people have is named.")


class QuoteReply(Reply):
    """A price before it is paid; nothing was read or spent."""

    price: CostReply | None = Field(description="The price that was named; null for a batch.")
    cost: CostReply = Field(description="What the ledger will be charged.")
    confidence: float
    simultaneous: bool
    outputs: list[ExpectedReply]
    measurements: list[MeasurementReply]
    caps: list[CapReply]
    findings: list[SearchReply]
    effort: str
    rows: int = Field(description="How many rows a group is supposed to have.")
    warnings: list[str] = Field(description="What budgets cannot pay any more once this is paid.")
    notes: list[str] = Field([], description="What else to know about the answer, in sentences.")
    vacuous: list[str] = Field([], description="Outputs that would say almost nothing, and what would help.")
    texts: list[TextReply] = Field([], description="What those of these sentences name that are not plain.")


def quote_record(quote: Quote) -> dict[str, Any]:
    """The quote as plain data."""
    lines = {name: getattr(quote, name) for name in _SENTENCES}
    said = {name: show_all(texts, Surface.JSON) for name, texts in lines.items()}
    record = QuoteReply.record({**vars(quote), "cost": quote.event, **said})
    return record | texts_record(chain(*lines.values()))


def quote_of(told: QuoteReply) -> Quote:
    """The quote that was told of."""
    price: Any = told.price and told.price.event
    return Quote(
        price=price,
        event=told.cost.event,
        confidence=told.confidence,
        outputs=tuple(Expected(**dict(each)) for each in told.outputs),
        measurements=tuple(map(_measurement, told.measurements)),
        caps=tuple(each.cap() for each in told.caps),
        simultaneous=told.simultaneous,
        findings=tuple(_search(each) for each in told.findings),
        effort=told.effort,
        rows=told.rows,
        **{name: notes_of(told.texts, getattr(told, name)) for name in _SENTENCES},
    )


def _search(told: SearchReply) -> Search:
    price: Any = told.price.event
    return Search(told.says, price, told.people, told.minimum)


def _measurement(told: MeasurementReply) -> Measurement:
    price: Any = told.price.event  # prices are written as the events that they will be
    noise, moved = _noise(told.noise), Sensitivity(**dict(told.sensitivity))
    return Measurement(told.what, told.cells, moved, told.why, noise, price, told.bounds, told.sums)


def _describe_noise(noise: Numeric) -> dict[str, Any]:
    mechanism = next((name for name, kind in NOISES.items() if type(noise) is kind), None)
    if mechanism is not None:
        return {"mechanism": mechanism, **{each: getattr(noise, each) for each in _name_parameters(noise)}}
    match noise:
        case Exponential(rate=rate):
            return {"mechanism": "exponential", "rate": rate}
        case Quantiles(targets=targets, values=values, rate=rate):
            return {"mechanism": "ranks", "rate": rate, "values": values, "targets": targets}
        case Halving() | Brackets() | EarlierBrackets():
            mechanism = next(name for name, kind in _BY_RANK.items() if isinstance(noise, kind))
            grid = {} if isinstance(noise, EarlierBrackets) else _describe_grid(noise.rounds)
            asked = {"shares": noise.shares, "values": noise.values, "rows": noise.rows}
            return {"mechanism": mechanism, **asked, **grid, "price": noise.price}
        case SmoothNoise():  # public parameters alone: the scale is not among them
            mechanism = next(name for name, kind in _SMOOTH.items() if isinstance(noise, kind))
            asked = {"shares": [noise.share], "values": noise.values, "cells": noise.cells}
            return {"mechanism": mechanism, **asked, "rows": Fraction(noise.rows), "price": noise.price}
        case ProposeTestRelease(statistic=statistic, bound=bound, rows=rows, price=price):
            about = {**_describe_statistic(statistic), "bound": bound, "rows": Fraction(rows), "price": price}
            return {"mechanism": "propose_test_release", **about}
    raise TypeError(f"Measurement noise must be of a mechanism that has a name, got {type(noise).__name__}.")


def _noise(told: NoiseReply) -> Numeric:
    if told.mechanism in NOISES:
        kind: Any = NOISES[told.mechanism]
        return kind(**{each: require(getattr(told, each)) for each in _name_parameters(kind)})  # type: ignore[no-any-return]
    match told.mechanism:
        case "exponential":
            return Exponential(require(told.rate))
        case "ranks":
            targets = tuple(Target(**dict(each)) for each in require(told.targets))
            return Quantiles(targets, require(told.values), require(told.rate))
    shares, values, rows = tuple(require(told.shares)), require(told.values), require(told.rows)
    price: Any = require(told.price).event
    match told.mechanism:
        case "halving" | "brackets" | "earlier_brackets" as name:
            grid = () if told.step is None else (RoundNumbers(int(require(told.first)), told.step, values),)
            return _BY_RANK[name](shares, values, rows, price, *grid)
        case "smooth_cauchy" | "smooth_student" | "smooth_laplace" as name:
            return _SMOOTH[name](shares[0], values, int(rows), require(told.cells), price)
    if told.ratio is None:
        statistic: OrderStatistic | LogRange = OrderStatistic(shares[0], values)
    else:
        statistic = LogRange(shares[0], shares[1], values, told.ratio)
    return ProposeTestRelease(statistic, require(told.bound), int(rows), price)


def _name_parameters(noise: Any) -> list[str]:  # noqa: ANN401 - a dataclass, or what it is of
    return [each.name for each in fields(noise)]


def _describe_grid(rounds: RoundNumbers | None) -> dict[str, Any]:
    return {} if rounds is None else {"first": str(rounds.first), "step": rounds.step}


def _describe_statistic(statistic: OrderStatistic | LogRange) -> dict[str, Any]:
    if isinstance(statistic, OrderStatistic):
        return {"shares": [statistic.share], "values": statistic.size}
    return {"shares": [statistic.low, statistic.high], "values": statistic.size, "ratio": statistic.ratio}
