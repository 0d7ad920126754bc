"""The pages as everybody gets them: what is on them, for whom, and how much they take."""

from __future__ import annotations

import re
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from functools import cache
from html import unescape
from math import exp
from unittest.mock import patch
from urllib.parse import parse_qs, urlsplit

import pytest

from adomnia.catalog.model import Analyst, Policy, Profile, View
from adomnia.console.data.page import choose_amount, describe_moves, find_tables, list_tables, view_profile
from adomnia.privacy.filters import Budget
from adomnia.privacy.units import ROW, Unit
from kit import house
from kit.altering import altered
from kit.catalogs import belongings, category, gather, people, plain, public, whole
from kit.effort import do_within
from kit.hospital import CATALOG

SCRIPT = "<script>alert(1)</script>"
CATALOG_OF_TABLES = gather(
    [public("cities", plain("Region")), people(whole("age", 0, 120)), belongings("visits")],
    [View("grown", "SELECT person_id, age FROM people WHERE age > 17")],
)


def read(opened, path, name="alice", **headers):
    response = opened.ask(name, "GET", path, headers={"Accept": "text/html", **headers})
    assert response.status_code == 200, response.text
    return response.text


def texts(html):
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)))


@pytest.fixture
def served(shared_house):
    """A house whose catalog is another one, as far as pages go: no rows of it are read."""
    stack = ExitStack()

    def serve(catalog):
        with shared_house.services.dataset.curator() as curator:
            named = replace(catalog, analysts=curator.catalog.analysts)
            stack.enter_context(altered(curator, catalog=named))
        return shared_house

    with stack:
        yield serve


@pytest.mark.parametrize("name", ["alice", "olga", "audrey"])
def test_everybody_who_is_signed_in_sees_all_tables(shared_house, name):
    html = read(shared_house, "/data", name)
    said = texts(html)
    assert "one value of people.person_id" in said
    assert "at most 3 rows" in said
    assert ('href="/data/visits"' in html, 'href="/data/cities"' in html) == (True, True)
    assert "visits.person_id leads to the person through people.person_id" in said
    assert "people.city has its values from the public table cities.city" in said


@pytest.mark.parametrize(("name", "asks"), [("alice", True), ("olga", False), ("audrey", False)])
@pytest.mark.parametrize("path", ["/data", "/data/people", "/data/cities"])
def test_only_analysts_are_led_to_where_one_asks(shared_house, name, asks, path):
    main = read(shared_house, path, name).split("<main")[1]
    assert ("/ask?" in main) is asks


def test_a_question_is_asked_on_a_click_at_a_price(shared_house):
    html = read(shared_house, "/data/people", "carol")
    links = [parse_qs(urlsplit(unescape(link)).query) for link in re.findall(r'href="(/ask\?[^"]+)"', html)]
    wanted = {
        "sql": ["SELECT city, COUNT(*) AS people\nFROM people\nGROUP BY city"],
        "pay": ["epsilon"],
        "amount": ["0.1"],
    }
    assert wanted in links
    for link in links:
        price = {"sql": link["sql"][0], "epsilon": link["amount"][0]}
        assert shared_house.ask("carol", "POST", f"{house.DATASET}/price", json=price).status_code == 200


def test_a_page_of_a_table_says_what_is_declared_and_what_one_person_moves(shared_house):
    said = texts(read(shared_house, "/data/VISITS"))
    assert "One row belongs to one person." in said
    assert "One person counts at most 3 times: they move COUNT(*) by at most 3." in said
    assert "300,000" in said  # a sum of costs: three rows of 100,000
    assert "visits JOIN people USING (person_id)" in said


def test_rows_of_people_are_made_up_and_say_so(shared_house):
    html = read(shared_house, "/data/people")
    assert '<section class="card made"' in html
    assert "These rows are made up from the catalog alone and say nothing about the data." in html
    assert "Rows of nobody, made up from what the catalog declares alone" in read(shared_house, "/data/people", "olga")
    assert house.CANARY not in html


