"""Quotes: what a question would cost, what is measured for it, and how far off its outputs may be."""

from dataclasses import asdict, fields
from fractions import Fraction
from typing import Any, Literal

from pydantic import Field

from adomnia.explaining.surfaces import reword_lines
from adomnia.mechanisms.brackets import Brackets
from adomnia.mechanisms.contract import Numeric
from adomnia.mechanisms.earlier_brackets import EarlierBrackets
from adomnia.mechanisms.envelopes import LogRange, OrderStatistic
from adomnia.mechanisms.exponential import Exponential
from adomnia.mechanisms.halving import Halving
from adomnia.mechanisms.propose_test_release import ProposeTestRelease
from adomnia.mechanisms.quantiles import Quantiles
from adomnia.mechanisms.ranks import Target
from adomnia.mechanisms.registry import NOISES
from adomnia.mechanisms.round_numbers import RoundNumbers
from adomnia.mechanisms.smooth import SmoothCauchy, SmoothLaplace, SmoothNoise, SmoothStudent
from adomnia.messages.surfaces import Surface
from adomnia.pricing.bills import noise_in_words
from adomnia.pricing.quotes import Expected, Measurement, Quote, Search
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.wire.amounts import ExactText, amount_of, event_of, event_record, text_of
from adomnia.wire.answers import CapReply, cap_of, cap_record
from adomnia.wire.models import CostReply, Reply

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


