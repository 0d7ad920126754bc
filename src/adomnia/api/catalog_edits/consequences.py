"""What an owner must know before a changed catalog is saved: told from both catalogs, without looking at data."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from adomnia.privacy.amounts import show_up
from adomnia.privacy.kinds import Day, Moment, Quantity, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.catalog.model import Analyst, Catalog, Policy, Table
    from adomnia.privacy.expressions import Column
    from adomnia.privacy.filters import Budget

_LISTED = 5  # names in one sentence


_OTHER_PEOPLE = "Other rows count for a person, which is another version of the data: raise the version, or it is"


@dataclass(frozen=True)
class Consequence:
    """One sentence, and what it is about.

    `weight`: "stop" will be refused or cannot be taken back, "price" costs privacy or accuracy, "info" is good to know.
    """

    about: str
    says: str
    weight: str = "info"


def list_consequences(before: Catalog, after: Catalog, users: frozenset[str]) -> list[Consequence]:
    """Everything that follows from replacing one catalog by another; `users` are those who can sign in."""
    found = [
        *_tell_dataset(before, after),
        *_tell_budget("The dataset", before.budget, after.budget),
        *_tell_analysts(before, after, users),
        *_tell_tables(before, after),
        *_tell_views(before, after),
        *_tell_opening(before, after),
    ]
    order = ("stop", "price", "info")
    return sorted(found, key=lambda each: order.index(each.weight))


def _tell_dataset(before: Catalog, after: Catalog) -> Iterator[Consequence]:
    if before.name != after.name:
        says = f"The dataset is called {after.name} from then on: addresses and programs that name {before.name} fail."
        yield Consequence("name", says, "stop")
    if before.unit != after.unit:
        says = f"Another presence is hidden. {after.unit.promise()} Budgets that were spent were about {before.unit}."
        yield Consequence("unit", says, "stop")
        if before.version == after.version:
            yield Consequence("unit", f"{_OTHER_PEOPLE} refused when it is opened.", "stop")
    yield from _tell_version(before, after)
    if before.minimum_frequency != after.minimum_frequency:
        says = f"Values that nobody declared are named if at least {after.minimum_frequency:,} people have them."
        yield Consequence("minimum_frequency", says)
    if before.vacuous_answers != after.vacuous_answers:
        what = "refused, unless asked anyway" if after.vacuous_answers == "refuse" else "sold, with a note"
        yield Consequence("vacuous_answers", f"Questions whose answer would say almost nothing are {what}.")

    if before.today != after.today:
        means = "has no meaning" if after.today is None else f"means {after.today}"
        yield Consequence("today", f"CURRENT_DATE {means}: questions with it are measured and paid for again.", "price")


def _tell_version(before: Catalog, after: Catalog) -> Iterator[Consequence]:
    if before.version == after.version:
        return
    again = "Questions that were answered before are measured and paid for again: answers are kept by version."
    older = "Answers so far can still be read. What was spent stays spent."
    yield Consequence("version", f"{again} {older}", "price")
    if after.version < before.version:
        says = f"Version {after.version} is an older one: it opens only if all files are as they were then."
        yield Consequence("version", says, "stop")
    for table in after.tables:
        if table.profile_epsilon is not None:
            cost = f"epsilon {show_up(table.profile_epsilon)} of the dataset's budget"
            says = f"How many rows people have is measured again for the new version, for {cost}."
            yield Consequence(table.name, says, "price")
        if table.preview_epsilon is not None:
            cost = f"epsilon {show_up(table.preview_epsilon)} of the dataset's budget"
            yield Consequence(table.name, f"Preview rows are published for the new version, for {cost}.", "price")


def _tell_budget(who: str, before: Budget, after: Budget) -> Iterator[Consequence]:
    if after.epsilon > before.epsilon or after.delta > before.delta:
        says = f"{who} may spend more. What is spent of it stays spent: no later change takes an answer back."
        yield Consequence("budget", says, "stop")
    elif after.epsilon < before.epsilon or after.delta < before.delta:
        says = f"{who} may spend less. What was spent still counts, so that nothing may be left."
        yield Consequence("budget", says, "price")
    if before.approximate and not after.approximate:
        says = "Gaussian noise and searches for values end: questions that pay in rho or with a delta are refused."
        yield Consequence("budget", says, "price")
    elif after.approximate and not before.approximate:
        says = "Gaussian noise and searches for values are let in: the guarantee may fail with probability delta."
        yield Consequence("budget", says, "price")


def _tell_analysts(before: Catalog, after: Catalog, users: frozenset[str]) -> Iterator[Consequence]:
    for analyst in after.analysts:
        former = before.analyst(analyst.name)
        if former is None:
            yield from _tell_new_analyst(analyst, users)
            continue
        for told in _tell_budget(analyst.name, former.budget, analyst.budget):
            yield Consequence(analyst.name, told.says, told.weight)
        if former.policy != analyst.policy:
            yield Consequence(analyst.name, describe_policy(analyst.name, analyst.policy), "price")
        if former.publish != analyst.publish:
            says = (
                "May publish releases, which the dataset's budget alone pays for."
                if analyst.publish
                else ("May publish no more releases. What was published stays.")
            )
            yield Consequence(analyst.name, says, "price")
        if former.quota != analyst.quota:
            yield Consequence(
                analyst.name, "The size of answers is limited otherwise; nothing that is kept is deleted."
            )
    for analyst in before.analysts:
        if after.analyst(analyst.name) is None:
            says = "May ask nothing any more, and sees the dataset no longer. What was spent still counts."
            yield Consequence(analyst.name, f"{says} Put back later, the same account goes on.", "stop")


def _tell_new_analyst(analyst: Analyst, users: frozenset[str]) -> Iterator[Consequence]:
    says = f"May spend epsilon {show_up(analyst.budget.epsilon)}, which also comes out of the dataset's budget."
    yield Consequence(analyst.name, says, "price")
    if analyst.name not in users:
        yield Consequence(analyst.name, "Nobody of that name can sign in yet: add them on the page People.")


def describe_policy(name: str, policy: Policy) -> str:
    """Who sets the price of an analyst's questions, in a sentence."""
    match policy.name:
        case "equal_split":
            rule = f"The owner sets the price: the epsilon is split over {policy.questions:,} questions."
        case "geometric":
            share = show_up(100 * (policy.spend or Fraction(0)))
            rule = f"The owner sets the price: each question costs {share}% of what is left."
        case _:
            rule = f"The price of a question is named by {name}."
    ceiling = "" if policy.ceiling is None else f" None costs more than epsilon {show_up(policy.ceiling)}."
    return rule + ceiling


