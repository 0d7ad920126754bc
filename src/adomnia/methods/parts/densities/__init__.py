"""Parts of the methods for densities."""
