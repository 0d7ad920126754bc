"""A release is paid once, by whom it should be; its folder follows from the ledger, whatever happens in between."""

from __future__ import annotations

import errno
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import patch

import numpy as np
import pytest

import adomnia
from adomnia.asking import releasing, replaying
from adomnia.errors import Failure, Refusal, Unavailable
from adomnia.ledger.failpoints import KILLED
from adomnia.privacy.amounts import EPSILON_UNIT
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.losses import loss
from adomnia.releases import folder as folders
from adomnia.releases.checks import list_charges
from adomnia.releases.store import FOLDER
from adomnia.session.curator import LEDGER, STATE
from kit.children import Child
from kit.hospital import curated, declare, write
from kit.released import OTHER, PEOPLE, PUBLISHING, QUESTION, is_same
from kit.waiting import HANG_SECONDS

TEXT = (
    PUBLISHING
    + """
[analysts.dave]
epsilon = 1
policy = "equal_split"
questions = 20
publish = true

[analysts.erin]
epsilon = 1_000
ceiling = 0.5
publish = true
largest_answer = 10
"""
)


@pytest.fixture
def curator(tmp_path):
    with curated(declare(tmp_path / "hospital", TEXT), PEOPLE, []) as opened:
        yield opened


@pytest.fixture
def alice(curator):
    return curator.session("alice")


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "hospital", PEOPLE, [], TEXT)


def spent(curator, analyst=None):
    return float(curator.ledger.spent(analyst).epsilon_units * EPSILON_UNIT)


def charges(curator):
    return {name: loss(event) for name, event in list_charges(curator.ledger).items()}


def refusal(make):
    with pytest.raises(Refusal) as caught:
        make()
    return caught.value


# ------------------------------------------------------------------------------------------------ who pays


def test_what_is_published_is_paid_by_the_dataset_alone_and_once(curator, alice):
    made = alice.release("ages", QUESTION, epsilon=1)
    assert (spent(curator), spent(curator, "alice")) == (1, 0)
    again = alice.release("ages", QUESTION, epsilon=1)
    assert is_same(again, made)
    assert is_same(curator.release("AGES", f"{QUESTION}  -- the same", epsilon=1), made)
    assert spent(curator) == 1
    assert charges(curator) == {"ages": loss(Pure(1))}


def test_everybody_reads_what_is_published_and_others_do_not_see_what_is_private(curator, alice):
    bob = curator.session("bob")
    published, own = alice.release("ages", QUESTION, epsilon=1), bob.release("mine", QUESTION, epsilon=2, private=True)
    assert is_same(bob.open_release("ages"), published)
    assert is_same(bob.open_release("Mine"), own)
    assert [each.name for each in bob.releases()] == ["ages", "mine"]
    assert [each.name for each in alice.releases()] == ["ages"]
    assert refusal(lambda: alice.open_release("mine")).code == "unknown_release"


def test_a_private_one_is_paid_from_both_budgets_once(curator):
    bob = curator.session("bob")
    made = bob.release("mine", QUESTION, epsilon=1, private=True)
    assert (spent(curator), spent(curator, "bob")) == (1, 1)
    assert is_same(bob.release("mine", QUESTION, epsilon=1, private=True), made)
    assert (spent(curator), spent(curator, "bob")) == (1, 1)
    assert made.about["paid_by"] == "bob and the dataset"


def test_who_asks_the_same_as_another_pays_as_for_a_replay(curator, alice):
    bob = curator.session("bob")
    first = bob.release("mine", QUESTION, epsilon=1, private=True)
    second = alice.release("hers", QUESTION, epsilon=1, private=True)
    assert (spent(curator), spent(curator, "bob"), spent(curator, "alice")) == (1, 1, 1)
    assert second.table.equals(first.table)


def test_a_question_that_was_paid_for_before_is_kept_for_free(curator):
    bob = curator.session("bob")
    bob.sql(QUESTION, epsilon=1)
    bob.release("mine", QUESTION, epsilon=1, private=True)
    assert spent(curator, "bob") == 1
    assert [each.name for each in bob.releases()] == ["mine"]


