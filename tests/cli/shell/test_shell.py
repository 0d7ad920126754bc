"""What statements and commands do, over made-up rows."""

from __future__ import annotations

import csv
import json
import threading
from dataclasses import replace
from io import StringIO

import pytest

from adomnia.cli.options import AnswerFormat
from adomnia.cli.shell import commands
from adomnia.cli.shell.settings import ShellSettings
from adomnia.cli.shell.shell import AGAIN, STAYS_PAID, Shell
from adomnia.errors import Failure, Refusal, Unavailable
from adomnia.messages.references import Option
from adomnia.messages.texts import Message
from adomnia.session.curator import open_mock, read_catalog
from adomnia.sql.reading.statements import split_statements
from kit.altering import alter
from kit.waiting import HANG_SECONDS

COUNT = "SELECT COUNT(*) AS n FROM people"


@pytest.fixture
def curator(hospital):
    with open_mock(read_catalog(hospital)) as opened:
        yield opened


@pytest.fixture
def make(curator, capsys):
    """A shell, and what it prints when some text is run in it."""
    shells = []

    def build(confirm=None, **options):
        session = curator.session("alice")
        shell = Shell(session, ShellSettings(options={"epsilon": "0.1", **options}), commands.run, "hospital", confirm)
        shell.left = session.budget().personal.left()
        shells.append(shell)

        def run(text):
            error = shell.run(split_statements(text))
            return error, *capsys.readouterr()

        return shell, run

    yield build
    for shell in shells:
        shell.close()


def spent(shell):
    return shell.session.budget().personal.spent_epsilon()


def test_statements_are_run_until_one_is_refused(make):
    shell, run = make()
    error, printed, complained = run(f"{COUNT};\n\nSELECT COUNT(*)\n FROM peple; SELECT SUM(age) FROM people")
    assert printed.count("Paid: epsilon 0.1.") == 1
    assert error.code == "unknown_table"
    assert complained.splitlines()[0].endswith("(line 4, column 7)")
    assert complained.splitlines()[1:] == ["   FROM peple", "        ^^^^^"]
    assert shell.pending is None


def test_where_nobody_types_nobody_is_asked_and_the_answer_has_its_format(make):
    shell, run = make()
    record = json.loads(run(f"\\format json\n{COUNT}")[1])
    assert record["receipt"]
    printed, complained = run(f"\\format csv\n{COUNT}")[1:]
    assert next(csv.DictReader(StringIO(printed)))["n"] == str(record["rows"][0]["n"])
    assert complained.startswith("Replayed, free")
    assert json.loads(run(f"\\format json\nEXPLAIN {COUNT}")[1])["parts"]
    assert run("\\format table\n\\e SELECT 1 FROM people")[0].code
    assert shell.settings.form is AnswerFormat.TABLE


def test_a_price_is_shown_and_nothing_is_asked_without_a_yes(make):
    asked = []

    def confirm(words):
        asked.append(words)
        return len(asked) > 1

    shell, run = make(confirm)
    _, printed, _ = run(f"{COUNT};")
    assert "Costs epsilon 0.1 of epsilon 2 left" in printed
    assert "Not asked, and nothing was spent." in printed
    assert spent(shell) == 0
    assert "Paid: epsilon 0.1." in run(f"{COUNT};")[1]
    assert shell.prompt() == "hospital [epsilon 1.9]> "
    assert len(asked) == 2
    run(f"\\confirm off\n{COUNT}; SELECT city FROM cities; SHOW TABLES; EXPLAIN {COUNT};")
    assert len(asked) == 2


def test_what_costs_nothing_is_not_confirmed(make):
    shell, run = make(lambda _: pytest.fail("It asked."))
    for text in ("SELECT city FROM cities LIMIT 2;", "SHOW TABLES;", "DESCRIBE people;", f"EXPLAIN {COUNT};", "\\b"):
        assert run(text)[0] is None
    assert spent(shell) == 0


def test_a_question_that_is_refused_before_its_price_is_not_confirmed(make):
    _, run = make(lambda _: pytest.fail("It asked."))
    assert run("SELECT nothing FROM people;")[0].code == "unknown_column"


