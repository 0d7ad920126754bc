"""Distributions with parameters: fitted by likelihood from noisy statistics, or inferred by Bayes' rule."""
