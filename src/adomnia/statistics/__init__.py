"""Statistics: what analysts ask for, as generators that ask for noisy measurements and never hold data."""
