"""Which function is offered on which engine, as the table of docs/engines.md."""

from collections.abc import Iterator, Mapping

from adomnia.engines.dialect import Dialect
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.postgres.dialect import POSTGRES
from adomnia.engines.postgres.functions import REMARKS as POSTGRES_REMARKS
from adomnia.engines.spark.dialect import SPARK
from adomnia.engines.spark.functions import REMARKS as SPARK_REMARKS
from adomnia.privacy.functions.registry import FUNCTIONS

_ENGINES: dict[str, tuple[Dialect, Mapping[str, str]]] = {
    "DuckDB": (DUCKDB, {}),
    "PostgreSQL": (POSTGRES, POSTGRES_REMARKS),
    "Spark": (SPARK, SPARK_REMARKS),
}


def render_function_table() -> str:
    """All functions that have a spelling in questions; those that every engine has without a remark in one row."""
    lines = [f"| function | {' | '.join(_ENGINES)} |", f"|---|{'---|' * len(_ENGINES)}"]
    rows = {function.written: list(_cells(function.name)) for function in FUNCTIONS.values() if function.written}
    told = {written: cells for written, cells in rows.items() if set(cells) != {"yes"}}
    lines += [f"| `{_escaped(written)}` | {' | '.join(cells)} |" for written, cells in told.items()]
    everywhere = ", ".join(f"`{_escaped(written)}`" for written in rows if written not in told)
    lines.append(f"| {everywhere} | {' | '.join(['yes'] * len(_ENGINES))} |")
    return "\n".join(lines) + "\n"


def _cells(name: str) -> Iterator[str]:
    for dialect, remarks in _ENGINES.values():
        yield f"no: {dialect.refused[name]}" if name in dialect.refused else remarks.get(name, "yes")


def _escaped(written: str) -> str:
    return written.replace("|", "\\|")
