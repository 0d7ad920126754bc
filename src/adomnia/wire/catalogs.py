"""Catalogs: what may be asked about. Where the owner's files lie is the owner's matter, and does not travel."""

from dataclasses import asdict
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from adomnia.catalog.model import Analyst, Catalog, Link, Policy, Profile, Quota, Table, View
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.filters import Budget
from adomnia.privacy.kinds import Boolean, Day, Identity, Kind, Moment, Quantity, Text
from adomnia.privacy.units import Unit
from adomnia.wire.amounts import ExactText, amount_of, text_of
from adomnia.wire.models import Reply

_LINK = ("column", "parent", "parent_column")


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
    profile: ProfileReply | None
    preview_epsilon: ExactText | None = Field(
        None, description="What its preview rows cost the dataset, if it has any."
    )


class ViewReply(Reply):
    """A SELECT under a name."""

    name: str
    sql: str


class CatalogReply(Reply):
    """Everything that may be asked about: all of it is public."""

    name: str
    version: int
    unit: str = Field(description="Whose presence is hidden: table.column, or row.")
    budget: AllowedReply
    analysts: list[AnalystReply]
    tables: list[TableReply]
    views: list[ViewReply]
    minimum_frequency: int
    vacuous_answers: str = Field("warn", description="refuse: what would say almost nothing is not sold unasked.")


def catalog_record(catalog: Catalog) -> dict[str, Any]:
    """The catalog as plain data."""
    return {
        "name": catalog.name,
        "version": catalog.version,
        "unit": str(catalog.unit),
        "budget": _budget_record(catalog.budget),
        "analysts": [
            {
                "name": each.name,
                "budget": _budget_record(each.budget),
                "policy": _policy_record(each.policy),
                "quota": asdict(each.quota),
                "publish": each.publish,
            }
            for each in catalog.analysts
        ],
        "tables": [_table_record(table) for table in catalog.tables],
        "views": [{"name": view.name, "sql": view.sql} for view in catalog.views],
        "minimum_frequency": catalog.minimum_frequency,
        "vacuous_answers": catalog.vacuous_answers,
    }


def _analyst(record: dict[str, Any]) -> Analyst:
    # A server of an earlier version has neither quotas nor anybody who may publish.
    quota, publish = Quota(**record.get("quota") or {}), record.get("publish", False)
    return Analyst(record["name"], _budget(record["budget"]), _policy(record["policy"]), quota, publish)


def catalog_of(record: dict[str, Any]) -> Catalog:
    """The catalog that `catalog_record` wrote, which lies in no folder."""
    return Catalog(
        name=record["name"],
        version=record["version"],
        unit=Unit.parse(record["unit"]),
        budget=_budget(record["budget"]),
        analysts=tuple(map(_analyst, record["analysts"])),
        tables=tuple(map(_table, record["tables"])),
        folder=Path(),
        views=tuple(View(view["name"], view["sql"]) for view in record["views"]),
        minimum_frequency=record["minimum_frequency"],
        vacuous_answers=record.get("vacuous_answers", "warn"),  # a server of an earlier version sells them
    )


def _budget_record(budget: Budget) -> dict[str, Any]:
    amounts = {name: text_of(getattr(budget, name)) for name in ("epsilon", "delta", "event_delta")}
    return {**amounts, "approximate": budget.approximate}


def _budget(record: dict[str, Any]) -> Budget:
    epsilon, delta, event_delta = (amount_of(record[name]) for name in ("epsilon", "delta", "event_delta"))
    return Budget(epsilon, delta, record["approximate"], event_delta)


def _policy_record(policy: Policy) -> dict[str, Any]:
    amounts = {"spend": _text(policy.spend), "ceiling": _text(policy.ceiling)}
    return {"name": policy.name, "questions": policy.questions, **amounts}


def _policy(record: dict[str, Any]) -> Policy:
    return Policy(record["name"], record["questions"], _amount(record["spend"]), _amount(record["ceiling"]))


def _table_record(table: Table) -> dict[str, Any]:
    link, profile = table.link, table.profile
    return {
        "name": table.name,
        "public": table.public,
        "columns": [_column_record(column) for column in table.columns],
        "link": None if link is None else {name: getattr(link, name) for name in _LINK},
        "rows_per_person": table.rows_per_person,
        "repeats": list(table.repeats),
        "profile_epsilon": _text(table.profile_epsilon),
        "preview_epsilon": _text(table.preview_epsilon),
        "profile": None
        if profile is None
        else {"edges": list(profile.edges), "people": list(profile.people), "epsilon": text_of(profile.epsilon)},
    }


def _table(record: dict[str, Any]) -> Table:
    return Table(
        name=record["name"],
        source="",
        columns=tuple(map(_column, record["columns"])),
        public=record["public"],
        link=None if record["link"] is None else Link(*(record["link"][name] for name in _LINK)),
        rows_per_person=record["rows_per_person"],
        repeats=tuple(record["repeats"]),
        profile_epsilon=_amount(record["profile_epsilon"]),
        profile=None if record["profile"] is None else _profile(record["profile"]),
        preview_epsilon=_amount(record.get("preview_epsilon")),
    )


def _profile(record: dict[str, Any]) -> Profile:
    return Profile(tuple(record["edges"]), tuple(record["people"]), amount_of(record["epsilon"]))


def _column_record(column: Column) -> dict[str, Any]:
    return {"name": column.name, "type": str(column.kind), **_known(column)}


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


def _column(record: dict[str, Any]) -> Column:
    kind = _kind(record)
    if isinstance(kind, Quantity) and record["step"] is not None:
        bounds = (amount_of(record[name]) for name in ("lower", "upper", "step"))
        return Column(record["name"], kind, Numbers(*bounds))
    return Column(record["name"], kind)


def _kind(record: dict[str, Any]) -> Kind:  # noqa: PLR0911 - one for each type
    match record["type"]:
        case "integer" | "number":
            return Quantity(_amount(record["lower"]), _amount(record["upper"]), record["type"] == "integer")
        case "boolean":
            return Boolean()
        case "text":
            return Text()
        case "category":
            return Text(tuple(record["values"]), others=record.get("others") is not None)
        case "date":
            return Day(_day(record["lower"]), _day(record["upper"]))
        case "timestamp":
            return Moment(_moment(record["lower"]), _moment(record["upper"]), record["timezone"])
        case "id":
            return Identity(record["person"], record["linked"])
    raise ValueError(f"Column type must be known, got {record['type']!r}.")


def _text(amount: Fraction | None) -> str | None:
    return None if amount is None else text_of(amount)


def _amount(text: str | None) -> Fraction | None:
    return None if text is None else amount_of(text)


def _iso(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def _day(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
