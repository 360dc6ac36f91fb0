from .vector_files import read_vectors as read_vectors
from .word_vectors import Vectors as Vectors
from .word_vectors import WordVectors as WordVectors
from .word_vectors import vectors_of as vectors_of
