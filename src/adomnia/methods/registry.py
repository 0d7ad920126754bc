"""All methods by their names: joining this tuple is how one is accepted, and contract tests find it here."""

from collections.abc import Mapping
from types import MappingProxyType

from adomnia.methods.contract import Method
from adomnia.methods.densities import density, fit_distribution, histogram
from adomnia.methods.describe import (
    association,
    center_of_attention,
    correlations,
    covariances,
    crosstab,
    ecdf,
    frequencies,
    huber_location,
    iqr,
    mad,
    modes,
    quantiles,
    sample_and_aggregate,
    summary,
    trimmed_mean,
    winsorized_mean,
)
from adomnia.methods.likelihood import fit_family, mle, posterior
from adomnia.methods.models import anova, huber_regression, kernel_regression, knn_regression, lm, logit, poisson, ridge
from adomnia.methods.releases import aim, boosting, marginals, mst, mwem, range_counts, small_database, top_down
from adomnia.methods.robust import location, ptr_iqr, ptr_median, robust_lm, smooth_quantile
from adomnia.methods.survival import kaplan_meier, log_rank
from adomnia.methods.testing import (
    chi_square_test,
    correlation_test,
    goodness_of_fit,
    kendall,
    kruskal_wallis,
    ks_test,
    mann_whitney,
    mcnemar,
    oneway_anova,
    proportion_test,
    signed_rank,
    spearman,
    t_test,
)

_ALL: tuple[Method, ...] = (
    summary.METHOD,
    quantiles.METHOD,
    iqr.METHOD,
    mad.METHOD,
    trimmed_mean.METHOD,
    winsorized_mean.METHOD,
    sample_and_aggregate.METHOD,
    huber_location.METHOD,
    center_of_attention.METHOD,
    covariances.METHOD,
    correlations.METHOD,
    frequencies.METHOD,
    modes.METHOD,
    crosstab.METHOD,
    association.METHOD,
    ecdf.METHOD,
    histogram.METHOD,
    density.METHOD,
    fit_distribution.METHOD,
    fit_family.METHOD,
    posterior.METHOD,
    mle.METHOD,
    lm.METHOD,
    ridge.METHOD,
    logit.METHOD,
    poisson.METHOD,
    huber_regression.METHOD,
    kernel_regression.METHOD,
    knn_regression.METHOD,
    anova.METHOD,
    t_test.METHOD,
    proportion_test.METHOD,
    chi_square_test.METHOD,
    goodness_of_fit.METHOD,
    ks_test.METHOD,
    mann_whitney.METHOD,
    kruskal_wallis.METHOD,
    signed_rank.METHOD,
    mcnemar.METHOD,
    correlation_test.METHOD,
    spearman.METHOD,
    kendall.METHOD,
    oneway_anova.METHOD,
    kaplan_meier.METHOD,
    log_rank.METHOD,
    location.METHOD,
    smooth_quantile.METHOD,
    ptr_iqr.METHOD,
    ptr_median.METHOD,
    robust_lm.METHOD,
    marginals.METHOD,
    range_counts.METHOD,
    top_down.METHOD,
    mwem.METHOD,
    small_database.METHOD,
    boosting.METHOD,
    aim.METHOD,
    mst.METHOD,
)
METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _ALL})


def find_method(name: str) -> Method | None:
    """The method of that name, however it is spelled."""
    return METHODS.get(name.lower())
