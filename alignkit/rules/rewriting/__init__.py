"""Rewrite parsed sentences by rules: the n best."""
