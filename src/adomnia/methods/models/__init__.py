"""Models: regressions and analyses of variance, from noisy sums."""
