"""The layout is the architecture: who may import whom, where randomness lives, how large the trusted core may grow."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from dataclasses import FrozenInstanceError
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import adomnia
from adomnia.curator.paying import Kernel
from adomnia.mechanisms.registry import NOISES
from adomnia.privacy.scans import Scan
from adomnia.privacy.transforms.contract import Transform
from kit.core_lines import TRUSTED_CORE, count_core, lines_of_code

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "adomnia"
SOURCES = sorted(PACKAGE.rglob("*.py"))
GLOSSARY = ROOT / "docs" / "glossary.md"

# From left to right; names on one line are siblings. "adomnia" is the public face, `adomnia/__init__.py` itself.
LAYERS = [
    {"options"},
    {"messages"},
    {"errors"},
    {"typed_options", "work", "tables", "json_text", "spreadsheets", "postgres", "version"},
    {"privacy"},
    {"accounting"},
    {"noise", "catalog"},
    {"mechanisms"},
    {"distributions"},
    {"engines", "ledger", "statistics", "figures"},
    {"methods", "anchored_file"},
    {"plans"},
    {"pricing"},
    {"sql"},
    {"releases"},
    {"explaining"},
    {"curator"},
    {"asking"},
    {"session"},
    {"inspection"},
    {"wire"},
    {"client", "lab"},
    {"api"},
    {"console"},
    {"serving"},
    {"survey"},
    {"adomnia"},
    {"cli"},
]
RANK = {part: rank for rank, layer in enumerate(LAYERS) for part in layer}
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "base"}
# A name that is one such word says what a value is, not what a function does; a noun beside it is a value's full name.
PARTICIPLES = {
    "bound",
    "broken",
    "chosen",
    "drawn",
    "found",
    "given",
    "grown",
    "hidden",
    "kept",
    "known",
    "made",
    "met",
}
PARTICIPLES |= {"paid", "sent", "shown", "taken", "told", "understood", "unknown", "written"}
VERBS_IN_ED = {"bleed", "embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed", "succeed"}

BESIDE_THE_CORE = {
    "messages",
    "errors",
    "work",
    "postgres",
    "version",
}  # they refuse, connect or name; they show nothing
STATED = re.compile(r"\| `([a-z]+)` \| ([\d,]+) \|")

# Who writes an aggregate down, and so asks of which class it is: as SQL, as what is proved of SQL, and in words.
WRITERS = ("engines.render", "engines.check", "plans.descriptions", "plans.words", "explaining.plan_sentences")

# Who names an engine above all of them, and is not about where questions run.
ENGINE_SPEAKERS = {
    "adomnia.inspection": "what owners look at in files before there is an engine, which DuckDB alone reads",
    "adomnia.sql.reading": "the grammar of questions, which is DuckDB's on every engine: a dialect of SQLGlot",
    "adomnia.api.access": "users, who are kept in PostgreSQL where several hosts share them",
    "adomnia.session.ledgers": "the ledger, which is in PostgreSQL where several hosts share it",
    "adomnia.session.agreement": "the same",
    "adomnia.cli.ledgers": "the same",
}
ENGINE_FOLDER = re.compile(r"adomnia\.engines\.(duckdb|postgres|spark)\b")
ENGINE_NAME = re.compile(r"duckdb|postgres|spark(?!l)|\bsail\b", re.IGNORECASE)
DRIVERS = {"duckdb", "psycopg", "pyspark", "pysail"}

# Debits, sealing and reading of private rows: who does one of them is part of what has to be believed.
PAYING = {"reserve", "commit"}
SEALING = {"Secret", "SecretHistogram"}
READING = {"run", "keys"}  # of an engine
BESIDE_THE_CURATOR = {
    "adomnia.ledger": "what a debit is, and how it is kept",
    "adomnia.mechanisms": "what is sealed, and who opens it",
    "adomnia.engines.postgres.building": "commits the index that it builds, in a database",
    "adomnia.session.agreement": "commits what hosts agree on, in a database",
    "adomnia.cli.demonstration": "seals a number that it made up, to show the noise that one gets",
}

# What pages may import of ours: they are a client, and see sessions, actions and the wire as programs do.
CONSOLE_CALLS = {
    "adomnia.console": "each other",
    "adomnia.api": "what routes call too, after the same table of roles",
    "adomnia.wire": "models of requests and replies",
    "adomnia.errors": "refusals",
    "adomnia.messages": "words for a page",
    "adomnia.explaining": "words",
    "adomnia.figures": "pictures",
    "adomnia.options": "what a question may name",
    "adomnia.typed_options": "options as people type them",
    "adomnia.work": "steps of what is free",
    "adomnia.accounting": "what an epsilon means to a person: nothing is admitted by it",
    "adomnia.privacy.amounts": "amounts as text",
    "adomnia.privacy.kinds": "what a column of a catalog holds",
    "adomnia.catalog.document_keys": "which keys a catalog has, as data",
    "adomnia.catalog.model": "what a session's catalog is made of",
    "adomnia.methods.contract": "signatures, as data",
    "adomnia.methods.registry": "signatures, as data",
    "adomnia.methods.signatures": "signatures, in words",
    "adomnia.plans.columns": "what a session's answer is made of",
    "adomnia.pricing.bills": "words of a bill",
    "adomnia.pricing.notes": "words of a note",
    "adomnia.pricing.policies": "what the next question costs, which is public",
    "adomnia.session.cells": "cells of an answer, as every surface shows them",
    "adomnia.session.digits": "numbers as text",
    "adomnia.session.explanation": "what a session answers EXPLAIN with",
    "adomnia.session.plotting": "the picture of an answer",
}
# What a page may hold, because a session gave it, and neither make nor call: its name stands in annotations alone.
CONSOLE_HOLDS = {
    "adomnia.catalog.toml_places",
    "adomnia.ledger.requests",
    "adomnia.pricing",
    "adomnia.privacy.events",
    "adomnia.privacy.expressions",
    "adomnia.privacy.filters",
    "adomnia.privacy.units",
    "adomnia.releases",
    "adomnia.session.accounts",
    "adomnia.session.answer",
    "adomnia.session.askable",
    "adomnia.session.contract",
    "adomnia.session.recalled",
    "adomnia.sql.methods.call_texts",
    "adomnia.sql.reading.refusals",
    "adomnia.statistics.contract",
    "adomnia.statistics.products",
}
BEHIND_THE_API = {"curator", "ledger", "engine"}  # parts of a visit that actions alone use
PARSERS = {"sqlglot", "tomlkit"}

# What is known of a noise it says itself, and `distributions` of sums of noises: nobody else asks which one it is.
NOISE_MODULES = {kind.__module__ for kind in NOISES.values()}
NOISE_CLASSES = {kind.__name__ for kind in NOISES.values()}
WHO_KNOWS_NOISES = {
    "adomnia.mechanisms": "what they are",
    "adomnia.distributions": "what is exact of sums of some of them",
    "adomnia.cli.demonstration": "buys Laplace noise, to show what it is",
}

RANDOM_MODULES = {"random", "secrets", "numpy.random", "np.random"}
RANDOM_NAMES = {
    "urandom",
    "getrandom",
    "getrandbits",
    "SystemRandom",
    "default_rng",
    "RandomState",
    "RAND_bytes",
    "rvs",
}
RANDOM_SQL = re.compile(
    r"\b(random|rand|randn|uniform|setseed|gen_random_uuid|uuid)\s*\(|\btablesample[\s(]|\busing sample\b",
    re.IGNORECASE,
)
SEED = re.compile(r"(^|_)(seed|rng|random_state)(_|$)")


def part_of(module: str) -> str:
    """`adomnia.privacy.events` belongs to privacy, `adomnia` to itself."""
    names = module.split(".")
    return names[1] if len(names) > 1 else names[0]


def module_name(path: Path) -> str:
    names = ("adomnia", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(names[:-1] if names[-1] == "__init__" else names)


@lru_cache(maxsize=1)
def list_nodes(source: str) -> tuple[ast.AST, ...]:
    """The module and all that is in it; remembered for as long as one source is looked at."""
    return tuple(ast.walk(ast.parse(source)))


def imported_modules(source: str) -> Iterator[tuple[int, str]]:
    """Every module a source imports, wherever it does; `from adomnia import x` names adomnia.x if x is a part."""
    for node in list_nodes(source):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, name.name) for name in names)
            case ast.ImportFrom(module="adomnia", names=names, level=0):
                yield from ((node.lineno, f"adomnia.{n.name}" if n.name in RANK else "adomnia") for n in names)
            case ast.ImportFrom(module=module, level=level):
                yield node.lineno, "." * level + (module or "")
            case (
                ast.Call(func=ast.Name(id="__import__" | "import_module"))
                | ast.Call(func=ast.Attribute(attr="import_module"))
            ):
                yield node.lineno, "a name computed at run time"


def layer_faults(module: str, source: str) -> list[str]:
    own = part_of(module)
    if own not in RANK:
        return [f"{module}: {own} is in no layer"]
    faults = []
    for line, target in imported_modules(source):
        if target.startswith(".") or " " in target:
            faults.append(f"{module}:{line} imports {target}, which no reader can follow")
        elif target.split(".")[0] == "adomnia" and part_of(target) != own:
            other = part_of(target)
            if other not in RANK:
                faults.append(f"{module}:{line} imports {target}, which is in no layer")
            elif RANK[other] >= RANK[own]:
                faults.append(f"{module}:{line} imports {target}, which is not to the left of {own}")
    return faults


def docstrings(source: str) -> set[ast.AST]:
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [node.body for node in list_nodes(source) if isinstance(node, owners)]
    return {body[0].value for body in bodies if body and isinstance(body[0], ast.Expr)}


def dotted(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr):
            return f"{dotted(value)}.{attr}"
    return ""


def randomness_faults(module: str, source: str) -> list[str]:
    if part_of(module) == "noise":
        return []
    skipped = docstrings(source)
    faults = []
    for node in list_nodes(source):
        match node:
            case ast.Import(names=names):
                found = [name.name for name in names if name.name in RANDOM_MODULES]
            case ast.ImportFrom(module=origin, names=names):
                full = [f"{origin}.{name.name}" for name in names]
                found = [
                    n
                    for n in full
                    if n in RANDOM_MODULES or origin in RANDOM_MODULES or n.split(".")[-1] in RANDOM_NAMES
                ]
            case ast.Attribute(attr=attr) if attr in RANDOM_NAMES or dotted(node) in RANDOM_MODULES:
                found = [dotted(node) or attr]
            case ast.Constant(value=str(text)) if node not in skipped and RANDOM_SQL.search(text):
                found = [repr(text)]
            case _:
                continue
        faults += [f"{module}:{node.lineno} uses {name}" for name in found]
    return faults


def curator_faults(module: str, source: str) -> list[str]:
    """Debits, secrets and reads of private rows outside of the curator."""
    if part_of(module) == "curator":
        return []
    faults = []
    for node in list_nodes(source):
        match node:
            case ast.Attribute(attr=attr) if attr in PAYING | SEALING:
                found = dotted(node)
            case ast.Attribute(value=value, attr=attr) if attr in READING and dotted(value).endswith("engine"):
                found = dotted(node)
            case ast.Name(id=name) if name in SEALING | {"reserve"}:
                found = name
            case ast.ImportFrom(names=names) if {each.name for each in names} & (SEALING | {"reserve"}):
                found = "what the curator alone calls"
            case _:
                continue
        faults.append(f"{module}:{node.lineno} uses {found}")
    return faults


def noise_faults(module: str, source: str) -> list[str]:
    """Who names a class of noise, and could ask whether one is of it."""
    if any(module == each or module.startswith(f"{each}.") for each in WHO_KNOWS_NOISES):
        return []
    faults = [
        f"{module}:{line} imports {target}" for line, target in imported_modules(source) if target in NOISE_MODULES
    ]
    for node in list_nodes(source):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name) if name in NOISE_CLASSES:
                faults.append(f"{module}:{node.lineno} names {name}")
    return faults


def stands_beside_the_curator(module: str) -> bool:
    return any(module == each or module.startswith(f"{each}.") for each in BESIDE_THE_CURATOR)


def is_within(target: str, names: Iterable[str]) -> bool:
    return any(target == each or target.startswith(f"{each}.") for each in names)


def list_annotation_lines(source: str) -> set[int]:
    """The lines that only those read who check types."""
    blocks = (node for node in list_nodes(source) if isinstance(node, ast.If) and dotted(node.test) == "TYPE_CHECKING")
    statements = (each for block in blocks for each in block.body)
    return {node.lineno for each in statements for node in ast.walk(each) if hasattr(node, "lineno")}


def console_faults(module: str, source: str) -> list[str]:
    """Ways from a page to data, ledger or catalog that no program has."""
    if part_of(module) != "console":
        return []
    held, faults = list_annotation_lines(source), []
    for line, target in imported_modules(source):
        allowed = {*CONSOLE_CALLS, *(CONSOLE_HOLDS if line in held else ())}
        is_ours = target.split(".")[0] == "adomnia" and not is_within(target, allowed)
        if is_ours or target.split(".")[0] in DRIVERS | PARSERS:
            faults.append(f"{module}:{line} imports {target}, which is behind the API")
    uses = (node for node in list_nodes(source) if isinstance(node, ast.Attribute) and node.attr in BEHIND_THE_API)
    handler = "ledger.ledger"  # of the page of that name
    faults += [f"{module}:{node.lineno} uses {dotted(node)}" for node in uses if dotted(node) != handler]
    return faults


def seed_faults(module: str, source: str) -> list[str]:
    """No caller may choose the noise: no parameter, field or keyword of that name."""
    faults = []
    for node in list_nodes(source):
        match node:
            case ast.arg(arg=name) | ast.AnnAssign(target=ast.Name(id=name)):
                chosen = name
            case ast.keyword(arg=str(name)):
                chosen = name
            case _:
                continue
        if SEED.search(chosen):
            faults.append(f"{module}:{node.lineno} has {chosen}")
    return faults


def name_faults(path: Path) -> list[str]:
    return [f"{path} says nothing by the name {name}" for name in path.with_suffix("").parts if name in FORBIDDEN_NAMES]


def class_name_faults(sources: Mapping[str, str], glossary: str) -> list[str]:
    """Public class names that stand for several things, unless their row of the glossary names the module of each."""
    modules = defaultdict(list)
    for module, source in sources.items():
        for node in list_nodes(source):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules[node.name].append(module)
    rows = [(line.split("|")[1], line) for line in glossary.splitlines() if line.startswith("|")]
    listed = {word: row for words, row in rows for word in re.findall(r"`([^`]+)`", words)}
    return [
        f"{name} is a class of {' and of '.join(places)}"
        for name, places in sorted(modules.items())
        if len(places) > 1 and not all(f"`{place}`" in listed.get(name, "") for place in places)
    ]


def participle_faults(module: str, source: str) -> list[str]:
    functions = [
        node for node in list_nodes(source)[0].body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return [
        f"{module}:{node.lineno} {node.name} is not a verb"
        for node in functions
        if node.name in PARTICIPLES or (re.fullmatch("[a-z]+ed", node.name) and node.name not in VERBS_IN_ED)
    ]


@cache
def faults_by_module() -> dict[Callable[[str, str], list[str]], dict[str, list[str]]]:
    """What each rule finds in each source, which is read once for all of them."""
    rules = (
        layer_faults,
        inspection_faults,
        engine_faults,
        randomness_faults,
        curator_faults,
        console_faults,
        noise_faults,
        seed_faults,
        class_faults,
        participle_faults,
    )
    found: dict[Callable[[str, str], list[str]], dict[str, list[str]]] = {rule: {} for rule in rules}
    for path in SOURCES:
        source = path.read_text()
        for rule in rules:
            found[rule][module_name(path)] = rule(module_name(path), source)
    return found


def over_all_sources(find_faults: Callable[[str, str], list[str]]) -> list[str]:
    return [fault for faults in faults_by_module()[find_faults].values() for fault in faults]


def test_every_import_goes_to_the_left():
    assert over_all_sources(layer_faults) == []


def modules_imported(source: str, known: Collection[str]) -> set[str]:
    """Those of our modules that a source imports, wherever it does; `from package import x` may name a module x."""
    found: set[str] = set()
    for node in list_nodes(source):
        match node:
            case ast.Import(names=names):
                found |= {name.name for name in names}
            case ast.ImportFrom(module=str(module), names=names):
                full = (f"{module}.{name.name}" for name in names)
                found |= {each if each in known else module for each in full}
    return found & set(known)


def find_circles(sources: Mapping[str, str]) -> list[list[str]]:
    """Modules that import each other, in as many circles as there are."""
    graph = {module: modules_imported(source, sources.keys()) - {module} for module, source in sources.items()}

    def reach(module: str) -> set[str]:
        seen: set[str] = set()
        ahead = [module]
        while ahead:
            new = graph[ahead.pop()] - seen
            seen |= new
            ahead += new
        return seen

    reached = {module: reach(module) for module in graph}
    circles = {
        tuple(sorted(each for each in reached[module] if module in reached[each]))
        for module in graph
        if module in reached[module]
    }
    return [list(circle) for circle in sorted(circles)]


def list_aggregates() -> set[str]:
    """The names of all scans and transforms, which are classes of privacy."""
    modules = [import_module(module_name(path)) for path in SOURCES if path.is_relative_to(PACKAGE / "privacy")]
    kinds = (each for module in modules for each in vars(module).values() if isinstance(each, type))
    return {kind.__name__ for kind in kinds if issubclass(kind, Scan | Transform)} - {"Scan", "Transform"}


AGGREGATES = list_aggregates()


def class_faults(module: str, source: str) -> list[str]:
    """Questions of which class an aggregate is, where it may be asked itself."""
    own = module.removeprefix("adomnia.")
    if part_of(module) == "privacy" or own.startswith(WRITERS):
        return []
    faults = []
    for node in list_nodes(source):
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
                named = {each.id for each in ast.walk(kinds) if isinstance(each, ast.Name)}
            case ast.MatchClass(cls=ast.Name(id=kind)):
                named = {kind}
            case _:
                continue
        faults += [f"{module}:{node.lineno} asks for {name}" for name in sorted(named & AGGREGATES)]
    return faults


def test_aggregates_are_asked_what_they_are_and_not_of_which_class():
    faults = faults_by_module()[class_faults]
    assert [fault for module in sorted(faults) for fault in faults[module]] == []


@pytest.mark.parametrize(
    "source",
    [
        "isinstance(query.aggregate, Combination)",
        "isinstance(query.aggregate, str | Histogram)",
        "match query.aggregate:\n    case EstimateCounts():\n        pass",
    ],
)
def test_a_question_for_the_class_of_an_aggregate_is_found(source):
    assert len(class_faults("adomnia.curator.executor", source)) == 1
    assert class_faults("adomnia.engines.render.statements", source) == []


def test_imports_inside_a_package_run_one_way():
    assert find_circles({module_name(path): path.read_text() for path in SOURCES}) == []


def test_a_circle_of_imports_is_found_wherever_they_stand():
    sources = {
        "adomnia.privacy": "",
        "adomnia.privacy.keys": "if TYPE_CHECKING:\n    from adomnia.privacy.relations import Relation",
        "adomnia.privacy.relations": "def later():\n    from adomnia.privacy import scans",
        "adomnia.privacy.scans": "import adomnia.privacy.keys",
        "adomnia.privacy.queries": "from adomnia.privacy.keys import Key",
    }
    circle = ["adomnia.privacy.keys", "adomnia.privacy.relations", "adomnia.privacy.scans"]
    assert find_circles(sources) == [circle]
    assert find_circles({**sources, "adomnia.privacy.scans": "import adomnia.privacy"}) == []


def test_the_page_for_contributors_draws_the_layers_as_they_are():
    drawn = re.search(r"Imports go to the left\*\*: `([^`]+)`", (ROOT / "CONTRIBUTING.md").read_text())
    assert drawn is not None
    assert [set(re.findall(r"\w+", layer)) for layer in drawn[1].split("<")] == LAYERS


def inspection_faults(module: str, source: str) -> list[str]:
    """Exact counts of private rows are for their owner's terminal: nothing that answers others may reach them."""
    if part_of(module) in {"inspection", "cli"}:
        return []
    targets = [(line, target) for line, target in imported_modules(source) if part_of(target) == "inspection"]
    return [f"{module}:{line} imports {target}, which is for owners alone" for line, target in targets]


