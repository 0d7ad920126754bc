"""Sentences are written for people: what they name is a reference, and no code reads one back."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import adomnia
from adomnia.messages.surfaces import CALLS
from adomnia.options import OPTIONS

PACKAGE = Path(adomnia.__file__).parent
SOURCES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.parent != PACKAGE / "messages"]
NAMES = "|".join(OPTIONS)
# What Python alone calls so, in a sentence; a template has it between braces.
NAMED = re.compile(rf"(?<![\w{{-])(?<!{{with )(?:{NAMES})=(?!=)|(?<!{{)\b(?:{'|'.join(CALLS)})\(\)")
# Pages of methods name `delta=`, as Python does; and `shell --set rho=1` is typed so.
# What stands after a dot in Python, and what a session prints there, is a whole call of Python.
CALLING = ("examples", "hints", "method_examples", "session_page", "table_page")
IN_PYTHON = (PACKAGE / "session" / f"{name}.py" for name in CALLING)
ALLOWED = (PACKAGE / "methods" / "robust", PACKAGE / "cli" / "shell" / "command.py", *IN_PYTHON)
READS = {"startswith", "removeprefix", "partition", "split", "find", "index", "match", "search", "fullmatch", "sub"}
SAID = {"fix", "why"}


def texts(tree: ast.AST) -> list[str]:
    """The texts of a module that are no docstrings; what f-strings put in is left out."""
    plain = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in plain)
    return [node.value for node in constants if isinstance(node.value, str)]


def naming_faults(source: str) -> list[str]:
    return [text for text in texts(ast.parse(source)) if NAMED.search(text)]


def is_said(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in SAID and isinstance(node.ctx, ast.Load)


def reading_faults(source: str) -> list[str]:
    """Where code asks what a refusal's reason or fix says."""
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[right]) if is_said(right):
                found.append(ast.unparse(node))
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]) if is_said(
                left
            ) and not is_said(right):
                found.append(ast.unparse(node))
            case ast.Call(func=ast.Attribute(value=value, attr=attr), args=args) if attr in READS and any(
                map(is_said, (value, *args))
            ):
                found.append(ast.unparse(node))
    return found


def test_options_and_calls_are_named_by_reference():
    told = {path: naming_faults(path.read_text()) for path in SOURCES if not any(map(path.is_relative_to, ALLOWED))}
    assert {path: faults for path, faults in told.items() if faults} == {}


def test_nobody_reads_what_a_refusal_says():
    told = {path: reading_faults(path.read_text()) for path in SOURCES}
    assert {path: faults for path, faults in told.items() if faults} == {}


@pytest.mark.parametrize("text", ["add delta=1e-9", "leave epsilon= out", "ask it with sql()", "say with rows= how"])
def test_an_option_in_pythons_words_is_found(text):
    assert naming_faults(f"fix = {text!r}") == [text]
    assert naming_faults(f"fix = f{text + '{x}'!r}") == [text]
    assert naming_faults(f'def f():\n    """{text}"""') == []


@pytest.mark.parametrize(
    "text", ["add {delta=1e-9}", "ask it with {sql()}", "say {with rows=} how", "a==b", "b-error=1"]
)
def test_a_template_and_other_texts_name_none(text):
    assert naming_faults(f"fix = {text!r}") == []


@pytest.mark.parametrize(
    "code",
    ["'epsilon' in refusal.fix", "refusal.why == SAID", "error.fix.startswith('did')", "PATTERN.search(refusal.fix)"],
)
def test_reading_a_sentence_is_found(code):
    assert reading_faults(code) == [code]


@pytest.mark.parametrize("code", ["old.why != new.why", "refusal.fix.action == PAY", "refusal.code == 'budget'"])
def test_what_programs_act_on_is_no_sentence(code):
    assert reading_faults(code) == []
