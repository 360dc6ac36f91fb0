"""Manage an annotation project: assign pairs, import and export work, and look at the results.

A project is the file that `alignkit annotate` makes next to a corpus. The server may be running.

For example:
  alignkit project assign corpus.jsonl.alignkit --annotators anna ben
  alignkit project export corpus.jsonl.alignkit gold.jsonl --to alignkit-jsonl --done
"""

COMMANDS = {
    "assign": "assign pairs to annotators, order the pairs, and take a control sample",
    "import": "import corrected words, work done elsewhere, or more pairs",
    "export": "write the annotations as a corpus",
    "bias": "measure how far suggestions pull annotators",
    "yield": "count the pairs taken from documents",
    "log": "print the log, check it, or rebuild a project from it",
}
"""The subcommands; each has a module."""
