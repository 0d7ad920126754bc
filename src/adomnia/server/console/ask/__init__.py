"""The page where questions are asked."""