def test_rows_of_a_preview_say_what_they_are_drawn_from(tmp_path):
    with house.opened(tmp_path, CATALOG.replace("[tables.people]\n", "[tables.people]\npreview = 5\n")) as opened:
        html = read(opened, "/data/people")
    assert "These rows are of nobody" in html
    assert "drawn from the release preview_people_1" in html
    assert house.CANARY not in html


def test_rows_of_public_tables_are_as_they_are(shared_house):
    said = texts(read(shared_house, "/data/cities", "olga"))
    assert "Oslo North 1000" in said
    assert "made up" not in said


def test_a_view_shows_its_text_and_what_it_is_made_of(tmp_path):
    view = "\n[views.x]\nsql = \"SELECT age FROM people WHERE name <> '<b>'\""
    with house.opened(tmp_path, CATALOG + view) as opened:
        html = read(opened, "/data/x")
        assert "SELECT age FROM people WHERE name &lt;&gt; &#39;&lt;b&gt;&#39;" in html
        assert 'made of <a href="/data/people">' in html
        assert "Real rows" not in html


def test_a_table_that_does_not_exist_is_a_page(shared_house):
    response = shared_house.ask("alice", "GET", "/data/nothing", headers={"Accept": "text/html"})
    assert response.status_code == 404
    assert "text/html" in response.headers["content-type"]


def test_a_script_gets_the_list_alone(shared_house):
    html = read(shared_house, "/data?find=cost", **{"X-Part": "tables"})
    assert "<html" not in html
    assert re.findall(r'href="/data/(\w+)"', html) == ["visits"]
    assert "Nothing here is called" in read(shared_house, "/data?find=%3Cb%3E")


def test_a_search_stands_only_where_there_is_much_to_search(served):
    few = gather([people(), *(belongings(f"t{number}") for number in range(7))])
    assert "Find a table or column" not in read(served(few), "/data")
    many = gather([*few.tables, belongings("t7")])
    opened = served(many)
    assert "Find a table or column" in read(opened, "/data")
    assert "Find a table or column" in read(opened, "/data/t7")


def test_nothing_that_a_catalog_says_is_run(served):
    column = category(SCRIPT, SCRIPT, "b")
    tables = [people(column, plain(f"{SCRIPT}2")), public("cities", column, plain(SCRIPT[1:]))]
    opened = served(gather(tables, [View("grown", f"SELECT person_id FROM people WHERE \"{SCRIPT}\" = '{SCRIPT}'")]))
    for path in ("/data", "/data/people", "/data/grown", f"/data?find={SCRIPT}"):
        html = read(opened, path)
        assert "&lt;script&gt;" in html
        assert SCRIPT not in html


@cache
def make_large():
    """Two hundred tables, six thousand columns, and twenty categories of a hundred thousand values."""
    values = tuple(f"value {number}" for number in range(100_000))
    columns = [plain(f"column_{number}") for number in range(24)]
    tables = [people(category("place", *values)), public("places", category("place", *values), plain("note"))]
    for number in range(200):
        listed = category("city", *(values if number % 10 == 0 else values[:50]))
        tables.append(belongings(f"table{number}", "people", listed, *columns))
    tables.append(belongings("wide", "people", *(whole(f"w{number}", 0, 9) for number in range(1000))))
    return gather(tables)


@pytest.mark.parametrize("path", ["/data", "/data/table5", "/data/people", "/data?find=column_3", "/data/wide"])
def test_a_catalog_of_any_size_is_shown_at_once(served, path):
    opened = served(make_large())
    read(opened, path)  # templates are read once
    do_within(1, lambda: read(opened, path))


def test_what_is_shown_is_counted_as_all_free_work_is(shared_house):
    with patch("adomnia.console.frame.ask_free", wraps=None) as asked:
        asked.side_effect = RuntimeError("asked")
        shared_house.ask("alice", "GET", "/data")
    assert asked.call_args.args[3] is not None


