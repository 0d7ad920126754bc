from __future__ import annotations

from datetime import date

import pytest

from adomnia.client.mock import open_remote_mock
from adomnia.session.curator import open_mock, read_catalog
from adomnia.wire.catalogs import CatalogReply, catalog_of
from kit.hospital import LINKED, declare


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Made up beside the files of the catalog, and made up without them."""
    catalog = declare(tmp_path_factory.mktemp("rehearsal") / "hospital", LINKED)
    with (
        open_mock(catalog) as near,
        open_remote_mock(catalog_of(CatalogReply.model_validate(catalog)), near.session("bob").sql) as far,
    ):
        yield near, far


@pytest.mark.parametrize(
    "text",
    [
        "SELECT city, region, population FROM cities ORDER BY city",
        "SELECT city, zone, area, since FROM zones ORDER BY zone, area",
    ],
)
def test_public_rows_are_the_same_without_the_files(pair, text):
    near, far = (each.session("bob").sql(text) for each in pair)
    assert near.records() == far.records()
    assert near.to_arrow() == far.to_arrow()


def test_days_and_gaps_came_along(pair):
    rows = pair[1].session("bob").sql("SELECT since, area FROM zones WHERE city = 'Oslo' ORDER BY area")
    assert rows["since"] == [date(1950, 1, 1), date(2019, 12, 31)]
    assert None in pair[1].session("bob").sql("SELECT area FROM zones")["area"]


def test_questions_mean_the_same(pair):
    text = "SELECT kind, SUM(price) AS s FROM items JOIN visits USING (visit_id) GROUP BY kind"
    near, far = (each.session("bob").price(text, rho=1) for each in pair)
    assert near == far
    assert len(pair[1].session("bob").sql(text, rho=1)) == 3


def test_columns_of_all_types_are_read(tmp_path):
    public = """
[tables.facts]
source = "facts.csv"
public = true

[tables.facts.columns]
code = { type = "id" }
open = { type = "boolean" }
share = { type = "number", lower = 0, upper = 1 }

[tables.codes]
source = "facts.csv"
public = true

[tables.codes.columns]
code = { type = "id" }
"""
    catalog = declare(tmp_path / "hospital", LINKED)
    (catalog.folder / "catalog.toml").write_text(LINKED + public)
    (catalog.folder / "facts.csv").write_text("code,open,share\n7,true,0.5\n,,\n")
    with (
        open_mock(read_catalog(catalog.folder)) as near,
        open_remote_mock(near.catalog, near.session("bob").sql) as far,
    ):
        text = "SELECT open, share FROM facts"
        assert far.session("bob").sql(text).records() == near.session("bob").sql(text).records()
        assert far.session("bob").sql(text)["share"] == [0.5, None]
