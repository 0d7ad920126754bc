"""How commands open a dataset, and what they show meanwhile."""

from __future__ import annotations

import os
import pty
import subprocess

from adomnia.cli import opening
from kit.commands import COMMAND
from kit.example import write_example

ASK = ["SELECT COUNT(*) FROM people", "--epsilon", "0.1", "--format", "csv"]


def on_a_terminal(*arguments: object) -> tuple[bytes, str]:
    """Standard output of a command, and what a terminal as its standard error received."""
    ours, theirs = pty.openpty()
    ran = subprocess.run([*COMMAND, *map(str, arguments)], stdout=subprocess.PIPE, stderr=theirs, check=True)
    os.close(theirs)
    seen = os.read(ours, 100_000)
    os.close(ours)
    return seen, ran.stdout.decode()


def test_a_bar_is_shown_on_the_terminal_while_the_index_is_built_and_only_then(tmp_path):
    folder = write_example(tmp_path / "hospital", people=500)
    (first, printed), (second, again) = (on_a_terminal("sql", folder, *ASK) for _ in range(2))
    assert b"Building the index" in first
    assert b"Building the index" not in second
    assert printed == again
    assert printed.startswith("count,count_lower,count_upper\n")


def test_the_first_analyst_of_the_catalog_asks_where_nobody_is_named(hospital):
    with opening.open_dataset(hospital) as curator:
        assert opening.open_session(curator, None).analyst == "alice"
        assert opening.open_session(curator, "bob").analyst == "bob"


def test_a_rehearsal_leaves_no_trace(hospital):
    before = sorted(hospital.rglob("*"))
    with opening.open_mock_folder(hospital) as curator:
        opening.open_session(curator, None).sql("SELECT COUNT(*) FROM visits", epsilon=1)
    assert sorted(hospital.rglob("*")) == before


def test_prices_are_told_from_the_accounts_as_they_are(hospital):
    catalog = hospital / "catalog.toml"
    text = catalog.read_text()
    assert 'policy = "on_demand"' in text
    catalog.write_text(text.replace('policy = "on_demand"', 'policy = "geometric"\nspend = 0.5', 1))
    count = "SELECT COUNT(*) FROM people"
    with opening.open_for_quotes(hospital, "alice") as alice:
        dearest = alice.price(count).price.epsilon
    with opening.open_dataset(hospital) as curator:
        curator.session("alice").sql(count)
    with opening.open_for_quotes(hospital, "alice") as alice:
        assert alice.price(count).price.epsilon == dearest / 2
        assert alice.budget().personal.spent.epsilon_units > 0
    with opening.open_dataset(hospital) as curator:
        assert len(curator.ledger.answers("alice")) == 1
