"""All designs of randomized response: joining this table is how one is accepted."""

from adomnia.survey.design import ResponseDesign
from adomnia.survey.hadamard import HadamardResponse
from adomnia.survey.kary import KaryResponse
from adomnia.survey.subset import SubsetSelection
from adomnia.survey.unrelated import UnrelatedQuestion
from adomnia.survey.warner import Warner

# In the order in which equals are preferred.
DESIGNS: dict[str, type[ResponseDesign]] = {
    design.name: design for design in (Warner, UnrelatedQuestion, KaryResponse, SubsetSelection, HadamardResponse)
}
