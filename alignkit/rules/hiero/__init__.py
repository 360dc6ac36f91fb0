"""Hierarchical phrase pairs, and their labels by trees (SAMT)."""
