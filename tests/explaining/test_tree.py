"""Trees as text, as HTML and as plain data."""

from __future__ import annotations

from adomnia.explaining.tree import WIDTH, Node

TREE = Node("root", (Node("one", (Node("below <it>"),)), Node("two")))


def test_a_tree_is_drawn_with_lines():
    assert str(TREE).splitlines() == ["root", "├─ one", "│  └─ below <it>", "└─ two"]


def test_equal_parts_are_drawn_each_in_its_place():
    assert Node("twice", (Node("same"), Node("same"))).lines() == ["twice", "├─ same", "└─ same"]


def test_a_long_text_goes_on_below_itself_within_the_width():
    words = " ".join(["word"] * 60)
    lines = Node("root", (Node(words, (Node("below"),)), Node(words))).lines()
    assert all(len(line) <= WIDTH for line in lines)
    assert lines[1].startswith("├─ word")
    assert lines[2].startswith("│  │  word")
    assert lines[-1].startswith("      word")
    assert " ".join(lines).count("word") == 120


def test_what_has_no_spaces_is_not_broken():
    assert Node("x" * 300).lines() == ["x" * 300]


def test_nothing_in_a_tree_is_markup():
    assert TREE.html() == "<ul><li>root<ul><li>one<ul><li>below &lt;it&gt;</li></ul></li><li>two</li></ul></li></ul>"


def test_a_tree_as_plain_data():
    assert Node("a", (Node("b"),)).record() == {"text": "a", "parts": [{"text": "b", "parts": []}]}
    assert Node("a", kind="rows").record() == {"text": "a", "kind": "rows", "parts": []}
