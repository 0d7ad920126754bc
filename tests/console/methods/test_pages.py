"""The pages of methods: every method of the registry has a form that is priced as it stands, and is asked by it."""

from __future__ import annotations

import re
from fractions import Fraction
from html import unescape
from html.parser import HTMLParser

import pytest

from adomnia.console.methods import pages
from adomnia.console.methods.pages import PICTURES, describe_picture, list_chapters, require_method
from adomnia.errors import Refusal
from adomnia.methods.registry import METHODS
from adomnia.pricing.payment import with_delta
from adomnia.privacy.events import Pure
from adomnia.sql.lower import lower
from kit import hospital, house
from kit.methods import hospital_catalog, tables_of

every_method = pytest.mark.parametrize("name", METHODS)
ASKED = ("summary", "lm", "logit", "chi_square_test", "kaplan_meier")
CATALOG = hospital.CATALOG.replace("alice]\nepsilon = 100_000", "alice]\nepsilon = 10\ndelta = 1e-7")
ATTACK = "<script>alert(1)</script>"
__all__ = ["hospital_catalog"]


class FormReader(HTMLParser):
    """The fields that a browser would send of the form of a method."""

    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self._inside, self._select, self._area = False, "", ""

    def handle_starttag(self, tag, attrs):
        held = dict(attrs)
        if tag == "form":
            self._inside = held.get("id") == "method"
        if not self._inside:
            return
        if tag == "input" and "name" in held and (held.get("type") not in {"radio", "checkbox"} or "checked" in held):
            self.fields[held["name"]] = held.get("value", "on") or ""
        elif tag == "select":
            self._select = held["name"]
        elif tag == "option" and self._select:
            if "selected" in held or self._select not in self.fields:
                self.fields[self._select] = held["value"] or ""
        elif tag == "textarea":
            self._area = held["name"]
            self.fields[self._area] = ""

    def handle_endtag(self, tag):
        self._select = "" if tag == "select" else self._select
        self._area = "" if tag == "textarea" else self._area
        self._inside = self._inside and tag != "form"

    def handle_data(self, data):
        if self._area:
            self.fields[self._area] += data


def read_form(page: str) -> dict[str, str]:
    reader = FormReader()
    reader.feed(page)
    return reader.fields


def read_sql(page: str) -> str:
    """The question that a page says its form means."""
    found = re.search(r"<b>Reads as SQL</b><code>(.*?)</code>", page, re.DOTALL)
    return "" if found is None else unescape(found.group(1))


def problems_of(page: str) -> dict[str, str]:
    """What is said to be wrong, by field."""
    found = re.findall(r'<div class="problem" id="([^"]*)-problem" role="alert">(.*?)</div>', page, re.DOTALL)
    return {field: unescape(re.sub("<[^>]*>", "", says)) for field, says in found if says.strip()}


@pytest.fixture(scope="module")
def visitor(tmp_path_factory):
    """Alice in a browser, with a budget that somebody might have."""
    with house.opened(tmp_path_factory.mktemp("house"), CATALOG) as opened:
        opened.services.access.set_password("alice", house.PASSWORD)
        cookie, _ = opened.visit("alice")
        yield lambda method, path, **options: opened.client.request(
            method, path, headers={**cookie, **options.pop("headers", {})}, **options
        )


@pytest.fixture(scope="module")
def prefilled(visitor):
    """The fields of a method's form, as they stand."""
    kept = {}

    def read(name):
        if name not in kept:
            kept[name] = read_form(visitor("GET", f"/methods/{name}").text)
        return dict(kept[name])

    return read


@every_method
def test_every_prefilled_form_is_priced_and_never_refused(visitor, prefilled, name):
    page = visitor("GET", f"/methods/{name}")
    assert page.status_code == 200
    assert problems_of(page.text) == {}
    assert METHODS[name].summary in unescape(page.text)
    priced = visitor("POST", f"/methods/{name}/price", data=prefilled(name))
    assert priced.status_code == 200
    assert problems_of(priced.text) == {}
    assert read_sql(priced.text) == read_sql(page.text) != ""
    assert [is_pending(each) for each in (page, priced)] == [True, False]


