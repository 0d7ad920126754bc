"""Methods whose noise follows from the data at hand, not from the worst data that could be."""
