"""Learn hiero and syntax-augmented grammars from aligned corpora, in memory or to a file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from tempfile import gettempdir
from typing import Any, TextIO

import numpy as np

from alignkit._support.arguments import check_arguments, check_known
from alignkit._support.jit import readonly
from alignkit.errors import MissingTextError, OptionError, UnknownNameError
from alignkit.io.atomic_files import replacing, sorting_folder
from alignkit.io.inputs import Choice
from alignkit.model.alignment import SIDES
from alignkit.model.phrase_arrays import LINKS
from alignkit.model.sentence_pair import SentencePair
from alignkit.rules.files import WrittenRules, get_rule_format, rule_lines
from alignkit.rules.grammar import Grammar, RuleType, check_kinds
from alignkit.rules.hiero import counts as counting
from alignkit.rules.hiero.extraction import HieroOptions
from alignkit.rules.hiero.text import LAYOUTS, RuleText
from alignkit.rules.hiero.text_kernel import identical
from alignkit.rules.tables.runs import I4

GRAMMARS = ("hiero", "samt")  # the grammars: all labels X, or labels from the trees of one side


@dataclass(frozen=True)
class HieroSummary:
    """The counts of a written grammar."""

    rules: int  # how many rule types were written
    tokens: int  # how many rules were seen, those that were left out included
    bytes: int  # how many bytes were written, in UTF-8
    sorted_bytes: int  # how many bytes of what was counted went to disk for a while
    pairs: int  # how many sentence pairs rules were learned from
    left_out: Mapping[str, int] = field(default_factory=dict)
    passed_over: Mapping[str, int] = field(default_factory=dict)


def learn_hiero(
    pairs: Iterable[SentencePair],
    *,
    grammar: str = "hiero",
    annotator: str | None = None,
    links: str = "sure",
    side: str = "target",
    tree: str | None = None,
    options: HieroOptions | None = None,
    min_count: int = 1,
    examples: int = 0,
    lexical: bool = True,
    folder: str | None = None,
    room: int = counting.ROOM,
    progress: counting.OnProgress | None = None,
) -> Grammar:
    """Learn a hiero or syntax-augmented grammar; if it does not fit in memory, use `write_hiero`.

    Parameters
    ----------
    pairs : The sentence pairs, which have words; for ``"samt"`` also trees.
    grammar : ``"hiero"``: all labels are X; ``"samt"``: labels come from the trees of one side.
    annotator, links, options, side : As for `extract_hiero`; `tree` is the name of the trees, None
        for the only ones.
    min_count : The least count of a rule; rarer rules still count for the probabilities.
    examples : The number of places to keep for each rule, in different pairs; needs all pairs in
        memory.
    lexical : Whether to compute lexical weights.
    folder, room : The folder for sorting what does not fit in memory, and the bytes for counting
        rules.
    progress : Called with the number of finished and of all steps, once all pairs are read.

    Raises
    ------
    UnknownNameError : If `grammar`, `links`, `side` or `annotator` is unknown.
    MissingTextError : If no aligned pair has words.
    OptionError : If there are several annotators or trees and none is named, or no alignments or
        trees.

    Examples
    --------
    >>> from alignkit.model.alignment import Alignment
    >>> gold = {"gold": Alignment.parse("0-0 1-2 2-1")}
    >>> pairs = [SentencePair("1", ("le", "chat", "noir"), ("the", "black", "cat"), gold)]
    >>> for entry in learn_hiero(pairs):
    ...     print(*entry.rule.source.children, "|", *entry.rule.target.children, entry.p_target)
    chat | cat 1.0
    chat noir | black cat 1.0
    le | the 1.0
    le chat noir | the black cat 1.0
    le Variable(number=0, label='X', kind='x') | the Variable(number=0, label='X', kind='x') 1.0
    noir | black 1.0
    """
    check_arguments(learn_hiero, locals())
    if examples < 0:
        raise OptionError(f"`examples` is {examples}; it must be 0 or more")
    check_known("links", links, LINKS)
    rows = _Rows(pairs, grammar, annotator, side, tree)
    kept: list[counting.Row] = []
    how = options or HieroOptions(), links, rows.side, lexical, room
    with counting.HieroCounts(folder or gettempdir(), *how) as counts:
        if examples:
            kept += rows
        counts.add(kept if examples else rows)
        blocks = counts.rules(min_count=min_count, progress=progress)
        types = [entry for block in blocks for entry in block.types()]
    if examples:
        types = counting.with_examples(types, kept, counts.encoder, examples)
    types.sort(key=lambda type: (-(type.count or 0), *map(_sort_key, type.rule)))
    dropped = {_rarer(min_count): counts.rare} if counts.rare else {}
    return Grammar(tuple(types), grammar, dropped, counts.pairs, dict(rows.passed_over))


def _rarer(min_count: int) -> str:
    return f"types seen less than {min_count} times"


def _sort_key(side: Any) -> str:
    items = (side.label, *side.children)
    return " ".join(x if isinstance(x, str) else f"x{x.number}:{x.label}" for x in items)


def write_hiero(
    pairs: Iterable[SentencePair],
    path: str | os.PathLike[str],
    *,
    format: str = "tsv",
    grammar: str = "hiero",
    annotator: str | None = None,
    links: str = "sure",
    side: str = "target",
    tree: str | None = None,
    options: HieroOptions | None = None,
    min_count: int = 1,
    identity: bool = True,
    kinds: Collection[str] | None = None,
    lexical: bool = True,
    room: int = counting.ROOM,
    progress: counting.OnProgress | None = None,
) -> HieroSummary:
    """Learn a hiero or syntax-augmented grammar of any size, and write it to a file.

    Parameters
    ----------
    pairs, grammar, annotator, links, side, tree, options, min_count, lexical, room, progress : As
        for `learn_hiero`.
    path : The file, put in place after everything is written; ``-`` is standard output. Its folder
        is used to sort what does not fit in memory.
    format : One of `alignkit.rules.files.RULE_FORMATS`.
    identity : Whether to write rules with two equal sides, if `kinds` is None.
    kinds : The kinds of `alignkit.rules.grammar` to write; None for all.

    Returns
    -------
    HieroSummary
        The counts of the written rules. The rules are sorted by label, source side and target side,
        symbol by symbol, variables before words.

    Raises
    ------
    UnknownNameError, MissingTextError, OptionError : As for `learn_hiero`.
    WriteError : If the file cannot be written, or the disk is full.

    Notes
    -----
    Memory is `room`, twice the size of the largest group of rules that share a side, and the data
    about words: about 200 bytes per word, and 16 to 48 bytes per linked pair of words.

    Examples
    --------
    >>> from alignkit.model.alignment import Alignment
    >>> gold = {"gold": Alignment.parse("0-0 1-2 2-1")}
    >>> pairs = [SentencePair("1", ("le", "chat", "noir"), ("the", "black", "cat"), gold)]
    >>> options = HieroOptions(max_length=2, max_variables=1)
    >>> summary = write_hiero(pairs, "-", options=options, format="moses", lexical=False)
    chat [X] ||| cat [X] ||| 1 1 ||| 0-0 ||| 1 1 1
    chat noir [X] ||| black cat [X] ||| 1 1 ||| 0-1 1-0 ||| 1 1 1
    le [X] ||| the [X] ||| 1 1 ||| 0-0 ||| 1 1 1
    noir [X] ||| black [X] ||| 1 1 ||| 0-0 ||| 1 1 1
    >>> summary.rules, summary.tokens
    (4, 4)
    """
    check_arguments(write_hiero, locals())
    get_rule_format(format)
    check_kinds(kinds)
    check_known("links", links, LINKS)
    rows = _Rows(pairs, grammar, annotator, side, tree)
    file = os.fspath(path)
    how = options or HieroOptions(), links, rows.side, lexical, room
    with replacing(file) as stream, counting.HieroCounts(sorting_folder(file), *how) as counts:
        counts.add(rows)
        writer = _Writer(stream, format, identity, kinds)
        for block in counts.rules(min_count=min_count, progress=progress):
            writer.write(block)
    left_out = {_rarer(min_count): counts.rare, **writer.left_out}
    return HieroSummary(
        writer.rules, counts.tokens, writer.bytes, counts.sorted_bytes, counts.pairs,
        {why: count for why, count in left_out.items() if count}, dict(rows.passed_over),
    )  # fmt: skip


class _Writer:
    """Write blocks of rules, and count them."""

    def __init__(
        self, stream: TextIO, format: str, identity: bool, kinds: Collection[str] | None
    ) -> None:
        self._stream, self._format = stream, format
        self._identity, self._kinds = identity or kinds is not None, kinds
        self._text: RuleText | None = None
        self._folded: I4 | None = None
        self._written = WrittenRules()
        self.rules = self.bytes = 0
        self.left_out: Counter[str] = Counter()

    def write(self, block: counting.HieroBlock) -> None:
        if not self._identity:
            block = self._without_identity(block)
        if self._format in LAYOUTS and self._kinds is None:
            self._text = self._text or RuleText(LAYOUTS[self._format], block)
            for data in self._text.lines(block):
                self._stream.write(data.decode())
                self.bytes += len(data)
            self.rules += len(block)
            return
        types: Iterable[RuleType] = block.types()
        if self._kinds is not None:
            types = [type for type in types if type.kind in self._kinds]
            self.left_out["of other kinds"] += len(block) - len(types)
        for line in rule_lines(types, self._format, written=self._written):
            self._stream.write(line)
            self.bytes += len(line.encode())
        self.rules = self._written.rules

    def _without_identity(self, block: counting.HieroBlock) -> counting.HieroBlock:
        if self._folded is None:
            numbers: dict[str, int] = {}
            folded = [numbers.setdefault(word.casefold(), len(numbers)) for word in block.words]
            self._folded = np.array(folded, np.int32)
        same = np.empty(len(block), np.uint8)
        identical(
            readonly(block.symbols), readonly(block.offsets), len(block.labels), self._folded, same
        )
        self.left_out["identity"] += int(same.sum())
        return block.take(np.flatnonzero(same == 0))


class _Rows:
    """The pairs with their alignment and tree; pairs that lack one are counted."""

    def __init__(
        self, pairs: Iterable[SentencePair], grammar: str, annotator: str | None, side: str,
        tree: str | None,
    ) -> None:  # fmt: skip
        check_known("grammar", grammar, GRAMMARS)
        check_known("side", side, SIDES)
        self._pairs, self._tree = pairs, tree
        self.side = side if grammar == "samt" else None
        self._choice = Choice("the corpus", annotator)
        self.passed_over: Counter[str] = Counter()

    def __iter__(self) -> Iterator[counting.Row]:
        names: dict[str, None] = {}
        taken = 0
        for pair in self._pairs:
            alignment = self._choice.of(pair)
            if alignment is None:
                self.passed_over["not aligned"] += 1
            elif not pair.has_text:
                self.passed_over["without words"] += 1
            elif self.side is None:
                taken += 1
                yield pair, alignment, None
            else:
                trees = getattr(pair, f"{self.side}_trees")
                names.update(dict.fromkeys(trees))
                if self._tree not in trees if self._tree is not None else not trees:
                    self.passed_over["not parsed"] += 1
                else:
                    taken += 1
                    yield pair, alignment, pair.tree(self.side, self._tree)
        self._choice.check()
        if self.passed_over and not taken:
            self._refuse(names)

    def _refuse(self, names: Collection[str]) -> None:
        if self.passed_over["not parsed"]:
            if self._tree is not None and names:
                raise UnknownNameError(f"{self.side} tree", self._tree, names)
            other = "source" if self.side == "target" else "target"
            what = f"no pair has a tree of the {self.side} side to take labels from"
            add = f"add `{self.side}_trees`"
            raise OptionError(f'{what}; {add}, or use the other side: `side="{other}"`')
        if self.passed_over["without words"]:
            raise MissingTextError("no aligned pair has words; rules need words")
        raise OptionError("no pair is aligned")
