"""Relations: which rows a question is about. Each node derives how many rows of one person can reach its output."""

from adomnia.privacy.relations.groups import OwnValue, PerBlock, PerPerson, PublicGroups, PublicValue
from adomnia.privacy.relations.joins import Join, Lookup
from adomnia.privacy.relations.tables import (
    Named,
    Private,
    Public,
    Relation,
    Select,
    Selected,
    Union,
    Where,
    everything,
    most_rows,
    recap,
)
from adomnia.privacy.units import MOST_PEOPLE, MOST_ROWS

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
    "most_rows",
    "recap",
]