def test_one_purchase_is_kept_under_one_name(curator):
    """Else whoever bought one release could fill the disk for nothing."""
    bob = curator.session("bob")
    bob.release("mine", QUESTION, epsilon=1, private=True)
    refused = refusal(lambda: bob.release("again", QUESTION, epsilon=1, private=True))
    assert (refused.code, refused.why) == ("release_taken", "is kept as mine already")
    assert [each.name for each in bob.releases()] == ["mine"]
    assert spent(curator, "bob") == 1


def test_an_analyst_keeps_so_many_releases_and_no_more(curator, alice, monkeypatch):
    monkeypatch.setattr(releasing, "MOST_OWN", 1)
    bob = curator.session("bob")
    bob.release("mine", QUESTION, epsilon=1, private=True)
    assert refusal(lambda: bob.release("more", OTHER, epsilon=1, private=True)).code == "too_many_releases"
    assert spent(curator, "bob") == 1
    alice.release("hers", OTHER, epsilon=1, private=True)  # of others it counts nothing


def test_no_more_are_published_than_are_counted_for_everybody(curator, alice, monkeypatch):
    monkeypatch.setattr(releasing, "MOST_RELEASES", 1)
    alice.release("one", QUESTION, epsilon=1)
    assert refusal(lambda: alice.release("two", QUESTION, epsilon=1)).code == "too_many_releases"
    assert refusal(lambda: curator.release("two", QUESTION, epsilon=1)).code == "too_many_releases"
    assert spent(curator) == 1
    assert alice.release("one", QUESTION, epsilon=1).name == "one"


def test_every_published_name_has_a_measurement_and_a_debit_of_its_own(curator, alice):
    one, two = alice.release("one", QUESTION, epsilon=0.1), alice.release("two", QUESTION, epsilon=0.1)
    assert spent(curator) == pytest.approx(0.2)
    assert not one.table.equals(two.table)


def test_the_price_is_in_rho_where_that_is_paid(curator, alice):
    made = alice.release("ages", QUESTION, rho=0.125)
    assert charges(curator) == {"ages": loss(Concentrated(0.125))}
    assert made.about["price"] == "rho 0.125"
    assert "epsilon 2.4" in made.about["guarantee"]
    assert "zero-concentrated" in made.about["guarantee"]


# ------------------------------------------------------------------------------------------------ who may


def test_only_whom_the_catalog_lets_publish_may(curator):
    bob = curator.session("bob")
    refused = refusal(lambda: bob.release("ages", QUESTION, epsilon=1))
    assert refused.code == "may_not_publish"
    assert "private=True" in refused.fix
    assert "[analysts.bob]" in refused.fix
    assert spent(curator) == 0
    assert bob.releases() == []


def test_the_owner_publishes_without_an_analyst(curator):
    assert curator.release("ages", QUESTION, epsilon=1).about["made_by"] == "the owner"


def test_a_policy_that_sets_prices_buys_private_ones_alone(curator):
    dave = curator.session("dave")
    assert refusal(lambda: dave.release("ages", QUESTION)).code == "policy_price"
    assert refusal(lambda: dave.release("ages", QUESTION, epsilon=1)).code == "policy_price"
    made = dave.release("mine", QUESTION, private=True)
    assert made.about["price"] == "epsilon 0.05"
    assert is_same(dave.release("mine", QUESTION, private=True), made)
    assert spent(curator, "dave") == 0.05
    assert refusal(lambda: dave.release("mine", OTHER, private=True)).code == "release_taken"


def test_ceilings_and_quotas_of_the_maker_hold_for_what_the_dataset_pays(curator):
    erin = curator.session("erin")
    small = "SELECT * FROM marginals((SELECT sex FROM people))"
    assert refusal(lambda: erin.release("ages", small, epsilon=0.6)).code == "ceiling"
    assert refusal(lambda: erin.release("ages", QUESTION, epsilon=0.5)).code == "too_many_cells"
    assert spent(curator) == 0
    erin.release("ages", small, epsilon=0.5)


def test_a_budget_that_is_too_small_refuses_before_anything_is_read(tmp_path):
    small = TEXT.replace("epsilon = 1_000_000", "epsilon = 4")
    with curated(declare(tmp_path / "hospital", small), PEOPLE, []) as curator:
        check_refused_budgets(curator, curator.session("alice"))


