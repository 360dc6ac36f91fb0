"""The commands on phrase pairs and rules."""

FORMATS = ("tsv", "jsonl", "xrs", "joshua", "moses", "ppdb")
"""The formats of rules; help must not load what reads them."""
