"""The queries of examples/tpch: they are answered, mean what DuckDB takes them for, and are told of in docs/tpch.md."""

from __future__ import annotations

import re
import shutil
from datetime import date, datetime, timedelta
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import adomnia
from adomnia.mechanisms import laplace
from adomnia.plans.columns import KeyColumn, ValueColumn

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "tpch"
PAGE = (ROOT / "docs" / "tpch.md").read_text()
PLAIN = sorted((EXAMPLE / "queries").glob("*.sql"))
PUBLIC = sorted((EXAMPLE / "public").glob("*.sql"))
PER_CUSTOMER = sorted((EXAMPLE / "per_customer").glob("*.sql"))
ONE_ROW = {"q13", "q18", "q22", "q22_mean"}  # of a customer: no effort makes them better

# What the benchmark asks, where the file says it in another way.
ORIGINALS = {
    "q18": """
        SELECT COUNT(DISTINCT c_custkey) FROM customer, orders
        WHERE c_custkey = o_custkey
          AND o_orderkey IN (SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING SUM(l_quantity) > 300)""",
    "q21": """
        SELECT s_nationkey, COUNT(*) FROM supplier, lineitem AS l1, orders
        WHERE s_suppkey = l1.l_suppkey AND o_orderkey = l1.l_orderkey AND o_orderstatus = 'F'
          AND l1.l_receiptdate > l1.l_commitdate
          AND EXISTS (SELECT * FROM lineitem AS l2
                      WHERE l2.l_orderkey = l1.l_orderkey AND l2.l_suppkey <> l1.l_suppkey)
          AND NOT EXISTS (SELECT * FROM lineitem AS l3
                          WHERE l3.l_orderkey = l1.l_orderkey AND l3.l_suppkey <> l1.l_suppkey
                            AND l3.l_receiptdate > l3.l_commitdate)
        GROUP BY s_nationkey""",
}

CUSTOMERS, PARTS, SUPPLIERS, NATIONS = 120, 60, 40, 25
NAMES = [
    *(
        "ALGERIA",
        "ARGENTINA",
        "BRAZIL",
        "CANADA",
        "EGYPT",
        "ETHIOPIA",
        "FRANCE",
        "GERMANY",
        "INDIA",
        "INDONESIA",
        "IRAN",
    ),
    *("IRAQ", "JAPAN", "JORDAN", "KENYA", "MOROCCO", "MOZAMBIQUE", "PERU", "CHINA", "ROMANIA", "SAUDI ARABIA"),
    *("VIETNAM", "RUSSIA", "UNITED KINGDOM", "UNITED STATES"),
]
REGION_OF = [0, 1, 1, 1, 4, 0, 3, 3, 2, 2, 4, 4, 2, 4, 0, 0, 0, 1, 2, 3, 4, 2, 3, 3, 1]
REGIONS = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"]


def day(offset):
    return date(1992, 1, 1) + timedelta(days=int(offset))


def parts(draw):
    """So few sorts of parts that every query finds some."""
    return {
        "p_partkey": range(1, PARTS + 1),
        "p_name": draw.choice(["dark green lace", "pale rose", "green"], PARTS),
        "p_mfgr": ["Manufacturer#1"] * PARTS,
        "p_brand": draw.choice(["Brand#12", "Brand#23", "Brand#34"], PARTS),
        "p_type": draw.choice(["ECONOMY ANODIZED STEEL", "PROMO PLATED TIN", "SMALL BURNISHED BRASS"], PARTS),
        "p_size": np.where(np.arange(PARTS) % 3, draw.integers(1, 16, PARTS), 15),
        "p_container": draw.choice(["SM CASE", "MED BAG", "LG BOX", "LG PKG"], PARTS),
        "p_retailprice": 900.0 + draw.integers(0, 900, PARTS),
    }


def customers(draw):
    nations = np.arange(CUSTOMERS) % NATIONS
    return {
        "c_custkey": range(1, CUSTOMERS + 1),
        "c_nationkey": nations,
        "c_phone": [f"{10 + nation}-555-0100" for nation in nations],
        "c_acctbal": np.round(draw.uniform(-999, 9999, CUSTOMERS), 2),
        "c_mktsegment": draw.choice(["BUILDING", "MACHINERY"], CUSTOMERS),
    }


