"""The seconds that OpenDP on Polars takes for the grouped question of performance.py: run by its own Python."""

import json
import sys
from importlib.metadata import version

import opendp.prelude as dp
import polars as pl
from measuring import Row, tell

dp.enable_features("contrib")
PATH, CITIES = sys.argv[1], json.loads(sys.argv[2])
ROWS = pl.scan_parquet(PATH).select(pl.len()).collect().item()
MOST_ROWS = 1 << ROWS.bit_length()  # a public bound, on which the noise of float sums depends


def ask() -> list[Row]:
    rows = pl.scan_parquet(PATH).select("person_id", "city", "fare")
    context = dp.Context.compositor(
        data=rows,
        privacy_unit=dp.unit_of(contributions=1, identifier="person_id"),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        margins=[dp.polars.Margin(by=["city"], max_length=MOST_ROWS, max_groups=len(CITIES))],
    )
    fare = pl.col("fare").fill_nan(0.0).fill_null(0.0).dp.sum((0.0, 100.0))
    asked = context.query().truncate_per_group(10).group_by("city").agg(dp.len(), fare)
    told = asked.with_keys(pl.LazyFrame({"city": CITIES})).release().collect()
    return [
        (city, count, total, total / max(count, 1)) for city, count, total in told.select("city", "len", "fare").rows()
    ]


tell(f"OpenDP {version('opendp')} on Polars {version('polars')}", ask)
