"""What a question about public tables alone means: their rows as they are, exactly and at no price."""

from dataclasses import dataclass

from adomnia.privacy.relations import Select


@dataclass(frozen=True)
class PublicRows:
    """Rows of public tables: the names of the outputs, what they are sorted by, and which are shown.

    Outputs beyond the names are not shown: rows are sorted by them.
    """

    names: tuple[str, ...]
    rows: Select
    order: tuple[tuple[int, bool, bool], ...]  # places of outputs, whether descending, and whether NULL comes first
    limit: int | None
    offset: int = 0
