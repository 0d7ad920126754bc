"""The second look at a statement that is run as it is: it must read public tables and nothing else."""

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from adomnia.catalog.model import Catalog
from adomnia.engines.contract import Statement
from adomnia.engines.dialect import Dialect
from adomnia.errors import Failure


def check_public(statement: Statement, catalog: Catalog, dialect: Dialect) -> None:
    """A Failure unless every table of the statement is declared as public."""
    try:
        tree = parse_one(statement.text, dialect=dialect.name)
    except (SqlglotError, RecursionError):
        raise Failure() from None
    named = list(tree.find_all(exp.Table))
    public = {table.name for table in catalog.tables if table.public}
    plain = all(isinstance(table.this, exp.Identifier) and not table.db and table.name in public for table in named)
    if not isinstance(tree, exp.Select) or not named or not plain:
        raise Failure()
