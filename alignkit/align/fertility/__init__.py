"""IBM models 3 and 4."""
