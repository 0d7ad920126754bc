"""Models: regressions, read from formulas and fitted to noisy sums."""
