"""The formats of rules by name; which of them a file has."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module

from alignkit.errors import FormatError, UnknownNameError
from alignkit.formats.words import split_words
from alignkit.rules.files.fields import is_head, plain_float, split_fields
from alignkit.rules.files.format import RuleFormat
from alignkit.rules.files.notation import parse_side

RULE_FORMATS = {
    "tsv": "TREE ||| TREE ||| count p(t|s) p(s|t) and more by name; read back equal",
    "jsonl": "JSON, a rule a line; with alignments and examples; read back equal",
    "xrs": "GHKM and ISI: TREE -> STRING ### NAME=VALUE; read back equal",
    "joshua": "Thrax and Joshua: [NP] ||| SOURCE ||| TARGET ||| FEATURES ||| LINKS; flat",
    "moses": "Moses: SOURCE [X] ||| TARGET [NP] ||| SCORES ||| LINKS ||| COUNTS; flat",
    "ppdb": "PPDB: [NP] ||| SOURCE ||| TARGET ||| FEATURES ||| LINKS of all symbols; flat",
}
"""The name of each format of rules and what it is; the module of that name reads and writes it."""

_ENDINGS = {
    "tsv": "tsv",
    "jsonl": "jsonl",
    "xrs": "xrs",
    "ghkm": "xrs",
    "joshua": "joshua",
    "thrax": "joshua",
    "grammar": "joshua",
    "moses": "moses",
    "ppdb": "ppdb",
}
_OBJECT = re.compile(r'\s*\{\s*["}]')  # a label may begin with a brace
_LABEL = re.compile(r"\[\S+\]", re.ASCII)
_LIKE_PPDB = re.compile(r"(?<!\S)(PPDB|-logp\(|Abstract=|AGigaSim=|CharLogCR=)")


def get_rule_format(name: str) -> RuleFormat:
    """Look up a format of rules.

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    """
    if name not in RULE_FORMATS:
        raise UnknownNameError("format of rules", name, RULE_FORMATS)
    format: RuleFormat = import_module(f"alignkit.rules.files.{name}").FORMAT
    return format


def found_format(path: str, line: str) -> str | None:
    """Return the format of a file, given its name and its first line that holds something."""
    named = _ENDINGS.get(path.removesuffix(".gz").rpartition(".")[2].lower())
    written = _of_line(line)
    return named if written is None or {written, named} == {"joshua", "ppdb"} else written


def _of_line(line: str) -> str | None:
    if _OBJECT.match(line):
        return "jsonl"
    if is_head(line) or (" -> " in line and _holds(line.partition(" -> ")[0])):
        return "xrs"
    fields = split_fields(line)
    if len(fields) < 3:
        return None
    if _LABEL.fullmatch(fields[0]):
        told = " ".join(fields[3:4])
        return "ppdb" if len(fields) == 6 or _LIKE_PPDB.search(told) else "joshua"
    if _holds(fields[0]) and _holds(fields[1]):
        return "tsv"
    return "moses" if all(map(_is_number, split_words(fields[2]))) else None


def _holds(text: str) -> bool:
    return _works(parse_side, text)


def _is_number(text: str) -> bool:
    return _works(plain_float, text)


def _works(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except (FormatError, ValueError):
        return False
    return True
