"""Constituent trees: flat arrays inside, Penn brackets and nltk's `Tree` at the face."""

from alignkit.trees.tree import Child, Tree

__all__ = ["Child", "Tree"]
