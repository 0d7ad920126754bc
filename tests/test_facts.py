"""Pages state facts as they are: what they count and list is what the source has, and no page denies a feature."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer

from adomnia.catalog import document_keys
from adomnia.catalog.document_keys import FILE_ENDINGS, Section
from adomnia.catalog.model import POLICIES
from adomnia.cli.app import app
from adomnia.engines.registry import ENGINES
from adomnia.mechanisms.registry import MECHANISMS
from adomnia.methods.registry import METHODS
from adomnia.statistics.registry import STATISTICS
from adomnia.survey.registry import DESIGNS
from kit.core_lines import ADDED, PACKAGE, list_added
from kit.example import write_example

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def load_tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FACTS = load_tool("facts")
PAGES = [page for page in FACTS.list_pages() if "decisions" not in page.parts]  # those tell what was true then
MARKED = [page for page in FACTS.list_pages() if FACTS.MARKED.search(page.read_text())]

ENGINE_NAMES = {"duckdb": "DuckDB", "postgres": "PostgreSQL", "spark": "Spark"}
COMMANDS = typer.main.get_command(app).commands
RELEASES = [method.name for method in METHODS.values() if method.chapter == "releases"]
MECHANISM_PROOFS = sorted({f"proofs/{each.__module__.split('.')[-1]}.md" for each in MECHANISMS.values()})

FEW = r"\d|two|three|four|five|six|seven|eight|nine"
TENS = r"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-\w+)?"
MANY = rf"\d[\d,]+|ten|eleven|twelve|\w+teen|{TENS}|hundred|thousand"
COUNTED = (
    r"methods|scalar functions|policies|commands|decisions|planted bugs|"
    r"lines(?:\*\*)? of (?:our own|code|the (?:trusted )?core)"
)
OTHERS = r"(?: more| other| further| statistical| private)? \[?"
TYPED = re.compile(
    rf"\b(?:(?:{MANY}){OTHERS}(?:{COUNTED})|(?:{FEW}|{MANY}){OTHERS}(?:engines|mechanisms))\b", re.IGNORECASE
)
_NAMES = "|".join(ENGINE_NAMES.values())
_THINGS = rf"(?:{_NAMES}|clusters?|synthetic (?:data|rows)|regressions?|medians?|quantiles|releases|methods)"
DENIAL = re.compile(
    r"\bnot yet\b|\bno support\b|\bnot implemented\b|\?\*\* No\b|"
    r"\b(?:is|are) not (?:supported|offered|available|possible|there)\b|\b(?:is|are) the only engines?\b|"
    rf"\b(?:there (?:is|are)|it has|we have) no {_THINGS}\b|"
    rf"\b(?:does not|cannot|can not) run on (?:{_NAMES}|a cluster)\b|"
    r"\bmethods (?:cannot|can not) be asked\b",
    re.IGNORECASE,
)
FEATURE = re.compile(rf"\b{_THINGS}\b|`(?:{'|'.join(METHODS)})`", re.IGNORECASE)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
# It is installed from a checkout: on the index of packages anybody could take the name.
NOT_PUBLISHED = re.compile(r"""\binstall(?:\s+-\S+)*\s+(?:['"]|&#39;)?adomnia\b|\badomnia\[[a-z, ]+\]""")
SHOWN = [path for path in PACKAGE.rglob("*") if path.suffix in {".py", ".html", ".js", ".toml", ".txt"}]
ASSIGNED = re.compile(r"`(\w+ = [^`]+)`")
KEYS = [key for section in vars(document_keys).values() if isinstance(section, Section) for key in section.keys]


def by_name(page):
    return str(page.relative_to(ROOT))


def prose_of(text):
    """A page without what the tool writes and without blocks of code."""
    return FENCED.sub("", FACTS.MARKED.sub("", text))


def typed_counts(text):
    return [found[0] for found in TYPED.finditer(prose_of(text))]


def denials(text):
    """Sentences that say of something which is there that it is not."""
    sentences = re.split(r"(?<=[.!|])\s+", prose_of(text))
    return [each for each in sentences if DENIAL.search(each) and FEATURE.search(each)]


def lacks(text):
    """What the section about others' advantages names of ours."""
    section = text.split("## What they have and we do not\n")[1].split("\n## ")[0]
    words = {*METHODS, *ENGINES, "synthetic", "intervals", "quantiles"} - {"density", "location", "poisson"}
    return sorted(word for word in words if re.search(rf"\b{word}\b(?!'s)", section, re.IGNORECASE))


def wrong_keys(text):
    """What a page shows as keys of a catalog that the catalog would refuse."""
    found = []
    for line in ASSIGNED.findall(text):
        name = line.split(" = ")[0]
        rules = [key.rule for key in KEYS if key.name == name]
        try:
            value = tomllib.loads(line)[name]
        except tomllib.TOMLDecodeError:
            continue  # a placeholder, such as lower = ...
        if rules and not any(rule.holds(value) for rule in rules):
            found.append(line)
    return found


def test_the_page_of_facts_is_what_the_source_says():
    assert FACTS.PAGE.read_text() == FACTS.render_page(), "run: make facts"


@pytest.mark.parametrize("page", MARKED, ids=by_name)
def test_what_stands_between_marks_is_what_the_source_says(page):
    assert FACTS.fill(page.read_text()) == page.read_text(), "run: make facts"


def test_pages_have_marks_and_every_fact_is_used():
    used = {found[2] for page in MARKED for found in FACTS.MARKED.finditer(page.read_text())}
    assert used == set(FACTS.FACTS)


def test_a_stale_number_is_found_and_an_unknown_name_is_an_error():
    assert FACTS.fill("has <!-- fact: methods -->30<!-- /fact --> methods") == (
        f"has <!-- fact: methods -->{len(METHODS)}<!-- /fact --> methods"
    )
    with pytest.raises(KeyError):
        FACTS.fill("<!-- fact: moons -->1<!-- /fact -->")


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_no_page_types_a_count_denies_a_feature_or_shows_a_wrong_key(page):
    text = page.read_text()
    assert typed_counts(text) == []
    assert denials(text) == []
    assert wrong_keys(text) == []
    assert NOT_PUBLISHED.findall(text) == []


def test_no_message_tells_to_install_a_name_that_is_not_published():
    assert len(SHOWN) > 500
    assert [path.name for path in SHOWN if NOT_PUBLISHED.search(path.read_text())] == []


@pytest.mark.parametrize(
    "text",
    ["pip install adomnia", "Fix: pip install -U 'adomnia[plot]'.", "install adomnia[spark]", "uv pip install adomnia"],
)
def test_the_name_of_an_unpublished_package_is_found(text):
    assert NOT_PUBLISHED.search(text)
    assert not NOT_PUBLISHED.search("/opt/adomnia/bin/pip install -c constraints.txt '.[plot]'")


@pytest.mark.parametrize(
    "text",
    [
        "regressions, tests, survival curves and thirty more [methods](docs/statistics.md)",
        "It has 53 methods.",
        "It has about thirty statistical methods.",
        "about seventeen thousand lines of our own",
        "**About seventeen thousand lines** of our own",
        "on three engines",
    ],
)
def test_a_typed_count_is_found(text):
    assert len(typed_counts(text)) == 1


@pytest.mark.parametrize(
    "text",
    ["one of our methods", "53 rows", "errors of four methods", "<!-- fact: methods -->53<!-- /fact --> methods"],
)
def test_other_numbers_are_left_alone(text):
    assert typed_counts(text) == []


def test_a_denial_is_found_and_other_sentences_are_left_alone():
    assert len(denials("**Can it run on PostgreSQL, or on a cluster?** Not yet: files are read.")) == 1
    assert len(denials("**Can it run on PostgreSQL?** No, files are read.")) == 1
    assert len(denials("PostgreSQL is not supported.")) == 1
    assert len(denials("Ad Omnia does not run on Spark.")) == 1
    assert len(denials("DuckDB is the only engine.")) == 1
    assert len(denials("Synthetic data is not offered.")) == 1
    assert len(denials("There is no synthetic data.")) == 1
    assert len(denials("There are no regressions.")) == 1
    assert len(denials("Methods cannot be asked from Python.")) == 1
    assert len(denials("| engines | Spark: not yet |")) == 1
    assert len(denials("It does `lm`, but no support for `kaplan_meier`.")) == 1
    assert denials("Spark is an engine. Window frames are not supported.") == []


def test_what_others_have_and_we_do_not_is_not_ours():
    assert lacks((DOCS / "comparison.md").read_text()) == []
    planted = "## What they have and we do not\n- Tumult: Spark.\n- SmartNoise, OpenDP: synthetic data.\n"
    assert lacks(planted) == ["spark", "synthetic"]


def test_a_wrong_key_is_found():
    assert wrong_keys('Write `spend = "1/3"` or `spend = 0.3`.') == ['spend = "1/3"']


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("README.md", ENGINE_NAMES.values()),
        ("docs/README.md", ENGINE_NAMES.values()),
        ("docs/faq.md", ENGINE_NAMES.values()),
        ("docs/install.md", ENGINE_NAMES.values()),
        ("docs/comparison.md", ENGINE_NAMES.values()),
        ("docs/engines.md", [f"`{name}`" for name in ENGINES]),
        ("docs/statistics.md", [f"### `{name}`\n" for name in METHODS]),
        ("docs/sql-reference.md", [*STATISTICS, "MEDIAN"]),
        ("docs/cli.md", [f"adomnia {name}" for name in COMMANDS]),
        ("docs/policies.md", [f"`{name}`" for name in POLICIES]),
        ("docs/releases.md", [f"`{name}`" for name in RELEASES]),
        ("docs/local.md", [f"`{design.__name__}`" for design in DESIGNS.values()]),
        ("docs/trust.md", MECHANISM_PROOFS),
        ("docs/catalog.md", [f"`{ending.removesuffix('.gz')}`" for ending in FILE_ENDINGS]),
    ],
)
def test_a_page_that_lists_things_lists_all_of_them(page, names):
    text = (ROOT / page).read_text()
    assert [name for name in names if name not in text] == []


