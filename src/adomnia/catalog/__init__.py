"""What the owner declares about the data: the catalog, read, checked and drafted."""
