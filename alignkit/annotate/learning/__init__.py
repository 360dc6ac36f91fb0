"""Learn from what is done while the rest is annotated, and tell what is corrected."""
