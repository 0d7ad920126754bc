"""The pages of releases: all that may be read, and one of them with its counts, its picture and its files."""