def _tell_tables(before: Catalog, after: Catalog) -> Iterator[Consequence]:
    for table in after.tables:
        former = before.table(table.name)
        if former is None:
            yield Consequence(table.name, "Is a new table: it may be asked about once its index is built.")
        else:
            yield from _tell_source(former, table, before.version == after.version)
            yield from _tell_cap(former, table)
            yield from _tell_columns(former, table)
    for table in before.tables:
        if after.table(table.name) is None:
            yield Consequence(
                table.name, "May not be asked about any more; answers about it can be read as they were given.", "stop"
            )


def _tell_source(former: Table, table: Table, same_version: bool) -> Iterator[Consequence]:
    if former.public and not table.public:
        yield Consequence(table.name, "Becomes private: its rows are protected and cost a price from now on.", "price")
    read = [(each.source, each.source_table, each.source_columns, each.csv) for each in (former, table)]
    if read[0] != read[1] and same_version:
        says = "Its file is read in another way, which is another version of the data: raise the version, or it is"
        yield Consequence(table.name, f"{says} refused when it is opened.", "stop")
    if former.link != table.link and same_version:
        yield Consequence(table.name, f"{_OTHER_PEOPLE} refused when it is opened.", "stop")


def _tell_cap(former: Table, table: Table) -> Iterator[Consequence]:
    if table.public or former.public:
        return
    was, becomes = former.rows_per_person, table.rows_per_person
    if becomes > was:
        says = f"Up to {becomes:,} rows of a person count, not {was:,}: fewer are left out, and noise grows with it."
        yield Consequence(table.name, says, "price")
    elif becomes < was:
        says = f"Only {becomes:,} rows of a person count, not {was:,}: noise shrinks, and more rows are left out."
        yield Consequence(table.name, f"{says} Counts and sums then miss what is left out.", "price")
    declared = (table.profile_epsilon, becomes)
    if table.profile_epsilon is not None and declared != (former.profile_epsilon, was):
        cost = f"epsilon {show_up(table.profile_epsilon)} of the dataset's budget"
        yield Consequence(table.name, f"Opening it measures once how many rows people have, for {cost}.", "price")
    if table.preview_epsilon is not None and former.preview_epsilon is None:
        cost = f"epsilon {show_up(table.preview_epsilon)} of the dataset's budget"
        yield Consequence(
            table.name, f"Opening it publishes preview rows once, which everybody may read, for {cost}.", "price"
        )


