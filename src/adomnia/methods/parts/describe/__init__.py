"""Parts of the methods for descriptions of columns."""
