"""Models: their parts have the names of statsmodels, and say what the table says."""

from __future__ import annotations

import pytest

from adomnia.errors import Refusal
from adomnia.session.answer import Answer
from adomnia.session.models import ModelAnswer


@pytest.fixture
def mock(alice):
    """Of rows enough for a model."""
    return alice.mock()


@pytest.fixture
def model(mock):
    return mock.table("people").lm("salary ~ age + sex", epsilon=100)


def test_coefficients_are_found_by_their_terms(model):
    assert isinstance(model, ModelAnswer)
    assert model.params == dict(zip(model["term"], model["estimate"], strict=True))
    assert model.bse == dict(zip(model["term"], model["standard_error"], strict=True))
    assert model.pvalues == dict(zip(model["term"], model["p_value"], strict=True))
    assert list(model.params)[:2] == ["(Intercept)", "age"]


def test_intervals_are_those_of_the_answer_and_free_at_any_confidence(model, mock):
    spent = mock.budget().personal.spent
    assert list(model.conf_int().values()) == model.interval("estimate")
    (low, high), (lower, higher) = model.conf_int()["age"], model.conf_int(confidence=0.999)["age"]
    assert lower < low < high < higher
    assert mock.budget().personal.spent == spent
    with pytest.raises(TypeError):
        model.conf_int(0.05)  # a share that elsewhere is the one left out


def test_a_summary_is_the_table_with_its_formula(model):
    assert str(model.summary()) == f"lm: salary ~ age + sex\n\n{model!r}" == repr(model.summary())
    assert model.summary()._repr_html_() == f"<p>lm: salary ~ age + sex</p>{model._repr_html_()}"


def test_models_of_groups_have_terms_of_groups(mock):
    model = mock.table("people").lm("salary ~ age", by="sex", epsilon=5)
    assert list(model.params)[:3] == [("F", "(Intercept)"), ("F", "age"), ("M", "(Intercept)")]
    assert str(model.summary()) == repr(model)
    with pytest.raises(Refusal, match="needs the answer of a model"):
        model.predict([{"age": 30}])


def test_other_answers_are_no_models(alice):
    assert type(alice.sql("SELECT COUNT(*) AS n FROM people", epsilon=1)) is Answer
    fitted = alice.table("people").fit_distribution("age", distribution="normal", epsilon=5)
    assert isinstance(fitted, ModelAnswer)
    assert fitted.params.keys() == set(fitted["term"])
    with pytest.raises(Refusal, match="needs the answer of a model"):
        fitted.predict([{"age": 30}])


def test_columns_that_were_left_out_are_not_made_up(mock):
    some = mock.sql("SELECT term, p_value FROM lm(people, formula => 'salary ~ age')", epsilon=100)
    assert some.pvalues["age"] is not None
    for name in ("params", "bse"):
        assert not hasattr(some, name)
    with pytest.raises(AttributeError):
        some.conf_int()
