"""The table of formats; each has its own file with its specification.

This file loads neither formats nor NumPy: help needs only the names.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

from alignkit._support.arguments import check_arguments, check_known

if TYPE_CHECKING:
    from alignkit.io.format import Format

_TABLE = {
    "alignkit-xml": ("<", "alignkit's own XML; represents everything"),
    "alignkit-jsonl": ("{[", "alignkit's own JSON, one pair per line; represents everything"),
    "pharaoh": (
        "0123456789",
        "lines of i-j links (possible: i?j, ipj, 8-8P); words in separate files",
    ),
    "naacl": (
        "0123456789",
        "NAACL/WPT shared tasks: lines of sentence, i, j; words in separate files",
    ),
    "giza": ("#", "GIZA++ A3: three lines per pair, word ({ 1 2 })"),
    "rte": ("#", "GIZA A3 as in the RTE-2 alignments, with possible links"),
    "jacana": ("[/", "jacana JSON: sureAlign and possibleAlign"),
    "edinburgh": ("{", "Edinburgh++ JSON: several annotators per paraphrase"),
    "goldalign": ("/", "GoldAlign's folder of users, tab-separated"),
    "multimwa": ("", "MultiMWA, 10 or 11 tab-separated columns"),
    "xlwa": ("", "XL-WA, 3 tab-separated columns"),
    "one-line": ("", "lines of source ||| target ||| links"),
    "jsonl": ("{[", "JSON lines of word lists: src_words, tgt_words, alignment"),
    "yawat": ("/", "Yawat: .crp with the words, .aln with phrase groups"),
    "transread": ("/", "TransRead: groups with labels, words in a separate file"),
    "ists": ("<", "interpretable STS .wa: chunk pairs with type and score"),
    "blinker": ("0123456789/", "Blinker: one file of i j links per sentence pair"),
    "paraphrase-xml": ("<", "XML of paraphrases with several annotators"),
    "ugarit-xml": ("<", "Ugarit XML: numbered words with references, two or more languages"),
    "alpheios": ("{", "Alpheios JSON: groups of words, one origin and its translations"),
    "scripture": ("{", "JSON of ClearAligner and Scripture Burrito; words in files of tokens"),
    "ldc": ("0123456789-,", "LDC .wa: groups i,i-j,j(TYPE); words in separate files; read only"),
    "usfm": ("\\", "USFM 3 with alignments (\\zaln-s), of unfoldingWord's Bibles; read only"),
    "conllu": ("#1/", "CoNLL-U: words with lemmas, tags and trees; no links"),
    "pud": ("[", "JSON of Parallel Universal Dependencies; words in CoNLL-U files"),
    "ugarit-json": ("{", "Ugarit JSON: numbered words with references; read only"),
    "tmx": ("<", "TMX: translation units without links; read only"),
    "turku": ("", "Turku Paraphrase Corpus, JSON or TSV: judged pairs and rewrites; read only"),
    "parade": ("", "PARADE, 5 tab-separated columns: judged pairs; read only"),
    "apty": ("", "APTY's CSV: generated paraphrases of given types, judged; read only"),
    "apty-ranked": ("[", "APTY's JSON of ranked paraphrases; read only"),
    "etpc": ("</", "ETPC's folder of XML: relations of paraphrase types; read only"),
    "judgments": ("", "tables of judgments, CSV, TSV or XLSX: for several annotators; read only"),
}
"""Each format: the characters that a file usually begins with (``/``: a folder or several files;
none: any character), and a description. The module of the same name implements it."""

FORMATS = {name: about for name, (_, about) in _TABLE.items()}
"""The name of each format and a description."""

WRITTEN = {name: about for name, about in FORMATS.items() if not about.endswith("read only")}
"""The formats that can also be written."""


def get_format(name: str) -> Format:
    """Look up a format.

    Parameters
    ----------
    name : A name in `FORMATS`.

    Raises
    ------
    UnknownNameError : If there is no format with that name.

    Examples
    --------
    >>> naacl = get_format("naacl")
    >>> naacl.base, naacl.text_beside
    (1, True)
    """
    check_arguments(get_format, locals())
    check_known("format", name, FORMATS)
    module = import_module(f"alignkit.io.formats.{name.replace('-', '_')}")
    chosen: Format = module.FORMAT
    return chosen


_SIGNS = {"{": '":', "[": '":'}
"""What JSON has behind its first character."""


def formats_by_beginning(text: str) -> Iterator[str]:
    """Yield the names of formats, first those that a file with this beginning is likely to have.

    The first character of a file may be damaged: formats that need another one follow if the
    beginning has a sign of them.
    """
    first = text[:1]
    others: dict[str, str] = {}
    for name, (begins, _) in _TABLE.items():
        if not first or first in begins:
            yield name
        else:
            others[name] = begins.strip("/")
    for name, begins in others.items():
        if not begins:
            yield name
    for name, begins in others.items():
        if any(_SIGNS.get(char, char) in text for char in begins):
            yield name


def formats_of_folders() -> list[str]:
    """Return the names of formats that can be a folder, or several files with one name."""
    return [name for name, (begins, _) in _TABLE.items() if "/" in begins]
