"""The face of a dataset: opening it, asking it, and the answers."""
