"""What people and programs see, as records that tests hold frozen."""
