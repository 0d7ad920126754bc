"""Parts of the methods for regressions."""