def test_only_commands_reach_what_owners_alone_may_see():
    assert over_all_sources(inspection_faults) == []


@pytest.mark.parametrize("module", ["adomnia.api.routes.questions", "adomnia.session.session", "adomnia.wire.quotes"])
def test_a_way_from_a_server_to_what_owners_alone_may_see_is_found(module):
    source = "def later():\n    from adomnia.inspection.reports import inspect_data"
    assert len(inspection_faults(module, source)) == 1
    assert inspection_faults("adomnia.cli.checks", source) == []


def test_the_console_is_a_client():
    assert over_all_sources(console_faults) == []
    # What nothing needs any more is allowed no more.
    sources = [path.read_text() for path in SOURCES if part_of(module_name(path)) == "console"]
    imported = {target for source in sources for _, target in imported_modules(source)}
    assert [each for each in {*CONSOLE_CALLS, *CONSOLE_HOLDS} if not any(is_within(t, [each]) for t in imported)] == []


@pytest.mark.parametrize(
    "planted",
    [
        "from adomnia.session.curator import open_folder",
        "from adomnia.ledger.accounts import DATASET",
        "from adomnia.privacy.filters import Filter",
        "from adomnia.privacy.queries import Query",
        "from adomnia.asking.batch import Batch",
        "from adomnia.sql.lower import lower",
        "from adomnia.catalog.read import read_catalog",
        "from adomnia.noise import SystemBits",
        "from adomnia.engines.contract import Engine",
        "import adomnia",
        "from sqlglot import exp",
        "import duckdb",
        "def later():\n    from adomnia.curator.paying import Kernel",
        "if TYPE_CHECKING:\n    from adomnia.session.curator import Curator",
        "if TYPE_CHECKING:\n    from adomnia.ledger import Ledger",
        "visit.curator.ledger",
        "services.dataset.curator()",
        "edition.curator",
        "dataset.engine.run(tree)",
    ],
)
def test_a_way_from_a_page_around_the_api_is_found(planted):
    assert console_faults("adomnia.console.data.page", planted) != []
    assert console_faults("adomnia.api.actions.answers", planted) == []


