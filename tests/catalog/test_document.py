"""A file that cannot be read is refused kindly; a refusal points at the nearest place that exists."""

from __future__ import annotations

import pytest

from adomnia.catalog.document import Document, load
from adomnia.catalog.document_keys import BUDGET, DocumentKey, Rule, Section
from adomnia.errors import Refusal


def document(tmp_path, text):
    (tmp_path / "catalog.toml").write_text(text, encoding="utf-8")
    return load(tmp_path / "catalog.toml")


def test_a_missing_file_is_refused_with_the_command_that_writes_one(tmp_path):
    with pytest.raises(Refusal) as caught:
        load(tmp_path / "catalog.toml")
    assert (caught.value.what, caught.value.why) == (f"{tmp_path}/catalog.toml", "cannot be read")
    assert caught.value.fix == f"name a folder that has one, or write one with adomnia init {tmp_path}"


def test_a_file_that_is_not_text_is_refused(tmp_path):
    (tmp_path / "catalog.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Refusal, match="is not UTF-8 text"):
        load(tmp_path / "catalog.toml")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = 1\nb = = 2\n", 2),
        ("a = 1\na = 2\n", 2),
        ('a = 1\n\nb = "never closed', 3),
        ("a = 1\nb = [1,\n\n", 2),
        (f"a = {'9' * 5000}", 1),
        (f"a = {'[' * 5000}", 1),
    ],
)
def test_a_file_that_is_not_toml_is_refused_at_its_line(tmp_path, text, line):
    with pytest.raises(Refusal, match="is not TOML: ") as caught:
        document(tmp_path, text)
    assert caught.value.position[0] == line


@pytest.mark.parametrize(
    ("path", "position"),
    [(("a", "b"), (2, 3)), (("a", "missing"), (1, 2)), (("missing", "b"), (1, 1)), ((), (1, 1))],
)
def test_a_refusal_points_at_the_key_or_at_the_section_it_belongs_into(tmp_path, path, position):
    assert document(tmp_path, "[a]\n  b = 1").refusal(path, "is wrong", "mend it").position == position


def test_a_refusal_names_the_file_and_the_key(tmp_path):
    refused = document(tmp_path, "[a]\nb = 1").refusal(("a", "b"), "is wrong", "mend it")
    assert refused.what == f"a.b in {tmp_path}/catalog.toml"


def test_a_long_value_is_shown_shortened(tmp_path):
    section = Section("a thing", (DocumentKey("b", Rule("a number", lambda value: False), "b = 1"),))
    with pytest.raises(Refusal) as caught:
        document(tmp_path, f'b = "{"x" * 500}"').section((), section)
    assert caught.value.why == f'must be a number, got "{"x" * 59}...'


def test_what_the_kernel_says_is_told_at_the_key_it_names(tmp_path):
    with (
        pytest.raises(Refusal) as caught,
        document(tmp_path, "[budget]\ndelta = 2").translate_errors(("budget",), BUDGET),
    ):
        raise ValueError("Budget delta must be >= 0 and < 1, got 2.")
    assert caught.value.why == "must be >= 0 and < 1, got 2"
    assert caught.value.position == (2, 1)


def test_an_error_that_is_not_about_a_key_is_not_explained_away(tmp_path):
    with pytest.raises(ValueError, match="boom"), document(tmp_path, "").translate_errors((), BUDGET):
        raise ValueError("boom")


def test_a_section_that_is_right_is_given_back(tmp_path):
    assert document(tmp_path, "[budget]\nepsilon = 1").section(("budget",), BUDGET) == {"epsilon": 1}


def test_the_document_is_plain_data():
    assert Document("catalog.toml", "a.b = 1", {"a": {"b": 1}}).at("a", "b") == 1
