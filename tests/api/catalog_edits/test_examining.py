from __future__ import annotations

import tomllib
from dataclasses import replace

import pytest

from adomnia.api.catalog_edits import examining
from adomnia.api.catalog_edits.examining import KnownSources, examine_text
from adomnia.catalog import sources
from adomnia.catalog.document_keys import SECTIONS
from adomnia.catalog.facts import Facts
from adomnia.catalog.model import EngineChoice, SharedLedger
from adomnia.catalog.toml_places import find_places
from adomnia.engines.duckdb.engine import DuckDB
from adomnia.errors import Refusal
from adomnia.work import limit
from kit import hospital

TEXT = hospital.CATALOG


@pytest.fixture
def folder(tmp_path):
    hospital.write(tmp_path, [hospital.person(1)], [hospital.visit(1)], TEXT)
    return tmp_path


@pytest.fixture
def known(folder) -> KnownSources:
    return KnownSources.of(examine_text(TEXT, folder).catalog, tomllib.loads(TEXT))


def test_a_sound_text_is_a_catalog(folder, known):
    examined = examine_text(TEXT, folder, known)
    assert examined.problems == ()
    assert examined.catalog.table("cities").column("city").kind.values == tuple(sorted(hospital.CITIES))


def test_all_problems_come_at_once_with_their_lines(folder, known):
    text = TEXT.replace("upper = 120", 'upper = "many"').replace("version = 1", "version = 0")
    text += '\n[views.broken]\nsql = "SELECT nothing FROM nowhere"\n'
    problems = examine_text(text, folder, known).problems
    lines = text.splitlines()
    assert ["version" in lines[each.position[0] - 1] for each in problems] == [True, False]
    assert "age" in lines[problems[1].position[0] - 1]
    assert not any(str(folder) in str(each) for each in problems)
    (view,) = examine_text(TEXT + '\n[views.v]\nsql = "SELECT nothing FROM nowhere"\n', folder, known).problems
    assert view.what.startswith("views.v.sql")


@pytest.mark.parametrize("text", ["[broken", "a = ", "[a]\n[a]", "\x00", "a = 1e999999999\n=", "x = " + "[" * 5000])
def test_what_is_no_toml_is_one_problem_at_its_line(folder, known, text):
    (problem,) = examine_text(text, folder, known).problems
    assert "is not TOML" in problem.why
    assert problem.position is not None


NEW_PUBLIC = '\n[tables.leak]\nsource = "{}"\npublic = true\n[tables.leak.columns]\nname = {{ type = "text" }}\n'


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda text: text + NEW_PUBLIC.format("people.parquet"), "private"),
        (lambda text: text + NEW_PUBLIC.format("./people.parquet"), "pages do not name new ones"),
        (lambda text: text + NEW_PUBLIC.format("/etc/secret.csv"), "pages do not name new ones"),
        (lambda text: text.replace('"people.parquet"', '"other.parquet"'), "pages do not name new ones"),
        (lambda text: text.replace('"visits.parquet"', '".adomnia/access.sqlite"'), "pages do not name new ones"),
        (
            lambda text: text.replace(
                'source = "people.parquet"\nrows_per_person = 1', 'source = "people.parquet"\npublic = true'
            ),
            "private",
        ),
    ],
)
def test_a_page_reads_no_file_exactly_that_was_not_public_before(folder, known, monkeypatch, change, why):
    read, find_facts = [], DuckDB.find_facts

    def find(path, table):
        read.append(path.name)
        return find_facts(path, table)

    monkeypatch.setattr(DuckDB, "find_facts", staticmethod(find))
    examined = examine_text(change(TEXT), folder, known)
    assert examined.catalog is None
    assert any(why in each.why for each in examined.problems)
    assert set(read) <= {"cities.csv"}


def test_whoever_writes_the_file_on_the_machine_may_name_new_ones(folder):
    (folder / "zones.csv").write_text("name\nx\n")
    text = TEXT + NEW_PUBLIC.format("zones.csv")
    assert examine_text(text, folder).catalog is not None
    known = KnownSources.of(examine_text(TEXT, folder).catalog, tomllib.loads(text))
    assert examine_text(text, folder, known).catalog is not None


def test_a_public_file_that_did_not_change_is_read_once(folder, known, monkeypatch):
    examine_text(TEXT, folder, known)
    monkeypatch.setattr(DuckDB, "find_facts", staticmethod(lambda *_: pytest.fail("read again")))
    assert examine_text(TEXT.replace("version = 1", "version = 2"), folder, known).catalog.version == 2


@pytest.mark.parametrize("content", [{}, {"tables": 1}, {"tables": {"t": {"source": "x.csv", "table": ["odd"]}}}])
def test_sources_of_any_shape_are_known(folder, content):
    assert KnownSources.of(examine_text(TEXT, folder).catalog, content).all


def test_thousands_of_problems_are_found_in_one_pass(folder, known, monkeypatch):
    passes = []
    monkeypatch.setattr(examining, "find_places", lambda text: passes.append(text) or find_places(text))
    text = TEXT.replace("[budget]", "[budget]\n" + "".join(f"odd{number} = 1\n" for number in range(2000)))
    problems = examine_text(text, folder, known).problems
    assert len(problems) == 2000
    assert [text.splitlines()[each.position[0] - 1] for each in problems[:2]] == ["odd0 = 1", "odd1 = 1"]
    assert len(passes) == 1


