"""The page of the papers is true: it is what its file says, every name on it exists, and every example runs."""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest

import adomnia
from adomnia.cli.app import main
from kit.example import write_example
from kit.known_facts import remembered_facts

ROOT = Path(__file__).parents[1]
PEOPLE = 2000  # enough that nothing is refused, few enough to be quick


def load_tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


PAPERS = load_tool("papers")

from exhibits import EXHIBITS  # noqa: E402 - found through the path that the tool adds
from exhibits.misprints import Misprint, read_misprints  # noqa: E402

LINES = PAPERS.read_lines()
QUESTIONS = sorted({(line.example, line.delta) for line in LINES if line.example.startswith("SELECT ")})
COMMANDS = sorted({line.example for line in LINES if line.example.startswith("adomnia ")})
PYTHON = sorted({line.example for line in LINES if line.example.startswith(">>> ")})
LINE = LINES[0]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A folder with the hospital, whose budget pays for all examples together."""
    folder = tmp_path_factory.mktemp("papers")
    hospital = write_example(folder / "examples" / "hospital", people=PEOPLE)
    catalog = (hospital / "catalog.toml").read_text()
    catalog = re.sub(r"^epsilon = [\d.]+", "epsilon = 1000", catalog, flags=re.MULTILINE)
    catalog = re.sub(r"^delta = [\de.-]+", "delta = 1e-4", catalog, flags=re.MULTILINE)
    (hospital / "catalog.toml").write_text(catalog)
    with remembered_facts():
        adomnia.open(hospital).close()
        yield folder


def test_the_page_is_what_its_file_says_now():
    assert PAPERS.render(LINES, read_misprints()) == PAPERS.PAGE.read_text()


def test_a_line_that_was_changed_makes_another_page():
    changed = [replace(LINE, how="corrected", why="Something else."), *LINES[1:]]
    assert PAPERS.render(changed, read_misprints()) != PAPERS.PAGE.read_text()
    assert PAPERS.render(LINES, read_misprints()[1:]) != PAPERS.PAGE.read_text()


def test_every_paper_and_every_word_has_lines_and_none_is_there_twice():
    assert {line.paper for line in LINES} == set(PAPERS.PAPERS)
    assert {line.how for line in LINES} == set(PAPERS.HOW)
    places = [(line.paper, line.where, line.names) for line in LINES]
    assert len(places) == len(set(places))


@pytest.mark.parametrize(
    "changes",
    [
        {"paper": "elsewhere"},
        {"where": ""},
        {"names": ""},
        {"how": "soon"},
        {"how": "other method", "why": ""},
        {"how": "not offered", "why": ""},
        {"ours": ()},
        {"ours": ("method:lm",), "example": ""},
    ],
    ids=str,
)
def test_a_line_without_one_of_its_parts_is_refused(changes):
    parts = {field.name: getattr(LINE, field.name) for field in fields(LINE)}
    with pytest.raises(ValueError, match="Line"):
        PAPERS.Line(**parts | changes)


@pytest.mark.parametrize("kind", sorted({name.split(":")[0] for line in LINES for name in line.ours}))
def test_a_name_that_is_not_there_is_found(kind):
    with pytest.raises(PAPERS.UnknownNameError):
        PAPERS.link(f"{kind}:accounting.groups.none_of_that")


def test_a_name_of_an_unknown_kind_and_a_place_without_heading_are_found():
    with pytest.raises(PAPERS.UnknownNameError):
        PAPERS.link("promise:lm")
    with pytest.raises(PAPERS.UnknownNameError):
        PAPERS.link("page:limits.md#nowhere")


def test_the_methods_and_exhibits_that_come_from_the_papers_are_on_the_page():
    named = {name for line in LINES for name in line.ours}
    expected = ("mle", "fit_family", "sample_and_aggregate", "ptr_iqr", "ptr_median", "robust_lm", "smooth_quantile")
    assert [name for name in expected if f"method:{name}" not in named] == []
    assert [exhibit.name for exhibit in EXHIBITS if f"exhibit:{exhibit.name}" not in named] == []


def test_every_misprint_names_an_exhibit_that_there_is_or_none():
    names = {exhibit.name for exhibit in EXHIBITS}
    assert [each for each in read_misprints() if each.exhibit and each.exhibit not in names] == []
    with pytest.raises(ValueError, match="Misprint"):
        Misprint("notes", "definition", "something", "")


def test_every_example_is_of_a_kind_that_is_run():
    assert len(QUESTIONS) > 60
    assert len(COMMANDS) > 15
    assert len(PYTHON) > 3
    known = {text for text, _ in QUESTIONS} | set(COMMANDS) | set(PYTHON)
    assert [line.example for line in LINES if line.example and line.example not in known] == []


def test_every_question_is_answered(checkout):
    with adomnia.open(checkout / "examples" / "hospital") as hospital:
        session = hospital.session("bob")
        for text, delta in QUESTIONS:
            price = {"epsilon": 1} | ({"delta": float(delta)} if delta else {})
            answer = session.sql(
                text, **price, allow_uninformative=True
            )  # whatever earlier answers say about its worth
            assert len(answer) > 0, text


def test_every_command_ends_well(checkout, monkeypatch, capsys):
    monkeypatch.chdir(checkout)
    for command in COMMANDS:
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        assert (ended.value.code or 0, printed.err) == (0, ""), command
        assert printed.out, command


def test_every_line_of_python_runs(checkout, monkeypatch):
    monkeypatch.chdir(checkout)
    for line in PYTHON:
        *imports, expression = line.removeprefix(">>> ").split("; ")
        names = {"adomnia": adomnia}
        exec("\n".join(imports), names)
        assert eval(expression, names) is not None, line
