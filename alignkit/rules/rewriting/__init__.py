"""Rewriting parsed sentences by rules: the n best."""
