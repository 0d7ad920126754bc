"""A contribution profile is measured once, never unpaid, and then public; without one a dataset opens all the same."""

from __future__ import annotations

import json
import logging
import sqlite3
from contextlib import closing
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import adomnia
from adomnia.catalog.model import Profile
from adomnia.curator.executor import Statements
from adomnia.errors import Refusal
from adomnia.ledger import Ledger
from adomnia.ledger.failpoints import KILLED
from adomnia.privacy.amounts import EPSILON_UNIT
from adomnia.privacy.filters import Budget
from adomnia.session.curator import LEDGER, STATE, Curator
from adomnia.statistics.profile import profile_edges, profile_query
from kit.bits import SeededBits
from kit.children import Child
from kit.hospital import CATALOG, curated, declare, load, person, visit, write
from kit.waiting import HANG_SECONDS

PRICE = Fraction(1, 20)
TEXT = CATALOG.replace("rows_per_person = 3", "rows_per_person = { max = 8, epsilon = 0.05 }")
PEOPLE = [person(k, name=f"n{k}", age=30.0, sex="F", city="Oslo", salary=1000.0 * k) for k in range(6)]
VISITS = [visit(k, hospital="H1", cost=5.0) for k, rows in enumerate((1, 2, 2, 5, 40, 300)) for _ in range(rows)]
COUNT = "SELECT COUNT(*) FROM visits"


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "hospital", PEOPLE, VISITS, TEXT)


@pytest.fixture
def catalog(tmp_path):
    return declare(tmp_path / "hospital", TEXT)


def spent(ledger, analyst=None):
    return ledger.spent(analyst).epsilon_units * EPSILON_UNIT


def paid(folder):
    """How many profiles were paid for, and how many of them were kept."""
    with closing(sqlite3.connect(folder / STATE / LEDGER)) as connection:
        entries = [json.loads(body) for (body,) in connection.execute("SELECT body FROM entries")]
    own = [entry["kind"] for entry in entries if entry.get("request_id", "").startswith("dataset:profile:")]
    return own.count("reserve"), own.count("commit")


def child(part, *arguments):
    return Child("kit.openers", part, *map(str, arguments))


# ------------------------------------------------------------------------------------------------ what it is


def exact(catalog, visits):
    engine, query = load(catalog, PEOPLE, visits), profile_query(catalog.table("visits"))
    ((_, statement),) = Statements(engine, catalog).of([query])
    (cells,) = engine.run(statement, (query,))
    engine.close()
    return cells.tolist()


def test_everybody_is_in_the_bin_of_all_their_rows(catalog):
    edges = profile_edges(8)
    assert edges == (0, 1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 91, 128)
    assert exact(catalog, VISITS) == [1, 2, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1]


@pytest.mark.parametrize("gone", range(6))
@pytest.mark.no_cover
def test_one_person_moves_the_histogram_by_one(catalog, gone):
    moved = np.subtract(exact(catalog, VISITS), exact(catalog, [row for row in VISITS if row["person_id"] != gone]))
    assert np.abs(moved).sum() == 1
    assert moved.min() == 0


def test_rows_of_nobody_are_in_no_bin(catalog):
    assert exact(catalog, []) == [0] * 14
    assert sum(exact(catalog, [visit(None), visit(None)])) == 0


@pytest.mark.parametrize("most", [1, 2, 1000, 1_000_000])
@pytest.mark.no_cover
def test_the_second_look_proves_profiles_of_every_size(catalog, most):
    visits = replace(catalog.table("visits"), rows_per_person=most)
    larger = replace(catalog, tables=tuple(visits if each.name == "visits" else each for each in catalog.tables))
    assert sum(exact(larger, VISITS)) == 6


# ------------------------------------------------------------------------------------------------ who pays


def test_a_profile_is_paid_by_the_dataset_alone_and_is_a_public_fact_since(catalog):
    with curated(catalog, PEOPLE, VISITS) as curator:
        profile = curator.session("alice").catalog().table("visits").profile
        assert isinstance(profile, Profile)
        assert (profile.edges, profile.epsilon) == (profile_edges(8), PRICE)
        assert spent(curator.ledger) == PRICE
        assert {spent(curator.ledger, analyst) for analyst in ("alice", "bob", "carol")} == {0}
        assert len(curator.engine.ran) == 1
        curator.ledger.verify()


