from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

import adomnia.console.assets as module
from adomnia.console.assets import address_of_asset

STATIC = Path(module.__file__).parent / "static"
TEMPLATES = sorted((STATIC.parent / "templates").glob("*.html"))
STYLES = sorted(STATIC.glob("*.css"))
SCRIPTS = sorted(path for path in STATIC.glob("*.js") if path.name != "editor.js")


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