def check_refused_budgets(curator, alice):
    refused = refusal(lambda: alice.release("ages", QUESTION, epsilon=5))
    assert refused.code == "budget"
    assert "the dataset's budget" in str(refused)
    assert curator.engine.ran == []
    carol = curator.session("carol")
    assert refusal(lambda: carol.release("ages", QUESTION, epsilon=2, private=True)).code == "budget"
    assert spent(curator) == 0


# ------------------------------------------------------------------------------------------------ names and questions


@pytest.mark.parametrize("name", ["", "a b", "1st", "../up", "a.b", "x" * 64, "person", "é", "a\n"])
def test_what_is_no_name_is_refused(alice, name):
    for private in (False, True):
        assert refusal(lambda private=private: alice.release(name, QUESTION, epsilon=1, private=private)).code == (
            "release_name"
        )
    assert refusal(lambda: alice.open_release(name)).code == "unknown_release"


def test_a_name_that_is_no_text_is_a_mistake_of_the_program(alice):
    with pytest.raises(TypeError, match="Release name"):
        alice.release(5, QUESTION, epsilon=1)


def test_a_name_stands_for_one_question_price_and_version_for_ever(curator, alice):
    alice.release("ages", QUESTION, epsilon=1)
    bob = curator.session("bob")
    for make in (
        lambda: alice.release("ages", QUESTION, epsilon=2),
        lambda: alice.release("ages", QUESTION, rho=1),
        lambda: alice.release("Ages", OTHER, epsilon=1),
        lambda: bob.release("ages", QUESTION, epsilon=1, private=True),
    ):
        assert refusal(make).code == "release_taken"
    assert spent(curator) == 1


def test_a_private_name_stands_for_one_purchase_of_its_buyer(curator, alice):
    bob = curator.session("bob")
    bob.release("mine", QUESTION, epsilon=1, private=True)
    for make in (
        lambda: bob.release("mine", OTHER, epsilon=1, private=True),
        lambda: bob.release("MINE", QUESTION, epsilon=2, private=True),
    ):
        assert refusal(make).code == "release_taken"
    assert (spent(curator), spent(curator, "bob")) == (1, 1)
    alice.release("hers", OTHER, epsilon=1, private=True)
    assert refusal(lambda: alice.release("hers", OTHER, epsilon=1)).code == "release_taken"


def test_what_others_bought_takes_no_name_and_what_is_published_later_takes_none_away(curator, alice):
    bob = curator.session("bob")
    own = bob.release("mine", QUESTION, epsilon=1, private=True)
    hers = alice.release("mine", OTHER, epsilon=1, private=True)
    assert is_same(alice.open_release("mine"), hers)
    published = curator.release("Mine", OTHER, epsilon=2)
    assert is_same(bob.open_release("mine"), own)
    assert is_same(alice.open_release("mine"), hers)
    assert is_same(curator.session("erin").open_release("mine"), published)
    for session, made in ((bob, own), (alice, hers), (curator.session("erin"), published)):
        (listed,) = session.releases()
        assert listed.about["receipt"] == made.about["receipt"]
    assert is_same(bob.release("mine", QUESTION, epsilon=1, private=True), own)


PRICES = {"secret": 1, "absent": 2}  # one purchase is kept under one name
ASKED_BY_NAME = {
    "open": lambda alice, name: alice.open_release(name),
    "ask": lambda alice, name: alice.sql(f"SELECT COUNT(*) AS n FROM releases.{name}"),
    "price": lambda alice, name: alice.price(f"SELECT COUNT(*) AS n FROM releases.{name}", epsilon=1),
    "explain": lambda alice, name: alice.explain(f"SELECT COUNT(*) AS n FROM releases.{name}"),
    "describe": lambda alice, name: alice.sql(f"DESCRIBE releases.{name}").records(),
    "list": lambda alice, name: alice.releases(),
    "quality": lambda alice, name: alice.quality(name, epsilon=1),
    "compare": lambda alice, name: alice.compare("SELECT COUNT(*) FROM people", release=name, epsilon=1),
    "publish": lambda alice, name: alice.release(name, OTHER, epsilon=1).question,
    "buy": lambda alice, name: alice.release(name, OTHER, epsilon=PRICES[name], private=True).question,
    "create": lambda alice, name: alice.sql(f"CREATE TABLE releases.{name} AS {OTHER}", epsilon=1).columns[0],
}


