"""Files of pictures: every kind, whole or not at all, readable without eyes and without a network."""

from __future__ import annotations

import json
import socket
import sys
from xml.etree import ElementTree as ET

import altair as alt
import pytest

from adomnia.errors import Refusal
from adomnia.figures.files import build_chart, check_file, write_file
from adomnia.figures.spec import build_spec
from kit.drawings import count, days, drawable, gallery, label, value

GALLERY = gallery()
SVG = "{http://www.w3.org/2000/svg}"
LARGEST = 300_000


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    def refuse(*_arguments, **_options):
        raise AssertionError("a picture needs no network")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def svg_of(picture, folder):
    return ET.fromstring(write_file(picture, folder / "picture.svg").read_text())


def texts_of(root):
    return [words for text in root.iter(f"{SVG}text") for words in text.itertext()]


def count_marks(root, kind):
    groups = [each for each in root.iter(f"{SVG}g") if f"mark-{kind} role-mark" in each.get("class", "")]
    return sum(len(group) for group in groups)


@pytest.mark.parametrize("name", ["bars", "two values", "panels", "steps", "large heat", "unbounded"])
def test_a_picture_is_the_same_every_time(name, tmp_path):
    first, again = (write_file(GALLERY[name], tmp_path / f"{each}.svg").read_bytes() for each in "ab")
    assert first == again


@pytest.mark.parametrize("name", GALLERY)
def test_every_picture_is_a_small_svg_that_says_in_words_what_it_shows(name, tmp_path):
    picture = write_file(GALLERY[name], tmp_path / "a.svg").read_bytes()
    assert len(picture) < LARGEST
    root = ET.fromstring(picture)
    assert not [each for each in root.iter() if any("NaN" in value for value in each.attrib.values())]
    assert [child.tag for child in root[:2]] == [f"{SVG}title", f"{SVG}desc"]
    assert root.get("role") == "img"
    assert not [
        each for each in root.iter() if each.tag in {f"{SVG}script", f"{SVG}image", f"{SVG}a"} or "id" in each.attrib
    ]


@pytest.mark.parametrize("name", ["bars", "points", "two keys", "three keys", "numbers", "times", "bins"])
def test_every_row_has_one_error_bar_and_every_label_is_there(name, tmp_path):
    root = svg_of(GALLERY[name], tmp_path)
    assert count_marks(root, "rule") == GALLERY[name].rows
    texts = texts_of(root)
    for column in GALLERY[name].by_role("label"):
        if name in {"bars", "points", "two keys"}:
            assert set(column.levels) <= set(texts)


def test_names_that_mean_something_to_javascript_are_labels_like_others(tmp_path):
    root = svg_of(GALLERY["names of JavaScript"], tmp_path)
    assert (count_marks(root, "rect"), count_marks(root, "rule")) == (49, 49)
    three = drawable(
        *(label(each.name, each.values[:3]) for each in GALLERY["names of JavaScript"].columns[:1]),
        count("n", [1, 2, 3]),
    )
    assert count_marks(svg_of(three, tmp_path), "rule") == 3


def test_a_folder_that_may_not_be_written_to_is_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(Refusal, match="may not be written to"):
        check_file(tmp_path / "a.svg")


def test_values_without_an_interval_have_no_error_bar(tmp_path):
    root = svg_of(GALLERY["public"], tmp_path)
    assert (count_marks(root, "rect"), count_marks(root, "rule")) == (3, 0)


def test_intervals_without_an_end_are_dashed_to_the_edge_and_told(tmp_path):
    root = svg_of(GALLERY["unbounded"], tmp_path)
    rules = [each for each in root.iter(f"{SVG}line") if each.get("stroke-dasharray") == "3,3"]
    assert len(rules) == 2
    assert count_marks(root, "rule") == 3
    assert {"no value", "NULL", "Dashed: an interval without an end."} <= set(texts_of(root))


def test_labels_are_text_whatever_is_in_them(tmp_path):
    root = svg_of(GALLERY["markup"], tmp_path)
    assert {"</text><script>alert(1)</script>", 'it\'s "q" & 😀', r"a\nb", "]]>", r"\x00"} <= set(texts_of(root))


