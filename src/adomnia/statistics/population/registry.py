"""The statistics of populations, by what SQL calls them. A new one is its file and one line here."""

from typing import TypeAlias

from adomnia.statistics.contract import Statistic
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


def is_about_population(statistic: Statistic) -> bool:
    """Whether its interval is about the population, and not about the rows that there are."""
    return type(statistic) in POPULATION.values()