@pytest.mark.parametrize(
    "text",
    ["a." * 500_000 + "a = 1", "\n[" + 'a . "b".' * 100_000 + "c]", "\nx = { " + "'a'." * 200_000 + "a = 1 }"],
    ids=["key", "heading", "inline"],
)
def test_a_path_of_thousands_of_parts_is_not_read(folder, known, monkeypatch, text):
    monkeypatch.setattr(examining.tomllib, "loads", None)
    (problem,) = examine_text(text, folder, known).problems
    assert problem.why == "has a key of more than twenty parts"
    assert problem.position[0] == 1 + text.count("\n")


def test_values_with_thousands_of_points_are_read(folder, known):
    codes = ", ".join(f'"A{code}.{code % 7}"' for code in range(5_000))
    assert "more than" not in str(examine_text(f"# {codes}\ncodes = [{codes}]\n", folder, known).problems)


def test_a_folder_that_a_page_may_not_name_is_never_walked_through(folder, known, monkeypatch):
    monkeypatch.setattr(sources, "_list_inodes", lambda _: pytest.fail("looked at the disk"))
    (problem,) = examine_text(TEXT + NEW_PUBLIC.format("/usr"), folder, known).problems
    assert "pages do not name new ones" in problem.why


def test_comparing_every_public_with_every_private_table_is_work_that_is_counted(folder, known):
    private = '\n[tables.q{0}]\nsource = "people.parquet"\nperson = "person_id -> people.person_id"\n'
    public = '\n[tables.p{0}]\nsource = "cities.csv"\npublic = true\n'
    text = TEXT + "".join(private.format(number) + public.format(number) for number in range(100))
    with limit(), pytest.raises(Refusal, match="steps"):
        examine_text(text, folder, known)


def test_a_public_file_under_thousands_of_names_is_not_read_as_often(folder, known, monkeypatch):
    read = []
    monkeypatch.setattr(DuckDB, "find_facts", staticmethod(lambda path, table: read.append(path) or [Facts(1)]))
    public = '\n[tables.p{0}]\nsource = "cities.csv"\npublic = true\n[tables.p{0}.columns]\n'
    public += 'city = {{ type = "text" }}\n'
    text = TEXT + "".join(public.format(number) for number in range(400))
    with limit():
        assert examine_text(text, folder, known).catalog is None
    assert 0 < len(read) < 250


def test_a_column_that_is_no_table_is_a_problem_where_others_take_their_values_from_its_table(folder, known):
    (problem,) = examine_text(TEXT + "odd = 1\n", folder, known).problems
    assert "tables.cities.columns.odd" in problem.what


@pytest.mark.parametrize(
    ("section", "keys"),
    [
        ("engine", 'name = "spark"\nurl = "sc://elsewhere:15002"'),
        ("ledger", 'url = "postgresql://elsewhere.example.org:5432/ledgers"'),
    ],
)
def test_a_page_does_not_choose_where_rows_and_payments_go(folder, known, section, keys):
    moved = f"{TEXT}\n[{section}]\n{keys}\n"
    on_the_machine = replace(known, sections={section: tomllib.loads(moved)[section]})
    for text, there in ((moved, known), (TEXT, on_the_machine)):  # nor does it take the section out
        (problem,) = examine_text(text, folder, there).problems
        assert problem.what.startswith(section)
        assert "pages do not choose another" in problem.why
    assert examine_text(moved, folder, on_the_machine).catalog


@pytest.mark.parametrize("on_disk", ["", TEXT[: TEXT.index("[")], TEXT[: TEXT.index("\n[tables")], TEXT])
@pytest.mark.parametrize(
    ("section", "chosen"),
    [
        ("engine", EngineChoice("spark", "sc://served:15002")),
        ("ledger", SharedLedger("postgresql://served/db", "test")),
    ],
)
def test_where_the_text_on_disk_is_empty_or_cut_short_rows_and_payments_stay_where_they_are(
    folder, known, section, chosen, on_disk
):
    content = tomllib.loads(on_disk)
    assert examine_text(TEXT, folder, KnownSources.of(known.served, content)).catalog
    elsewhere = KnownSources.of(replace(known.served, **{section: chosen}), content)
    (problem,) = examine_text(TEXT, folder, elsewhere).problems
    assert problem.what.startswith(section)
    assert "is not that of the catalog that is served, and pages do not choose another" in problem.why


def test_no_other_key_of_a_catalog_names_a_place():
    """A key that joins the catalog and takes a host or a path must be left to the machine like these."""
    somewhere = ("sc://elsewhere:15002", "postgresql://elsewhere/db", "/etc/passwd", "s3a://bucket/rows", "../rows.csv")
    taking = {(part.label, key.name) for part in SECTIONS for key in part.keys if any(map(key.rule.holds, somewhere))}
    texts = {"sql", "others", "table", "column", "lifetime"}  # of any characters; nothing is opened by them
    assert {(label, key) for label, key in taking if key not in texts | {"type", "source"}} == {
        ("[engine]", "url"),
        ("[engine]", "index"),
        ("[ledger]", "url"),
    }
