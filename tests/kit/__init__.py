"""What several tests share: reference distributions, bit sources with a seed, and the vectors."""
