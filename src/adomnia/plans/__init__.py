"""What a question means, in our own words: all that comes after the text is read."""