class ExpectedReply(Reply):
    """How far off one output may be."""

    name: str
    what: str
    error: float | None = Field(description="Null where none is known.")
    rows: int | None = Field(description="Where the error depends on it: in a group of so many rows.")
    relative: float | None = Field(description="The error as a part of the output's own value.")
    method: str
    days: bool = Field(False, description="Whether the error is a number of days, because the output is a date.")


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
    """The law of the noise, with the parameters that it has."""

    law: Literal[
        "laplace",
        "gaussian",
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
    says: str
    scale: ExactText | None = None
    variance: ExactText | None = None
    rate: ExactText | None = None
    values: int | None = None
    targets: list[TargetReply] | None = None
    shares: list[ExactText] | None = None
    first: str | None = Field(None, description="Of the grid, in steps: where round numbers lie is told by both.")
    step: ExactText | None = None
    rows: ExactText | None = None
    cells: int | None = None
    price: CostReply | None = None
    bound: int | None = None
    ratio: ExactText | None = None


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
    together: bool
    outputs: list[ExpectedReply]
    measurements: list[MeasurementReply]
    caps: list[CapReply]
    findings: list[SearchReply]
    effort: str
    rows: int = Field(description="How many rows a group is supposed to have.")
    warnings: list[str] = Field(description="What budgets cannot pay any more once this is paid.")
    notes: list[str] = Field([], description="What else to know about the answer, in sentences.")
    vacuous: list[str] = Field([], description="Outputs that would say almost nothing, and what would help.")


def quote_record(quote: Quote) -> dict[str, Any]:
    """The quote as plain data."""
    return {
        "price": None if quote.price is None else event_record(quote.price),
        "cost": event_record(quote.event),
        "confidence": quote.confidence,
        "together": quote.together,
        "outputs": [asdict(output) for output in quote.outputs],
        "measurements": [_measurement_record(line) for line in quote.measurements],
        "caps": [cap_record(cap) for cap in quote.caps],
        "findings": [asdict(each) | {"price": event_record(each.price)} for each in quote.findings],
        "effort": quote.effort,
        "rows": quote.rows,
        "warnings": list(reword_lines(quote.warnings, Surface.JSON)),
        "notes": list(reword_lines(quote.notes, Surface.JSON)),
        "vacuous": list(reword_lines(quote.vacuous, Surface.JSON)),
    }


def quote_of(record: dict[str, Any]) -> Quote:
    """The quote that `quote_record` wrote."""
    price: Any = None if record["price"] is None else event_of(record["price"])
    return Quote(
        price=price,
        event=event_of(record["cost"]),
        confidence=float(record["confidence"]),
        outputs=tuple(_expected(each) for each in record["outputs"]),
        measurements=tuple(_measurement(each) for each in record["measurements"]),
        caps=tuple(map(cap_of, record["caps"])),
        together=record["together"],
        findings=tuple(Search(**each | {"price": event_of(each["price"])}) for each in record["findings"]),
        effort=record["effort"],
        rows=record["rows"],
        warnings=reword_lines(record["warnings"], Surface.PYTHON),
        notes=reword_lines(record.get("notes", ()), Surface.PYTHON),  # a server of an earlier version has none
        vacuous=reword_lines(record.get("vacuous", ()), Surface.PYTHON),
    )


def _expected(record: dict[str, Any]) -> Expected:
    floats = {name: None if record[name] is None else float(record[name]) for name in ("error", "relative")}
    return Expected(**record | floats)


def _measurement_record(line: Measurement) -> dict[str, Any]:
    norms = {name: text_of(getattr(line.sensitivity, name)) for name in ("l1", "l2_squared", "linf")}
    return {
        "what": line.what,
        "cells": line.cells,
        "sensitivity": {**norms, "monotone": line.sensitivity.monotone},
        "why": line.why,
        "noise": {**_law(line.noise), "says": noise_in_words(line)},
        "price": event_record(line.price),
        "bounds": line.bounds,
        "sums": line.sums,
    }


def _measurement(record: dict[str, Any]) -> Measurement:
    moved, price = record["sensitivity"], event_of(record["price"])
    l1, l2_squared, linf = (amount_of(moved[name]) for name in ("l1", "l2_squared", "linf"))
    return Measurement(
        record["what"],
        record["cells"],
        Sensitivity(l1, l2_squared, linf, moved["monotone"]),
        record["why"],
        _noise(record["noise"]),
        price,  # type: ignore[arg-type]  # prices are written as the events that they will be
        record["bounds"],
        record.get("sums", 1),  # a server of an earlier version has none
    )


def _law(noise: Numeric) -> dict[str, Any]:
    law = next((law for law, kind in NOISES.items() if type(noise) is kind), None)
    if law is not None:
        return {"law": law, **{each: text_of(getattr(noise, each)) for each in _name_parameters(noise)}}
    match noise:
        case Exponential(rate=rate):
            return {"law": "exponential", "rate": text_of(rate)}
        case Quantiles(targets=targets, values=values, rate=rate):
            wanted = [{"share": text_of(t.share), "offset": text_of(t.offset), "beyond": t.beyond} for t in targets]
            return {"law": "ranks", "rate": text_of(rate), "values": values, "targets": wanted}
        case Halving() | Brackets() | EarlierBrackets():
            asked = {"shares": [text_of(share) for share in noise.shares], "values": noise.values}
            law = next(law for law, kind in _BY_RANK.items() if isinstance(noise, kind))
            asked |= _rounds_record(None if isinstance(noise, EarlierBrackets) else noise.rounds)
            return {"law": law, **asked, "rows": text_of(noise.rows), "price": event_record(noise.price)}
        case SmoothNoise():  # public parameters alone: the scale is not among them
            law = next(law for law, kind in _SMOOTH.items() if isinstance(noise, kind))
            asked = {"shares": [text_of(noise.share)], "values": noise.values, "cells": noise.cells}
            return {"law": law, **asked, "rows": text_of(Fraction(noise.rows)), "price": event_record(noise.price)}
        case ProposeTestRelease(statistic=statistic, bound=bound, rows=rows, price=price):
            cost = {"rows": str(rows), "price": event_record(price)}
            return {"law": "propose_test_release", **_statistic_record(statistic), "bound": bound, **cost}
    raise TypeError(f"Measurement noise must be of a law that has a name, got {type(noise).__name__}.")


def _noise(record: dict[str, Any]) -> Numeric:
    if record["law"] in NOISES:
        noise: Any = NOISES[record["law"]]
        return noise(**{each: amount_of(record[each]) for each in _name_parameters(noise)})  # type: ignore[no-any-return]
    match record["law"]:
        case "exponential":
            return Exponential(amount_of(record["rate"]))
        case "ranks":
            return Quantiles(tuple(map(_target, record["targets"])), record["values"], amount_of(record["rate"]))
        case "halving" | "brackets" | "earlier_brackets" as law:
            kind = _BY_RANK[law]
            shares = tuple(map(amount_of, record["shares"]))
            asked = shares, record["values"], amount_of(record["rows"]), event_of(record["price"])
            return kind(*asked, *_rounds(record))  # type: ignore[arg-type]
        case "smooth_cauchy" | "smooth_student" | "smooth_laplace" as law:
            share, rows = amount_of(record["shares"][0]), int(amount_of(record["rows"]))
            return _SMOOTH[law](share, record["values"], rows, record["cells"], event_of(record["price"]))  # type: ignore[arg-type]
        case "propose_test_release":
            price: Any = event_of(record["price"])
            return ProposeTestRelease(_statistic(record), record["bound"], int(record["rows"]), price)
    raise ValueError(f"Noise law must be known, got {record['law']!r}.")


def _name_parameters(kind: Any) -> list[str]:  # noqa: ANN401 - a dataclass
    return [each.name for each in fields(kind)]


def _rounds_record(rounds: RoundNumbers | None) -> dict[str, str]:
    return {} if rounds is None else {"first": str(rounds.first), "step": text_of(rounds.step)}


def _rounds(record: dict[str, Any]) -> tuple[RoundNumbers, ...]:
    if record.get("step") is None:
        return ()
    return (RoundNumbers(int(record["first"]), amount_of(record["step"]), record["values"]),)


def _statistic_record(statistic: OrderStatistic | LogRange) -> dict[str, Any]:
    if isinstance(statistic, OrderStatistic):
        return {"shares": [text_of(statistic.share)], "values": statistic.size}
    shares = [text_of(statistic.low), text_of(statistic.high)]
    return {"shares": shares, "values": statistic.size, "ratio": text_of(statistic.ratio)}


def _statistic(record: dict[str, Any]) -> OrderStatistic | LogRange:
    shares = tuple(map(amount_of, record["shares"]))
    if record.get("ratio") is None:
        return OrderStatistic(shares[0], record["values"])
    return LogRange(shares[0], shares[1], record["values"], amount_of(record["ratio"]))


def _target(record: dict[str, Any]) -> Target:
    return Target(amount_of(record["share"]), amount_of(record["offset"]), record["beyond"])
