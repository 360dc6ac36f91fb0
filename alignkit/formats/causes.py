"""Say why no format fits a file: what it looks like, and what is wrong with it as such."""

from __future__ import annotations

import re
from collections.abc import Sequence

from alignkit.formats.registry import FORMATS
from alignkit.formats.sample import Sample
from alignkit.formats.trial import Trial
from alignkit.labels.schemes import get_scheme

_LINK = re.compile(r"[0-9]+[^\sA-Za-z]*[-?pP_:,./][^\sA-Za-z]*[0-9]+\S{0,2}")
_NUMBER = re.compile(r"[0-9]+")
_WORD = re.compile(r"[^\W\d_]{2}")
_MARKS = (
    ("[", '"label"', "turku"),
    ("[", '"txt', "turku"),
    ("[", "", "jacana"),
    ("{", '"paraphrases"', "edinburgh"),
    ("{", "", "jsonl"),
    ("<", "<paraphrase", "paraphrase-xml"),
    ("<", "<sentence", "ists"),
    ("#", "# Sentence pair", "giza"),
    ("#", "# sentence pair", "rte"),
)
"""How a file begins, and what stands among its first characters: what it looks like."""

_FIRST_HEADINGS = {"label": "turku", "four-class labels": "parade"}
_PARADE = 5  # columns, of which the first two are labels
_LABELS_OF_PARADE = re.compile(r"[0-3]\t[01]")
_GOLD_ROW = range(5, 12)  # tabs in a line


def cause_of(sample: Sample, trials: Sequence[Trial]) -> str:
    """Return in words why none of the formats that were tried fits."""
    names = f"say which it is by `format`: {', '.join(FORMATS)}"
    if sample.head is None:
        return f"no format fits this folder; {names}"
    none = "no format fits this file's first records"
    line = sample.first.split("\n")[0].rstrip("\r")
    name = _looks_like(sample.first, line)
    complaints = {trial.name: trial.reading.complaint for trial in trials}
    if complaints.get(name):
        return f"{none}; it looks like {name}, but {complaints[name]}"
    if name or line[:1] in ("<", "[", "{"):
        return f"{none}; {names}"
    if " ||| " in line:
        return f"{none}: it is text, 'source ||| target'; give it by `source`, beside its links"
    if _WORD.search(line):
        return (
            f"{none}: it is text without links; give it by `source` or `target`, beside its links"
        )
    return f"{none}; {names}"


def _looks_like(first: str, line: str) -> str:
    """Return the format that a file looks like by its first characters and its first line."""
    for start, mark, name in _MARKS:
        if first.startswith(start) and mark in first:
            return name
    columns = line.split("\t")
    if len(columns) > 1:
        if _LABELS_OF_PARADE.fullmatch("\t".join(columns[:2])) and len(columns) == _PARADE:
            return "parade"
        if columns[0].casefold() in _FIRST_HEADINGS:
            return _FIRST_HEADINGS[columns[0].casefold()]
        if len(columns) > 2 and columns[0] in get_scheme("turku").judgments:
            return "turku"
        if len(columns) - 1 in _GOLD_ROW:
            return "multimwa"
        return "pharaoh" if len(columns) == 2 and _are_links(columns[1]) else "xlwa"
    if _are_links(line):
        return "pharaoh"
    words = line.split()
    if words and all(map(_NUMBER.fullmatch, words[:2])):
        return "blinker" if len(words) < 3 else "naacl"
    return ""


def _are_links(text: str) -> bool:
    words = text.split()
    return sum(map(bool, map(_LINK.fullmatch, words))) * 2 > len(words)


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence lists them."""
    return " and ".join((", ".join(names[:-1]), names[-1]) if len(names) > 1 else names)


def typed(names: Sequence[str]) -> str:
    """Return what is to be typed so that a file is read as one of some formats."""
    return " or ".join(f'`format="{name}"`' for name in names)
