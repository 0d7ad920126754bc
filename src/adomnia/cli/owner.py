"""`adomnia init`, `adomnia check` and `adomnia budget`: what owners of data type."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from adomnia.cli.options import Folder, Format, Output
from adomnia.errors import Refusal

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


def budget(folder: Folder, form: Output = Format.TABLE) -> None:
    """Say who spent what, what is left, and what the next question costs if a policy sets its price."""
    from adomnia.cli import accounts, opening

    with opening.open_accounts(folder) as (catalog, ledger):
        found = [
            accounts.AccountSummary(one.name, ledger.account(one.name), ledger.count_answers(one.name), one.policy)
            for one in catalog.analysts
        ]
        answers = sum(account.answers for account in found)
        total = accounts.AccountSummary(None, ledger.account(), answers, restored=ledger.restored())
    if form is Format.JSON:
        accounts.print_budgets_json([*found, total])
    else:
        accounts.print_budgets([*found, total])


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
