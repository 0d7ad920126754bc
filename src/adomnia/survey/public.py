"""What `adomnia.survey` offers, loaded when it is first used."""

from adomnia.survey.estimates import Estimates
from adomnia.survey.hadamard import HadamardResponse
from adomnia.survey.kary import KaryResponse
from adomnia.survey.planning import SurveyPlan, expect_error, plan
from adomnia.survey.responding import respond
from adomnia.survey.simulation import Simulation, simulate
from adomnia.survey.subset import SubsetSelection
from adomnia.survey.unrelated import UnrelatedQuestion
from adomnia.survey.warner import Warner

__all__ = [
    "Estimates",
    "HadamardResponse",
    "KaryResponse",
    "Simulation",
    "SubsetSelection",
    "SurveyPlan",
    "UnrelatedQuestion",
    "Warner",
    "expect_error",
    "plan",
    "respond",
    "simulate",
]