@pytest.mark.parametrize("asked", ASKED_BY_NAME)
def test_a_name_that_somebody_else_bought_is_as_one_that_there_is_not(curator, alice, asked):
    curator.session("bob").release("secret", QUESTION, epsilon=1, private=True)

    def outcome(name):
        try:
            told = ASKED_BY_NAME[asked](alice, name)
        except Refusal as refused:
            told = refused.code, str(refused)
        return repr(told).replace(name, "NAME")

    assert outcome("secret") == outcome("absent")


def test_what_an_earlier_version_kept_among_all_releases_is_moved_to_its_buyer(folder):
    with adomnia.open(folder) as curator:
        own = curator.session("bob").release("mine", QUESTION, epsilon=1, private=True)
        published = curator.release("ages", OTHER, epsilon=1)
    releases = folder / STATE / FOLDER
    (releases / "bob.own" / "mine").rename(releases / "mine")
    (releases / "bob.own").rmdir()
    with adomnia.open(folder) as curator:
        assert is_same(curator.session("bob").open_release("mine"), own)
        assert is_same(curator.session("alice").open_release("ages"), published)
        assert refusal(lambda: curator.session("alice").open_release("mine")).code == "unknown_release"
    assert sorted(each.name for each in releases.iterdir()) == ["ages", "bob.own"]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM people",
        "SELECT * FROM people",
        "SELECT * FROM summary(people, columns => (age))",
        "SELECT sex FROM marginals((SELECT sex, member FROM people))",
        f"{QUESTION} WHERE count > 5",
        f"{QUESTION} ORDER BY count",
        f"{QUESTION} LIMIT 3",
    ],
)
def test_nothing_but_all_that_a_method_for_it_gives_can_be_kept(curator, alice, text):
    for private in (False, True):
        assert refusal(lambda private=private: alice.release("ages", text, epsilon=1, private=private)).code == (
            "no_release"
        )
    assert spent(curator) == 0


def test_what_is_wrong_with_the_question_is_said_where_it_is(alice):
    refused = refusal(lambda: alice.sql("CREATE TABLE releases.ages AS\nSELECT * FROM marginals(peple)", epsilon=1))
    assert refused.position[0] == 2


# ------------------------------------------------------------------------------------------------ in SQL


def test_create_table_publishes_and_says_what_was_paid(curator, alice):
    answer = alice.sql(f"CREATE TABLE releases.ages AS {QUESTION}", epsilon=1)
    assert answer["release"] == ["releases.ages"]
    assert answer["paid"] == ["epsilon 1"]
    assert answer["paid_by"] == ["the dataset"]
    assert (answer.receipt.analyst, answer.replayed) == (None, False)
    assert "The dataset paid: epsilon 1. Your budget is as it was." in repr(answer)
    again = alice.sql(f"CREATE TABLE releases.ages AS {QUESTION}", epsilon=1)
    assert again.replayed
    assert "The dataset has paid before: epsilon 1." in repr(again)
    assert spent(curator) == 1
    assert alice.open_release("ages").question == QUESTION


def test_the_price_of_a_release_is_that_of_its_question_and_says_who_pays(curator, alice):
    text = f"CREATE TABLE releases.ages AS {QUESTION}"
    quote = alice.price(text, epsilon=1)
    assert quote.event == alice.price(QUESTION, epsilon=1).event
    assert quote.warnings[0] == "The dataset alone pays for a release, because everybody may read it."
    assert "It would be refused" in curator.session("bob").price(text, epsilon=1).warnings[1]
    assert "The dataset alone pays" in str(alice.explain(f"EXPLAIN {text}", epsilon=1))
    assert "marginals" in str(alice.explain(f"EXPLAIN {text}"))
    assert spent(curator) == 0
    assert alice.releases() == []


def test_releases_stand_beside_tables(curator, alice):
    alice.release("ages", QUESTION, epsilon=1)
    assert ("releases.ages", "release") in zip(*(alice.sql("SHOW TABLES")[c] for c in ("table", "kind")), strict=True)
    assert alice.sql("DESCRIBE releases.AGES")["column"] == ["sex", "member"]
    assert refusal(lambda: alice.sql("DESCRIBE releases.other")).code == "unknown_release"
    page = repr(alice.catalog())
    assert "releases.ages" in page
    assert "made with epsilon 1" in page


