"""What a plan costs, how its price is split, and how far off its answer may be."""
