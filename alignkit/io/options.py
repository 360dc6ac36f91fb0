"""Options of reading a file; functions, commands and docs are generated from them."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, TypedDict

from alignkit._support.arguments import check_attributes, check_known
from alignkit.errors import OptionError
from alignkit.io.limits import MAX_MEGABYTES, MAX_WORDS
from alignkit.model.texts import SEPARATORS


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """Facts that a file does not state about itself; nothing is guessed.

    The texts below are also the help of the commands.

    `read_corpus` takes the fields as keywords.

    Parameters
    ----------
    base : number of the first word (default: as the format has it, 0 for pharaoh, 1 for naacl)
    transpose : links are written target first
    source : source sentences, if the format has no words (as pharaoh); alone: source ||| target
    target : target sentences, if the format has no words (as pharaoh)
    link_weights : a number for each link, on the same lines as the links (pharaoh)
    languages : languages of source and target, if the file has several (default: its first two)
    text_ids : whether each line of the texts begins with an id and a tab (default: yes if all lines
        do, no id occurs twice, and two texts have the same ids)
    token_separators : white space between words: ascii, or unicode, at which Python's str.split
        and tools that use it divide too, such as U+00A0 and U+3000 (default: ascii)
    encoding : encoding of all input (default: utf-8)
    drop_out_of_range : drop and count links outside their sentence (default: an error)
    partial : accept files with fewer pairs or alignments than others; the rest is not annotated
        there (default: an error)
    unescape : turn &quot; and similar escapes into characters (default: keep them)
    name : name of the annotator, for formats without names (default: alignment)
    lenient : leave out and count broken records; control characters become U+FFFD (default: both
        are errors)
    lenient_labels : keep and count labels that are not in the scheme (default: an error)
    unquote : remove quotation marks around whole texts (turku; default: keep them)
    raw : keep the texts as they were generated (apty; default: the corrected ones)
    no_text : if there are no texts, take the words that annotations quote, and '_' for others
        (etpc; default: no words)
    max_size : refuse longer lines, larger XML elements, and larger files that must be read as a
        whole (default: 64)
    max_words : refuse longer sentences (default: 10000)

    Examples
    --------
    >>> import alignkit
    >>> folder = "samples/french-english/"
    >>> texts = {"source": folder + "fr.txt", "target": folder + "en.txt"}
    >>> corpus = alignkit.read_corpus(folder + "gold.align", name="gold", **texts)
    >>> corpus.annotators, corpus[0].source[:3]
    (('gold',), ('Le', 'maire', 'a'))
    """

    base: int | None = None
    transpose: bool = False
    source: str | None = None
    target: str | None = None
    link_weights: str | None = None
    languages: tuple[str, str] | None = None
    text_ids: bool | None = None
    token_separators: str = "ascii"
    encoding: str = "utf-8"
    drop_out_of_range: bool = False
    partial: bool = False
    unescape: bool = False
    name: str | None = None
    lenient: bool = False
    lenient_labels: bool = False
    unquote: bool = False
    raw: bool = False
    no_text: bool = False
    max_size: int = MAX_MEGABYTES
    max_words: int = MAX_WORDS

    def __post_init__(self) -> None:
        check_file_options(self, "source", "target", "link_weights")
        check_known("token_separators", self.token_separators, SEPARATORS)
        if self.languages is None:
            return
        if len(self.languages) != 2:
            raise OptionError(f"`languages` must name two languages, not {len(self.languages)}")
        object.__setattr__(self, "languages", tuple(self.languages))


def check_file_options(options: Any, *paths: str) -> None:
    """Check frozen options of a file, and replace the paths in some fields by texts."""
    for name in paths:
        path = getattr(options, name)
        if isinstance(path, PathLike):
            object.__setattr__(options, name, fspath(path))
    check_attributes(options)
    if options.base not in (None, 0, 1):
        raise OptionError(f"`base` must be 0 or 1, not {options.base}")


class LinkReadKeywords(TypedDict, total=False):
    """The options of `ReadOptions` that matter for links, as a type checker sees them."""

    base: int | None
    transpose: bool
    source: str | PathLike[str] | None
    target: str | PathLike[str] | None
    link_weights: str | PathLike[str] | None
    languages: tuple[str, str] | None
    text_ids: bool | None
    token_separators: str
    encoding: str
    drop_out_of_range: bool
    partial: bool
    unescape: bool
    name: str | None
    lenient: bool
    raw: bool
    max_size: int
    max_words: int


class ReadKeywords(LinkReadKeywords, total=False):
    """The options of `ReadOptions`."""

    lenient_labels: bool
    unquote: bool
    no_text: bool
