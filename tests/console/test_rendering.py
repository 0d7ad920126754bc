from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError

import adomnia.console.rendering as module
from adomnia.console.rendering import NOTES, Page, address_of_asset, prepare_pages, render
from adomnia.errors import Refusal

SCRIPT = "<script>alert(\"x\" + 'y')</script>&amp; {{ 7 * 7 }}"
TEMPLATES = sorted((Path(module.__file__).parent / "templates").glob("*.html"))
STATIC = Path(module.__file__).parent / "static"
TEMPLATES_OF_ASSETS = sorted((STATIC.parent / "templates").glob("*.html"))
STYLES = sorted(STATIC.glob("*.css"))
SCRIPTS = sorted(path for path in STATIC.glob("*.js") if path.name != "editor.js")


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


def test_an_address_names_the_version_of_its_content_which_is_kept_for_ever(shared_house):
    response = shared_house.ask(None, "GET", address_of_asset("console.css"))
    assert response.headers["content-type"] == "text/css; charset=utf-8"
    assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert response.content == (STATIC / "console.css").read_bytes()


def test_an_address_without_it_is_asked_for_again_and_not_sent_again(shared_house):
    first = shared_house.ask(None, "GET", "/static/parts.js")
    assert first.headers["cache-control"] == "no-cache"
    again = shared_house.ask(None, "GET", "/static/parts.js", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = shared_house.ask(None, "GET", "/static/parts.js", headers={"If-None-Match": '"0"'})
    assert other.content == first.content


def test_files_are_compressed_for_whoever_can_read_that(shared_house):
    headers = {"Accept-Encoding": "gzip, br"}
    response = shared_house.ask(None, "GET", "/static/console.css", headers=headers)
    assert response.headers["content-encoding"] == "gzip"
    assert int(response.headers["content-length"]) == len(gzip.compress(response.content, mtime=0))
    plain = shared_house.ask(None, "GET", "/static/console.css", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers


@pytest.mark.parametrize(
    "name", ["nothing.css", "../rendering.py", "..%2frendering.py", "%2e%2e/frame.py", "a/b.css", ""]
)
def test_there_is_nothing_else(shared_house, name):
    assert shared_house.ask(None, "GET", f"/static/{name}").status_code == 404


@pytest.mark.parametrize("path", STYLES, ids=lambda path: path.name)
def test_styles_ask_for_nothing(path):
    assert not re.search(r"@import|url\((?!#)|https?:", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_ask_this_server_only_and_make_no_markup_of_texts(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|https?:", text)


def list_imports(name: str) -> set[str]:
    """The scripts that a script imports, and those that they do."""
    found = set(re.findall(r"""(?:from|import) ?\(?"\./([\w.]+)\"""", (STATIC / name).read_text()))
    return found.union(*map(list_imports, found))


@pytest.mark.parametrize("template", sorted((STATIC.parent / "templates").glob("*.html")), ids=lambda path: path.name)
def test_no_page_runs_a_script_twice(template):
    """What a page loads has a version in its address, and what scripts import has none: both would run."""
    loaded = {"console.js", *re.findall(r"asset\('([\w.]+\.js)'\)", template.read_text())}
    assert loaded.isdisjoint(set().union(*(list_imports(name) for name in loaded if name != "editor.js")))
