from __future__ import annotations

import shutil
from fractions import Fraction
from hashlib import sha256
from threading import Event, Thread

import pytest

from adomnia.api.running import served_dataset as module
from adomnia.api.running.served_dataset import ServedDataset
from adomnia.catalog.read import FILE
from adomnia.errors import Failure, Refusal
from adomnia.session.curator import open_folder
from kit.example import write_example
from kit.waiting import HANG_SECONDS, wait_until

COUNT = "SELECT COUNT(*) FROM people"


class Opened:
    """A curator that only knows whether it was closed."""

    def __init__(self, version):
        self.catalog = type("Catalog", (), {"version": version, "name": "study"})
        self.closed = 0

    def close(self):
        self.closed += 1


class Opener:
    def __init__(self):
        self.opened, self.fault, self.tries = [], None, 0

    def __call__(self, _folder):
        self.tries += 1
        if self.fault is not None:
            raise self.fault
        self.opened.append(Opened(len(self.opened) + 1))
        return self.opened[-1]


@pytest.fixture
def opener():
    return Opener()


@pytest.fixture
def reports():
    return []


@pytest.fixture
def dataset(tmp_path, opener, reports):
    (tmp_path / FILE).write_text("version 1")
    dataset = ServedDataset(tmp_path, opener, lambda level, why: reports.append((level, why)))
    yield dataset
    dataset.close()


def test_the_dataset_is_lent_and_closed_in_the_end(dataset, opener):
    with dataset.curator() as curator:
        assert curator is opener.opened[0]
    dataset.close()
    assert opener.opened[0].closed == 1


def test_a_catalog_that_did_not_change_is_not_opened_again(dataset, opener):
    dataset.reload()
    dataset.reload()
    assert len(opener.opened) == 1


def test_a_changed_catalog_takes_the_place_of_the_old_one(dataset, opener, tmp_path, reports):
    with dataset.lease() as before:
        (tmp_path / FILE).write_text("version 2")
        dataset.reload()
        with dataset.lease() as after:
            assert (before.curator.catalog.version, after.curator.catalog.version) == (1, 2)
            assert before.identity != after.identity
        assert opener.opened[0].closed == 0  # somebody still has it
        with dataset.curator() as curator:
            assert curator is opener.opened[1]
    assert opener.opened[0].closed == 1
    assert opener.opened[1].closed == 0
    assert reports == [("info", "Serving version 2.")]


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (Refusal("The catalog", "is wrong", "mend it"), "The catalog is wrong. Fix: mend it."),
        (Failure(), "The request failed."),
        (ZeroDivisionError("row 4711"), "The catalog could not be opened: ZeroDivisionError."),
    ],
)
def test_a_catalog_that_cannot_be_opened_leaves_the_old_one_and_says_why(dataset, opener, tmp_path, fault, says):
    opener.fault = fault
    (tmp_path / FILE).write_text("version 2")
    dataset.reload()
    dataset.reload()
    with dataset.curator() as curator:
        assert curator is opener.opened[0]
    assert dataset.problem == says
    opener.fault = None
    (tmp_path / FILE).write_text("version 3")
    dataset.reload()
    assert dataset.problem is None


def test_a_problem_is_told_of_the_text_that_has_it(dataset, opener, tmp_path):
    first, second = (sha256(text.encode()).hexdigest() for text in ("version 2", "version 3"))
    (tmp_path / FILE).write_text("version 2")
    assert dataset.find_problem(first) is None  # nobody has tried it yet
    opener.fault = Refusal("The catalog", "is wrong", "mend it")
    dataset.reload()
    assert "is wrong" in dataset.find_problem(first)
    assert dataset.find_problem(second) is None
    opener.fault = None
    (tmp_path / FILE).write_text("version 3")
    dataset.reload()
    assert dataset.find_problem(first) is dataset.find_problem(second) is None


def test_what_is_wrong_with_a_catalog_is_told_once(dataset, opener, tmp_path, reports):
    opener.fault = Refusal("The catalog", "is wrong", "mend it")
    (tmp_path / FILE).write_text("version 2")
    dataset.reload()
    dataset.reload()
    assert reports == [("error", "The catalog is wrong. Fix: mend it.")]


def test_a_catalog_that_could_not_be_opened_is_tried_again_less_and_less_often(dataset, opener, tmp_path, reports):
    opener.fault = Refusal("Source people.csv", "is not a file that can be read", "correct its name")
    (tmp_path / FILE).write_text("version 2")
    tries = []
    for look in range(300):
        before = opener.tries
        dataset.reload()
        if opener.tries > before:
            tries.append(look)
    assert tries == [0, 1, 3, 7, 15, 31, 63, 127, 191, 255]
    assert len(reports) == 1
    opener.fault = None  # the file is there now, and the catalog is as it was
    for _ in range(64):
        dataset.reload()
    assert dataset.problem is None
    with dataset.curator() as curator:
        assert curator is opener.opened[1]


def test_a_catalog_that_is_put_back_is_no_problem_any_more(dataset, opener, tmp_path):
    opener.fault = Refusal("The catalog", "is wrong", "mend it")
    (tmp_path / FILE).write_text("version 2")
    dataset.reload()
    assert dataset.problem is not None
    (tmp_path / FILE).write_text("version 1")
    dataset.reload()
    assert dataset.problem is None
    assert len(opener.opened) == 1