@pytest.mark.no_cover
def test_its_noise_is_laplace_noise_of_the_declared_size(catalog):
    """The mean size of 1,400 draws is within six of its deviations; that of noise a third larger would not be."""
    engine, people, sizes = load(catalog, PEOPLE, VISITS), exact(catalog, VISITS), []
    for seed in range(100):
        with Ledger.open(":memory:", Budget(1), {}) as ledger:
            curator = Curator.open(catalog, engine, ledger, SeededBits(f"profile {seed}"))
            sizes += np.abs(np.subtract(curator.catalog.table("visits").profile.people, people)).tolist()
    engine.close()
    # |noise| of scale 20 has mean and deviation of about 20; a false alarm is one in 10^8.
    assert len(sizes) == 1400
    assert abs(np.mean(sizes) - 20) < 6 * 20 / np.sqrt(1400)


@pytest.mark.no_cover
def test_a_profile_is_charged_once_over_reopens(folder):
    found = []
    for _ in range(3):
        steps = []
        with adomnia.open(folder, progress=lambda step, _, steps=steps: steps.append(step)) as curator:
            found.append(curator.catalog.table("visits").profile)
            assert spent(curator.ledger) == PRICE
        assert ("how many rows people have in visits" in steps) is (len(found) == 1)
    assert found[0] is not None
    assert len(set(found)) == 1
    assert paid(folder) == (1, 1)


@pytest.mark.no_cover
def test_another_version_or_declaration_is_paid_for_again(folder):
    for place, (old, new) in enumerate(
        [("version = 1", "version = 1"), ("version = 1", "version = 2"), ("max = 8", "max = 9"), ("0.05", "0.06")]
    ):
        (folder / "catalog.toml").write_text(TEXT.replace(old, new))
        adomnia.open(folder).close()
        assert paid(folder) == (place + 1, place + 1)


@pytest.mark.no_cover
def test_changes_that_do_not_matter_cost_nothing(folder):
    adomnia.open(folder).close()
    (folder / "catalog.toml").write_text(TEXT.replace("upper = 100_000", "upper = 200_000"))
    adomnia.open(folder).close()
    assert paid(folder) == (1, 1)


def test_whoever_opens_at_the_same_moment_pays_nothing(folder):
    children = [child("open_together", folder) for _ in range(3)]
    assert {process.stdout.readline().strip() for process in children} == {"ready"}
    for process in children:
        process.stdin.write("go\n")
        process.stdin.flush()
    said = {process.communicate(timeout=HANG_SECONDS)[0] for process in children}
    assert len(said) == 1
    assert paid(folder) == (1, 1)


def test_made_up_rows_meet_the_profile_that_is_known(catalog):
    with curated(catalog, PEOPLE, VISITS) as curator, curator.mock() as mock:
        assert mock.catalog.table("visits").profile == curator.catalog.table("visits").profile
        assert spent(mock.ledger) == 0


# ------------------------------------------------------------------------------------------------ what can go wrong


def open_until(folder, failpoint):
    process = child("open_until", folder, failpoint)
    assert process.communicate(timeout=HANG_SECONDS)[0] == ""
    assert process.returncode == KILLED


@pytest.mark.no_cover
@pytest.mark.parametrize("failpoint", ["reserve-durable", "answer-written", "answer-durable"])
def test_killed_between_debit_and_profile(folder, failpoint):
    open_until(folder, failpoint)
    kept = failpoint == "answer-durable"
    assert paid(folder) == (1, int(kept))
    with adomnia.open(folder) as curator:  # what was lost is paid for once more, and measured with noise of its own
        assert curator.catalog.table("visits").profile is not None
        assert spent(curator.ledger) == (1 if kept else 2) * PRICE
        curator.ledger.verify()
    assert paid(folder) == ((1, 1) if kept else (2, 1))


def test_what_is_always_lost_is_paid_for_twice_and_no_more(folder):
    for _ in range(2):
        open_until(folder, "reserve-durable")
    for _ in range(2):
        with adomnia.open(folder) as curator:
            assert curator.catalog.table("visits").profile is None
            assert spent(curator.ledger) == 2 * PRICE
            assert curator.session("alice").price(COUNT, epsilon=0.5).caps[0].rows == 8
    assert paid(folder) == (2, 0)


@pytest.mark.no_cover
def test_killed_before_the_debit_is_durable_nothing_was_paid(folder):
    write_ledger(folder)
    open_until(folder, "reserve-written")
    assert paid(folder) == (0, 0)
    adomnia.open(folder).close()
    assert paid(folder) == (1, 1)


def write_ledger(folder):
    """A ledger in which nothing was paid for: the catalog is opened without its profile first."""
    (folder / "catalog.toml").write_text(CATALOG)
    adomnia.open(folder).close()
    (folder / "catalog.toml").write_text(TEXT)


