from __future__ import annotations

import pytest

from adomnia.console.methods.finding import list_chapters, require_method
from adomnia.errors import Refusal
from adomnia.methods.registry import METHODS


def found(query):
    return [view.name for chapter in list_chapters(query) for view in chapter.methods]


def test_without_a_query_there_are_all_methods_in_their_chapters():
    assert sorted(found("")) == sorted(METHODS)
    assert list_chapters()[0].title == "Describe"


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("glm", "logit"),
        ("PROC LIFETEST", "kaplan_meier"),
        ("wilcox", "mann_whitney"),
        ("scipy iqr", "iqr"),
        ("median", "mad"),
    ],
)
def test_a_method_is_found_by_what_others_call_it(query, name):
    assert name in found(query)
    assert len(found(query)) < len(METHODS)


def test_all_words_must_be_there():
    assert found("glm zebra") == []


def test_a_method_is_required_by_its_name():
    assert require_method("LM").name == "lm"
    with pytest.raises(Refusal, match="did you mean logit"):
        require_method("logitt")
