"""Estimators that adapt to the data at hand, and the choice between ways to estimate one thing."""
