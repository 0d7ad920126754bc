"""Whether tables that only Spark reads have the columns that the catalog declares; no value is read."""

from contextlib import closing

from adomnia.catalog.model import EngineChoice, Table
from adomnia.engines.limits import USUAL
from adomnia.engines.spark.session import open_session
from adomnia.engines.spark.sources import file_source


def check_header(choice: EngineChoice, table: Table) -> None:
    """Refuse a table whose columns are not those that are declared."""
    with closing(open_session(choice.url, USUAL)) as own:
        file_source(own.session, table.source, table)