@pytest.mark.parametrize(
    "allowed",
    [
        "from adomnia.api.actions.accounts import top_up",
        "from adomnia.privacy.amounts import show_up",
        "if TYPE_CHECKING:\n    from adomnia.privacy.filters import Filter",
        "from starlette.requests import Request",
    ],
)
def test_what_a_client_has_a_page_may_have(allowed):
    assert console_faults("adomnia.console.data.page", allowed) == []


def engine_faults(module: str, source: str) -> list[str]:
    """Above the engines nobody knows which one it is: a question means the same on all of them."""
    if RANK[part_of(module)] <= RANK["engines"]:
        return []
    faults = []
    for line, target in imported_modules(source):
        if ENGINE_FOLDER.match(target) or target.split(".")[0] in DRIVERS:
            faults.append(f"{module}:{line} imports {target}, which is one engine's own")
    skipped = docstrings(source)
    for node in list_nodes(source):
        match node:
            case ast.Constant(value=str(said)) if node not in skipped and len(said.split()) == 1:  # messages are prose
                pass
            case ast.Name(id=said) | ast.Attribute(attr=said) | ast.keyword(arg=str(said)) | ast.arg(arg=said):
                pass
            case ast.FunctionDef(name=said) | ast.ClassDef(name=said):
                pass
            case _:
                continue
        if ENGINE_NAME.search(said):
            faults.append(f"{module}:{node.lineno} names an engine: {said!r}")
    return faults