def test_the_words_of_a_picture_have_its_numbers(tmp_path):
    root = svg_of(GALLERY["bars"], tmp_path)
    assert root[0].text == "n by city"
    assert root[1].text == (
        "n by city. Lines: 95% intervals of the noise. city Oslo, n 520. city Bergen, n 310. city Narvik, n 40."
    )


def test_a_png_is_a_png(tmp_path):
    assert write_file(GALLERY["bars"], tmp_path / "a.PNG").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_json_is_the_specification(tmp_path):
    spec = json.loads(write_file(GALLERY["bars"], tmp_path / "a.json").read_text())
    assert spec["data"]["values"][0] == {"axis": "Oslo", "v0": 520, "l0": 500, "u0": 540}


def test_a_page_holds_the_picture_and_the_table_and_loads_nothing(tmp_path):
    page = write_file(GALLERY["markup"], tmp_path / "a.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "<svg" in page
    assert page.count("<tr>") == 7
    assert "<script" not in page
    assert "src=" not in page
    assert "href=" not in page


@pytest.mark.parametrize(
    ("name", "kind"), [("bars", alt.LayerChart), ("two values", alt.VConcatChart), ("panels", alt.FacetChart)]
)
def test_a_notebook_gets_a_chart_of_altair_with_all_rows(name, kind):
    chart = build_chart(GALLERY[name])
    assert isinstance(chart, kind)
    [rows] = chart.to_dict()["datasets"].values()
    assert rows == build_spec(GALLERY[name])["data"]["values"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("a.pdf", r"is of no kind that a picture can have. Fix: name a file that ends in .svg, .png, .json or .html"),
        ("a", "is of no kind"),
        ("no/where.svg", "is in a folder that is not there"),
        ("folder.svg", "is a folder"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_at_once(name, why, tmp_path):
    (tmp_path / "folder.svg").mkdir()
    with pytest.raises(Refusal, match=why):
        check_file(tmp_path / name)
    with pytest.raises(Refusal, match=why):
        write_file(GALLERY["bars"], tmp_path / name)


def test_a_file_is_replaced_as_a_whole_or_stays(tmp_path, monkeypatch):
    target = tmp_path / "a.svg"
    target.write_text("before")

    def fail(*_arguments):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr("pathlib.Path.replace", fail)
        with pytest.raises(Refusal, match=r"cannot be written \(No space left on device\)"):
            write_file(GALLERY["bars"], target)
    assert target.read_text() == "before"
    assert [each.name for each in tmp_path.iterdir()] == ["a.svg"]
    write_file(GALLERY["bars"], target)
    assert target.read_text().startswith("<svg")


def test_without_the_extra_it_is_said_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    monkeypatch.setitem(sys.modules, "altair", None)
    fix = r"pip install '\.\[plot\]' in a checkout"
    with pytest.raises(Refusal, match=f"needs vl-convert-python, which is not installed. Fix: {fix}"):
        check_file(tmp_path / "a.svg")
    with pytest.raises(Refusal, match=f"needs altair, which is not installed. Fix: {fix}"):
        build_chart(GALLERY["bars"])
    assert write_file(GALLERY["bars"], tmp_path / "a.json").exists()


def test_the_largest_picture_is_small(tmp_path):
    keys = (
        label("k", [f"a long name {k}" for k in range(50)] * 20),
        label("g", [f"g{g}" for g in range(20) for _ in range(50)]),
    )
    answer = drawable(*keys, *(count(f"n{place}", range(1000)) for place in range(5)))
    assert write_file(answer, tmp_path / "a.svg").stat().st_size < LARGEST
    by_day = drawable(
        label("day", days(100) * 10), label("g", "abcdefghij" * 100), *(value(f"x{i}", range(1000)) for i in "abcd")
    )
    assert write_file(by_day, tmp_path / "b.svg").stat().st_size < LARGEST


def test_labels_are_in_the_order_of_the_answer(tmp_path):
    root = svg_of(drawable(label("k", ["b", "c", "a"]), value("x", [1.0, None, 2.0])), tmp_path)
    assert [text for text in texts_of(root) if text in {"a", "b", "c"}] == ["b", "c", "a"]