def test_made_up_rows_make_releases_of_their_own(curator, alice):
    mock = alice.mock()
    mock.release("ages", QUESTION, epsilon=1)
    assert [each.name for each in mock.releases()] == ["ages"]
    assert alice.releases() == []
    assert spent(curator) == 0


# ------------------------------------------------------------------------------------------------ what can happen


def paid(folder):
    with adomnia.open(folder) as curator:
        return spent(curator), [each.name for each in curator.session("bob").releases()]


@pytest.mark.parametrize(
    ("failpoint", "whole"),
    [
        ("reserve-durable", False),
        ("answer-durable", True),
        ("release-drafted", True),
    ],
)
def test_a_crash_after_the_debit_costs_once_and_the_next_open_builds_the_folder(folder, failpoint, whole):
    with adomnia.open(folder):
        pass
    child = Child("kit.openers", "release_until", str(folder), failpoint)
    assert child.communicate(timeout=HANG_SECONDS)[0] == ""
    assert child.returncode == KILLED
    assert paid(folder) == (1, ["ages"] if whole else [])
    place = folder / STATE / FOLDER / "ages"
    assert place.exists() is whole
    with adomnia.open(folder) as curator:
        alice = curator.session("alice")
        if whole:
            assert is_same(alice.release("ages", QUESTION, epsilon=1), adomnia.open_release(place))
        else:
            assert refusal(lambda: alice.release("ages", QUESTION, epsilon=1)).code == "release_failed"
        assert spent(curator) == 1
    assert [each.name for each in (folder / STATE / FOLDER).glob(".*")] == []


def test_a_measurement_that_fails_stays_paid_and_says_so(curator, alice, monkeypatch):
    def fail(*_arguments):
        raise RuntimeError("a row")

    with monkeypatch.context() as patch:
        patch.setattr(type(curator.engine), "run", fail)
        with pytest.raises(Failure):
            alice.release("ages", QUESTION, epsilon=1)
    assert spent(curator) == 1
    assert refusal(lambda: alice.release("ages", QUESTION, epsilon=1)).code == "release_failed"
    assert alice.releases() == []
    assert charges(curator) == {"ages": loss(Pure(1))}


