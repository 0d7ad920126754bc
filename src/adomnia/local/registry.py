"""All designs of randomized response: joining this table is how one is accepted."""

from adomnia.local.design import ResponseDesign
from adomnia.local.hadamard import HadamardResponse
from adomnia.local.kary import KaryResponse
from adomnia.local.subset import SubsetSelection
from adomnia.local.unrelated import UnrelatedQuestion
from adomnia.local.warner import Warner

__all__ = ["DESIGNS"]

# In the order in which equals are preferred.
DESIGNS: dict[str, type[ResponseDesign]] = {
    design.name: design for design in (Warner, UnrelatedQuestion, KaryResponse, SubsetSelection, HadamardResponse)
}
