"""`adomnia init`, `adomnia check` and `adomnia budget`: what owners of data type."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adomnia.cli.options import Folder, Format, Output, PlaceText, TokenFile
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from adomnia.cli.accounts import AccountSummary
    from adomnia.cli.places import Place

INIT_EXAMPLES = """Examples

adomnia init study --csv study/people.csv --parquet study/visits.parquet

adomnia init study --from-smartnoise metadata.yaml
"""
CHECK_EXAMPLES = """Example

adomnia check examples/hospital
"""
BUDGET_EXAMPLES = """Examples

adomnia budget examples/hospital

adomnia budget examples/hospital --format json

adomnia budget https://stats.example.org/hospital --token-file token.txt
"""


def init(
    folder: Folder,
    csv: Annotated[list[Path] | None, typer.Option(help="A CSV file with a header; may be repeated.")] = None,
    parquet: Annotated[list[Path] | None, typer.Option(help="A Parquet file; may be repeated.")] = None,
    from_smartnoise: Annotated[Path | None, typer.Option(help="SmartNoise metadata in YAML, instead.")] = None,
) -> None:
    """Write a catalog.toml to fill in, from the headers of files alone.

    No bound, unit or budget is ever guessed from the data: these lines are left for you.
    """
    from adomnia.catalog.read import FILE

    target = folder / FILE
    if target.exists():
        raise Refusal(f"{target}", "is there already", "move it away, or name another folder")
    files = [*(csv or []), *(parquet or [])]
    if bool(files) == (from_smartnoise is not None):
        why = "needs either files to describe or SmartNoise metadata"
        raise Refusal("adomnia init", why, "give --csv FILE, --parquet FILE or --from-smartnoise FILE")
    text = _import_smartnoise(from_smartnoise) if from_smartnoise else _draft_catalog(folder, files)
    folder.mkdir(parents=True, exist_ok=True)
    with target.open("x", encoding="utf-8") as file:
        file.write(text)
    typer.echo(f"Wrote {target}. Fill in the lines that begin with #, then run: adomnia check {folder}")


def check(folder: Folder, form: Output = Format.TABLE) -> None:
    """Say what the catalog promises, or what is wrong with it; of private files only headers are read."""
    from adomnia.cli import accounts, opening
    from adomnia.explaining.promises import promises
    from adomnia.session.curator import read_catalog

    catalog = read_catalog(folder)
    opening.check_headers(folder, catalog)
    found = promises(catalog)
    if form is Format.JSON:
        accounts.print_promises_json(found)
    else:
        accounts.print_promises(found)


def budget(place: PlaceText, token_file: TokenFile = None, form: Output = Format.TABLE) -> None:
    """Say who spent what, what is left, and what the next question costs if a policy sets its price.

    A server tells an analyst's own budget, and that of all together.
    """
    from adomnia.cli import accounts
    from adomnia.cli.places import Place

    where = Place(place, None, token_file)
    found = _own_accounts(where) if where.is_address else _all_accounts(where.folder)
    if form is Format.JSON:
        accounts.print_budgets_json(found)
    else:
        accounts.print_budgets(found)


def _all_accounts(folder: Path) -> list[AccountSummary]:
    from adomnia.cli import opening
    from adomnia.cli.accounts import AccountSummary

    with opening.open_accounts(folder) as (catalog, ledger):
        counts = {one.name: ledger.count_answers(one.name) for one in catalog.analysts}
        found = [AccountSummary(o.name, ledger.account(o.name), counts[o.name], o.policy) for o in catalog.analysts]
        total = AccountSummary(None, ledger.account(), sum(counts.values()), restored=ledger.restored())
    return [*found, total]


def _own_accounts(place: Place) -> list[AccountSummary]:
    from adomnia.cli.accounts import list_own
    from adomnia.cli.places import open_remote

    with open_remote(place) as session:
        return list_own(session)


def _draft_catalog(folder: Path, files: list[Path]) -> str:
    from adomnia.catalog.write import draft
    from adomnia.cli.opening import read_header

    if len({file.stem.lower() for file in files}) < len(files):
        raise Refusal("adomnia init", "was given two files of one name", "rename one: tables are called after files")
    sources = {file.stem: Path(os.path.relpath(file.resolve(), folder.resolve())).as_posix() for file in files}
    return draft(folder.resolve().name, {file.stem: read_header(file) for file in files}, sources)


def _import_smartnoise(metadata: Path) -> str:
    from adomnia.catalog.smartnoise import from_smartnoise

    try:
        text = metadata.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise Refusal(f"File {metadata}", "cannot be read", "name a YAML file in UTF-8") from None
    return from_smartnoise(text)
