"""The commands for phrase pairs and rules."""

FORMATS = ("tsv", "jsonl", "xrs", "joshua", "moses", "ppdb")
"""The formats of rules, listed here so that --help does not load their readers."""