def orders(draw):
    """Ten orders for each of two customers of three, most of them in the years that are asked about."""
    who = np.repeat([each for each in range(1, CUSTOMERS + 1) if each % 3], 10)
    days = draw.integers(540, 1800, len(who))
    return {
        "o_orderkey": range(1, len(who) + 1),
        "o_custkey": who,
        "o_orderstatus": draw.choice(["F", "O", "P"], len(who)),
        "o_totalprice": draw.uniform(1000, 300_000, len(who)),
        "o_orderdate": [day(offset) for offset in days],
        "o_orderpriority": draw.choice(["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"], len(who)),
        "o_comment": draw.choice(["final deposits", "special packages, requests"], len(who), p=[0.8, 0.2]),
    }


def lines(draw, orders):
    """One to seven an order, mostly of small prices, so that nobody is over a clamp."""
    order = np.repeat(np.asarray(orders["o_orderkey"]), draw.integers(1, 8, len(orders["o_orderkey"])))
    shipped = np.asarray([(orders["o_orderdate"][key - 1] - date(1992, 1, 1)).days for key in order])
    shipped = shipped + draw.integers(1, 122, len(order))
    part = draw.integers(1, PARTS + 1, len(order))
    quantity = np.where(draw.random(len(order)) < 0.3, 50, draw.integers(1, 31, len(order)))
    return {
        "l_orderkey": order,
        "l_partkey": part,
        "l_suppkey": (part + SUPPLIERS // 4 * draw.integers(0, 4, len(order))) % SUPPLIERS + 1,
        "l_quantity": quantity,
        "l_extendedprice": np.round(quantity * draw.uniform(10, 40, len(order)), 2),
        "l_discount": draw.integers(0, 11, len(order)) / 100,
        "l_tax": draw.integers(0, 9, len(order)) / 100,
        "l_returnflag": draw.choice(["A", "N", "R"], len(order)),
        "l_linestatus": draw.choice(["F", "O"], len(order)),
        "l_shipdate": [day(offset) for offset in shipped],
        "l_commitdate": [day(offset) for offset in shipped + draw.integers(-30, 90, len(order))],
        "l_receiptdate": [day(offset) for offset in shipped + draw.integers(1, 31, len(order))],
        "l_shipinstruct": draw.choice(["DELIVER IN PERSON", "NONE"], len(order)),
        "l_shipmode": draw.choice(["AIR", "REG AIR", "MAIL", "SHIP"], len(order)),
    }


def small_tables():
    draw = np.random.default_rng(22)
    made = orders(draw)
    supplied = [
        (part, (part + SUPPLIERS // 4 * turn) % SUPPLIERS + 1) for part in range(1, PARTS + 1) for turn in range(4)
    ]
    return {
        "customer": customers(draw),
        "orders": made,
        "lineitem": lines(draw, made),
        "part": parts(draw),
        "nation": {
            "n_nationkey": range(NATIONS),
            "n_name": NAMES,
            "n_regionkey": REGION_OF,
        },
        "region": {"r_regionkey": range(5), "r_name": REGIONS},
        "supplier": {
            "s_suppkey": range(1, SUPPLIERS + 1),
            "s_name": [f"Supplier#{key:09d}" for key in range(1, SUPPLIERS + 1)],
            "s_nationkey": np.arange(SUPPLIERS) % NATIONS,
            "s_acctbal": draw.uniform(-999, 9999, SUPPLIERS),
            "s_comment": ["carefully" if key % 5 else "Customer and other Complaints" for key in range(SUPPLIERS)],
        },
        "partsupp": {
            "ps_partkey": [part for part, _ in supplied],
            "ps_suppkey": [supplier for _, supplier in supplied],
            "ps_availqty": draw.integers(1, 9999, len(supplied)),
            "ps_supplycost": np.round(draw.uniform(1, 20, len(supplied)), 2),
        },
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The catalog over small tables."""
    folder = tmp_path_factory.mktemp("tpch")
    shutil.copy(EXAMPLE / "catalog.toml", folder)
    for name, columns in small_tables().items():
        pq.write_table(
            pa.table({column: pa.array(values) for column, values in columns.items()}), folder / f"{name}.parquet"
        )
    return folder


@pytest.fixture(scope="module")
def session(folder):
    with adomnia.open(folder) as curator:
        yield curator.session("analyst")


@pytest.fixture(scope="module")
def raw(folder):
    with duckdb.connect() as connection:
        connection.execute("CREATE MACRO clamp(value, lower, upper) AS value")
        for path in folder.glob("*.parquet"):
            connection.execute(f"CREATE TABLE {path.stem} AS FROM read_parquet($1)", [str(path)])
        yield connection


def rows(raw, sql):
    return raw.execute(sql).fetchall()


def plain(value):
    """Days are days, however truncated, and no sum is no money."""
    if isinstance(value, datetime):
        return value.date()
    return value if isinstance(value, (str, date)) else float(value or 0)


def numbers(found):
    """All that was added up, whatever it is called and however it is laid out, where there is something."""
    return sorted(value for row in found for value in map(plain, row) if isinstance(value, float) and value)


@pytest.mark.parametrize("path", [*PLAIN, *PER_CUSTOMER], ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_without_noise_every_answer_is_what_duckdb_says_of_the_same_text(path, session, raw, monkeypatch):
    monkeypatch.setattr(laplace, "discrete_laplace", lambda scale, shape, bits: np.zeros(shape, dtype=np.int64))
    answer = session.sql(path.read_text(), epsilon=1)
    keys = [column for column in answer.typed_columns if isinstance(column, KeyColumn)]
    outputs = [column.estimate for column in answer.typed_columns if isinstance(column, ValueColumn)]
    # What was released: its intervals allow for noise, and may leave no number that is shown.
    found = {
        tuple(plain(key.values[row]) for key in keys): [float(each.values.ravel()[row]) for each in outputs]
        for row in answer.rows.tolist()
    }
    truth = {
        tuple(map(plain, row[: len(keys)])): list(map(plain, row[len(keys) :])) for row in rows(raw, path.read_text())
    }
    assert truth.keys() <= found.keys()
    assert any(value for values in truth.values() for value in values)
    for key, values in found.items():
        if key in truth:
            assert values == pytest.approx(truth[key], rel=1e-3, abs=2e-2)
        elif len(outputs) == 1:
            assert values == pytest.approx([0], abs=1e-6)


@pytest.mark.parametrize("path", PUBLIC, ids=lambda path: path.stem)
def test_what_is_about_public_tables_alone_is_answered_exactly_and_free(path, session, raw):
    before = session.budget()
    answer = session.sql(path.read_text())
    truth = rows(raw, path.read_text())
    assert len(truth) > 1
    assert [tuple(map(plain, row.values())) for row in answer.to_arrow().to_pylist()] == [
        tuple(pytest.approx(value) if isinstance(value, float) else value for value in map(plain, row)) for row in truth
    ]
    assert answer.receipt is None
    assert session.budget() == before


@pytest.mark.parametrize("name", ORIGINALS)
def test_what_is_said_in_another_way_means_the_same(name, raw):
    asked = (EXAMPLE / "queries" / f"{name}.sql").read_text()
    assert sorted(rows(raw, asked)) == sorted(rows(raw, ORIGINALS[name]))


@pytest.mark.parametrize("path", PER_CUSTOMER, ids=lambda path: path.stem)
def test_adding_up_for_each_customer_first_changes_nothing_but_the_layout(path, raw):
    whole = numbers(rows(raw, (EXAMPLE / "queries" / path.name).read_text()))
    keys = {1995.0, 1996.0}  # the years are keys of the one and names of outputs of the other
    found = numbers(rows(raw, path.read_text()))
    assert found == pytest.approx([value for value in whole if value not in keys])
    assert found


def test_the_mean_of_the_last_query_is_about_what_stands_in_it_as_a_constant():
    first, second = ((EXAMPLE / "queries" / f"{name}.sql").read_text() for name in ("q22_mean", "q22"))
    (codes,) = set(re.findall(r"IN (\([^)]+\))", first))
    assert codes in second
    assert "c_acctbal > 5000" in second


def test_every_query_of_the_benchmark_is_on_the_page_with_its_file_or_the_reason_why_not():
    asked, _, _ = PAGE.partition("<!-- begin figures -->")
    answered = {path.stem[:3] for path in [*PLAIN, *PUBLIC]}
    assert len(answered) == 20
    for number in range(1, 23):
        name = f"q{number:02d}"
        (row,) = re.findall(
            rf"^\| (?:\[{name}\]\(\.\./examples/tpch/(?:queries|public)/{name}\.sql\)|{name}) \| .+ \|$",
            asked,
            re.MULTILINE,
        )
        assert (".sql" in row) is (name in answered)


def test_every_file_has_its_figures_on_the_page():
    figures = PAGE.split("<!-- begin figures -->")[1].split("<!-- end figures -->")[0]
    names = [path.stem for path in PLAIN] + [f"{path.stem} per customer" for path in PER_CUSTOMER]
    names += [f"{path.stem} high effort" for path in PLAIN if path.stem not in ONE_ROW]
    assert [name for name in names if figures.count(f"| {name} |") < 2] == []
