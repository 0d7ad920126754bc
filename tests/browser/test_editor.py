"""The SQL editor in a real browser, on a page of the test's own: typing, completion, marks, keys."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from pathlib import Path

import pytest

from adomnia.console import rendering
from kit.browsing import find_barriers, wait_for
from kit.own_pages import shown

ROOT = Path(__file__).parents[2]
STATIC = Path(rendering.__file__).parent / "static"
TEXT = "SELECT AVG(salry)\nFROM people AS p\n"
FORM = """<form method="get" action="/account"><label for="sql">Your question</label>
<sql-editor dataset="hospital"><textarea id="sql" name="sql" placeholder="SELECT something">{text}</textarea>
</sql-editor><input name="pay" value="epsilon" aria-label="pay with"><button name="pay" value="yes">Ask</button>
<button name="other" value="yes">Other</button></form>"""


@contextmanager
def editor_of(console, text=TEXT, **options):
    with shown(console, "editor.js", FORM.format(text=text), **options) as page:
        page.wait_for_selector("sql-editor[ready]")
        yield page


def value(page):
    return page.input_value("#sql")


def colour(page, word):
    """The colour of the first token that is written so."""
    return page.locator("sql-editor .cm-line span", has_text=re.compile(f"^{re.escape(word)}$")).first.evaluate(
        "token => getComputedStyle(token).color"
    )


def complete(page, typed, wanted):
    """Type, and choose the first that is offered, which must be what is wanted."""
    page.keyboard.type(typed)
    first = page.locator(".cm-tooltip-autocomplete li[aria-selected]")
    first.filter(has_text=wanted).wait_for()
    page.wait_for_timeout(100)  # a list that has just opened takes no key
    page.keyboard.press("Enter")


@pytest.mark.parametrize("options", [{}, {"dark": True}, {"phone": True}], ids=["light", "dark", "phone"])
def test_nothing_keeps_anybody_from_typing(console, options):
    with editor_of(console, **options) as page:
        page.click("text=Your question")  # the label
        page.evaluate("document.querySelector('sql-editor').mark(11, 16, 'salry is no column')")
        assert find_barriers(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        size = page.locator(".cm-content").evaluate("each => parseFloat(getComputedStyle(each).fontSize)")
        assert (size >= 16) is bool(options.get("phone"))
        page.keyboard.type("s")
        page.wait_for_selector(".cm-tooltip-autocomplete")
        assert find_barriers(page) == []
        assert "s" in value(page)


def test_words_have_the_colours_of_the_page(console):
    seen = []
    for dark in (False, True):
        with editor_of(console, "SELECT AVG(age), 'a', 7, lm FROM people -- so", dark=dark) as page:
            named = "name => { const e = document.createElement('i'); e.style.color = `var(${name})`;"
            named += "document.body.append(e); return getComputedStyle(e).color }"
            tokens = {"SELECT": "key", "AVG": "fn", "lm": "fn", "'a'": "str", "7": "num"}
            assert {word: colour(page, word) for word in tokens} == {
                word: page.evaluate(named, f"--sql-{token}") for word, token in tokens.items()
            }
            seen.append(colour(page, "SELECT"))
    assert seen[0] != seen[1]


def test_the_textarea_holds_what_is_typed_and_gives_what_others_write(console):
    with editor_of(console) as page:
        page.evaluate("sql.addEventListener('input', () => (document.title = `heard ${sql.value.length}`))")
        page.get_by_role("textbox", name="Your question").press("Control+End")
        page.keyboard.type("-- é😀")
        assert value(page) == f"{TEXT}-- é😀"
        assert page.title() == f"heard {len(TEXT) + 6}"
        page.keyboard.press("Control+z")
        assert value(page) == TEXT
        page.evaluate("sql.value = 'SELECT 1'; sql.dispatchEvent(new Event('input'))")
        assert page.locator("sql-editor .cm-line").all_inner_texts() == ["SELECT 1"]
        page.evaluate("sql.form.reset()")
        wait_for(page, "document.querySelector('sql-editor').value.startsWith('SELECT AVG')")


def test_tables_columns_functions_and_methods_are_offered_where_they_fit(console):
    with editor_of(console, "SELECT ") as page:
        page.get_by_role("textbox", name="Your question").press("Control+End")
        complete(page, "COU", "COUNT")
        page.keyboard.type("*)")  # the bracket is there already
        complete(page, " FROM vis", "visits")
        complete(page, " AS v JOIN peo", "people")
        complete(page, " AS p ON p.per", "person_id")
        complete(page, " = v.pers", "person_id")
        complete(page, " WHERE cos", "cost")
        assert value(page) == (
            "SELECT COUNT(*) FROM visits AS v JOIN people AS p ON p.person_id = v.person_id WHERE cost"
        )


def test_a_method_comes_with_its_arguments(console):
    with editor_of(console, "SELECT * FROM ") as page:
        page.get_by_role("textbox", name="Your question").press("Control+End")
        complete(page, "trimm", "trimmed_mean")
        assert value(page) == "SELECT * FROM trimmed_mean(people, column => column)"
        page.keyboard.press("Tab")
        page.keyboard.type("salary")
        page.keyboard.press("Escape")
        complete(page, ", tr", "trimargument")
        assert value(page) == "SELECT * FROM trimmed_mean(people, column => salary, trim => 0.5)"


def test_nothing_is_offered_inside_texts_and_comments(console):
    with editor_of(console, "SELECT 1 -- ") as page:
        page.get_by_role("textbox", name="Your question").press("Control+End")
        page.keyboard.type("peo")
        page.wait_for_timeout(300)
        assert page.locator(".cm-tooltip-autocomplete").count() == 0


def test_a_mark_is_underlined_said_on_hover_and_described(console):
    with editor_of(console) as page:
        field = page.get_by_role("textbox", name="Your question")
        page.evaluate("document.querySelector('sql-editor').mark(11, 16, '<b>salry</b> is no column')")
        wrong = page.locator("sql-editor .cm-wrong")
        assert wrong.inner_text() == "salry"
        assert wrong.evaluate("each => getComputedStyle(each).textDecorationStyle") == "wavy"
        assert field.get_attribute("aria-invalid") == "true"
        assert field.evaluate("each => each.ariaDescribedByElements[0].textContent").startswith("<b>salry</b> is no")
        wrong.hover()
        assert page.locator(".cm-message").inner_text() == "<b>salry</b> is no column"
        page.evaluate("document.querySelector('sql-editor').clear()")
        assert (wrong.count(), field.get_attribute("aria-invalid")) == (0, "false")


def test_a_place_that_a_refusal_names_is_marked(console):
    places = [
        ("SELECT AVG(salry)\nFROM people", 1, 12, "salry"),
        ("SELECT '😀' AS a,\n  '😀', salry FROM people", 2, 8, "salry"),
        ("SELECT 1 +", 1, 11, "+"),
        ("SELECT 1", 9, 99, "1"),
    ]
    with editor_of(console) as page:
        for text, line, column, marked in places:
            page.locator("sql-editor").evaluate("(editor, text) => (editor.value = text)", text)
            page.locator("sql-editor").evaluate("(editor, place) => editor.markPlace(...place, 'no')", [line, column])
            assert page.locator("sql-editor .cm-wrong").inner_text() == marked


def test_a_mark_goes_with_its_text(console):
    with editor_of(console) as page:
        page.evaluate("document.querySelector('sql-editor').mark(11, 16, 'no')")
        page.get_by_role("textbox", name="Your question").press("Control+Home")
        page.keyboard.type("  ")
        assert page.locator("sql-editor .cm-wrong").inner_text() == "salry"
        page.keyboard.press("Control+a")
        page.keyboard.press("Delete")
        assert page.locator("sql-editor .cm-wrong").count() == 0
        assert page.locator("sql-editor .cm-placeholder").inner_text() == "SELECT something"


def test_tab_indents_and_after_escape_leaves(console):
    with editor_of(console, "SELECT 1") as page:
        page.get_by_role("textbox", name="Your question").press("Control+Home")
        page.keyboard.press("Tab")
        assert value(page) == "  SELECT 1"
        page.clock.install()
        page.keyboard.press("Escape")
        page.clock.fast_forward(2100)  # however slowly one reads
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.name") == "pay"
        assert value(page) == "  SELECT 1"


def test_control_enter_asks_by_the_button_that_pays(console):
    with editor_of(console, "SELECT 1") as page:
        page.get_by_role("textbox", name="Your question").press("Control+Enter")
        page.wait_for_url("**/account?sql=SELECT+1&pay=epsilon&pay=yes")
        page.wait_for_selector("h1:has-text('Own page'), h1")


def test_a_button_that_cannot_be_pressed_is_not_pressed_by_keys(console):
    with editor_of(console, "SELECT 1") as page:
        page.evaluate("document.querySelector('button').disabled = true")
        page.evaluate("sql.form.addEventListener('submit', () => (document.title = 'sent'))")
        page.get_by_role("textbox", name="Your question").press("Control+Enter")
        assert (page.title(), value(page)) == ("Own", "SELECT 1")


def test_it_grows_with_its_text_but_not_for_ever(console):
    heights = []
    with editor_of(console) as page:
        for lines in (1, 12, 20, 60):
            page.locator("sql-editor").evaluate(
                "(editor, lines) => (editor.value = '-- 1\\n'.repeat(lines - 1))", lines
            )
            heights.append(page.locator("sql-editor").bounding_box()["height"])
    assert heights[0] < heights[1] < heights[2] == heights[3] < 560


def test_without_scripts_one_types_into_the_textarea(console):
    with shown(console, "editor.js", FORM.format(text=TEXT), scripts=False) as page:
        page.fill("#sql", "SELECT 2")
        assert value(page) == "SELECT 2"


def test_the_bundle_names_the_versions_that_are_pinned():
    pinned = json.loads((ROOT / "tools" / "editor" / "package.json").read_text())["dependencies"]
    first = (STATIC / "editor.js").read_text().partition("*/")[0]
    named = dict(re.findall(r"(@?[\w/-]+)@(\d[\w.]*)", first))
    assert named.items() <= pinned.items()
    assert named["codemirror"] == "6.0.2"
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in pinned.values())
    licences = (STATIC / "editor-licences.txt").read_text()
    assert all(f"{name} {version} (MIT)" in licences for name, version in named.items())
