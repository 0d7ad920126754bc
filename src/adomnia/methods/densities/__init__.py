"""Densities: histograms, and distributions that are fitted to them."""