def test_every_engine_has_a_name_for_people():
    assert set(ENGINE_NAMES) == set(ENGINES)


def test_the_list_of_pages_names_each_once():
    linked = re.findall(r"^\| \[[^\]]+\]\(([^)]+)\)", (DOCS / "README.md").read_text(), re.MULTILINE)
    assert sorted(linked) == sorted(set(linked))
    assert {page.name for page in DOCS.glob("*.md")} - {"README.md"} == {name for name in linked if "/" not in name}


LOADED = """
import sys
import adomnia
with adomnia.open(sys.argv[1]) as curator:
    curator.session("alice").sql("SELECT COUNT(*) FROM people", epsilon=0.5)
print("\\n".join(sys.modules))
"""


def test_a_dataset_of_files_loads_no_other_engine(tmp_path):
    """The table of deployments in docs/proofs/README.md: what it counts as added is not loaded without it."""
    folder = write_example(tmp_path / "hospital", people=10)
    done = subprocess.run([sys.executable, "-c", LOADED, folder], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    engines = [path for name in ADDED if name.startswith("data in") for path in list_added(name)]
    names = {".".join(("adomnia", *path.relative_to(PACKAGE).with_suffix("").parts)) for path in engines}
    assert len(names) > 20
    assert loaded & names == set()
    assert loaded & {"psycopg", "pyspark"} == set()
    assert {"adomnia.engines.duckdb.engine", "adomnia.ledger.file_store"} <= loaded