def test_a_profile_that_fails_keeps_its_debit_and_says_nothing(catalog, caplog, monkeypatch):
    def fail(*_):
        raise RuntimeError("canary 4242")

    with monkeypatch.context() as patched, caplog.at_level(logging.WARNING):
        patched.setattr("kit.hospital.SpyEngine.run", fail)
        curator = curated(catalog, PEOPLE, VISITS)
        opened = curator.__enter__()
    assert opened.catalog.table("visits").profile is None
    assert spent(opened.ledger) == PRICE
    assert "RuntimeError" in caplog.text
    assert "canary" not in caplog.text
    answer = opened.session("alice").sql(COUNT, epsilon=0.5)
    assert str(answer.caps[0]).endswith("how many rows that leaves out is not known")
    curator.__exit__(None, None, None)


def test_a_budget_that_cannot_pay_leaves_the_largest_cap(folder, caplog):
    poor = TEXT.replace("[budget]\nepsilon = ", "[budget]\nepsilon = 0.01 # ", 1)
    assert poor != TEXT
    (folder / "catalog.toml").write_text(poor)
    with caplog.at_level(logging.WARNING), adomnia.open(folder) as curator:
        assert curator.catalog.table("visits").profile is None
        assert spent(curator.ledger) == 0
        assert str(curator.session("alice").sql(COUNT, epsilon=0.01).caps[0]) == (
            "visits: at most 8 rows of a person count; how many rows that leaves out is not known"
        )
    assert "largest cap" in caplog.text
    (folder / "catalog.toml").write_text(TEXT)
    with adomnia.open(folder) as curator:  # with more budget, the next open has it
        assert curator.catalog.table("visits").profile is not None


def test_no_analyst_can_take_the_request_id_of_a_profile(catalog):
    with curated(catalog, PEOPLE, VISITS) as curator, pytest.raises(Refusal, match="does not belong to alice"):
        curator.session("alice").sql(COUNT, epsilon=0.5, request_id="dataset:profile:00:0")


# ------------------------------------------------------------------------------------------------ what it is good for


def crowd(people=3000):
    draw = np.random.default_rng(3)
    rows = draw.integers(1, 41, people)
    return pa.table({"who": np.repeat(np.arange(people), rows), "x": draw.normal(50, 10, rows.sum())})


def protected(table, **facts):
    """With a profile that has no noise, but for a chance below 1e-20."""
    facts = {"rows_per_person": {"max": 1000, "epsilon": 100}, **facts}
    return adomnia.protect(table, unit="who", epsilon=300, bounds={"x": (0, 100)}, **facts)


def test_answers_and_prices_say_which_rows_count():
    session = protected(crowd())
    (quoted,) = session.price("SELECT COUNT(*), AVG(x) FROM data", epsilon=0.1).caps
    answer = session.sql("SELECT COUNT(*), AVG(x) FROM data", epsilon=0.1)
    (cap,) = answer.caps
    assert cap == quoted
    assert 16 <= cap.rows <= 256
    assert f"{cap}." in repr(answer)
    assert str(cap.rows) in answer._repr_html_()
    assert session.sql("SELECT COUNT(*), AVG(x) FROM data", epsilon=0.1).replayed


def test_the_cap_follows_the_price():
    session = protected(crowd())
    dear, cheap = (session.price("SELECT COUNT(*) FROM data", epsilon=epsilon).caps[0].rows for epsilon in (1, 0.0005))
    assert cheap < dear


@pytest.mark.no_cover
def test_an_error_buys_a_cap_too():
    table = crowd()
    session = protected(table)
    answer = session.sql("SELECT COUNT(*) FROM data", error=2000)
    fixed = protected(table, rows_per_person=1000).price("SELECT COUNT(*) FROM data", error=2000)
    assert answer.caps[0].rows < 1000
    assert answer.cost.events[0].epsilon < fixed.event.events[0].epsilon / 2
    low, high = answer.interval("count")[0]
    assert high - low <= 4000


def test_the_profile_of_a_table_of_ones_own_lives_with_its_ledger(tmp_path):
    table = crowd()
    profiles = {protected(table, ledger=tmp_path / "own.sqlite").catalog().tables[0].profile for _ in range(2)}
    assert len(profiles) == 1
    assert None not in profiles


@pytest.mark.parametrize("wrong", [{"max": 5}, {"max": 5, "epsilon": 0.1, "delta": 0}, {"max": 0, "epsilon": 0.1}])
def test_a_cap_that_is_not_said_in_full_is_refused(wrong):
    with pytest.raises(ValueError, match="protect"):
        protected(crowd(), rows_per_person=wrong)


def test_a_profile_whose_noise_cannot_be_drawn_is_not_paid_for(caplog):
    session = protected(crowd(), rows_per_person={"max": 1000, "epsilon": 200})
    assert session.catalog().tables[0].profile is None
    assert "too small or too large to draw. Fix: name a price" in caplog.text
    assert session.budget().dataset.left().epsilon == 300
