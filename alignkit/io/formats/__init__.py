"""The formats by name; each has its own file with its specification."""

from __future__ import annotations

from collections.abc import Callable
from errno import ENOENT
from importlib import import_module

from alignkit._support.arguments import check_arguments, check_known
from alignkit.errors import MissingFileError, OptionError
from alignkit.io.format import AnyPath, Format
from alignkit.io.options import ReadOptions
from alignkit.io.records import Reading
from alignkit.io.text_files import Finding

FORMATS = {
    "alignkit-xml": "alignkit's own XML; represents everything",
    "alignkit-jsonl": "alignkit's own JSON, one pair per line; represents everything",
    "pharaoh": "lines of i-j links (possible: i?j, ipj, 8-8P); words in separate files",
    "naacl": "NAACL/WPT shared tasks: lines of sentence, i, j; words in separate files",
    "giza": "GIZA++ A3: three lines per pair, word ({ 1 2 })",
    "rte": "GIZA A3 as in the RTE-2 alignments, with possible links",
    "jacana": "jacana JSON: sureAlign and possibleAlign",
    "edinburgh": "Edinburgh++ JSON: several annotators per paraphrase",
    "goldalign": "GoldAlign's folder of users, tab-separated",
    "multimwa": "MultiMWA, 10 or 11 tab-separated columns",
    "xlwa": "XL-WA, 3 tab-separated columns",
    "jsonl": "JSON lines of word lists: src_words, tgt_words, alignment",
    "yawat": "Yawat: .crp with the words, .aln with phrase groups",
    "transread": "TransRead: groups with labels, words in a separate file",
    "ists": "interpretable STS .wa: chunk pairs with type and score",
    "blinker": "Blinker: one file of i j links per sentence pair",
    "paraphrase-xml": "XML of paraphrases with several annotators",
    "ugarit-xml": "Ugarit XML: numbered words with references, two or more languages",
    "alpheios": "Alpheios JSON: groups of words, one origin and its translations",
    "scripture": "JSON of ClearAligner and Scripture Burrito; words in files of tokens",
    "conllu": "CoNLL-U: words with lemmas, tags and trees; no links",
    "pud": "JSON of Parallel Universal Dependencies; words in CoNLL-U files",
    "ugarit-json": "Ugarit JSON: numbered words with references; read only",
    "tmx": "TMX: translation units without links; read only",
    "turku": "Turku Paraphrase Corpus, JSON or TSV: judged pairs and rewrites; read only",
    "parade": "PARADE, 5 tab-separated columns: judged pairs; read only",
    "apty": "APTY's CSV: generated paraphrases of given types, judged; read only",
    "apty-ranked": "APTY's JSON of ranked paraphrases; read only",
    "etpc": "ETPC's folder of XML: relations of paraphrase types; read only",
}
"""The name of each format and a description; the module of the same name implements it."""

WRITTEN = {name: about for name, about in FORMATS.items() if not about.endswith("read only")}
"""The formats that can also be written."""


def get_format(name: str) -> Format:
    """Look up a format.

    Raises
    ------
    UnknownNameError : If there is no format with that name.
    """
    check_arguments(get_format, locals())
    check_known("format", name, FORMATS)
    module = import_module(f"alignkit.io.formats.{name.replace('-', '_')}")
    chosen: Format = module.FORMAT
    return chosen


def check_path(path: AnyPath) -> None:
    """Reject the empty path, which `pathlib` takes for the current folder."""
    if not str(path):
        raise MissingFileError("", ENOENT, "its name is empty; name a file or a folder")


def prepare(
    path: AnyPath,
    format: str,
    options: ReadOptions,
    observe: Callable[[Finding], None] | None = None,
) -> tuple[Format, Reading]:
    """Return a format, and the reading of a file in it."""
    check_path(path)
    chosen = get_format(format)
    if (options.source or options.target) and not chosen.text_beside:
        raise OptionError(f"format {format} contains the words: leave out `source` and `target`")
    if options.languages and not chosen.languages:
        raise OptionError(f"format {format} has no names of languages: leave out `languages`")
    if chosen.by_id and (options.base is not None or options.transpose):
        raise OptionError(f"format {format} names words by ids: leave out `base` and `transpose`")
    if options.target and not options.source:
        raise OptionError("`target` needs `source`; if both sides are in one file, use `source`")
    if [str(path), options.source, options.target].count("-") > 1:
        raise OptionError("only one input can be standard input ('-')")
    return chosen, Reading(str(path), options, base=chosen.base, observe=observe, format=format)
