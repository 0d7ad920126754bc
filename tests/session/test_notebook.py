"""In notebooks: cells that are questions, results that read well, and refusals of three lines."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import adomnia
from adomnia.catalog.model import View
from adomnia.errors import Failure, Refusal, Unavailable
from adomnia.session.catalog_page import show_catalog
from adomnia.session.notebook import MagicError, ask_cell

PEOPLE = pa.table({"who": range(40), "age": [k % 9 for k in range(40)], "city": ["<b>Oslo</b>", "Bergen"] * 20})
COUNT = "SELECT COUNT(*) AS n FROM data WHERE age >= :least"


@pytest.fixture(scope="module")
def session():
    bounds, cities = {"age": (0, 120)}, {"city": ["<b>Oslo</b>", "Bergen", *"abcdef"]}
    with adomnia.protect(
        PEOPLE, unit="who", rows_per_person=1, bounds=bounds, categories=cities, epsilon=1000
    ) as opened:
        yield opened


@pytest.fixture(scope="module")
def shell():
    made = InteractiveShell(user_ns={}, history_length=0)
    made.history_manager.enabled = False
    made.run_line_magic("load_ext", "adomnia")
    return made


@pytest.fixture
def cell(shell, session):
    """Run a cell of a notebook in which `own` is a session."""
    shell.user_ns.update(own=session, least=5)

    def run(text):
        with capture_output() as shown:
            result = shell.run_cell(text)
        return result, shown.stdout

    return run


def test_a_cell_is_a_question_whose_answer_is_shown_and_kept(shell, cell, session):
    result, _ = cell(f"%%private own --epsilon 0.5 -o found\n{COUNT}")
    assert result.success
    assert shell.user_ns["found"] is result.result
    again = session.sql("SELECT COUNT(*) AS n FROM data WHERE age >= 5", epsilon=Fraction(1, 2))
    assert (again.replayed, again["n"]) == (True, result.result["n"])
    html = shell.display_formatter.format(result.result)[0]["text/html"]
    assert "Paid: epsilon 0.5." in html


@pytest.mark.parametrize(("option", "kind"), [("--price", "Quote"), ("--explain", "Explanation")])
def test_a_cell_may_ask_for_the_price_or_an_explanation(cell, session, option, kind):
    left = session.budget().personal.left()
    result, _ = cell(f"%%private own --epsilon 0.5 --rows 100 --confidence 0.9 {option}\n{COUNT}")
    assert type(result.result).__name__ == kind
    assert session.budget().personal.left() == left


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", "session.*Write for example: %%private session --epsilon 0.5"),
        ("nobody --epsilon 1", "nobody is not a session"),
        ("own --what 1", "what"),
        ("own 'a", "No closing quotation"),
    ],
)
def test_a_line_that_says_nothing_is_refused(session, line, says):
    with pytest.raises(MagicError, match=says):
        ask_cell(line, COUNT, {"own": session})
    assert MagicError("x")._render_traceback_() == ["%%private: x"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("own --epsilon much", "--epsilon 'much' is not a number. Fix: write --epsilon 0.5."),
        ("own --rows many", "--rows 'many' is not a number"),
        ("own --epsilon 1 --anyway", "--anyway has another name. Fix: write --allow-uninformative."),
        ("own --epsilon 1 --from-release", "release"),
    ],
)
def test_an_option_that_cannot_be_read_is_refused(session, line, says):
    with pytest.raises(Refusal) as refused:
        ask_cell(line, COUNT, {"own": session, "least": 5})
    assert says in str(refused.value)


def test_weights_stand_in_a_line_once_for_each_output(session):
    text = "SELECT COUNT(*) AS n, AVG(age) AS a FROM data"
    quote = ask_cell("own --epsilon 1 --weight n=3 --price --simultaneous", text, {"own": session})
    assert quote == session.price(text, epsilon=1, weights={"n": 3}, simultaneous=True)


def test_a_refusal_of_a_cell_is_in_the_words_of_its_line(cell):
    line = "%%private own --epsilon 0.001 --rows 40 --effort normal --request-id r"
    _, shown = cell(f"{line}\n{COUNT}")
    assert shown.splitlines()[1].endswith("or take it all the same: --allow-uninformative.")
    result, _ = cell(f"{line} --allow-uninformative --fresh --no-interval\n{COUNT}")
    assert result.result.notes[0].startswith("n says almost nothing")
    assert result.result.receipt.request_id == "r"


def test_a_cell_may_be_about_the_population(cell):
    _, shown = cell(f"%%private own --epsilon 1 --population\n{COUNT}")
    assert "leave --population out" in shown


def test_a_parameter_needs_a_variable(session):
    with pytest.raises(MagicError, match=":least has no value, because there is no variable least"):
        ask_cell("own --epsilon 1", COUNT, {"own": session})
    explained = ask_cell("own", f"EXPLAIN {COUNT}", {"own": session, "least": 3})
    assert "age >= 3" in str(explained)


def test_a_refusal_is_three_lines(cell):
    result, shown = cell("own.sql('SELECT nothing FROM data', epsilon=1)")
    assert not result.success
    assert shown.splitlines() == [
        "Refusal: nothing is not among the columns of data. (line 1, column 8)",
        "Fix: they are who, age, city.",
        "Code: unknown_column",
    ]


def test_everything_else_is_one_line():
    assert Failure("7f3a")._render_traceback_() == ["Failure: The request failed. Request id: 7f3a."]
    assert Unavailable("It", "is full", "wait")._render_traceback_() == ["Unavailable: It is full. Fix: wait."]
    assert Refusal("x", "is wrong", "write y")._render_traceback_()[0] == "Refusal: x is wrong."


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of the completer that IPython has
def test_all_names_can_be_completed(shell):
    assert set(adomnia.__all__) <= set(dir(adomnia))
    shell.user_ns["adomnia"] = adomnia
    shell.Completer.use_jedi = False  # which reads the source, and not what is there
    _, found = shell.complete("adomnia.pro")
    assert [name.rpartition(".")[2] for name in found] == ["protect"]


def test_a_price_reads_well_as_text_and_html(session):
    quote = session.price("SELECT city, AVG(age) AS mean FROM data GROUP BY city", epsilon=1)
    assert "In all: epsilon 1. No private data was read, and nothing was spent." in repr(quote)
    assert repr(quote).endswith("session.sql with the same text and options; of a list, session.batch.")
    assert repr(quote).splitlines()[0].startswith("Measured")
    html = quote._repr_html_()
    assert html.count("<table>") == 2
    assert ">AVG(age in 0..120 by 1)</td>" in html


def test_a_catalog_reads_well_as_text_and_html(session):
    catalog = session.catalog()
    lines = repr(catalog).splitlines()
    assert lines[0].split() == ["Table", "Rows", "of", "a", "person", "Column", "Type", "Values"]
    assert lines[2].split() == ["data", "at", "most", "1", "who", "id", "the", "person"]
    assert lines[3].split() == ["age", "integer", "0", "to", "120"]
    assert lines[4].endswith("<b>Oslo</b>, Bergen, a, b, c, d, ... (8 in all)")
    html = catalog._repr_html_()
    assert "&lt;b&gt;Oslo&lt;/b&gt;" in html
    assert "<b>" not in html
    seen = show_catalog(replace(catalog, views=(View("adults", "SELECT *\n FROM data"),)))
    assert repr(seen).endswith("View adults: SELECT * FROM data")


def test_budgets_and_what_was_paid_before_read_well(session):
    session.sql("SELECT COUNT(*) AS n FROM data WHERE city <> '<i>'", epsilon=0.25)
    budgets = session.budget()
    assert repr(budgets) == str(budgets)
    assert budgets._repr_html_().count("<p>") == len(str(budgets).splitlines())
    past = session.answers()[-1]
    assert repr(past).endswith("SELECT COUNT(*) AS n FROM data WHERE city <> '<i>', paid with epsilon 0.25)")


def test_html_escapes_what_the_owner_and_the_analyst_write(session):
    answer = session.sql("SELECT city, COUNT(*) AS n FROM data GROUP BY city", epsilon=1)
    explained = session.explain("SELECT COUNT(*) AS n FROM data WHERE city = '<script>'", epsilon=1)
    for html in (answer._repr_html_(), explained._repr_html_()):
        assert "<b>" not in html
        assert "<script" not in html
    assert "&lt;b&gt;Oslo&lt;/b&gt;" in answer._repr_html_()


def test_a_session_says_who_asks_what(session):
    assert repr(session).startswith("Session with tables of your own.")
    assert 'session.table("data").mean("age", by="city", epsilon=0.1)' in repr(session)
    assert "session.table(&quot;data&quot;)" in session._repr_html_()
