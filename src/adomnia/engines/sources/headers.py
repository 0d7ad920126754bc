"""The columns of a source, and whether they are those that the catalog declares; no value is read."""

from adomnia.catalog.model import USUAL_CSV, CsvFormat, Place, Table
from adomnia.engines.sources.reading import describe_source, find_source, name_source, open_reader, refuse_duplicates


def read_header(place: Place, source_table: str | None = None, csv: CsvFormat = USUAL_CSV) -> dict[str, str]:
    """The names and types of a source's columns; a source of texts has no types."""
    with open_reader() as reader:
        found = find_source(reader, place, source_table, csv)
    refuse_duplicates(name_source(place, source_table), [name for name, _ in found.columns])
    return {name: "" if found.spelled else kind for name, kind in found.columns}


def check_header(place: Place, table: Table) -> None:
    """Refuse a source whose columns are not those that a table declares."""
    with open_reader() as reader:
        describe_source(reader, place, table).check(table)
        if isinstance(place, str):
            reader.snapshots.refuse_unreadable(place, table.source_table or "")
