"""The parts of `make test`: each is a process that reads its own tests alone. What is not named is of the core."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[1]
_PREFIX = f"{TESTS}/"

# The trusted core has two: with coverage what it is judged by, and without it what searches among many examples.
CORE, SEARCHES = "core", "searches"
# Of the tests of sessions these run branches of the core that its own do not.
_ASKING = ("block_programs", "notebook", "own_session", "policies", "protect", "session", "sharing")

# Files and folders below `tests`; of two names that fit a file the longer one decides.
NAMED = {
    CORE: (
        "asking/test_sizes.py", "plans/test_public_columns.py", *(f"session/test_{name}.py" for name in _ASKING),
    ),
    "engines": (
        "contracts/engines", "contracts/test_engines.py", "engines/postgres", "engines/spark", "test_postgres.py",
    ),
    "analyses": (
        "accounting", "contracts/test_columns.py", "contracts/test_methods.py", "contracts/test_statistics.py",
        "frozen/test_analyses.py", "methods", "plans", "pricing", "statistics",
    ),
    "surfaces": (
        "asking", "cli", "client", "contracts/test_designs.py", "contracts/test_sessions.py",
        "contracts/test_surfaces.py", "explaining", "figures", "frozen", "inspection", "kit", "releases", "session",
        "sql", "survey", "test_*.py", "wire",
    ),
    "server": ("api", "console", "frozen/test_server.py", "serving", "survey/test_app.py", "survey/test_serve.py"),
    "browser": ("browser",),
    "mutants": ("mutants",),
}  # fmt: skip
PARTS = (*NAMED, SEARCHES)

# What takes long, or is about chance and processes: left to `make test` by the quick loop.
SLOW = (
    "api", "browser", "console", "contracts", "curator", "engines/duckdb/test_optimizers.py", "engines/index", "frozen",
    "kit", "ledger", "mechanisms", "mutants", "noise", "pricing/test_rules.py", "serving", "session/test_curator.py",
    "statistics", "survey/test_app.py", "survey/test_serve.py",
)  # fmt: skip


@cache
def part_of(path: Path, *, is_search: bool) -> str:
    """The part that a test belongs to, by its file and by whether it searches."""
    fitting = [(len(name), part) for part, names in NAMED.items() for name in names if fits(path, name)]
    part = max(fitting, default=(0, CORE))[1]
    return SEARCHES if part == CORE and is_search and _speaks_of_searches(path) else part


def parts_of_file(path: Path) -> set[str]:
    """The parts that tests of a file can belong to: of others it is not read."""
    return {part_of(path, is_search=is_search) for is_search in (False, True)}


def _speaks_of_searches(path: Path) -> bool:
    """Whether a file says so where it has tests that search: most have none, and are not read for them."""
    text = path.read_text()
    return "@given" in text or "no_cover" in text


def is_slow(path: Path) -> bool:
    """Whether a file is left out by the quick loop."""
    return any(fits(path, name) for name in SLOW)


def fits(path: Path, name: str) -> bool:
    """Whether a name stands for a file, or for a folder that holds it. As text: paths took seconds of every part."""
    file = str(path).removeprefix(_PREFIX)
    return file.startswith(f"{name}/") or (("/" in name or "/" not in file) and fnmatchcase(file, name))
