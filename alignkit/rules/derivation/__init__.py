"""Derive the rules of aligned trees: matched nodes, cuts, fragments."""
