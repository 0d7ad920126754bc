"""The second look at a statement that is run as it is: it must read public tables and nothing else, and never fail."""

from adomnia.catalog.model import Catalog
from adomnia.engines.check.nodes import require
from adomnia.engines.check.relations import Reader
from adomnia.engines.check.statements import parse_select
from adomnia.engines.contract import Statement
from adomnia.engines.dialect import Dialect


def check_public(statement: Statement, catalog: Catalog, dialect: Dialect) -> None:
    """A Failure unless the statement is made of the words that are known, and no row of it is anybody's."""
    reader = Reader(catalog, statement.parameters, dialect, public=True)
    rows = reader.read_brackets(parse_select(statement.text, dialect))
    require(rows.per_person == 0, "public tables alone")