def may_name_engines(module: str) -> bool:
    return any(module == each or module.startswith(f"{each}.") for each in ENGINE_SPEAKERS)


def test_above_the_engines_nobody_knows_which_one_it_is():
    faults = faults_by_module()[engine_faults]
    assert [fault for module, found in faults.items() if not may_name_engines(module) for fault in found] == []
    # An exception that nothing needs any more is none.
    named = [module for module, found in faults.items() if found]
    assert [each for each in ENGINE_SPEAKERS if not any(f"{module}.".startswith(f"{each}.") for module in named)] == []


@pytest.mark.parametrize(
    "source",
    [
        "from adomnia.engines.duckdb.engine import DuckDB",
        "import adomnia.engines.spark",
        "def later():\n    import pyspark.sql",
        "import psycopg",
        "FAST = engine.dialect.called == 'spark'",
        "if isinstance(engine, Postgres): ...",
        "def ask_postgres(): ...",
        "ask(in_spark=True)",
    ],
)
def test_code_for_one_engine_above_them_is_found(source):
    assert len(engine_faults("adomnia.methods.models.lm", source)) == 1
    assert engine_faults("adomnia.engines.registry", source) == []


def test_the_registry_and_prose_about_engines_are_allowed():
    source = '"""As DuckDB does."""\nfrom adomnia.engines.registry import load_engine\n# PostgreSQL too'
    assert engine_faults("adomnia.session.curator", source) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("adomnia.privacy.events", "import adomnia.noise.bits"),
        ("adomnia.privacy.events", "from adomnia.mechanisms.laplace import DiscreteLaplace"),
        ("adomnia.noise.bits", "from adomnia.catalog import columns"),
        ("adomnia.ledger.store", "import adomnia.statistics.mean"),
        ("adomnia.mechanisms.laplace", "from adomnia import curator"),
        ("adomnia.mechanisms.laplace", "from adomnia import Refusal"),
        ("adomnia.privacy.events", "def later():\n    from adomnia.cli import app"),
        ("adomnia.privacy.events", "if TYPE_CHECKING:\n    from adomnia.noise.bits import Bits"),
        ("adomnia.privacy.events", "from ..noise import bits"),
        ("adomnia.privacy.events", "import_module('adomnia.noise')"),
        ("adomnia.privacy.events", "importlib.import_module('adomnia.noise')"),
        ("adomnia.privacy.events", "__import__('adomnia.noise')"),
        ("adomnia.privacy.events", "import adomnia.elsewhere"),
        ("adomnia.elsewhere.thing", "import math"),
        ("adomnia.errors", "import adomnia.privacy"),
        ("adomnia", "from adomnia.cli import app"),
    ],
)
def test_an_import_to_the_right_or_to_a_sibling_is_found(module, source):
    assert len(layer_faults(module, source)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("adomnia.privacy.events", "from adomnia.errors import Refusal\nfrom adomnia.privacy.amounts import exact"),
        ("adomnia.mechanisms.laplace", "from adomnia.noise.bits import Bits\nimport numpy"),
        ("adomnia.cli.app", "from adomnia import __version__\nimport adomnia.session.session"),
        ("adomnia", "from adomnia.errors import Failure"),
        ("adomnia.privacy.events", "import adomniac"),
    ],
)
def test_an_import_to_the_left_is_allowed(module, source):
    assert layer_faults(module, source) == []


