"""Agreement beyond chance: C = (pi - pi0) / (1 - pi0)."""
