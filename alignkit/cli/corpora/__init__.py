"""The commands for whole corpora."""