def test_randomness_lives_in_noise_alone():
    assert over_all_sources(randomness_faults) == []


@pytest.mark.parametrize(
    "source",
    [
        "import random",
        "import secrets",
        "import numpy.random",
        "from random import gauss",
        "from numpy import random",
        "from numpy.random import default_rng",
        "from os import urandom",
        "import os\nos.urandom(8)",
        "import numpy as np\nnp.random.laplace()",
        "import scipy.stats\nscipy.stats.laplace(0, 1).rvs(3)",
        "QUERY = 'SELECT RANDOM()'",
        "QUERY = 'SELECT * FROM people TABLESAMPLE 10 PERCENT'",
        "def query(column):\n    return f'SELECT {column} ORDER BY random ( )'",
    ],
)
def test_randomness_elsewhere_is_found(source):
    assert randomness_faults("adomnia.statistics.mean", source) != []
    assert randomness_faults("adomnia.noise.bits", source) == []


def test_prose_about_randomness_is_allowed():
    assert randomness_faults("adomnia.privacy.events", '"""Never RANDOM() of the engine."""\n# not np.random') == []


def test_nobody_asks_of_which_class_a_noise_is():
    assert over_all_sources(noise_faults) == []


@pytest.mark.parametrize(
    "source",
    [
        "from adomnia.mechanisms.laplace import DiscreteLaplace",
        "from adomnia.mechanisms import DiscreteGaussian",
        "import adomnia.mechanisms.gaussian",
        "wide = isinstance(noise, mechanisms.DiscreteLaplace)",
        "match noise:\n    case DiscreteGaussian(variance=variance):\n        pass",
    ],
)
def test_who_asks_is_found(source):
    assert noise_faults("adomnia.statistics.mean", source)
    assert noise_faults("adomnia.distributions.combinations", source) == []