def test_commands_show_what_they_say(make):
    shell, run = make()
    assert "private" in run("\\d")[1]
    assert "0 to 120" in run("\\d people;")[1]
    assert "In all: epsilon 0.1." in run(f"\\p {COUNT};")[1]
    assert run(f"\\e {COUNT}")[1].startswith("1 measurement, 1 output")
    assert "epsilon 2" in run("\\b")[1]
    assert "confirm" in run("\\set")[1]
    assert "\\again" in run("\\?")[1]
    run(COUNT)
    listed = run("\\a")[1]
    (past,) = shell.session.answers()
    assert past.request_id[:20] in listed
    assert "Replayed, free" in run(f"\\a {past.request_id}")[1]
    assert json.loads(run(f"\\format json\n\\p {COUNT}")[1])["price"]["epsilon"] == "1/10"
    assert json.loads(run("\\b")[1])[0]["analyst"] == "alice"
    assert run("\\q\nSELECT nonsense")[0] is None
    assert shell.over


@pytest.mark.parametrize(
    ("text", "says", "marked"),
    [
        ("\\x", r"The command \x is not known. Fix: \? lists all of them.", None),
        ("\\p", r"\p needs a question on the same line", None),
        ("\\again", "none was", None),
        ("\\d  peple", "Table peple is not in the catalog", "peple"),
        ("\\p SELECT COUNT(*) FROM peple", "peple is not among the tables", "peple"),
        ("\\e   SELECT nothing FROM people", "nothing is not among the columns of people", "nothing"),
        ("\\a nothing", r"Fix: take a request id and place that \a lists.", None),
        ("\\set rows 0", r"\set rows '0' is not a whole number of at least 1. Fix: write \set rows 1000.", None),
        ("\\set format xml", r"Fix: write \set format table or json or csv.", None),
        ("\\set colour red", "The setting colour is not known", None),
        ("\\confirm maybe", r"Fix: write \set confirm on or off.", None),
        (f"\\set effort high\n{COUNT}", r"Fix: pay with \set rho instead.", None),
        (f"\\set epsilon\n{COUNT}", r"Fix: pay with one of \set epsilon, \set rho or \set error.", None),
    ],
)
def test_refusals_are_in_the_words_of_the_shell_at_the_place_that_was_typed(make, text, says, marked):
    _, run = make()
    error, _, complained = run(text)
    assert isinstance(error, Refusal)
    assert says in complained
    _, *below = complained.splitlines()
    if marked is None:
        assert below == []
    else:
        line, marks = below
        assert line[marks.index("^") : marks.rindex("^") + 1] == marked


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (Unavailable("The server", "cannot be reached", "check it", "unreachable"), AGAIN),
        (Refusal("The server", "speaks otherwise", "install it", code="other_version"), AGAIN),
        (Refusal("You", "ask too fast", "wait", code="too_fast"), AGAIN),
        (Refusal("The budget", "is spent", "wait", code="budget"), None),
        (Failure("mine"), STAYS_PAID),
    ],
)
def test_a_question_whose_answer_was_lost_is_asked_again_under_its_request_id(make, monkeypatch, fault, says):
    shell, run = make(lambda _: True)
    sent, real = [], shell.session.sql

    def lose(text, **options):
        sent.append((text, options))
        real(text, **options)
        raise fault

    monkeypatch.setattr(shell.session, "sql", lose)
    error, _, complained = run(f"\\set fresh on\n{COUNT}")
    assert error is fault
    assert complained.splitlines()[1:] == ([says] if says else [])
    assert shell.prompt() == f"hospital [epsilon 2{'?' if says else ''}]> "
    if says is None:
        assert run("\\again")[0].what == r"\again"
        return
    before = spent(shell)
    monkeypatch.setattr(
        shell.session, "sql", lambda text, **options: sent.append((text, options)) or real(text, **options)
    )
    assert "Replayed, free" in run("\\again")[1]
    assert sent[0] == sent[1]
    assert (shell.pending, spent(shell)) == (None, before)