def test_a_full_disk_costs_nothing_twice(folder, monkeypatch):
    def fail(*_arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with adomnia.open(folder) as curator:
        alice = curator.session("alice")
        with monkeypatch.context() as patch:
            patch.setattr(folders, "mkdtemp", lambda **_options: fail())
            with pytest.raises(Unavailable, match="is full"):
                alice.release("ages", QUESTION, epsilon=1)
        assert spent(curator) == 1
        made = alice.release("ages", QUESTION, epsilon=1)
        assert spent(curator) == 1
    assert is_same(adomnia.open_release(folder / STATE / FOLDER / "ages"), made)


def test_a_folder_that_is_removed_or_broken_is_built_again(folder):
    place = folder / STATE / FOLDER / "ages"
    with adomnia.open(folder) as curator:
        made = curator.release("ages", QUESTION, epsilon=1)
        shutil.rmtree(place)
        assert is_same(curator.session("bob").open_release("ages"), made)
    for spoil in (lambda: shutil.rmtree(place), lambda: (place / "data.parquet").write_bytes(b"broken")):
        with adomnia.open(folder):
            pass
        assert is_same(adomnia.open_release(place), made)
        spoil()
        with adomnia.open(folder) as curator:
            assert is_same(curator.session("bob").open_release("ages"), made)
            assert spent(curator) == 1
        assert is_same(adomnia.open_release(place), made)


def test_a_release_outlives_the_version_of_its_data(folder):
    with adomnia.open(folder) as curator:
        made = curator.release("ages", QUESTION, epsilon=1)
    shutil.rmtree(folder / STATE / FOLDER)
    catalog = folder / "catalog.toml"
    catalog.write_text(catalog.read_text().replace("version = 1", "version = 2"))
    with adomnia.open(folder) as curator:
        found = curator.session("bob").open_release("ages")
        assert found.about["version"] == 1
        assert is_same(found, made)
        assert refusal(lambda: curator.release("ages", QUESTION, epsilon=1)).code == "release_taken"


def test_a_catalog_that_means_something_else_keeps_the_folder_and_cannot_build_it_again(folder):
    with adomnia.open(folder) as curator:
        made = curator.release("ages", QUESTION, epsilon=1)
    catalog = folder / "catalog.toml"
    catalog.write_text(catalog.read_text().replace('["F", "M", "X"]', '["F", "M", "X", "D"]'))
    with adomnia.open(folder) as curator:
        assert is_same(curator.session("bob").open_release("ages"), made)
    shutil.rmtree(folder / STATE / FOLDER)
    with adomnia.open(folder) as curator:
        bob = curator.session("bob")
        assert refusal(lambda: bob.open_release("ages")).code == "catalog_changed"
        assert [(each.name, each.attributes) for each in bob.releases()] == [("ages", ())]


def test_a_ledger_that_was_restored_decides_which_folders_count(folder, tmp_path):
    with adomnia.open(folder) as curator:
        curator.release("ages", QUESTION, epsilon=1)
        curator.ledger.backup(tmp_path / "copy.sqlite")
        lost = curator.release("later", OTHER, epsilon=1)
        curator.session("bob").release("mine", OTHER, epsilon=1, private=True)
    for suffix in ("", "-wal", "-shm", ".anchor"):
        (folder / STATE / f"{LEDGER}{suffix}").unlink(missing_ok=True)
    for each in tmp_path.glob("copy.sqlite*"):
        shutil.copy(each, folder / STATE / each.name.replace("copy.sqlite", LEDGER))
    with adomnia.open(folder) as curator:
        bob = curator.session("bob")
        assert [each.name for each in bob.releases()] == ["ages"]
        assert refusal(lambda: bob.open_release("later")).code == "unknown_release"
        again = curator.release("later", OTHER, epsilon=1)
        assert not again.table.equals(lost.table)
        assert adomnia.open_release(folder / STATE / FOLDER / "later").about["receipt"] == again.about["receipt"]


def test_two_who_make_the_same_name_at_once_pay_once(folder):
    with adomnia.open(folder) as curator, ThreadPoolExecutor(2) as pool:
        sessions = [curator.session("alice") for _ in range(2)]
        made = list(pool.map(lambda session: session.release("ages", QUESTION, epsilon=1), sessions))
        assert is_same(*made)
        assert spent(curator) == 1


def test_two_processes_that_make_the_same_name_at_once_pay_once(folder):
    with adomnia.open(folder):
        pass
    children = [Child("kit.openers", "release_together", str(folder)) for _ in range(2)]
    assert [child.stdout.readline() for child in children] == ["ready\n"] * 2
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    said = [child.communicate(timeout=HANG_SECONDS)[0] for child in children]
    assert said[0] == said[1] != ""
    assert paid(folder)[0] == 1


# ------------------------------------------------------------------------------------------------ what it says


def test_a_release_says_how_it_was_made(curator, alice):
    made = alice.release("ages", QUESTION, epsilon=1, confidence=0.9)
    about = made.about
    assert (about["dataset"], about["mechanism"], about["made_by"], about["version"]) == (
        "hospital",
        "marginals",
        "alice",
        1,
    )
    assert (about["confidence"], about["private"], about["paid_by"]) == (0.9, False, "the dataset")
    assert len(about["catalog"]) == 64
    assert curator.ledger.dataset_request("dataset:release:ages").hash == about["receipt"]
    stored = curator.ledger.answer(None, "dataset:release:ages")
    recorded = [np.array(each).sum() for each in made.measurements]
    assert stored is not None
    assert len(recorded) > 0
    assert "count_lower" in made.table.column_names


def test_the_published_counts_are_near_the_truth_at_a_high_price(alice):
    table = alice.release("ages", QUESTION, epsilon=10).to_pandas()
    counts = dict(zip(zip(table["sex"], table["member"], strict=True), table["count"], strict=True))
    assert abs(counts["(all)", "(all)"] - 60) < 15
    assert abs(counts["F", "(all)"] - 20) < 15


def test_a_release_that_this_code_would_make_another_of_is_not_built_again(curator, alice):
    alice.release("counts", QUESTION, epsilon=1)
    alice.release("own", OTHER, epsilon=1, private=True)
    curator.dataset.releases._known.clear()
    with patch.object(replaying, "draft_answer", side_effect=ZeroDivisionError):
        for make in (
            lambda: alice.open_release("counts"),
            lambda: alice.release("own", OTHER, epsilon=1, private=True),
        ):
            assert refusal(make).code == "other_version"
    assert alice.open_release("counts").name == "counts"
