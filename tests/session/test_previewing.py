"""Preview rows are of nobody: paid once by the dataset if the owner says so, or made up, and a note says which."""

from __future__ import annotations

import logging
from fractions import Fraction

import pytest

import adomnia
from adomnia.errors import Refusal
from adomnia.privacy.events import Pure
from adomnia.privacy.losses import loss
from adomnia.releases.checks import list_charges
from adomnia.session.previewing import add_previews, name_preview
from kit.hospital import CATALOG, CITIES, person, write
from kit.released import PUBLISHING

ROWS = "[tables.people]\n"
PREVIEWED = CATALOG.replace(ROWS, f"{ROWS}preview = 5\n")
PEOPLE = [
    person(k, name=f"n{k}", age=30.0 + k % 10, sex="F", city=CITIES[k % 2], member=True, salary=50_000.0)
    for k in range(2000)
]


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "hospital", PEOPLE, [], PREVIEWED)


def charges(folder):
    with adomnia.open(folder) as curator:
        return {name: loss(event).epsilon for name, event in list_charges(curator.ledger).items()}


def test_a_declared_preview_is_paid_once_whenever_the_dataset_is_opened(folder):
    assert charges(folder) == {"preview_people_1": 5}
    assert charges(folder) == {"preview_people_1": 5}


def test_a_new_version_of_the_data_has_a_preview_of_its_own(folder):
    charges(folder)
    text = (folder / "catalog.toml").read_text()
    (folder / "catalog.toml").write_text(text.replace("version = 1", "version = 2"))
    assert charges(folder) == {"preview_people_1": 5, "preview_people_2": 5}


def test_its_columns_have_about_the_values_of_the_data_and_all_columns_are_there(folder):
    with adomnia.open(folder) as curator:
        session = curator.session("alice")
        found = session.preview("People", rows=200).to_pandas()
        assert list(found.columns) == [column.name for column in curator.catalog.tables[0].columns]
        assert (found["sex"] == "F").mean() > 0.8
        assert found["city"].isin(CITIES[:2]).mean() > 0.6
        answer = session.preview("people", rows=3)
        assert "preview_people_1" in answer.notes[0]
        assert "name" in answer.notes[1]
        assert answer.cost is None
        assert session.preview("people", rows=200).to_arrow().to_pylist()[:3] == answer.to_arrow().to_pylist()


def test_without_one_rows_are_made_up_and_the_note_says_so(tmp_path):
    with adomnia.open(write(tmp_path / "hospital", PEOPLE, [], CATALOG)) as curator:
        answer = curator.session("alice").preview("visits", rows=7)
        assert len(answer) == 7
        assert "made up from the catalog alone" in answer.notes[0]
        assert list_charges(curator.ledger) == {}


def test_public_and_unknown_tables_have_none(folder):
    with adomnia.open(folder) as curator:
        session = curator.session("alice")
        with pytest.raises(Refusal, match="is not in the catalog"):
            session.preview("nothing")
        with pytest.raises(Refusal, match="is public"):
            session.preview("cities")
        for rows in (0, 1001, 2.0, True):
            with pytest.raises(ValueError, match="rows must be"):
                session.preview("people", rows=rows)


def test_what_cannot_be_paid_is_logged_and_the_dataset_opens(tmp_path, caplog):
    text = PREVIEWED.replace("epsilon = 1_000_000", "epsilon = 1")
    with caplog.at_level(logging.WARNING, "adomnia.releases"):
        opened = adomnia.open(write(tmp_path / "hospital", PEOPLE, [], text))
    with opened as curator:
        assert "Table people has no preview: A spend of epsilon 5" in caplog.text
        assert list_charges(curator.ledger) == {}
        assert "made up from the catalog alone" in curator.session("alice").preview("people", rows=2).notes[0]


def test_a_preview_that_failed_is_never_paid_again(folder, monkeypatch, caplog):
    calls = []

    def fail(*_):
        calls.append(1)
        raise adomnia.Failure("dataset:release:preview_people_1")

    monkeypatch.setattr("adomnia.asking.purchase.measure", fail)
    with caplog.at_level(logging.WARNING, "adomnia.releases"):
        assert charges(folder) == {"preview_people_1": 5}
        assert charges(folder) == {"preview_people_1": 5}
    assert len(calls) == 1
    assert "has no preview" in caplog.text


def test_what_somebody_else_gave_its_name_is_not_taken_for_it(tmp_path):
    place = write(tmp_path / "hospital", PEOPLE, [], PUBLISHING)
    with adomnia.open(place) as curator:
        session = curator.session("alice")
        session.release("preview_people_1", "SELECT * FROM marginals(people, ways => 1, bins => 8)", epsilon=5)
        assert "made up from the catalog alone" in session.preview("people").notes[0]


def test_previews_that_are_due_are_counted_before_they_are_paid(folder):
    with adomnia.open(folder) as curator:
        assert add_previews({}, curator.catalog) == {"preview_people_1": Pure(5)}
        paid = {"preview_people_1": Pure(Fraction(1, 2)), "other": Pure(1)}
        assert add_previews(paid, curator.catalog) == paid


def test_names_of_previews_are_names_of_releases():
    assert name_preview("People", 3) == "preview_people_3"
    long, other = name_preview("t" * 63, 10**6), name_preview("t" * 62 + "u", 10**6)
    assert len(long) <= 63
    assert long != other