def test_where_an_error_ends_everything_the_request_id_is_told(make, monkeypatch):
    shell, run = make()
    fix = Message("check it, then ask again with ", Option("request_id", "mine"), ": free")
    fault = Unavailable("The server", "is away", fix, "unreachable")
    sent = []

    def lose(_text, **options):
        sent.append(options["request_id"])
        raise fault

    monkeypatch.setattr(shell.session, "sql", lose)
    first, second = run(COUNT)[2].splitlines()
    assert first.endswith("then ask again with `adomnia sql` and --request-id mine: free.")
    assert f"--request-id {sent[0]} gets its answer" in second
    assert "again asks" not in second


def test_what_says_almost_nothing_is_asked_only_by_whoever_was_told_so(make, curator, monkeypatch):
    alter(curator, catalog=replace(curator.catalog, vacuous_answers="refuse"))
    words = []
    answers = iter((False, True))
    shell, run = make(lambda said: words.append(said) or next(answers), epsilon="0.001", rows="100")
    printed = run(f"{COUNT};")[1]
    assert r"n would say almost nothing" in printed
    assert r"To change that, \set epsilon 0." in printed
    assert "Not asked" in printed
    printed = run(f"{COUNT};")[1]
    assert words == ["Ask it all the same? [y/N] "] * 2
    assert "n says almost nothing" in printed
    assert spent(shell) * 1000 == 1
    error, _, complained = run(f"\\set fresh on\n\\confirm off\n{COUNT};")
    assert error.code == "vacuous"
    assert r"or take it all the same: \set allow-uninformative on." in complained
    assert "Paid" in run(f"\\set allow-uninformative on\n{COUNT};")[1]


def test_values_of_parameters_are_settings(make):
    _, run = make()
    error, printed, _ = run(
        "\\set parameter least=18 city='New York'\nSELECT COUNT(*) AS n FROM people WHERE age >= :least;\n"
        "\\p SELECT COUNT(*) AS n FROM people WHERE age >= :least\nSHOW TABLES"
    )
    assert error is None
    assert "Paid: epsilon 0.1." in printed


def test_a_tab_may_follow_a_command_and_nothing_commands_the_terminal(make):
    _, run = make()
    assert "0 to 120" in run("\\d\tpeople")[1]
    assert run("\\\x1b[31m")[2].startswith(r"Refusal: The command \\x1b[31m is not known")


def test_stopping_to_wait_leaves_the_question_to_its_end(make, monkeypatch):
    shell, run = make(lambda _: True)
    free, real = threading.Event(), shell.session.sql

    def slowly(text, **options):
        free.wait(HANG_SECONDS)
        return real(text, **options)

    monkeypatch.setattr(shell.session, "sql", slowly)
    monkeypatch.setattr(shell, "wait", interrupting(shell, after=1))
    error, _, complained = run(f"{COUNT};")
    assert error is None
    assert complained == f"Stopped waiting. {AGAIN}\n"
    free.set()
    monkeypatch.undo()
    run("\\again")
    assert spent(shell) * 10 == 1
    assert not shell.over


def interrupting(shell, after):
    """The waiting of a shell, in which Ctrl-C is typed after so many calls, while its thread works."""
    calls = []

    def interrupt(work):
        calls.append(work)
        future = shell._threads.submit(work)
        if len(calls) <= after:
            return future.result()
        raise KeyboardInterrupt

    return interrupt


def test_where_nobody_types_ctrl_c_ends_it(make, monkeypatch):
    shell, run = make()
    monkeypatch.setattr(shell, "wait", interrupting(shell, after=0))
    with pytest.raises(KeyboardInterrupt):
        run(COUNT)


def test_the_last_answer_is_drawn(make, tmp_path):
    _, run = make()
    assert run("\\plot a.svg")[0].why.startswith("draws the last answer, and there is none")
    assert run(f"{COUNT};\n\\d people\n\\plot {tmp_path}/a.svg;")[2] == f"Wrote {tmp_path}/a.svg.\n"
    assert "<title>n</title>" in (tmp_path / "a.svg").read_text()
    assert run("\\plot")[0].fix == r"write \plot answer.svg"
    assert run(f"\\plot {tmp_path}/a.txt")[0].code == "bad_file"
