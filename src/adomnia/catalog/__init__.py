"""The catalog, which is what the owner declares about the data: reading, checking and drafting it."""
