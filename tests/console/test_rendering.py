from __future__ import annotations

import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError

import adomnia.console.rendering as module
from adomnia.console.rendering import NOTES, Page, prepare_pages, render
from adomnia.errors import Refusal

SCRIPT = "<script>alert(\"x\" + 'y')</script>&amp; {{ 7 * 7 }}"
TEMPLATES = sorted((Path(module.__file__).parent / "templates").glob("*.html"))


def problem(**parts: object) -> Page:
    return Page("problem.html", {"title": "Title", "error": None, "says": "Says.", **parts})


def test_whatever_is_put_into_a_page_is_escaped():
    body = render(problem(title=SCRIPT, says=SCRIPT)).decode()
    assert "<script>" not in body
    assert body.count("&lt;script&gt;alert(&#34;x&#34; + &#39;y&#39;)&lt;/script&gt;&amp;amp; {{ 7 * 7 }}") == 3


def test_a_part_is_one_block_of_the_page():
    body = render(problem(), "problem").decode()
    assert body.startswith('<div class="card')
    assert "<html" not in body


def test_what_is_no_part_of_a_page_is_refused():
    for name in ("none", "__init__", ""):
        with pytest.raises(Refusal, match="is none of this page"):
            render(problem(), name)


def test_a_value_that_is_missing_is_an_error_and_not_an_empty_place():
    with pytest.raises(UndefinedError):
        render(Page("problem.html", {"title": "Title"}))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_no_template_trusts_a_value_or_holds_a_script_or_a_style(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\|\s*safe\b|autoescape|Markup", text)
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", text)
    assert not re.search(r"<script(?![^>]* src=)", text)
    assert not re.search(r"(?:src|href|action)=\"(?:https?:)?//", text)
    for form in re.findall(r"<form[^>]*method=\"post\".*?</form>", text, re.DOTALL):
        assert 'name="csrf"' in form or 'action="/sign-in"' in form, form


def test_the_first_visitor_does_not_wait_for_templates():
    module._environment.cache_clear()
    prepare_pages()
    assert len(module._environment().cache) == len(TEMPLATES)


@pytest.mark.parametrize("word", NOTES)
def test_a_note_is_at_most_forty_words_and_whole_sentences(word):
    note = NOTES[word]
    assert len(note.split()) <= 40
    assert note[0].isupper()
    assert note.endswith(".")
