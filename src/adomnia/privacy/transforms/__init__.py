"""What is computed from exact integers before noise, by public facts alone."""
