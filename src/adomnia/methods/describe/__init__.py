"""Describes columns: moments, quantiles, robust summaries, tables."""
