"""Keys of people are known by their names in several languages, however they are written; measures are not keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.inspection.key_names import KeyRank, fold_name, read_key_name


@pytest.mark.parametrize(
    ("concept", "names"),
    [
        ("patient", "Patienten-Nr.|PatientID|patient_no|ID_patient|Número de paciente|patnr"),
        ("patient", "患者ID|患者番号|ID пациента|N.º de paciente"),
        ("customer", "KundenNr|Kunden-Nr|N° client|cod_cliente|CUST_ID|custno|Kundennummer|customerNumber"),
        ("insured", "Versichertennummer|Krankenversichertennummer|insured_id"),
        ("person", "subject_id|SUBJECT_ID|usubjid|Person No.|PERSONID|Teilnehmer-ID|Probanden-ID|Individual ID"),
        ("student", "Schüler-Nr.|Schuelernummer|SCHUELERNR|student id|Matrikelnummer"),
        ("employee", "Personalnummer|empno|employee_id|Mitarbeiter-ID"),
        ("member", "会員番号|Mitglieds-Nr"),
        ("ssn", "ssn|SSN"),
        ("cedula", "Cédula|N.º de cédula"),
    ],
)
def test_keys_of_the_same_people_are_known_however_they_are_written(concept, names):
    for name in names.split("|"):
        found = read_key_name(name)
        assert (found.rank, found.concept) == (KeyRank.PERSON_KEY, concept), name


@pytest.mark.parametrize(
    ("rank", "names"),
    [
        (KeyRank.PERSON, "client|Kunde|subject|player|E-Mail|username"),
        (KeyRank.THING, "id|ID|Nr|No.|numero|Code|team_id|Arzt-Nr|VP-Nr|Schulnummer"),
        (KeyRank.NAME, "name|Nachname|last_name|customer name|Patientenname"),
        (KeyRank.EVENT, "visit_id|Fall-Nr.|Fallnummer|Rechnungsnummer|orderNumber|HADM_ID|ResponseId|caseno"),
        (
            KeyRank.NONE,
            "age|yearID|Hausnummer|room_no|zip_code|Telefonnummer|Education Num|patient_age|client_type|product_name",
        ),
        (KeyRank.NONE, "Members|persons|is_member|casino|piano|monkey|grid|paid|valid|note||-|Größe (cm)|country_code"),
    ],
)
def test_other_names_are_no_keys_or_not_of_people(rank, names):
    assert {name: read_key_name(name).rank for name in names.split("|")} == dict.fromkeys(names.split("|"), rank)


def test_a_bare_key_is_of_what_its_table_is_called_after():
    assert read_key_name("id", "Patienten 2024") == read_key_name("patient_id")
    assert read_key_name("id", "orders") == read_key_name("order_id")
    assert read_key_name("Nr", "teams") == read_key_name("team_id")


@given(written=st.text(max_size=60), table=st.text(max_size=20))
def test_every_header_has_a_rank_and_case_and_marks_do_not_matter(written, table):
    assert read_key_name(written, table).rank in KeyRank
    assert fold_name(f" {written}-") == fold_name(written)
