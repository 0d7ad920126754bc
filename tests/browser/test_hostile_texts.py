"""Texts of strangers that try to be more than texts: on every page that shows them, nothing of them runs.

They stand in names of people, columns, files and answers, in values, views, labels and reasons, in questions, and in
addresses. The policy of the pages would stop scripts as well; here nothing may even become an element.
"""

from __future__ import annotations

import json
from urllib.parse import quote, urlencode

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adomnia.api.access import Access, Role
from adomnia.session.curator import STATE, open_folder
from kit import serving
from kit.browsing import PASSWORD, Console, add_people, wait_for

EVIL = "</textarea></title><img src=x onerror=hacked=1><script>hacked=1</script>\"'`${hacked=1}{{7*7}}"
SHORT = "<svg onload=hacked=1>\"'"
FILE = "<img src=x onerror=hacked=1>.csv"
PAID = f"{SHORT}/..?a=1#b%2F"  # the id of a request
PEOPLE = 300

CATALOG = f"""
# {EVIL}
[dataset]
name = "hostile"
version = 1
unit = "people.person_id"
vacuous_answers = "warn"

[budget]
epsilon = 1000
delta = 1e-3
approximate = true

[analysts.alice]
epsilon = 100
delta = 1e-4

[analysts.bob]
epsilon = 100
delta = 1e-4

[tables.people]
source = "people.parquet"
rows_per_person = 1

[tables.people.columns]
person_id = {{ type = "id" }}
{json.dumps(EVIL)} = {{ type = "category", values = [{json.dumps(EVIL)}, "javascript:hacked=1", "b"] }}
{json.dumps(SHORT)} = {{ type = "number", lower = 0, upper = 100 }}
found = {{ type = "text" }}

[tables.places]
source = {json.dumps(FILE)}
public = true

[tables.places.columns]
{json.dumps(EVIL)} = {{ type = "text" }}

[views.odd]
sql = {json.dumps(f"SELECT person_id, found FROM people WHERE found <> '{EVIL.replace(chr(39), chr(39) * 2)}'")}
"""


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


GROUPS = f"SELECT {quoted(EVIL)}, COUNT(*) AS n FROM people GROUP BY 1 /* {EVIL} */"
FOUND = "SELECT found, COUNT(*) AS n FROM people GROUP BY found"
ALIAS = f"SELECT COUNT(*) AS {quoted(EVIL)} FROM people"
REFUSED = f"SELECT {quoted(EVIL + '?')}, nothing({literal(EVIL)}) FROM {quoted(SHORT)}"
PUBLIC = f"SELECT {quoted(EVIL)} FROM places"
EVIL_QUERY = urlencode(
    {"q": EVIL, "find": EVIL, "who": EVIL, "part": EVIL, "done": EVIL, "account": EVIL, "code": EVIL}
)

ANALYST = [
    *("/ask", f"/ask?{urlencode({'sql': EVIL, 'amount': EVIL, 'rows': EVIL, 'pay': EVIL, 'request_id': EVIL})}"),
    *(f"/ask?{urlencode({'sql': each, 'amount': '1'})}" for each in (GROUPS, FOUND, ALIAS, REFUSED, PUBLIC)),
    f"/answers/{quote(PAID, safe='')}?simultaneous=1&checked=1&again=1",
    *("/answers/found", f"/answers/{quote(EVIL, safe='')}", "/answers", f"/answers?{EVIL_QUERY}", "/budget"),
    *("/methods", f"/methods/histogram?{urlencode({'table': EVIL, 'where': EVIL})}"),
    *(f"/methods/{quote(SHORT)}", f"/shared/{quote(EVIL, safe='')}", f"/data?{EVIL_QUERY}", "/data/people"),
    *("/data/places", "/data/odd", f"/data/{quote(SHORT)}", "/account", f"/{quote(EVIL)}"),
]
OWNER = [
    *("/owner", "/owner/ledger", f"/owner/ledger?{EVIL_QUERY}", f"/owner/budgets?{EVIL_QUERY}"),
    *(f"/owner/people?{EVIL_QUERY}", "/owner/catalog", "/owner/catalog/edit?part=text"),
    *(
        "/owner/catalog/edit?part=tables/people",
        "/owner/catalog/edit?part=views/odd",
        "/owner/catalog/edit?part=budget",
    ),
    *(f"/owner/catalog/edit?{EVIL_QUERY}", f"/owner/catalog/edit?from={quote(EVIL)}", "/data/people"),
]
# Elements that only a text can have made, and scripts that are none of the server's files.
MADE = """[onerror], [onload], img[src=x], script:not([src^="/static/"]), [href^="javascript:" i],
    [action^="javascript:" i]"""


