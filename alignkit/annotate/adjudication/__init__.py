"""From the votes of annotators to the gold standard."""
