"""`adomnia ledger top-up`: how owners add to a budget, beside whatever the catalog says."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from adomnia.cli.options import Folder, Format, Lifetime, Output, parse_number
from adomnia.errors import Refusal

TOP_UP_EXAMPLES = """Examples

adomnia ledger top-up examples/hospital --analyst alice --epsilon 0.5 --reason "second year of the study"

adomnia ledger top-up examples/hospital --dataset --epsilon 2 --delta 1e-7 --reason "board meeting of 3 May"
"""


def top_up(  # noqa: PLR0913, PLR0917 - each is an option
    folder: Folder,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; it is kept in the ledger.")],
    analyst: Annotated[str | None, typer.Option(metavar="NAME", help="Whose budget.")] = None,
    dataset: Annotated[bool, typer.Option("--dataset", help="The dataset's own budget.")] = False,
    lifetime: Lifetime = False,
    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="How much epsilon to add.")] = "0",
    delta: Annotated[str, typer.Option(metavar="NUMBER", help="How much delta to add.")] = "0",
    form: Output = Format.TABLE,
) -> None:
    """Add to the budget of an analyst, the dataset, or all datasets that share an account, for good and at once."""
    from adomnia.cli import accounts, opening, pages
    from adomnia.explaining.balances import say_account
    from adomnia.session.ledgers import find_ledger

    if (analyst is not None) + dataset + lifetime != 1:
        raise Refusal("A top-up", "is for one account", "give either --analyst NAME, or --dataset, or --lifetime")
    find_ledger(folder)  # one in memory would forget it
    amounts = {"epsilon": parse_number("epsilon", epsilon) or 0, "delta": parse_number("delta", delta) or 0}
    with opening.open_accounts(folder) as (_, ledger):
        try:
            add = ledger.top_up_lifetime if lifetime else partial(ledger.top_up, analyst)
            account = add(reason, **amounts)
        except ValueError as error:
            fix = "add amounts that are not negative and not both 0, for a reason of 1 to 1,000 printable characters"
            raise Refusal("The top-up", f"is none: {error}", fix) from None
    budget = accounts.as_budget_record(account)
    if form is Format.JSON:
        pages.show_json({"analyst": analyst, **budget})
        return
    who = analyst or ("All datasets that share the account together" if lifetime else "The dataset")
    pages.show(f"{who} may spend {accounts.format_budget(account)} in all from now on. {say_account(account)}")
