"""The statistics of populations, by what SQL calls them. A new one is its file and one line here."""

from typing import TypeAlias

from adomnia.statistics.population.mean import PopulationMean
from adomnia.statistics.population.quantile import PopulationQuantile
from adomnia.statistics.population.share import PopulationShare
from adomnia.statistics.population.variance import PopulationVariance
from adomnia.statistics.variance import VARIANCES

OfPopulation: TypeAlias = type[PopulationMean | PopulationShare | PopulationVariance | PopulationQuantile]

POPULATION: dict[str, OfPopulation] = {
    "AVG": PopulationMean,
    "AVG of a condition": PopulationShare,
    **dict.fromkeys(VARIANCES, PopulationVariance),
    "QUANTILE": PopulationQuantile,
}
