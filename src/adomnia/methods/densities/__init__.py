"""Densities: histograms, and laws that are fitted to them."""