def test_the_curator_alone_debits_seals_and_reads_private_rows():
    faults = faults_by_module()[curator_faults]
    named = [module for module, found in faults.items() if found]
    assert [fault for module in named if not stands_beside_the_curator(module) for fault in faults[module]] == []
    # Who stands beside it for nothing might do anything one day.
    assert [
        each for each in BESIDE_THE_CURATOR if not any(f"{module}.".startswith(f"{each}.") for module in named)
    ] == []


@pytest.mark.parametrize(
    "source",
    [
        "kernel.ledger.reserve(analyst, request, plan, event)",
        "debit = partial(curator.ledger.reserve, analyst)",
        "hold.commit(record.to_bytes())",
        "keep = hold.commit",
        "from adomnia.curator.paying import reserve",
        "def later():\n    from adomnia.mechanisms.secret import Secret as Sealed",
        "secret = Secret(exact, sensitivity, event)",
        "secret.Secret(exact, sensitivity, event)",
        "SecretHistogram(read, cells, sensitivity, event)",
        "exact = dataset.engine.run(statement, queries)",
        "people, find = self._engine.keys(statement, query)",
        "read = engine.run",
    ],
)
def test_a_debit_a_secret_or_a_read_outside_of_the_curator_is_found(source):
    assert curator_faults("adomnia.session.block_programs", source) != []
    assert curator_faults("adomnia.curator.paying", source) == []