def test_a_catalog_that_is_gone_leaves_the_old_one(dataset, opener, tmp_path):
    opener.fault = Refusal("The catalog", "is gone", "put it back")
    (tmp_path / FILE).unlink()
    dataset.reload()
    assert dataset.problem is not None
    with dataset.curator() as curator:
        assert curator.closed == 0


def test_closing_waits_for_nobody_but_closes_after_the_last(dataset, opener):
    with dataset.curator() as curator:
        dataset.close()
        assert curator.closed == 0
    assert opener.opened[0].closed == 1


def test_the_catalog_is_watched(dataset, opener, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "WATCH_SECONDS", 0.01)
    dataset.watch()
    (tmp_path / FILE).write_text("version 2")
    wait_until(lambda: len(opener.opened) == 2)


def test_a_catalog_that_is_being_written_is_not_opened(dataset, opener, monkeypatch):
    monkeypatch.setattr(module, "WATCH_SECONDS", 0.001)
    texts = [b"ver", b"version", b"version 2", b"version 2"]
    monkeypatch.setattr(dataset, "_read_catalog", lambda: texts.pop(0) if len(texts) > 1 else texts[0])
    dataset.watch()
    wait_until(lambda: dataset._served == b"version 2")
    assert opener.tries == 2


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    folder = write_example(tmp_path_factory.mktemp("served") / "hospital", people=300)
    open_folder(folder).close()
    return folder


@pytest.fixture
def hospital(example, tmp_path):
    return shutil.copytree(example, tmp_path / "hospital")


def with_fewer_people(folder, version):
    """New data under a new version: half of the people, and the catalog last."""
    newer = write_example(folder.parent / f"version {version}", people=150)
    for file in newer.glob("*.parquet"):
        shutil.copy(file, folder)
    declare(folder, f"version = {version}")


def declare(folder, version):
    catalog = folder / FILE
    catalog.write_text(catalog.read_text().replace("version = 1", version))


def test_a_new_version_is_served_while_questions_go_on_and_budgets_carry_over(hospital):
    dataset = ServedDataset(hospital, open_folder)
    asked, faults, end = [], [], Event()

    def ask(name):
        while not end.is_set():
            try:
                with dataset.curator() as curator:
                    text = f"SELECT COUNT(*) FROM people WHERE age > {len(asked) % 100}"
                    asked.append(
                        (
                            curator.catalog.version,
                            curator.session(name).sql(text, epsilon=0.0001, allow_uninformative=True),
                        )
                    )
            except Exception as fault:  # noqa: BLE001 - every fault is one too many
                faults.append(fault)

    threads = [Thread(target=ask, args=(name,), daemon=True) for name in ("alice", "bob")]
    with dataset.curator() as curator:
        first = curator.session("alice").sql(COUNT, epsilon=0.5, request_id="first")
        spent = curator.ledger.spent().epsilon_units
    for thread in threads:
        thread.start()
    with_fewer_people(hospital, 2)
    dataset.reload()
    enough = len(asked) + 6
    wait_until(lambda: len(asked) >= enough)
    end.set()
    for thread in threads:
        thread.join(HANG_SECONDS)
    assert faults == []
    assert {version for version, _ in asked} == {1, 2}
    with dataset.curator() as curator:
        assert curator.catalog.version == 2
        assert curator.ledger.spent().epsilon_units > spent
        alice = curator.session("alice")
        assert alice.answers()[0].request_id == "first"
        assert alice.answer("first").to_arrow() == first.to_arrow()
        assert not alice.sql(COUNT, epsilon=0.5).replayed  # other data, other noise
    dataset.close()


def test_a_change_of_analysts_and_budgets_needs_no_new_version(hospital):
    dataset = ServedDataset(hospital, open_folder)
    with dataset.curator() as before:
        before.session("alice").sql(COUNT, epsilon=0.5)
        catalog = hospital / FILE
        catalog.write_text(
            f"{catalog.read_text()}\n[analysts.dora]\nepsilon = 0.25\n".replace("epsilon = 10.0", "epsilon = 9.0")
        )
        dataset.reload()
        assert dataset.problem is None
        assert before.session("alice").sql(COUNT, epsilon=0.5).replayed  # who has the old one goes on with it
    with dataset.curator() as after:
        assert after.session("dora").budget().personal.left().epsilon == Fraction(1, 4)
        assert after.session("alice").sql(COUNT, epsilon=0.5).replayed
        assert after.ledger.account().budget.epsilon == 9
        assert after.ledger.left().epsilon == Fraction(17, 2)
    dataset.close()


def test_data_that_changed_under_an_old_version_is_not_served(hospital):
    dataset = ServedDataset(hospital, open_folder)
    with_fewer_people(hospital, 1)
    catalog = hospital / FILE
    catalog.write_text(f"{catalog.read_text()}\n# looked at again\n")
    dataset.reload()
    assert "version 1 stands for what it was" in dataset.problem
    with dataset.curator() as curator:
        curator.session("alice").sql(COUNT, epsilon=0.1)
    dataset.close()


@pytest.mark.parametrize("wrong", ["version = 0", "version = 1\nversoin = 2", "version = "])
def test_a_wrong_catalog_is_not_served(hospital, wrong):
    dataset = ServedDataset(hospital, open_folder)
    declare(hospital, wrong)
    dataset.reload()
    assert "catalog.toml" in dataset.problem
    with dataset.curator() as curator:
        assert curator.catalog.version == 1
    dataset.close()
