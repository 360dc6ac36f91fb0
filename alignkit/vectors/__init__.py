"""Vectors of words, and their files."""

from __future__ import annotations

from alignkit.vectors.files import read_vectors
from alignkit.vectors.sentences import Vectors, vectors_of
from alignkit.vectors.word_vectors import WordVectors

__all__ = ["Vectors", "WordVectors", "read_vectors", "vectors_of"]