@pytest.mark.parametrize(
    "source",
    [
        "rows = engine.read(statement, most)  # of public tables",
        "for name in engines.keys(): ...",
        "program.run(rows)",
        "paid = pay(kernel, request, priced)",
        "reserved = Composed(events)",
    ],
)
def test_what_neither_debits_nor_seals_nor_reads_is_allowed(source):
    assert curator_faults("adomnia.session.block_programs", source) == []


@pytest.mark.parametrize("part", ["catalog", "engine", "ledger", "bits", "wait"])
def test_nobody_changes_what_a_kernel_works_with(part):
    with pytest.raises(FrozenInstanceError):
        setattr(Kernel(*[None] * 4), part, None)


def test_nobody_can_choose_the_noise():
    assert over_all_sources(seed_faults) == []


@pytest.mark.parametrize(
    "source",
    [
        "def draw(seed): ...",
        "def draw(*, random_state=None): ...",
        "lambda rng: rng",
        "class Bits:\n    seed: int",
        "draw(seed=1)",
        "def draw(noise_seed: int): ...",
    ],
)
def test_a_way_to_choose_the_noise_is_found(source):
    assert seed_faults("adomnia.noise.bits", source) != []


def test_a_word_that_only_contains_seed_is_allowed():
    assert seed_faults("adomnia.noise.bits", "def exceeds(exceeded): ...") == []


def test_every_module_is_named_after_what_it_holds():
    assert [fault for path in SOURCES for fault in name_faults(path.relative_to(PACKAGE))] == []


@pytest.mark.parametrize("path", ["privacy/utils.py", "common/units.py", "noise/base.py", "cli/helpers/__init__.py"])
def test_a_name_that_says_nothing_is_found(path):
    assert len(name_faults(Path(path))) == 1


def test_a_public_class_name_stands_for_one_thing():
    sources = {path.relative_to(PACKAGE).as_posix(): path.read_text() for path in SOURCES}
    assert class_name_faults(sources, GLOSSARY.read_text()) == []


