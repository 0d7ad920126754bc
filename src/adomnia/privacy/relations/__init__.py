"""Relations: which rows a question is about. Each node derives how many rows of one person can reach its output."""

from adomnia.privacy.relations.groups import OwnValue, PerBlock, PerPerson, PublicGroups, PublicValue, has_blocks
from adomnia.privacy.relations.joins import Join, Lookup
from adomnia.privacy.relations.tables import (
    MOST_PEOPLE,
    MOST_ROWS,
    Named,
    Private,
    Public,
    Select,
    Selected,
    Union,
    Where,
    everything,
)
from adomnia.privacy.relations.walks import Relation, is_public, most_rows, recap

__all__ = [
    "MOST_PEOPLE",
    "MOST_ROWS",
    "Join",
    "Lookup",
    "Named",
    "OwnValue",
    "PerBlock",
    "PerPerson",
    "Private",
    "Public",
    "PublicGroups",
    "PublicValue",
    "Relation",
    "Select",
    "Selected",
    "Union",
    "Where",
    "everything",
    "has_blocks",
    "is_public",
    "most_rows",
    "recap",
]
