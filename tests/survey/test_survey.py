"""The file of a survey: exact both ways, and suspicious of whoever wrote it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.errors import Refusal
from adomnia.survey.registry import DESIGNS
from adomnia.survey.survey import FILE, Survey, draw_token, read_survey, write_survey
from adomnia.survey.unrelated import UnrelatedQuestion
from adomnia.survey.warner import Warner

JUNE = UnrelatedQuestion(Fraction(1, 2), Fraction(1, 12))


def made(**changes) -> Survey:
    return Survey(**{"id": draw_token(), "question": "Why?", "answers": ("yes", "no"), "design": JUNE, **changes})


@pytest.mark.parametrize("kind", DESIGNS.values(), ids=DESIGNS)
def test_a_survey_is_read_as_it_was_written(kind, tmp_path):
    answers = ("yes", "no") if not kind.accepts(3) else ('say "a"', "b\\n", "ü <b>")
    survey = made(question='How "so"?', answers=answers, design=kind.for_epsilon(len(answers), 1), invited=True)
    write_survey(tmp_path / "new", survey)
    assert read_survey(tmp_path / "new") == survey
    assert Survey.from_record(survey.record(), invited=True) == survey


def test_a_survey_that_is_there_is_never_replaced(tmp_path):
    write_survey(tmp_path, made())
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(Refusal, match="there already"):
        write_survey(tmp_path, made())
    assert (tmp_path / FILE).read_bytes() == before


def test_everything_that_a_report_depends_on_changes_the_digest():
    survey = made()
    others = [
        made(id=draw_token()),
        made(id=survey.id, question="Why not?"),
        made(id=survey.id, answers=("no", "yes")),
        made(id=survey.id, design=UnrelatedQuestion(Fraction(1, 2), Fraction(1, 11))),
    ]
    assert survey.digest not in {other.digest for other in others}
    assert survey.digest == made(id=survey.id).digest


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "short"},
        {"question": ""},
        {"question": "a\nb"},
        {"question": "x" * 1001},
        {"answers": ("yes", "yes")},
        {"answers": ("yes",)},
        {"answers": ("yes", " ")},
        {"answers": ("yes", "no", "perhaps")},
        {"design": Warner(Fraction("0.61234567890123456789"))},  # of 21 digits below the line
    ],
)
def test_a_survey_that_nobody_could_answer_is_refused(changes):
    with pytest.raises(Refusal, match="The survey's"):
        made(**changes)


@pytest.mark.parametrize(
    "design",
    [
        {},
        {"name": "unknown"},
        {"name": "warner"},
        {"name": "warner", "truth": 0.75},
        {"name": "warner", "truth": "1e-999999999"},
        {"name": "warner", "truth": "3/0"},
        {"name": "warner", "truth": "0.75", "other": "1"},
        {"name": "warner", "truth": "2"},
        {"name": "subset", "odds": "2"},
        {"name": ["warner"]},
        "warner",
    ],
)
def test_a_record_of_a_stranger_is_refused_without_an_error_of_another_kind(design):
    record = {**made().record(), "design": design}
    with pytest.raises(Refusal):
        Survey.from_record(record)


@pytest.mark.parametrize("text", ["", "[survey]", "not toml", "survey = 1\ndesign = 2", "[design]\nname = 'warner'"])
def test_a_file_that_cannot_be_read_is_refused(text, tmp_path):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(Refusal):
        read_survey(tmp_path)
    with pytest.raises(Refusal, match="has no survey"):
        read_survey(tmp_path / "nowhere")
