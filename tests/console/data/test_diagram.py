"""The drawing: no two boxes overlap, every link is drawn from its column to its column, always in the same way."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from adomnia.console.data.diagram import arrange_ranks, draw_diagram
from adomnia.console.data.links import list_links
from kit import catalogs
from kit.catalogs import belongings, category, gather, people, plain, public


def draw_forest(bits, size):
    """People, tables that belong to others, and public ones that explain categories of some of them."""
    lists = [tuple(f"{letter}{number}" for number in range(3)) for letter in "abcdef"]
    tables = [people(*(category(f"k{k}", *lists[k]) for k in bits.choice(6, bits.integers(0, 4), replace=False)))]
    for number in range(1, size):
        if bits.random() < 0.3:
            explained = category(f"value{number}", *lists[bits.integers(6)])
            tables.append(public(f"public{number}", explained, plain("x" * int(bits.integers(1, 128)))))
        else:
            private = [table.name for table in tables if not table.public]
            columns = [category(f"k{k}", *lists[k]) for k in bits.choice(6, bits.integers(0, 3), replace=False)]
            columns += [plain(f"column {k} 列" * int(bits.integers(1, 9))) for k in range(bits.integers(0, 12))]
            tables.append(belongings(f"table{number}", private[bits.integers(len(private))], *columns))
    return gather([tables[0], *(tables[place] for place in 1 + bits.permutation(size - 1))])


def overlap(one, other):
    apart = one.x + one.width <= other.x or other.x + other.width <= one.x
    return not apart and not (one.y + one.height <= other.y or other.y + other.height <= one.y)


@pytest.mark.parametrize("size", range(1, 31))
def test_boxes_never_overlap_and_every_link_is_drawn(size):
    bits = np.random.default_rng(size)
    for _ in range(8):
        catalog = draw_forest(bits, size)
        links = list_links(catalog)
        diagram = draw_diagram(catalog, links)
        assert [box.name for box in diagram.boxes] == [table.name for table in catalog.tables]
        assert not any(overlap(one, other) for one, other in combinations(diagram.boxes, 2))
        assert [curve.link for curve in diagram.curves] == list(links)
        assert sum(not link.lookup for link in links) == sum(table.link is not None for table in catalog.tables)
        check_inside(diagram)
        check_curves(diagram)


def check_inside(diagram):
    for box in diagram.boxes:
        assert 0 < box.x < box.x + box.width < diagram.width
        assert 0 < box.y < box.y + box.height < diagram.height
        ring = diagram.ring
        within = ring.x < box.x and box.x + box.width < ring.x + ring.width
        assert box.public == (box.y > ring.y + ring.height)
        assert box.public or (within and ring.y < box.y)


def check_curves(diagram):
    boxes = {box.name: box for box in diagram.boxes}
    for curve in diagram.curves:
        for (x, y), name in ((curve.start, curve.link.table), (curve.end, curve.link.target)):
            box = boxes[name]
            assert x in {box.x, box.x + box.width}
            assert box.y + 44 < y < box.y + box.height
        assert curve.path.startswith(f"M{curve.start[0]} {curve.start[1]}C")


def test_two_boxes_in_one_place_would_be_found():
    diagram = draw_diagram(catalog := gather([people(), belongings("visits")]), list_links(catalog))
    box = diagram.boxes[0]
    assert overlap(box, box)
    assert not overlap(*diagram.boxes)


def test_a_curve_between_neighbours_stays_in_the_gap_between_their_columns():
    city = category("city", "a", "b")
    catalog = gather([people(city), belongings("visits"), public("cities", city)])
    diagram = draw_diagram(catalog, list_links(catalog))
    for curve in diagram.curves:
        left, right = sorted((curve.start[0], curve.end[0]))
        assert not any(box.x < right and left < box.x + box.width for box in diagram.boxes)


def test_the_same_catalog_is_drawn_in_the_same_way():
    first, second = (draw_forest(np.random.default_rng(7), 20) for _ in range(2))
    assert draw_diagram(first, list_links(first)) == draw_diagram(second, list_links(second))


def test_long_names_make_wide_boxes_up_to_a_limit():
    def widest(name):
        catalog = gather([people(plain(name))])
        return draw_diagram(catalog, ()).boxes[0].width

    assert widest("a") < widest("a" * 28) < widest("列" * 28)
    assert widest("a" * 31) == widest("a" * 128)


def test_columns_that_lead_somewhere_are_always_drawn():
    many = [plain(f"c{number}") for number in range(30)]
    catalog = gather([people(*many, category("city", "a", "b")), public("cities", *many, category("town", "a", "b"))])
    shown = draw_diagram(catalog, list_links(catalog)).boxes[0]
    assert shown.columns == ("person_id", *(f"c{number}" for number in range(6)), "city")[-8:]
    assert shown.lines[-1] == "and 24 more"


def test_tables_without_links_stand_side_by_side():
    tables = [catalogs.Table(f"t{number}", "", (plain("x"),)) for number in range(6)]
    boxes = draw_diagram(gather(tables, unit="row"), ()).boxes
    assert [box.y for box in boxes[:4]] == [boxes[0].y] * 4
    assert len({box.x for box in boxes}) == 4


def arrange(*tables):
    catalog = gather(tables)
    return arrange_ranks(catalog, list_links(catalog))


def test_tables_stand_as_far_from_people_as_their_links_are_long():
    assert arrange(belongings("items", "visits"), belongings("visits"), people()) == [["people"], ["visits"], ["items"]]


def test_public_tables_stand_one_step_behind_the_nearest_that_they_explain():
    city = category("city", "a", "b")
    visits, items = belongings("visits", "people", city), belongings("items", "visits", city)
    assert arrange(people(), visits, items, public("cities", city)) == [["people"], ["visits"], ["items", "cities"]]


def test_tables_stand_in_the_order_of_those_that_they_belong_to():
    tables = [people(), belongings("a"), belongings("b"), belongings("of_b", "b"), belongings("of_a", "a")]
    assert arrange(*tables)[2] == ["of_a", "of_b"]


def test_what_is_linked_with_nothing_stands_side_by_side():
    assert arrange(people(), *(public(f"p{k}", plain("x")) for k in range(5)))[0] == ["people", "p0", "p4"]
