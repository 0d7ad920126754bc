"""Reads and checks catalog.toml. Every refusal names file, line, key, rule and fix; no private data is read."""

from __future__ import annotations

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
from adomnia.catalog.model import POLICIES, RESERVED, Analyst, Catalog, Policy, Quota, Table, View, is_name
from adomnia.catalog.people import mark_links, public_tables, read_link, read_unit, section_of
from adomnia.catalog.sizes import parse_size
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


def read(folder: Path, facts_of: FactsOf) -> Catalog:
    """Read the catalog of a folder; `facts_of` reads the columns of a *public* table."""
    document = load(folder / FILE)
    document.section((), CATALOG)
    dataset = document.section(("dataset",), DATASET)
    budget = _read_budget(document)
    names = _chosen_names(document, "tables", RESERVED)
    persons = read_unit(document, dataset["unit"])
    for name in names:
        document.section(("tables", name), section_of(document.at("tables", name), name, persons))
    _check_sources(document, folder)
    return Catalog(
        name=dataset["name"],
        version=dataset["version"],
        unit=persons,
        budget=budget,
        analysts=tuple(_read_analyst(document, name, budget) for name in _chosen_names(document, "analysts")),
        tables=_read_tables(document, names, persons, facts_of),
        folder=folder,
        views=_read_views(document, names),
        minimum_frequency=dataset.get("minimum_frequency", 1),
    )


def _chosen_names(document: Document, section: str, reserved: tuple[str, ...] = ()) -> list[str]:
    names = document.names(section, reserved=reserved)
    if not names:
        raise document.refusal((section,), "is empty", f"add {CATALOG.key(section).example}")
    return names


def _check_sources(document: Document, folder: Path) -> None:
    """Refuse a file that a public and a private table share: what is read from a public table costs nothing."""
    files = {name: (folder / table["source"]).resolve() for name, table in document.at("tables").items()}
    public = public_tables(document)
    private = {file: name for name, file in files.items() if name not in public}
    for name in public:
        if files[name] in private:
            why = f"is also the file of {private[files[name]]}, which is private"
            raise document.refusal(("tables", name, "source"), why, "give the public table a file of its own")


def _read_budget(document: Document) -> Budget:
    declared = document.section(("budget",), BUDGET)
    with document.translate_errors(("budget",), BUDGET):
        budget = Budget(**declared)
    if budget.approximate and not budget.delta:
        why = "needs a delta above 0: every spend that is not pure uses some"
        raise document.refusal(("budget", "approximate"), why, "add delta = 1e-6, or write approximate = false")
    return budget


def _read_analyst(document: Document, name: str, budget: Budget) -> Analyst:
    path = ("analysts", name)
    declared = document.section(path, ANALYST)
    with document.translate_errors(path, ANALYST):
        personal = Budget(declared["epsilon"], declared.get("delta", 0), budget.approximate)
        return Analyst(name, personal, _read_policy(document, path, declared), _read_quota(declared))


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
    for name in names:
        if name.lower() in taken:
            raise document.refusal(("views", name), f"has the name of the table {taken[name.lower()]}", "rename it")
    return tuple(View(name, document.section(("views", name), VIEW)["sql"]) for name in names)


def _read_tables(document: Document, names: list[str], persons: Unit, facts_of: FactsOf) -> tuple[Table, ...]:
    def public_values(path: tuple[str, ...], written: str) -> tuple[str, ...]:
        return _read_public_values(document, path, written, facts_of)

    tables = [_read_table(document, name, read_columns(document, name, public_values)) for name in names]
    for place, table in enumerate(tables):
        if table.public and table.columns:
            tables[place] = apply_facts(table, _read_facts(document, ("tables", table.name, "source"), table, facts_of))
    return mark_links(document, tuple(tables), persons)


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
    )


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


def _read_public_values(document: Document, path: tuple[str, ...], written: str, facts_of: FactsOf) -> tuple[str, ...]:
    name, _, column = written.partition(".")
    public = public_tables(document)
    if name not in public:
        why = f"must come from a public table, and {name} is {'private' if name in document.at('tables') else 'none'}"
        example = COLUMNS["category"].key("values").example
        fix = f"{did_you_mean(name, public) or 'declare a public table.'} Or list them: {example}"
        raise document.refusal(path, why, fix)
    known = document.at("tables", name).get("columns")
    if known is not None and column not in known:
        fix = f"{did_you_mean(column, known) or 'name another'} (declared are {', '.join(known)})"
        raise document.refusal(path, f"names the column {column}, which {name} does not declare", fix)
    if not is_name(column):
        raise document.refusal(path, f"names the column {column}, a name that the index keeps for itself", "rename it")
    (facts,) = _read_facts(document, path, _read_table(document, name, (Column(column, Text()),)), facts_of)
    return sort_values(facts)
