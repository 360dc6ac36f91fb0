"""Two limits that protect the memory from malicious files."""

MAX_MEGABYTES = 64
"""The most that is read as one piece (a line, an XML element, a JSON text of several lines),
uncompressed, in megabytes."""

MAX_WORDS = 10_000
"""The most words of a sentence."""
