"""The objects of users: alignments, sentence pairs, corpora, phrase pairs, trees, labels."""
