"""What users hold: alignments, sentence pairs, corpora, phrase pairs, trees, labels."""
