"""No module reads what another says to people: programs act on codes, facts and fields."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PACKAGE = Path(__file__).parents[1] / "src" / "adomnia"
PROSE = re.compile(r"[A-Za-z][a-z]+,? [a-z]{2,}")
SIGNS = re.compile(r"\\[A-Za-z]|\(\?P<\w+>")  # of patterns
READING = {"count", "endswith", "find", "index", "partition", "removeprefix", "removesuffix", "replace", "rfind"}
READING |= {"rindex", "rpartition", "rsplit", "split", "startswith"}
PATTERNS = {"compile", "findall", "finditer", "fullmatch", "match", "search", "split", "sub"}
# Names that have a space and are no sentences: of operations, of types of databases, of documents, of kinds of options.
NAMES = {
    "Ad Omnia users 1",
    "Ad Omnia, ledger",
    "boolean as number",
    "count distinct",
    "day number",
    "days between",
    "seconds between",
}
NAMES |= {"at least 1", "is null", "start of ", "start of month", "start of quarter", "start of week", "start of year"}
NAMES |= {"the owner", "timestamp with time zone", "whole number"}
# Where sentences are read all the same, and why.
READ = {
    "api/catalog_edits/examining.py": "the place that the reader of TOML tells in its error",
    "api/problems.py": "how Pydantic begins an error of ours",
    "engines/duckdb/engine.py": "what the operating system says of a full disk",
}


def test_no_module_reads_our_sentences():
    found = {
        str(path.relative_to(PACKAGE)): read_by(parse(path), names_of(path)) for path in sorted(PACKAGE.rglob("*.py"))
    }
    assert {path: texts for path, texts in found.items() if texts and path not in READ} == {}
    assert {path for path in READ if not found[path]} == set(), "no longer needs to be let through"


@pytest.mark.parametrize(
    "source",
    [
        "told = 'says almost nothing' in note",
        "about = any(note.startswith('Intervals are about') for note in notes)",
        "BEGIN = 'Intervals are about'\nabout = note.startswith(BEGIN)",
        "known = note == 'Each row is protected.'",
        "_TOLD = re.compile(r'The release (?P<name>\\w+) answers it for nothing')",
        "name = re.search('did you mean (.*)', fix)[1]",
        "said = note.removesuffix(f'{name} is not known')",
        "first = note.partition('. Hidden is')[0]",
        "match note:\n    case 'Each row is protected.':\n        pass",
        "method.startswith(('rows counted', 'noisy sum'))",
        "shown = text.replace('This route', 'This page')",
    ],
)
def test_a_sentence_that_is_read_is_found(source):
    assert read_by(ast.parse(source), {})


def test_a_sentence_of_another_module_that_is_read_is_found():
    assert read_by(ast.parse("hides = EACH_ROW in notes"), {"EACH_ROW": "Each row is protected on its own."})


@pytest.mark.parametrize(
    "source",
    [
        "note = f'The release {name} answers it for nothing.'",
        "known = sentence in {'one of these', 'or of those'}",
        "known = note.code == 'each_row'",
        "words = text.split(' ')",
        "null = call.function == 'is null'",
        "_NUMBER = re.compile(r'[0-9]+ ?[KMG]B')",
    ],
)
def test_what_reads_no_sentence_is_allowed(source):
    assert not read_by(ast.parse(source), {})


def read_by(tree: ast.Module, names: Mapping[str, str]) -> list[str]:
    """The sentences that a module reads, with its line; `names` are texts of other modules."""
    known = {**names, **constants_of(tree)}
    return [
        f"line {node.lineno}: {text}"
        for node in ast.walk(tree)
        for text in (write(part, known) for part in _list_read(node))
        if PROSE.search(SIGNS.sub(" ", text)) and text not in NAMES
    ]


def _list_read(node: ast.AST) -> Iterator[ast.expr]:
    """What a node compares with, or looks for in, another text."""
    match node:
        case ast.Compare():
            sides = [node.left, *node.comparators]
            for place, operator in enumerate(node.ops):
                if isinstance(operator, ast.Eq | ast.NotEq):
                    yield from sides[place : place + 2]
                elif isinstance(operator, ast.In | ast.NotIn) and not isinstance(sides[place + 1], COLLECTIONS):
                    yield sides[place]
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=attribute), args=[first, *_]):
            yield from [first] if attribute in PATTERNS else []
        case ast.Call(func=ast.Attribute(attr=attribute), args=[first, *_]):
            yield from [first] if attribute in READING else []
        case ast.MatchValue(value=value):
            yield value


COLLECTIONS = (ast.Tuple, ast.List, ast.Set, ast.Dict)


def write(node: ast.expr, known: Mapping[str, str]) -> str:  # noqa: PLR0911 - one for each kind
    """The text of an expression, as far as the source tells it."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in parts)
        case ast.Tuple(elts=parts):
            return " | ".join(write(part, known) for part in parts)
        case ast.BinOp(left=left, right=right):
            return write(left, known) + write(right, known)
        case ast.Name(id=name):
            return known.get(name, "")
        case ast.Call(func=ast.Name(id="define_note" | "NoteTemplate"), args=[_, text, *_]):
            return write(text, known)
    return ""


def constants_of(tree: ast.Module) -> dict[str, str]:
    """The texts to which a module gives a name."""
    named = [node for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)]
    return {node.targets[0].id: text for node in named if (text := write(node.value, {}))}


def names_of(path: Path) -> dict[str, str]:
    """The texts of other modules that one imports."""
    found = {}
    for node in parse(path).body:
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("adomnia."):
            there = PACKAGE.joinpath(*node.module.split(".")[1:]).with_suffix(".py")
            texts = constants_of(parse(there)) if there.is_file() else {}
            found |= {alias.asname or alias.name: texts[alias.name] for alias in node.names if alias.name in texts}
    return found


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text())
