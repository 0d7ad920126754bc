"""Catalogs: what may be asked about. Where the owner's files lie is the owner's matter, and does not travel."""

from collections.abc import Callable
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Field, model_validator

from adomnia.catalog.model import Analyst, Catalog, Link, Policy, Profile, Quota, Table, View
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.filters import Budget
from adomnia.privacy.kinds import Boolean, Day, Identity, Kind, Moment, Quantity, Text
from adomnia.privacy.units import Unit
from adomnia.wire.amounts import ExactText, amount_of, text_of
from adomnia.wire.models import Reply, require

_End = TypeVar("_End")


class AllowedReply(Reply):
    """What may be spent in all."""

    epsilon: ExactText
    delta: ExactText
    approximate: bool
    event_delta: ExactText


class PolicyReply(Reply):
    """Who sets the price of a question."""

    name: str
    questions: int | None
    spend: ExactText | None
    ceiling: ExactText | None


class QuotaReply(Reply):
    """How much is kept for an analyst."""

    largest_answer: int | None = Field(description="The most numbers that may be measured for one answer.")
    storage: int = Field(description="The most bytes that all of them may count for.")


class AnalystReply(Reply):
    """Somebody who may ask."""

    name: str
    budget: AllowedReply
    policy: PolicyReply
    quota: QuotaReply | None = Field(None, description="Missing from servers that have none.")
    publish: bool = Field(False, description="Whether they may make releases that the dataset pays for.")


class DeclaredColumnReply(Reply):
    """A column: its type, and what is known of its values. What does not belong to its type is left out."""

    name: str
    type: Literal["integer", "number", "boolean", "text", "category", "date", "timestamp", "id"]
    lower: str | None = Field(
        None, description="Of numbers, exact; of dates, the first day; of timestamps, local time."
    )
    upper: str | None = Field(None, description="Of numbers, exact; of dates, the last day; of timestamps, local time.")
    timezone: str | None = Field(None, description="Of timestamps: the time zone whose local time they are.")
    step: ExactText | None = Field(None, description="Numbers are rounded to its multiples.")
    values: list[str] | None = Field(None, description="Of a category.")
    others: str | None = Field(None, description="Of a category: the last value, if all that are not listed are it.")
    person: bool | None = Field(None, description="Of an id: whether its values are the people.")
    linked: str | None = Field(None, description="Of an id: where its link ends.")

    @model_validator(mode="before")
    @classmethod
    def _tell(cls, told: Column | dict[str, Any]) -> dict[str, Any]:
        return {"name": told.name, "type": str(told.kind), **_known(told)} if isinstance(told, Column) else told


class LinkReply(Reply):
    """How a row finds its person: column -> parent.parent_column."""

    column: str
    parent: str
    parent_column: str


class ProfileReply(Reply):
    """How many people have how many rows, with noise: people[j] have over edges[j] and at most edges[j + 1]."""

    edges: list[int]
    people: list[int]
    epsilon: ExactText


class TableReply(Reply):
    """A table; rows of public ones cost nothing."""

    name: str
    public: bool
    columns: list[DeclaredColumnReply]
    link: LinkReply | None
    rows_per_person: int = Field(description="How many rows of a person count at most.")
    repeats: list[int] = Field(description="Of public tables: how many rows share a value of each column at most.")
    profile_epsilon: ExactText | None
    preview_epsilon: ExactText | None = Field(
        None, description="What its preview rows cost the dataset, if it has any."
    )
    profile: ProfileReply | None


class ViewReply(Reply):
    """A SELECT under a name."""

    name: str
    sql: str


class CatalogReply(Reply):
    """Everything that may be asked about: all of it is public."""

    name: str
    version: int
    unit: Annotated[str, BeforeValidator(str)] = Field(description="Whose presence is hidden: table.column, or row.")
    budget: AllowedReply
    analysts: list[AnalystReply]
    tables: list[TableReply]
    views: list[ViewReply]
    minimum_frequency: int
    vacuous_answers: str = Field("warn", description="refuse: what would say almost nothing is not sold unasked.")
    today: date | None = Field(None, description="What CURRENT_DATE means in a question.")


def catalog_of(told: CatalogReply) -> Catalog:
    """The catalog that was told of, which lies in no folder."""
    return Catalog(
        name=told.name,
        version=told.version,
        unit=Unit.parse(told.unit),
        budget=Budget(**dict(told.budget)),
        analysts=tuple(map(_analyst, told.analysts)),
        tables=tuple(map(_table, told.tables)),
        folder=Path(),
        views=tuple(View(**dict(view)) for view in told.views),
        minimum_frequency=told.minimum_frequency,
        vacuous_answers=told.vacuous_answers,
        today=told.today,
    )


def _analyst(told: AnalystReply) -> Analyst:
    quota = Quota() if told.quota is None else Quota(**dict(told.quota))
    return Analyst(told.name, Budget(**dict(told.budget)), Policy(**dict(told.policy)), quota, told.publish)


def _table(told: TableReply) -> Table:
    same = {"name", "public", "rows_per_person", "profile_epsilon", "preview_epsilon"}
    return Table(
        source="",
        columns=tuple(map(_column, told.columns)),
        link=None if told.link is None else Link(**dict(told.link)),
        repeats=tuple(told.repeats),
        profile=None if told.profile is None else _profile(told.profile),
        **{name: part for name, part in told if name in same},
    )


def _known(column: Column) -> dict[str, Any]:
    match column.kind:
        case Quantity(lower=lower, upper=upper):
            step = None if column.domain is None else column.domain.step
            return {"lower": _text(lower), "upper": _text(upper), "step": _text(step)}
        case Day(lower=first, upper=last):
            return {"lower": _iso(first), "upper": _iso(last)}
        case Moment(lower=first, upper=last, zone=zone):
            return {"lower": _iso(first), "upper": _iso(last), "timezone": zone}
        case Text(values=values, others=others) if values is not None:
            return {"values": list(values), **({"others": values[-1]} if others else {})}
        case Identity(person=person, linked=linked):
            return {"person": person, "linked": linked}
    return {}


def _profile(told: ProfileReply) -> Profile:
    return Profile(tuple(told.edges), tuple(told.people), told.epsilon)


def _column(told: DeclaredColumnReply) -> Column:
    kind = _kind(told)
    if isinstance(kind, Quantity) and told.step is not None:
        return Column(told.name, kind, Numbers(require(kind.lower), require(kind.upper), told.step))
    return Column(told.name, kind)


def _kind(told: DeclaredColumnReply) -> Kind:  # noqa: PLR0911 - one for each type
    match told.type:
        case "integer" | "number":
            return Quantity(*_ends(told, amount_of), told.type == "integer")
        case "date":
            return Day(*_ends(told, date.fromisoformat))
        case "timestamp":
            return Moment(*_ends(told, datetime.fromisoformat), require(told.timezone))
        case "category":
            return Text(tuple(require(told.values)), others=told.others is not None)
        case "id":
            return Identity(require(told.person), require(told.linked))
        case "boolean":
            return Boolean()
    return Text()


def _ends(told: DeclaredColumnReply, read: Callable[[str], _End]) -> tuple[_End | None, _End | None]:
    return None if told.lower is None else read(told.lower), None if told.upper is None else read(told.upper)


def _text(amount: Fraction | None) -> str | None:
    return None if amount is None else text_of(amount)


def _iso(day: date | None) -> str | None:
    return None if day is None else day.isoformat()