def is_pending(page):
    """Whether a page has yet to ask for its price, and cannot pay before it has."""
    disabled = bool(re.search(r'id="pay"[^>]* disabled', page.text))
    assert disabled == ("data-pending" in page.text)
    return disabled


def test_a_form_opens_before_it_is_priced(visitor, monkeypatch):
    def price(*_):
        raise Refusal("The price", "was computed", "wait until it is asked for")

    monkeypatch.setattr(pages, "build_price", price)
    opened = visitor("GET", "/methods/lm?table=people&arg-formula=salary+~+age&amount=0.5")
    assert is_pending(opened)
    fields = read_form(opened.text)
    assert (fields["amount"], fields["seen"]) == ("0.5", "")
    assert visitor("POST", "/methods/lm/price", data=fields).status_code == 400


@every_method
def test_every_form_has_a_field_for_each_argument_and_says_what_comes_back(visitor, name):
    page = unescape(visitor("GET", f"/methods/{name}").text)
    for parameter in METHODS[name].parameters:
        assert f'id="arg-{parameter.name}-help"' in page
        assert parameter.meaning[1:] in page
    for column, meaning in METHODS[name].returns.items():
        assert f"<code>{column}</code></dt><dd>{meaning}" in page


@pytest.mark.parametrize("name", ASKED)
def test_a_prefilled_form_is_asked_and_leads_to_its_answer(visitor, prefilled, name):
    asked = visitor("POST", f"/methods/{name}", data=prefilled(name))
    assert asked.status_code == 303
    assert re.fullmatch("/answers/[0-9a-f]{16,}", asked.headers["location"])


def test_a_form_that_is_sent_twice_is_paid_once(visitor, prefilled):
    first, again = (visitor("POST", "/methods/iqr", data=prefilled("iqr")) for _ in range(2))
    assert first.headers["location"].partition("?")[0] == again.headers["location"].partition("?")[0]


def test_an_id_that_was_used_for_another_form_is_not_offered_again(visitor, prefilled):
    first = {**prefilled("iqr"), "where": "age > 29", "request_id": "used"}
    assert visitor("POST", "/methods/iqr", data=first).status_code == 303
    changed = visitor("POST", "/methods/iqr", data={**first, "where": "age > 30"})
    assert changed.status_code == 409
    again = read_form(changed.text)
    assert again["request_id"] != "used"
    assert visitor("POST", "/methods/iqr", data=again).status_code == 303


def test_a_form_pays_no_more_than_it_said(visitor, prefilled):
    priced = read_form(visitor("POST", "/methods/mad/price", data=prefilled("mad")).text)
    dearer = visitor("POST", "/methods/mad", data={**priced, "amount": "0.5"})
    assert dearer.status_code == 409
    assert "and the page said epsilon 0.25" in unescape(dearer.text)
    assert visitor("POST", "/methods/mad", data=read_form(dearer.text)).status_code == 303


def test_the_list_has_all_methods_and_finds_them_by_other_names(visitor):
    page = visitor("GET", "/methods").text
    assert all(f'href="/methods/{name}"' in page for name in METHODS)
    found = visitor("GET", "/methods?q=GLM").text
    assert re.findall('class="mono" href="/methods/([a-z_]+)"', found) == ["lm", "ridge", "logit", "poisson", "anova"]
    assert "No method is called that" in visitor("GET", "/methods?q=zebra").text


def test_an_unknown_method_is_a_page_that_names_another(visitor):
    page = visitor("GET", "/methods/logitt")
    assert page.status_code == 404
    assert "Did you mean logit?" in page.text


def test_what_is_wrong_is_said_at_its_field_and_all_that_was_typed_stays(visitor, prefilled):
    typed = {**prefilled("lm"), "where": "agee > 18", "amount": "0.375"}
    for path in ("/methods/lm/price", "/methods/lm"):
        page = visitor("POST", path, data=typed)
        problems = problems_of(page.text)
        assert list(problems) == ["where"]
        assert problems["where"].startswith("agee is not among the columns")
        assert "Character 1." in problems["where"]
        again = read_form(page.text)
        assert {name: again[name] for name in ("where", "arg-formula", "amount")} == {
            "where": "agee > 18",
            "arg-formula": typed["arg-formula"],
            "amount": "0.375",
        }
    assert page.status_code == 400
    assert "Not answered." in page.text


