"""Measure agreement beyond chance: C = (pi - pi0) / (1 - pi0), of two annotators at one level."""