@pytest.mark.parametrize(
    ("glossary", "faults"),
    [
        ("", 1),
        ("| `Page` | in `a.py`, lines on paper |", 1),
        ("| `Page` | in `a.py`, lines on paper; in `b.py`, entries of a list |", 0),
        ("| `Other`, `Page` | in `a.py`, lines on paper; in `b.py`, entries of a list |", 0),
        ("| `Other` | `Page`: in `a.py`, lines on paper; in `b.py`, entries of a list |", 1),
    ],
)
def test_a_class_name_of_two_modules_is_found_unless_the_glossary_tells_them_apart(glossary, faults):
    sources = {"a.py": "class Page: ...\nclass _Own: ...", "b.py": "class Page: ...\nclass _Own: ...\nclass Pages: ..."}
    assert len(class_name_faults(sources, glossary)) == faults


def test_functions_are_not_called_by_a_participle_alone():
    assert over_all_sources(participle_faults) == []


@pytest.mark.parametrize("name", ["parsed", "shown", "understood"])
def test_a_participle_as_the_name_of_a_function_is_found(name):
    assert len(participle_faults("adomnia.sql.lower", f"def {name}(): ...")) == 1


@pytest.mark.parametrize("name", ["parse", "feed", "concentrated_detection", "_checked"])
def test_other_names_of_functions_are_allowed(name):
    assert participle_faults("adomnia.sql.lower", f"def {name}(): ...") == []


def test_the_proofs_state_how_large_the_trusted_core_is():
    stated = dict(STATED.findall((ROOT / "docs" / "proofs" / "README.md").read_text()))
    counted = count_core()
    assert {part: int(lines.replace(",", "")) for part, lines in stated.items() if part in counted} == counted
    assert int(stated["all"].replace(",", "")) == sum(counted.values())


def test_the_trusted_core_imports_nothing_of_ours_from_outside_but_what_the_curator_is_handed():
    outside = {
        (part, part_of(target))
        for part in TRUSTED_CORE
        for path in (PACKAGE / part).rglob("*.py")
        for _, target in imported_modules(path.read_text())
        if target.startswith("adomnia.") and part_of(target) not in {*TRUSTED_CORE, *BESIDE_THE_CORE}
    }
    assert outside == {("curator", handed) for handed in ("statistics", "plans", "pricing")}


def test_lines_of_code_are_those_that_do_something(tmp_path):
    sample = tmp_path / "sample.py"
    lines = [
        '"""Docstring',
        "",
        'of three lines."""',
        "",
        "# a comment",
        "x = (",
        "    1",
        ")",
        "",
        "def f():",
        '    """One."""',
        "    return x",
    ]
    sample.write_text("\n".join(lines) + "\n")
    assert lines_of_code(sample) == 5


def test_the_public_face_is_what_all_says():
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    # Some are imported for the type checker alone and loaded when first used; inside functions is the loading.
    sources = [node for part in tree.body for node in (part.body if isinstance(part, ast.If) else [part])]
    imported = [node for node in sources if isinstance(node, ast.ImportFrom) and node.module.startswith("adomnia")]
    public = {name.asname or name.name for node in imported for name in node.names}
    assert set(adomnia.__all__) == public | {"__version__"}
    assert list(adomnia.__all__) == sorted(adomnia.__all__)


def test_a_name_that_is_not_public_is_not_there():
    with pytest.raises(AttributeError, match="no attribute 'opne'"):
        adomnia.opne  # noqa: B018 - the access is the test


def test_every_name_that_a_package_exports_exists():
    """Of modules ruff says it."""
    packages = [import_module(module_name(path)) for path in SOURCES if path.name == "__init__.py"]
    names = [(package, name) for package in packages for name in getattr(package, "__all__", [])]
    assert len(names) > 100
    assert [f"{package.__name__}.{name}" for package, name in names if not hasattr(package, name)] == []


def listed_faults(module: str, source: str) -> list[str]:
    """A list of public names in a module that has them all itself: an underscore says which are not."""
    body = ast.parse(source).body
    listed = {name for node in body if isinstance(node, ast.Assign) for name in list_names(node)}
    own = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    own |= {
        part.id
        for node in body
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    return [f"{module} lists its own names"] if listed and listed <= own else []


def list_names(node: ast.Assign) -> list[str]:
    return list(ast.literal_eval(node.value)) if ast.unparse(node.targets[0]) == "__all__" else []


def test_an_underscore_says_which_names_are_not_public():
    modules = {module_name(path): path.read_text() for path in SOURCES if path.name != "__init__.py"}
    assert [fault for module, source in modules.items() for fault in listed_faults(module, source)] == []


def test_a_list_of_a_modules_own_names_is_found():
    assert listed_faults("adomnia.work", '__all__ = ["ONE", "two"]\nONE: int = 1\ndef two(): ...')
    assert listed_faults("adomnia.work", 'from adomnia.work import two\n__all__ = ["two"]') == []
