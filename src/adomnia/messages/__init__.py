"""What people are told, as values: texts that name options and calls by reference, and what programs act on."""
