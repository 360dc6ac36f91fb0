"""Whose pairs are whose, in what order, and who sees suggestions."""