@pytest.mark.parametrize(
    ("epsilon", "policy", "amount"),
    [
        (2, Policy(), "0.2"),
        (100, Policy(), "0.2"),
        ("0.3", Policy(), "0.02"),
        (2, Policy(ceiling="0.05"), "0.05"),
        (2, Policy("equal_split", questions=10), ""),
    ],
)
def test_an_example_costs_little_of_what_there_is(epsilon, policy, amount):
    held = replace(policy, ceiling=None if policy.ceiling is None else Fraction(policy.ceiling))
    assert choose_amount(Analyst("alice", Budget(Fraction(epsilon)), held)) == amount


HONEST = re.compile(r"not (of )?(one|to a) person|rows of a person|one person, or one row|as one person may")
ABOUT_A_PERSON = re.compile(r"\b(one person|a person|whose row|these people|household)\b", re.IGNORECASE)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("alice", "/data"),
        ("alice", "/data/people"),
        ("alice", "/budget"),
        ("alice", "/ask"),
        ("olga", "/owner"),
        ("olga", "/owner/catalog"),
    ],
)
def test_where_each_row_is_hidden_by_itself_no_page_promises_it_of_a_person(served, name, path):
    rows = replace(people(), columns=(category("city", "Oslo", "Rome"), whole("age", 0, 120)))
    said = texts(read(served(gather([rows], unit="row")), path, name))
    found = [said[match.start() - 40 : match.end() + 40] for match in ABOUT_A_PERSON.finditer(said)]
    assert [each for each in found if not HONEST.search(each)] == []


PERSON = Unit("people", "person_id")


def test_one_person_counts_at_most_as_often_as_is_declared():
    assert describe_moves(people(), PERSON) == "One person counts at most once: they move COUNT(*) by at most 1."
    assert describe_moves(belongings("visits"), PERSON).startswith("One person counts at most 10 times")
    chosen = replace(belongings("visits"), profile_epsilon=Fraction(1, 10))
    assert describe_moves(chosen, PERSON).endswith("Each question takes the number that suits its price.")


def test_where_the_unit_is_a_row_no_person_is_spoken_of():
    assert describe_moves(people(), ROW) == "One row counts once: it moves COUNT(*) by at most 1."


def test_a_profile_is_bars_with_a_margin():
    found = view_profile(Profile((0, 1, 3, 8), (1000, 500, -4), Fraction(1, 10)))
    assert [(bar.rows, bar.people, bar.share) for bar in found.bars] == [("1", 1000, 1.0), ("2 to 3", 500, 0.5)]
    assert found.epsilon == "0.1"
    assert exp(-found.margin / 10) <= 1 / 20 < exp(-(found.margin - 1) / 10)


def test_a_profile_of_noise_alone_has_one_bar():
    found = view_profile(Profile((0, 1, 3), (-7, 2), Fraction(1, 10)))
    assert [(bar.people, bar.share) for bar in found.bars] == [(0, 0.0)]


def test_without_a_profile_there_is_nothing_to_draw():
    assert view_profile(None) is None


def test_tables_about_people_come_first_then_views_then_public_ones():
    lines = list_tables(CATALOG_OF_TABLES)
    assert [(line.name, line.kind, line.row, line.cap) for line in lines] == [
        ("people", "private", "is one person", "1 row"),
        ("visits", "private", "belongs to one person", "at most 10 rows"),
        ("grown", "view", "made of people", "1 row"),
        ("cities", "public", "is about nobody", ""),
    ]


def test_a_search_finds_names_of_tables_and_of_columns():
    lines = list_tables(CATALOG_OF_TABLES)
    assert [(line.name, line.shown) for line in find_tables(lines, " REG ")] == [("cities", ("Region",))]
    assert [line.name for line in find_tables(lines, "age")] == ["people", "grown"]
    assert [(line.name, line.found) for line in find_tables(lines, "cit")] == [("cities", ())]
    assert find_tables(lines, "%") == ()


def test_of_wide_tables_some_columns_are_named():
    (line,) = list_tables(gather([people(*(plain(f"c{number}") for number in range(20)))]))
    assert (line.shown[-1], line.hidden) == ("c6", 13)
    (found,) = find_tables((line,), "c19")
    assert (found.shown, found.hidden) == (("c19",), 20)
