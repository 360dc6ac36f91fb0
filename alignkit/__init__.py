"""Build, check and use gold-standard word and phrase alignments."""
