"""Parts of the methods for survival times."""
