"""Plans, prices and reasons, in words and trees."""
