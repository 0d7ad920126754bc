"""The page in a folder says what it is, what is guaranteed, and what it is not good for."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from adomnia.releases.readme import write_readme
from adomnia.statistics.products import Attribute, Product
from kit.released import QUESTION, make_release


def test_a_reader_finds_what_it_is_what_it_promises_and_how_far_off_it_is():
    page = write_readme(make_release(price="rho 0.1", version=3))
    for said in ("Noisy counts", QUESTION, "Hidden is one person.", "rho 0.1", "Version of the data: 3", "A note."):
        assert said in page
    assert "| sex | text | F, M, (missing) |" in page
    assert "the lower end of its interval, which holds the exact value in at least 95% of releases" in page


def test_rows_of_nobody_are_said_to_be_that():
    page = write_readme(replace(make_release(), table=pa.table({"sex": ["F", "M"]})))
    assert "No row is a person" in page
    assert "made up: check what you find" in page
    assert "Noisy counts" not in page


def test_names_cannot_break_out_of_their_table():
    product = Product((Attribute("a|b`c", ("x\n# Heading", "y")),))
    page = write_readme(replace(make_release(), product=product))
    assert "| a\\|b'c | text | x # Heading, y |" in page


def test_long_lists_of_values_are_cut():
    product = Product((Attribute("n", tuple(map(str, range(50)))),))
    assert "0, 1, 2, 3, 4, 5, 6, ..., 49 (50 in all)" in write_readme(replace(make_release(), product=product))