def test_a_field_that_cannot_be_read_is_told_without_a_question(visitor, prefilled):
    page = visitor("POST", "/methods/histogram/price", data={**prefilled("histogram"), "arg-bins": "many"})
    assert list(problems_of(page.text)) == ["arg-bins"]
    assert read_sql(page.text) == ""
    assert read_form(page.text)["arg-bins"] == "many"
    assert re.search(r'id="pay"[^>]* disabled', page.text)


def test_what_no_field_is_about_is_said_above_the_form(visitor, prefilled):
    neither = {**prefilled("modes"), "arg-factor": "", "arg-column": ""}
    page = visitor("POST", "/methods/modes/price", data=neither)
    assert list(problems_of(page.text)) == ["form"]


def test_another_table_brings_its_columns_and_a_form_that_has_a_price(visitor, prefilled):
    fields = {**prefilled("lm"), "table": "visits", "use": "rows", "where": "age > 3"}
    page = visitor("POST", "/methods/lm/price", data=fields, headers={"X-Part": "form"}).text
    assert "<html" not in page
    refitted = read_form(f'<form id="method">{page}</form>')
    assert refitted["table"] == "visits"
    assert refitted["where"] == ""
    assert refitted["arg-formula"] == "cost ~ C(hospital)"
    assert problems_of(page) == {}


def test_the_address_can_fill_a_form(visitor):
    page = visitor("GET", "/methods/iqr?table=visits").text
    assert read_sql(page) == "SELECT * FROM iqr((SELECT * FROM visits), column => cost, inference => 'data')"
    page = visitor("GET", "/methods/iqr?table=people&arg-column=%3Dage&where=age+%3E+3").text
    assert read_sql(page) == "SELECT * FROM iqr((SELECT * FROM people WHERE (age > 3)), column => age)"


def test_a_script_gets_the_panel_the_text_and_what_is_wrong_in_one_part(visitor, prefilled):
    fields = {**prefilled("iqr"), "where": "age >"}
    part = visitor("POST", "/methods/iqr/price", data=fields, headers={"X-Part": "priced"}).text
    assert 'id="pay"' in part
    assert '<template data-for="written">' in part
    assert re.search(r'<template data-for="where-problem"><p>', part)
    assert '<template data-for="arg-column-problem"></template>' in part
    assert "/ask/price" not in part


def test_nothing_that_is_typed_runs(visitor, prefilled):
    typed = {
        name: value if name in {"csrf", "source"} else ATTACK for name, value in prefilled("proportion_test").items()
    }
    typed |= {f"arg-by:{ATTACK}": "on", "arg-column": f"={ATTACK}"}
    for source in ("table", "select"):
        for path in ("/methods/proportion_test/price", "/methods/proportion_test"):
            assert ATTACK not in visitor("POST", path, data={**typed, "source": source}).text
    assert ATTACK not in visitor("GET", "/methods", params={"q": ATTACK}).text
    assert ATTACK not in visitor("GET", "/methods/iqr", params={"where": ATTACK, "table": ATTACK}).text


def test_a_form_without_its_token_is_refused(visitor, prefilled):
    for path in ("/methods/iqr", "/methods/iqr/price"):
        assert visitor("POST", path, data={**prefilled("iqr"), "csrf": ""}).status_code == 403


def test_a_price_that_is_none_is_refused_with_the_form(visitor, prefilled):
    page = visitor("POST", "/methods/iqr", data={**prefilled("iqr"), "amount": "-1"})
    assert page.status_code == 400
    assert "Not answered." in page.text
    assert read_sql(page.text) != ""


@pytest.mark.parametrize("name", METHODS)
def test_the_picture_that_is_promised_is_the_one_that_is_drawn(hospital_catalog, name):
    method = METHODS[name]
    plan = with_delta(lower(method.example, hospital_catalog), Fraction(1, 10**6))
    table = next(tables_of(plan, Pure(Fraction(1, 3))))
    promised = [kind for columns, kind, _ in PICTURES if columns <= method.returns.keys()][:1]
    assert promised == [table.figure["kind"]] if table.figure else describe_picture(method.returns) == ""


def test_of_other_tables_nothing_is_said():
    assert describe_picture({"zebra": "stripes"}) == ""


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
