"""Reads and checks catalog.toml. Every refusal names file, line, key, rule and fix; no private data is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adomnia.catalog.columns import read_columns
from adomnia.catalog.document import Document, load
from adomnia.catalog.document_keys import (
    ANALYST,
    BUDGET,
    CATALOG,
    COLUMNS,
    DATASET,
    PRIVATE_CAP,
    SECTION,
    VIEW,
    did_you_mean,
)
from adomnia.catalog.facts import apply_facts, sort_values
from adomnia.catalog.ledgers import read_budget, read_ledger
from adomnia.catalog.model import POLICIES, RESERVED, Analyst, Catalog, Policy, Quota, Table, View
from adomnia.catalog.people import mark_links, public_tables, read_link, read_unit, section_of
from adomnia.catalog.sizes import parse_size
from adomnia.catalog.sources import (
    check_source_url,
    check_sources,
    read_csv_format,
    read_engine,
    read_source_columns,
    read_source_table,
)
from adomnia.errors import Refusal
from adomnia.privacy.amounts import positive
from adomnia.privacy.events import Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.filters import Budget
from adomnia.privacy.kinds import Text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction
    from pathlib import Path

    from adomnia.catalog.facts import Facts, FactsOf
    from adomnia.privacy.units import Unit

FILE = "catalog.toml"


@dataclass(frozen=True)
class Examination:
    """What a catalog.toml was found to hold: all its problems in the order of its lines, and what could be read.

    There is a catalog where there is no problem; `tables` are those without one of their own.
    """

    document: Document
    problems: tuple[Refusal, ...]
    tables: tuple[Table, ...]
    catalog: Catalog | None


def read(folder: Path, facts_of: FactsOf) -> Catalog:
    """Read the catalog of a folder; `facts_of` reads the columns of a *public* table."""
    found = examine(folder, facts_of)
    if found.catalog is None:
        first, *others = found.problems
        raise Refusal(first.what, first.why, first.fix, first.position, others=tuple(others))
    return found.catalog


def examine(folder: Path, facts_of: FactsOf) -> Examination:
    """Read the catalog of a folder as far as possible, and find everything that is wrong with it."""
    return examine_document(load(folder / FILE), folder, facts_of)


def examine_document(document: Document, folder: Path, facts_of: FactsOf) -> Examination:
    """Read a document that may not be the one in the folder."""
    attempt = document.attempt
    attempt(document.section, (), CATALOG)
    dataset = attempt(document.section, ("dataset",), DATASET)
    budget = attempt(read_budget, document, "budget", BUDGET)
    names = attempt(_chosen_names, document, "tables", RESERVED)
    analysts = attempt(_read_analysts, document, budget is not None and budget.approximate)
    views = attempt(_read_views, document, names or [])
    ledger = attempt(read_ledger, document, dataset["name"]) if dataset else None
    unit = attempt(read_unit, document, dataset["unit"]) if dataset and names else None
    tables = _read_tables(document, folder, names or [], unit, facts_of)
    engine = attempt(read_engine, document, tables)
    catalog = None
    if not document.problems and dataset and budget and unit and engine:
        catalog = Catalog(
            name=dataset["name"],
            version=dataset["version"],
            unit=unit,
            budget=budget,
            analysts=analysts or (),
            tables=tables,
            folder=folder,
            views=views or (),
            minimum_frequency=dataset.get("minimum_frequency", 1),
            vacuous_answers=dataset.get("vacuous_answers", Catalog.vacuous_answers),
            engine=engine,
            ledger=ledger,
            today=dataset.get("today"),
        )
    return Examination(document, _sort_problems(document.problems), tables, catalog)


def _sort_problems(problems: list[Refusal]) -> tuple[Refusal, ...]:
    """Each once, by line: a part that is missing is noticed by all who need it."""
    distinct = {str(problem): problem for problem in problems}
    return tuple(sorted(distinct.values(), key=lambda problem: problem.position or (1, 1)))


def _chosen_names(document: Document, section: str, reserved: tuple[str, ...] = ()) -> list[str]:
    names = document.names(section, reserved=reserved)
    if not names:
        raise document.refusal((section,), "is empty", f"add {CATALOG.key(section).example}")
    return names


def _read_analysts(document: Document, approximate: bool) -> tuple[Analyst, ...]:
    names = _chosen_names(document, "analysts")
    return tuple(filter(None, (document.attempt(_read_analyst, document, name, approximate) for name in names)))


def _read_analyst(document: Document, name: str, approximate: bool) -> Analyst:
    path = ("analysts", name)
    declared = document.section(path, ANALYST)
    with document.translate_errors(path, ANALYST):
        personal = Budget(declared["epsilon"], declared.get("delta", 0), approximate)
        policy, publish = _read_policy(document, path, declared), declared.get("publish", False)
        return Analyst(name, personal, policy, _read_quota(declared), publish)


def _read_policy(document: Document, path: tuple[str, ...], declared: Mapping[str, Any]) -> Policy:
    takes = POLICIES[name := declared.get("policy", "on_demand")]
    given = [key for keys in POLICIES.values() for key in keys if key in declared]
    if given not in ([[key] for key in takes] or [[]]):
        rule = f"{name} takes {' or '.join(takes) or 'no further key'}"
        fix = 'write "equal_split" with questions, "geometric" with spend or keep, or "on_demand" alone'
        why = f"breaks the rule that {rule}, got {' and '.join(given) or 'none'}"
        raise document.refusal((*path, *(given[-1:] or ["policy"])), why, fix)
    number = {key: positive(declared[key], "Policy", key) for key in ("spend", "keep", "ceiling") if key in declared}
    spend = 1 - number["keep"] if "keep" in number else number.get("spend")
    return Policy(name, declared.get("questions"), spend, number.get("ceiling"))


def _read_quota(declared: Mapping[str, Any]) -> Quota:
    storage = parse_size(declared.get("storage", ""))
    return Quota(declared.get("largest_answer"), Quota.storage if storage is None else storage)


def _read_views(document: Document, tables: list[str]) -> tuple[View, ...]:
    names = document.names("views", reserved=RESERVED) if "views" in document.content else []
    taken = {table.lower(): table for table in tables}
    return tuple(filter(None, (document.attempt(_read_view, document, name, taken) for name in names)))


def _read_view(document: Document, name: str, taken: Mapping[str, str]) -> View:
    if name.lower() in taken:
        raise document.refusal(("views", name), f"has the name of the table {taken[name.lower()]}", "rename it")
    return View(name, document.section(("views", name), VIEW)["sql"])


def _read_tables(
    document: Document, folder: Path, names: list[str], unit: Unit | None, facts_of: FactsOf
) -> tuple[Table, ...]:
    """The tables that can be read; with the facts of public ones, and linked to each other, if all of them can."""
    sound = [name for name in names if document.attempt(_check_keys, document, name, unit)]
    document.attempt(check_sources, document, folder, sound)
    # No file is read before it is certain which are public.
    lookup = None if document.problems else facts_of
    columns = {name: document.attempt(_read_columns, document, name, lookup) for name in names}
    known = {name: found for name, found in columns.items() if name in sound and found is not None}
    tables = tuple(filter(None, (document.attempt(_read_table, document, *each) for each in known.items())))
    if unit is None or document.problems:
        return tables
    return document.attempt(_complete_tables, document, tables, unit, facts_of) or tables


def _complete_tables(document: Document, tables: tuple[Table, ...], unit: Unit, facts_of: FactsOf) -> tuple[Table, ...]:
    return mark_links(document, tuple(_add_facts(document, table, facts_of) for table in tables), unit)


def _add_facts(document: Document, table: Table, facts_of: FactsOf) -> Table:
    if not table.public or not table.columns:
        return table
    return apply_facts(table, _read_facts(document, ("tables", table.name, "source"), table, facts_of))


def _check_keys(document: Document, name: str, unit: Unit | None) -> bool:
    document.section(("tables", name), section_of(document.at("tables", name), name, unit))
    check_source_url(document, name)
    return True


def _read_columns(document: Document, name: str, facts_of: FactsOf | None) -> tuple[Column, ...]:
    def public_values(path: tuple[str, ...], written: str) -> tuple[str, ...]:
        return _read_public_values(document, path, written, facts_of)

    return read_columns(document, name, public_values)


def _read_table(document: Document, name: str, columns: tuple[Column, ...]) -> Table:
    declared = document.at("tables", name)
    rows, epsilon = _read_cap(document, name)
    return Table(
        name=name,
        source=declared["source"],
        columns=columns,
        public=declared.get("public", False),
        link=read_link(declared.get("person")),
        rows_per_person=rows,
        profile_epsilon=epsilon,
        preview_epsilon=_read_preview(document, name),
        source_table=read_source_table(document, name),
        source_columns=read_source_columns(document, name),
        csv=read_csv_format(document, name),
    )


def _read_preview(document: Document, name: str) -> Fraction | None:
    written = document.at("tables", name).get("preview")
    return None if written is None else Pure(written).epsilon


def _read_cap(document: Document, name: str) -> tuple[int, Fraction | None]:
    path = ("tables", name, "rows_per_person")
    written = document.at(*path[:-1]).get(path[-1], 1)  # public tables and rows that are people have none
    if not SECTION.holds(written):
        return written, None
    declared = document.section(path, PRIVATE_CAP)
    with document.translate_errors(path, PRIVATE_CAP):
        return declared["max"], Pure(declared["epsilon"]).epsilon


def _read_facts(document: Document, path: tuple[str, ...], table: Table, facts_of: FactsOf) -> Sequence[Facts]:
    try:
        return facts_of(table)
    except Refusal as cause:
        raise document.refusal(path, f"cannot be read: {cause.what} {cause.why}", cause.fix) from None


def _read_public_values(
    document: Document, path: tuple[str, ...], written: str, facts_of: FactsOf | None
) -> tuple[str, ...]:
    """The values of a column of a public table; some value stands for them while the catalog has other problems."""
    name, _, column = written.partition(".")
    public = public_tables(document)
    if name not in public:
        why = f"must come from a public table, and {name} is {'private' if name in document.at('tables') else 'none'}"
        example = COLUMNS["category"].key("values").example
        fix = f"{did_you_mean(name, public) or 'declare a public table.'} Or list them: {example}"
        raise document.refusal(path, why, fix)
    known = document.at("tables", name).get("columns")
    if SECTION.holds(known) and column not in known:
        fix = f"{did_you_mean(column, known) or 'name another'} (declared are {', '.join(known)})"
        raise document.refusal(path, f"names the column {column}, which {name} does not declare", fix)
    if facts_of is None:
        return (written,)
    (facts,) = _read_facts(document, path, _read_table(document, name, (Column(column, Text()),)), facts_of)
    return sort_values(facts)
