"""Every example on the page about the API is one that the models take."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from adomnia.wire.answers import AnswerReply
from adomnia.wire.asking import Ask, AskBatch, AskBatchPrice, AskExplanation, AskPrice
from adomnia.wire.problems import ProblemReply

PAGE = Path(__file__).parents[2] / "docs" / "http.md"
EXAMPLES = re.findall(r"^```json (\w+)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
MODELS = {
    model.__name__: model
    for model in (Ask, AskBatch, AskBatchPrice, AskExplanation, AskPrice, AnswerReply, ProblemReply)
}


def test_the_page_has_an_example_of_each():
    assert sorted(name for name, _ in EXAMPLES) == sorted(MODELS)


@pytest.mark.parametrize(("name", "text"), EXAMPLES)
def test_an_example_is_what_the_model_describes(name, text):
    example = json.loads(text)
    assert MODELS[name].model_validate(example).model_dump(mode="json", exclude_unset=True).keys() == example.keys()


@pytest.mark.parametrize("name", sorted(Ask.model_fields))
def test_every_field_of_a_question_is_on_the_page(name):
    assert f"`{name}`" in PAGE.read_text()


@pytest.mark.parametrize("name", sorted(AnswerReply.model_fields))
def test_every_field_of_an_answer_is_on_the_page(name):
    assert f'"{name}"' in PAGE.read_text()
