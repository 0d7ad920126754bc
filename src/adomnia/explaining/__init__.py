"""Explains plans and prices in words and trees."""
