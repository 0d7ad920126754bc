"""What was spent is shown in the currency that counts."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from adomnia.cli import accounts
from adomnia.cli.accounts import Account
from adomnia.privacy.amounts import shown_down
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.filters import Budget, Filter

PURE = Filter(Budget(epsilon=2))
EITHER = Filter(Budget(epsilon=2, delta=1e-6, approximate=True))
RHO = EITHER.budget.rho
REST = RHO - Fraction(1, 16)


@pytest.mark.parametrize(
    ("account", "shown"),
    [
        (PURE, ("epsilon 2", "epsilon 0", "epsilon 2")),
        (PURE.after(Pure(2)), ("epsilon 2", "epsilon 2", "epsilon 0")),
        (EITHER, ("epsilon 2, delta 0.000001", "epsilon 0", f"epsilon 2 or rho {shown_down(RHO)}")),
        (
            EITHER.after(Concentrated(0.0625)),
            ("epsilon 2, delta 0.000001", "rho 0.0625", f"rho {shown_down(REST)}"),
        ),
    ],
)
def test_an_account_is_told_in_epsilon_until_something_else_was_spent(account, shown):
    assert (accounts.budget(account), accounts.spent(account), accounts.left(account)) == shown


def test_the_record_of_an_account_is_exact(capsys):
    accounts.print_budgets_json([Account("alice", PURE.after(Pure(0.7)), 3)])
    (record,) = json.loads(capsys.readouterr().out)
    assert record["spent"] == {"epsilon": "7/10", "rho": "49/200", "delta": "0"}
    assert record["left"]["epsilon"] == "13/10"
    assert (record["analyst"], record["answers"]) == ("alice", 3)
