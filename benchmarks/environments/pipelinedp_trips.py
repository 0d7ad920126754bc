"""The seconds that PipelineDP takes for the grouped question of comparison.py on its local backend."""

import json
import sys
from importlib.metadata import version

import pipeline_dp
import pyarrow.parquet as pq
from measuring import Row, tell

PATH, CITIES = sys.argv[1], json.loads(sys.argv[2])
METRICS = [pipeline_dp.Metrics.COUNT, pipeline_dp.Metrics.SUM]  # their quotient is the mean, at no further price
table = pq.read_table(PATH, columns=["person_id", "city", "fare"])
rows = list(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))


def ask() -> list[Row]:
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=1, total_delta=1e-9)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    parameters = pipeline_dp.AggregateParams(METRICS, max_contributions=10, min_value=0, max_value=100)
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: row[2],
    )
    answer = engine.aggregate(rows, parameters, extractors, public_partitions=CITIES)
    accountant.compute_budgets()
    return [(city, told.count, told.sum, told.sum / max(told.count, 1)) for city, told in answer]


tell(f"PipelineDP {version('pipeline-dp')}, local", ask)
