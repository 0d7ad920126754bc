"""What owners, and nobody else, look at: files before there is a catalog, and how well it fits the data."""
