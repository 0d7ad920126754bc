"""How far answers are from the raw data, capping included, where a fresh data set's whole budget is (1, 1e-6).

One question, COUNT, SUM and AVG of fares by city, is bought with all that the contribution profile leaves. Printed is
the median over 50 cities of the relative error, averaged over several openings, each with noise of its own: against
all rows where the cap is chosen privately, against the capped rows where it is fixed at ten.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import adomnia
from adomnia.session.curator import LEDGER, STATE
from adomnia.sql.lower import plan_question, require_plan
from adomnia.sql.reading.parse import parse
from trips import CATALOG, CITIES, DAYS, PEOPLE_PER_ROW, trips

SQL = "SELECT city, COUNT(*) AS counts, SUM(fare) AS sums, AVG(fare) AS means FROM trips GROUP BY city"
VALUES = ("counts", "sums", "means")
OPENINGS = 5
BUDGET = "epsilon = 1\ndelta = 1e-6\n"
PROFILED, FIXED = "{ max = 1000, epsilon = 0.05 }", "10"
MILLION = 1_000_000


@dataclass(frozen=True)
class Case:
    """A shape of data, a cap, what is bought, and the errors in percent that may not be passed (counts, sums, means).

    All rows of a person may be in one city, so Laplace noise is the smaller where rows are capped; clipping needs rho.
    """

    name: str
    heavy: bool
    cap: str
    effort: str
    bars: dict[int, tuple[float | None, ...]]


CASES = [
    Case("cap by profile", False, PROFILED, "normal", {}),
    Case("clipped in L2", False, PROFILED, "high", {MILLION: (2, None, 3), 10 * MILLION: (0.25, None, 0.5)}),
    Case("heavy tail, cap by profile", True, PROFILED, "normal", {}),
    Case("heavy tail, clipped in L2", True, PROFILED, "high", {}),
    Case("cap 10, of capped rows", False, FIXED, "normal", {MILLION: (0.45, 1.47, 1.39)}),
]


def heavy_tailed(rows: int) -> pa.Table:
    """The same cities and fares, with people whose number of trips has no upper limit: Pareto, exponent 1.5."""
    table, draw = trips(rows), np.random.default_rng(21)
    people = np.ceil(1.5 * (1 - draw.random(int(rows * PEOPLE_PER_ROW * 1.5) + 10)) ** (-1 / 1.5)).astype(np.int64)
    person = draw.permutation(np.repeat(np.arange(len(people)), people)[:rows])
    return table.set_column(0, "person_id", pa.array(person))


def prepare(folder: Path, table: pa.Table) -> None:
    folder.mkdir()
    pq.write_table(table, folder / "trips.parquet")
    pq.write_table(pa.table({"person_id": table["person_id"].unique()}), folder / "people.parquet")


def declare(folder: Path, cap: str) -> None:
    """A catalog whose budget, and that of its only analyst, is (1, 1e-6), none of it kept for thresholds."""
    facts = {"CAP": cap, "CITIES": CITIES, "LAST_DAY": DAYS - 1, "[analysts.somebody]\nepsilon = 1_000_000\n": ""}
    text = CATALOG
    for word, fact in facts.items():
        text = text.replace(word, str(fact))
    text = text.replace("epsilon = 1_000_000\n", f"{BUDGET}approximate = true\nevent_delta = 0\n")
    (folder / "catalog.toml").write_text(f"{text}\n[analysts.somebody]\n{BUDGET}")


def forget(folder: Path) -> None:
    """Start anew: the index stays, what was spent and measured does not."""
    for file in (folder / STATE).glob(f"{LEDGER}*"):
        file.unlink()


def truth(table: pa.Table) -> np.ndarray:
    """Counts, sums and means of all rows, one line each, cities in their order."""
    found = table.group_by("city").aggregate([("fare", "count"), ("fare", "sum"), ("fare", "mean")]).sort_by("city")
    return np.array([found[f"fare_{kind}"].to_numpy() for kind in ("count", "sum", "mean")])


def capped_truth(curator: adomnia.Curator) -> np.ndarray:
    """The same of the rows that the cap leaves, exactly."""
    statistics = require_plan(plan_question(parse(SQL), curator.catalog)).statistics
    queries = tuple(dict.fromkeys(statistic.query for statistic in statistics))
    exact = dict(zip(queries, curator.engine.run(curator.engine.render(queries), queries), strict=True))
    (counts,) = (cells for query, cells in exact.items() if not hasattr(query.aggregate, "domain"))
    ((query, cells),) = ((query, cells) for query, cells in exact.items() if hasattr(query.aggregate, "domain"))
    sums = cells * float(query.aggregate.domain.step)
    return np.array([counts, sums, sums / counts])


def answered(folder: Path, case: Case, raw: np.ndarray) -> tuple[np.ndarray, str, float]:
    """The errors of one fresh data set in percent, what its answer says of the cap, and the seconds it took."""
    forget(folder)
    with adomnia.open(folder) as curator:
        session = curator.session("somebody")
        left = [account.left() for account in (session.budget().personal, session.budget().dataset)]
        start = perf_counter()
        if case.effort == "high":
            answer = session.sql(SQL, rho=min(each.rho for each in left), effort="high")
        else:
            answer = session.sql(SQL, epsilon=min(each.epsilon for each in left))
        seconds = perf_counter() - start
        exact = capped_truth(curator) if case.cap == FIXED else raw
    errors = [np.median(np.abs(np.array(answer[name]) / exact[place] - 1)) for place, name in enumerate(VALUES)]
    return 100 * np.array(errors), " ".join(map(str, answer.caps)), seconds


def report(case: Case, rows: int, errors: np.ndarray, seconds: float) -> bool:
    bars = case.bars.get(rows, (None,) * len(VALUES))
    missed = [bar is not None and error > bar for error, bar in zip(errors, bars, strict=True)]
    shown = "".join(
        f"{error:>9.3f}% {'' if bar is None else f'({bar:g})':<7}" for error, bar in zip(errors, bars, strict=True)
    )
    print(f"{case.name:<28}{shown}{seconds:>7.2f} s  {'MISSED' if any(missed) else 'ok'}", flush=True)
    return not any(missed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, action="append", help="1,000,000 and 10,000,000 if not given")
    kept = True
    for rows in parser.parse_args().rows or [MILLION, 10 * MILLION]:
        print(f"{rows:,} trips, in brackets what may not be passed")
        print(" " * 28 + "".join(f"{name:>10}{'':<8}" for name in VALUES))
        with tempfile.TemporaryDirectory() as name:
            tables = {False: trips(rows), True: heavy_tailed(rows)}
            for heavy, table in tables.items():
                prepare(Path(name) / str(heavy), table)
            for case in CASES:
                folder = Path(name) / str(case.heavy)
                declare(folder, case.cap)
                runs = [answered(folder, case, truth(tables[case.heavy])) for _ in range(OPENINGS)]
                kept &= report(case, rows, np.mean([run[0] for run in runs], axis=0), runs[-1][2])
                print(f"    {runs[-1][1]}", flush=True)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