TYPE = """sql => {
  const area = document.getElementById("sql");
  area.value = sql;
  area.dispatchEvent(new Event("input", { bubbles: true }));
}"""


def write_dataset(folder):
    folder.mkdir()
    (folder / "catalog.toml").write_text(CATALOG)
    (folder / FILE).write_text('"{0}"\n"{0}"\n'.format(EVIL.replace('"', '""')))
    rows = {
        "person_id": list(range(PEOPLE)),
        EVIL: [EVIL, "b", "javascript:hacked=1"] * (PEOPLE // 3),
        SHORT: [float(k % 100) for k in range(PEOPLE)],
        "found": [EVIL] * PEOPLE,
    }
    pq.write_table(pa.table(rows), folder / "people.parquet")
    add_people(folder)
    with Access.open(folder / STATE) as access:
        access.add_user(SHORT, Role.AUDITOR, PASSWORD)
        access.create_token("alice", EVIL[:60], 9)
        access.create_token(SHORT, SHORT, 9)
    with open_folder(folder) as curator:
        curator.ledger.top_up("alice", EVIL, 1)
        curator.session("alice").sql(GROUPS, epsilon=20, request_id=PAID)
        curator.session("alice").sql(FOUND, epsilon=50, delta=1e-5, request_id="found")


@pytest.fixture(scope="module")
def hostile(console, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile") / "data"
    write_dataset(folder)
    with serving.served(folder, "--workers", "1", "--bucket", "0", "--rate", "1000") as server:
        yield Console(f"http://127.0.0.1:{server.port}", folder, console.browser)


def watch(page):
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran at {page.url}: {dialog.message}"))


def check(page):
    assert page.evaluate("[typeof hacked, document.title.includes('{{')]") == ["undefined", "{{" in page.title()]
    assert page.eval_on_selector_all(MADE, "made => made.map(each => each.outerHTML)") == [], page.url
    assert page.locator("h1").count() == 1, page.url


@pytest.mark.parametrize(
    ("name", "paths"),
    [("alice", ANALYST), ("olga", OWNER), (SHORT, OWNER[:2]), (None, [f"/sign-in?{EVIL_QUERY}"])],
    ids=["analyst", "owner", "auditor", "nobody"],
)
def test_no_page_runs_what_it_shows(hostile, name, paths):
    with hostile.visit(name, paths[0]) as page:
        watch(page)
        for path in paths:
            page.goto(hostile.address + path, wait_until="domcontentloaded")
            check(page)


def test_a_text_that_became_elements_would_be_noticed(hostile):
    with pytest.raises(AssertionError, match="Content Security Policy"), hostile.visit("alice", "/account") as page:
        page.evaluate("text => document.querySelector('main').insertAdjacentHTML('beforeend', text)", EVIL)
        with pytest.raises(AssertionError, match="onerror"):
            check(page)


def test_what_scripts_put_into_a_page_does_not_run(hostile):
    with hostile.visit("alice", "/ask") as page:
        watch(page)
        for sql in (REFUSED, ALIAS, GROUPS):
            with page.expect_response("**/ask/price"):
                page.evaluate(TYPE, sql)
            check(page)
        page.goto(f"{hostile.address}/answers/found")
        assert EVIL in page.inner_text("#answer tbody")
        wait_for(page, "document.querySelector('img.chart').complete")
        check(page)


def test_a_figure_that_is_opened_as_a_page_runs_nothing(hostile):
    with hostile.visit("alice", f"/answers/{quote(PAID, safe='')}/figure.svg") as page:
        watch(page)
        assert page.evaluate("document.documentElement.localName") == "svg"
        assert page.evaluate("typeof hacked") == "undefined"
        assert page.locator("script, foreignObject, [onload], [onerror], a").count() == 0
        assert "onerror=hacked=1" in page.evaluate("document.documentElement.textContent")


def test_the_names_of_files_are_plain(hostile):
    with hostile.visit("alice", "/account") as page:
        for form in ("csv", "json", "parquet"):
            reply = page.request.get(f"{hostile.address}/answers/{quote(PAID, safe='')}/export?form={form}")
            assert reply.ok
            assert reply.headers["content-disposition"] == f'attachment; filename="hostile-svg-onload-hack.{form}"'
            assert reply.headers["x-content-type-options"] == "nosniff"
