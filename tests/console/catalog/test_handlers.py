"""The pages as an owner, an auditor and others get them; the dataset is opened again when the test says so."""

from __future__ import annotations

import html
import re
import shutil
from hashlib import sha256
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from adomnia.api.access import Role, Visitor
from adomnia.api.catalog_edits import catalog_file
from adomnia.api.catalog_edits.previews import _save
from adomnia.api.requests import Visit
from adomnia.console.catalog.draft import CatalogDraft
from adomnia.console.catalog.handlers import build_editor, compare_lines, start_draft
from adomnia.errors import Refusal
from kit import hospital, house

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = "/owner/catalog"
SALARY = '["tables", "people", "columns", "salary", "upper"]'
LEAK = '\n[tables.leak]\nsource = "{}"\npublic = true\n[tables.leak.columns]\nname = {{ type = "text" }}\n'
SCRIPT = "<script>alert(1)</script>"


class Browser:
    """Somebody who is signed in, and sends forms as a browser does."""

    def __init__(self, opened: house.House, name: str) -> None:
        opened.services.access.set_password(name, house.PASSWORD)
        self.house, self.name = opened, name
        self.cookie, self.csrf = opened.visit(name)

    def get(self, path: str, block: str | None = None):
        headers = self.cookie | ({"X-Part": block} if block else {})
        return self.house.client.request("GET", path, headers=headers)

    def post(self, path: str, block: str | None = None, **form: str):
        headers = self.cookie | ({"X-Part": block} if block else {})
        return self.house.client.request("POST", path, headers=headers, data={"csrf": self.csrf, **form})

    def save(self, text: str, base: str, **form: str):
        filled = {"text": text, "part": "text", "base": base, "password": house.PASSWORD} | form
        return self.post(f"{PAGE}/save", **filled)


@pytest.fixture
def owner(shared_house) -> Iterator[Browser]:
    """The owner of a house that is put back as it was."""
    yield Browser(shared_house, "olga")
    folder = shared_house.services.settings.folder
    (folder / "catalog.toml").write_text(hospital.CATALOG)
    shutil.rmtree(folder / ".adomnia" / "catalogs", ignore_errors=True)
    shared_house.services.dataset.reload()


def file_of(browser: Browser):
    return browser.house.services.settings.folder / "catalog.toml"


def base_of(browser: Browser) -> str:
    return sha256(file_of(browser).read_bytes()).hexdigest()


def text_of(browser: Browser) -> str:
    return file_of(browser).read_text()


