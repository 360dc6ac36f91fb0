"""The commands on whole corpora."""
