"""What `adomnia.local` offers, loaded when it is first used."""

from adomnia.local.estimates import Estimates
from adomnia.local.hadamard import HadamardResponse
from adomnia.local.kary import KaryResponse
from adomnia.local.planning import SurveyPlan, expect_error, plan
from adomnia.local.responding import respond
from adomnia.local.simulation import Simulation, simulate
from adomnia.local.subset import SubsetSelection
from adomnia.local.unrelated import UnrelatedQuestion
from adomnia.local.warner import Warner

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
