"""The exhibits of the gallery, in their order: a new one is its file and one line here."""

from exhibits import (
    allowances,
    averaging,
    bounds,
    composition,
    counts,
    databases,
    density,
    efficient_estimator,
    height_weight,
    no_reply,
    randomized_response,
    repeated,
    salaries,
)

EXHIBITS = (
    bounds.EXHIBIT,
    counts.EXHIBIT,
    repeated.EXHIBIT,
    salaries.EXHIBIT,
    randomized_response.EXHIBIT,
    averaging.EXHIBIT,
    height_weight.EXHIBIT,
    allowances.EXHIBIT,
    composition.EXHIBIT,
    databases.EXHIBIT,
    density.EXHIBIT,
    efficient_estimator.EXHIBIT,
    no_reply.EXHIBIT,
)
