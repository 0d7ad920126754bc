"""The pages of answers."""
