"""Hierarchical phrase pairs, and their labels from trees (SAMT)."""
