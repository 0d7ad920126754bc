"""What several tests share: reference laws, bit sources with a seed, and the vectors."""