def said(response) -> str:
    """The words of a page, without its marks."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", response.text)).split())


def test_the_catalog_is_readable_with_its_check_and_its_text(owner):
    page = owner.get(PAGE)
    assert page.status_code == 200
    words = said(page)
    for part in (
        "Served.",
        "No problem",
        "people.person_id",
        "one person moves SUM by at most 500,000",
        "rows_per_person = 3",
    ):
        assert part in words
    assert house.CANARY not in page.text


def test_auditors_read_and_change_nothing(owner):
    auditor = Browser(owner.house, "audrey")
    page = auditor.get(PAGE)
    assert page.status_code == 200
    assert "/owner/catalog/edit" not in page.text
    assert auditor.get(f"{PAGE}/edit").status_code == 403
    for path in ("preview", "save"):
        assert auditor.post(f"{PAGE}/{path}", text="x", base=base_of(auditor)).status_code == 403
    assert text_of(auditor) == hospital.CATALOG


@pytest.mark.parametrize("path", [f"{PAGE}/preview", f"{PAGE}/save"])
def test_a_form_of_another_site_changes_nothing(owner, path):
    owner.csrf = "wrong"
    assert owner.post(path, text="x", base=base_of(owner), password=house.PASSWORD).status_code == 403
    assert text_of(owner) == hospital.CATALOG


def test_a_preview_says_what_a_change_does_and_saves_nothing(owner):
    form = {"text": hospital.CATALOG, "base": base_of(owner), "part": "tables/people", SALARY: "200,000"}
    words = said(owner.post(f"{PAGE}/preview", **form))
    for part in (
        "500,000 → becomes 200,000",
        "± 5,990,000 → becomes ± 2,400,000",
        "Narrower bounds",
        "upper = 200_000",
    ):
        assert part in words
    part = owner.post(f"{PAGE}/preview", "preview", **form)
    assert "<main" not in part.text
    assert "What the change does" in part.text
    assert text_of(owner) == hospital.CATALOG
    assert owner.house.services.dataset.problem is None


def test_problems_are_shown_at_their_fields_and_lines(owner):
    form = {"text": hospital.CATALOG, "base": base_of(owner), "part": "tables/people", SALARY: "many"}
    page = owner.post(f"{PAGE}/preview", **form)
    assert (
        'value="many" placeholder="not declared" autocomplete="off" spellcheck="false" aria-invalid="true"' in page.text
    )
    assert "Cannot be saved like this" in said(page)
    line = 1 + hospital.CATALOG[: hospital.CATALOG.index("salary =")].count("\n")
    assert f"line {line}" in said(page)


def test_a_saved_catalog_is_served_and_the_text_from_before_is_kept(owner):
    text = hospital.CATALOG.replace("version = 1", "version = 2")
    saved = owner.save(text.replace("\n", "\r\n"), base_of(owner))
    assert (saved.status_code, saved.headers["location"]) == (303, f"{PAGE}?saved=yes")
    assert text_of(owner) == text
    assert "Being opened." in said(owner.get(PAGE))
    owner.house.services.dataset.reload()
    page = owner.get(PAGE)
    assert "Served. Version 2" in said(page)
    older = re.search(r"edit\?from=([^\"]+)", page.text)[1]
    assert "version = 1" in owner.get(f"{PAGE}/edit?from={older}").text
    assert '"event": "catalog"' in owner.house.log.getvalue()


def test_a_catalog_that_cannot_be_opened_leaves_the_old_one_and_says_why(owner):
    """The columns of a file are not looked at before it is opened."""
    text = hospital.CATALOG.replace("eye_color = {", "shoe_size = {")
    assert owner.save(text, base_of(owner)).status_code == 303
    assert "Being opened." in said(owner.get(PAGE, "status"))
    owner.house.services.dataset.reload()
    words = said(owner.get(PAGE))
    assert "Not served." in words
    assert "shoe_size" in words
    assert "Take the text from before" in words
    auditor = said(Browser(owner.house, "audrey").get(PAGE, "status"))
    assert "Its owner can see why." in auditor
    assert "shoe_size" not in auditor
    assert owner.house.query("alice").status_code == 200


def test_a_problem_of_another_text_is_not_told_of_this_one(owner):
    owner.save(hospital.CATALOG.replace("eye_color = {", "shoe_size = {"), base_of(owner))
    owner.house.services.dataset.reload()
    owner.save(hospital.CATALOG.replace("version = 1", "version = 3"), base_of(owner))
    assert "Being opened." in said(owner.get(PAGE))


def test_of_two_owners_who_edit_at_once_the_second_is_told(owner):
    began = base_of(owner)
    owner.save(hospital.CATALOG.replace("version = 1", "version = 2"), began)
    own_change = hospital.CATALOG.replace("upper = 120", "upper = 130")
    second = owner.save(own_change, began)
    assert second.status_code == 409
    words = said(second)
    assert "somebody else has changed it" in words
    assert "version = 2" in words  # theirs, as a line that would be lost
    assert "upper = 130" in words
    assert "version = 2" in text_of(owner)
    began_anew = re.search(r'name="base" value="([0-9a-f]+)"', second.text)[1]
    assert owner.save(own_change, began_anew).status_code == 303  # after seeing what would be lost
    assert text_of(owner) == own_change


def test_saving_needs_the_password_and_guesses_are_counted(owner):
    text = hospital.CATALOG.replace("version = 1", "version = 2")
    wrong = owner.save(text, base_of(owner), password="guess")
    assert wrong.status_code == 401
    assert "The password is not yours" in said(wrong)
    assert "version = 2" in wrong.text  # nothing that was typed is lost
    assert "guess" not in wrong.text
    for _ in range(4):
        owner.save(text, base_of(owner), password="guess")
    assert owner.save(text, base_of(owner)).status_code == 429
    assert text_of(owner) == hospital.CATALOG


def test_what_is_wrong_is_not_saved_even_with_the_password(owner):
    for text in ("[broken", hospital.CATALOG.replace("version = 1", "version = 0"), ""):
        assert owner.save(text, base_of(owner)).status_code == 400
    leak = (
        '\n[tables.leak]\nsource = "people.parquet"\npublic = true\n[tables.leak.columns]\nname = { type = "text" }\n'
    )
    refused = owner.save(hospital.CATALOG + leak, base_of(owner))
    assert refused.status_code == 400
    assert "private" in said(refused)
    assert house.CANARY not in refused.text
    assert text_of(owner) == hospital.CATALOG


def test_a_preview_reads_no_private_file(owner):
    for source in ("people.parquet", "./people.parquet", str(file_of(owner).parent / "people.parquet")):
        text = hospital.CATALOG.replace("[tables.people]", "[tables.gone]") + LEAK.format(source)
        page = owner.post(f"{PAGE}/preview", text=text, base=base_of(owner), part="text")
        assert house.CANARY not in page.text


def test_a_full_disk_is_told_in_place(owner, monkeypatch):
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(catalog_file, "_write_whole", fail)
    text = hospital.CATALOG.replace("version = 1", "version = 2")
    refused = owner.save(text, base_of(owner))
    assert refused.status_code == 503
    assert "which is as it was, has no room left on its disk" in said(refused)
    assert "version = 2" in refused.text
    assert text_of(owner) == hospital.CATALOG


def test_nothing_of_the_catalog_runs_in_a_page(owner):
    columns = f'"{SCRIPT}" = {{ type = "category", values = ["{SCRIPT}"] }}\neye_color'
    hostile = hospital.CATALOG.replace("eye_color", columns, 1)
    hostile += f"\n[views.odd] # {SCRIPT}\nsql = \"SELECT '{SCRIPT}' AS x FROM people\"\n"
    for text in (hostile, f"[{SCRIPT}", hospital.CATALOG.replace("version = 1", f'version = "{SCRIPT}"')):
        for part in ("text", "tables/people", "views/odd", SCRIPT):
            page = owner.post(f"{PAGE}/preview", text=text, base=SCRIPT, part=part)
            assert "script&gt;" in page.text
            assert SCRIPT not in page.text
        file_of(owner).write_text(text)
        assert SCRIPT not in owner.get(PAGE).text
    assert owner.get(f"{PAGE}/edit?from={SCRIPT}").status_code == 404


@pytest.mark.parametrize("content", [None, b"\xff\xfe", b"[broken"])
def test_a_file_that_cannot_be_read_is_told_on_the_page(owner, content):
    file_of(owner).unlink() if content is None else file_of(owner).write_bytes(content)
    page = owner.get(PAGE)
    assert page.status_code == 200
    assert "1 problem" in said(page)
    owner.house.services.dataset.reload()
    assert "Not served." in said(owner.get(PAGE))
    assert owner.get(f"{PAGE}/edit").status_code in {200, 400, 503}


def test_every_part_of_the_editor_is_shown_and_goes_round(owner):
    file_of(owner).write_text(hospital.CATALOG + '\n[views.v]\nsql = "SELECT * FROM people"\n')
    page = owner.get(f"{PAGE}/edit")
    parts = re.findall(r'name="go" value="([^"]+)"', page.text)
    assert len(parts) > 9
    for part in parts:
        shown = owner.post(f"{PAGE}/preview", text=text_of(owner), base=base_of(owner), part="budget", go=part)
        assert f'name="part" value="{part}"' in shown.text
        assert "Nothing is changed yet." in shown.text


def test_parts_of_any_name_and_fields_of_any_shape_are_answered(owner):
    odd = {
        "[": "1",
        "[1]": "2",
        '["a"]': "3",
        '["tables", "people", "columns", "salary"]': "4",
        "go": "\x00",
        "part": "ü",
    }
    assert owner.post(f"{PAGE}/preview", text="a = 1", base="", **odd).status_code == 200
    assert owner.post(f"{PAGE}/preview").status_code == 200


def test_a_page_does_not_save_one_of_several_copies():
    services = SimpleNamespace(access=SimpleNamespace(shared=object()))
    visit = Visit(services, Visitor("olga", Role.OWNER), None)
    with pytest.raises(Refusal, match="each host that shares the ledger has its own") as refused:
        _save(visit, write=None, began_from="")
    assert refused.value.code == "owner_by_hand"


@pytest.fixture
def visit(shared_house):
    with shared_house.services.dataset.lease() as edition:
        yield Visit(shared_house.services, Visitor("olga", Role.OWNER), edition)


def preview_of(visit, *changes: tuple[str, str]):
    draft, text = start_draft(visit, "", ""), hospital.CATALOG
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return build_editor(visit, CatalogDraft(text, draft.base)).filling["preview"]


def test_a_draft_begins_as_the_text_on_disk_and_changes_nothing(visit):
    draft = start_draft(visit, "", "")
    assert draft.text == hospital.CATALOG
    preview = build_editor(visit, draft).filling["preview"]
    assert (preview.lines, preview.problems, preview.effects, preview.consequences) == ((), (), (), ())
    assert not preview.moved


def test_promises_are_told_before_and_after(visit):
    preview = preview_of(visit, ("upper = 500_000", "upper = 9"))
    (change,) = preview.changes
    assert change.about == "people.salary"
    assert "by at most 500,000" in change.was[0]
    assert "by at most 9" in change.becomes[0]


@pytest.mark.parametrize(
    "change",
    [
        ("version = 1", "version = 2"),
        ("epsilon = 1_000_000", "epsilon = 3"),
        ("rows_per_person = 3", "rows_per_person = 30"),
        ("rows_per_person = 3", "rows_per_person = { max = 20, epsilon = 0.5 }"),
        ("[analysts.carol]", '[analysts.carol]\npolicy = "geometric"\nkeep = 0.5'),
        ("[analysts.carol]", "[analysts.dora]"),
        ('["F", "M", "X"]', '["F", "M", "X", "D"]'),
        ("step = 0.1", "step = 0.5"),
        ('day = { type = "date" }', 'day = { type = "date", lower = 2020-01-01, upper = 2021-01-01 }'),
        ("[tables.cities]", '[views.v]\nsql = "SELECT * FROM people"\n[tables.cities]'),
        ('unit = "people.person_id"', 'unit = "people.person_id"\nminimum_frequency = 3'),
    ],
)
def test_each_kind_of_change_has_lines_and_consequences(visit, change):
    preview = preview_of(visit, change)
    assert preview.problems == ()
    assert preview.lines
    assert preview.consequences


def test_a_text_that_moved_is_told(visit):
    assert build_editor(visit, CatalogDraft(hospital.CATALOG, "0" * 64)).filling["preview"].moved


def test_problems_belong_to_the_fields_that_are_shown(visit):
    text = hospital.CATALOG.replace("upper = 120", 'upper = "many"').replace("epsilon = 100_000", 'epsilon = "x"')
    filling = build_editor(visit, CatalogDraft(text, "", "tables/people")).filling
    wrong = {name: found for name, found in filling["wrong"].items() if found}
    assert list(wrong) == ['["tables", "people", "columns", "age", "upper"]']
    assert len(filling["preview"].problems) == 3


def test_equal_texts_differ_in_no_line():
    assert compare_lines("a\nb\n", "a\nb\n") == []


def test_lines_have_their_numbers_in_both_texts():
    before = "\n".join(f"line {number}" for number in range(1, 31))
    found = compare_lines(before, before.replace("line 3\n", "").replace("line 28", "other"))
    assert [(line.sign, line.before, line.after) for line in found if line.sign] == [
        ("-", 3, None),
        ("...", None, None),
        ("-", 28, None),
        ("+", None, 27),
    ]


def test_very_many_lines_are_cut():
    found = compare_lines("", "\n".join(map(str, range(5000))))
    assert len(found) == 401
    assert found[-1].sign == "..."