def _tell_columns(former: Table, table: Table) -> Iterator[Consequence]:
    for column in table.columns:
        old, about = former.column(column.name), f"{table.name}.{column.name}"
        if old is None:
            yield Consequence(about, "May be asked about from now on.")
        elif old != column:
            for says, weight in _tell_column(old, column):
                yield Consequence(about, says, weight)
    for old in former.columns:
        if table.column(old.name) is None:
            yield Consequence(f"{table.name}.{old.name}", "May not be asked about any more.", "stop")


def _tell_column(old: Column, new: Column) -> Iterator[tuple[str, str]]:
    match old.kind, new.kind:
        case (Quantity() as was, Quantity() as becomes) if was.whole == becomes.whole:
            yield from _tell_bounds(was, becomes)
            if old.domain is not None and new.domain is not None and old.domain.step != new.domain.step:
                steps = f"{float(new.domain.step):,g}, not of {float(old.domain.step):,g}"
                yield f"Values are rounded to steps of {steps}, before noise is added.", "info"
        case (Day() as was, Day() as becomes) | (Moment() as was, Moment() as becomes):
            yield from _tell_bounds(was, becomes)
        case Text(values=tuple(was)), Text(values=tuple(becomes)):
            yield from _tell_values(was, becomes)
        case was, becomes if str(was) != str(becomes):
            yield f"Is read as {becomes}, not as {was}: what cannot be read so is missing.", "stop"
        case _:
            yield "Is declared otherwise.", "info"


def _tell_bounds(was: Quantity | Day | Moment, becomes: Quantity | Day | Moment) -> Iterator[tuple[str, str]]:
    if was.lower is None or becomes.lower is None:
        if becomes.lower is None and was.lower is not None:
            yield "Has no bounds any more: it cannot be summed or averaged.", "stop"
        elif was.lower is None:
            yield "Has bounds now: values beyond them are read as the bound.", "price"
        return
    low, high, old_low, old_high = becomes.lower, becomes.upper, was.lower, was.upper
    if low > old_low or high < old_high:  # type: ignore[operator]  # both bounds are there, of one kind
        yield (
            "Narrower bounds need less noise, but values beyond them are read as the bound, which biases sums.",
            "price",
        )
    if low < old_low or high > old_high:  # type: ignore[operator]
        yield "Wider bounds clamp fewer values, but every sum and mean needs more noise.", "price"


def _tell_values(was: tuple[str, ...], becomes: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    lost, more = [each for each in was if each not in becomes], [each for each in becomes if each not in was]
    if lost:
        yield f"Rows with {_name_some(lost)} are read as missing, or as all others if those have a value.", "stop"
    if more:
        yield f"Every grouping has further groups, {_name_some(more)}, whether or not anybody is in them.", "info"
    if not lost and not more:
        yield "The values come back in another order.", "info"


def _name_some(names: list[str]) -> str:
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def _tell_views(before: Catalog, after: Catalog) -> Iterator[Consequence]:
    old, new = ({view.name: view.sql for view in each.views} for each in (before, after))
    for name in new:
        if name not in old:
            yield Consequence(name, "Is a new view: analysts may ask about it as about a table.")
        elif old[name] != new[name]:
            yield Consequence(name, "The view means something else: questions about it are paid for again.", "price")
    for name in old:
        if name not in new:
            yield Consequence(name, "The view is gone: answers from it can be read as they were given.", "stop")


def _tell_opening(before: Catalog, after: Catalog) -> Iterator[Consequence]:
    """Whether the index is built again, and what becomes of earlier answers; docs/server.md."""
    if _list_indexed(before) != _list_indexed(after):
        says = "The index is built again before the change is served; until then the old one answers."
        yield Consequence("index", says)
    changed = [table.name for table in after.tables if _has_other_plans(before.table(table.name), table)]
    for name in changed:
        says = (
            "Questions about this table, also those that do not use what changed, are paid for again. Earlier answers"
        )
        again = "can be read as they were given; if the declaration is put back, they are given again for free."
        yield Consequence(name, f"{says} {again}", "price")
    if changed and before.version == after.version:
        says = "No new version is needed: indexes and answers are kept by what was declared when they were made."
        yield Consequence("version", f"{says} Raise it only when a file of the data changes.")


def _list_indexed(catalog: Catalog) -> list[object]:
    tables = [(each.name, each.public, each.columns, each.repeats, each.link) for each in catalog.tables]
    return [catalog.version, catalog.unit, *tables]


def _has_other_plans(former: Table | None, table: Table) -> bool:
    """Whether questions about a table that was there mean something else: plans hold all of its declaration."""
    if former is None:
        return False
    declared = [(each.public, each.columns, each.rows_per_person, each.link) for each in (former, table)]
    return declared[0] != declared[1]
