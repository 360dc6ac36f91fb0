"""Read files of constituent trees: brackets for each sentence.

Specification
-------------
Three forms, also compressed (``.gz``):

- ``penn``: one tree per line; a blank line is a sentence without a parse; several trees on a line
  are the parse of a side with several sentences.
- ``mrg``: trees over several lines, as in the Penn treebank. A tree begins with a bracket at the
  start of a line; blank lines have no meaning. A sentence without a parse is ``()`` or ``(())``.
- ``stanford-xml``: the output of Stanford's tools. Each ``<s>`` has a ``<tree style="penn">``, or
  each ``<sentence>`` below ``<sentences>`` a ``<parse>``; without it, there is no parse.

For the brackets, see `alignkit.model.brackets`. XML is read without entities and network.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from os import PathLike, fspath
from typing import TYPE_CHECKING, NamedTuple

from alignkit._support.arguments import check_arguments, check_known, each, naming_keywords
from alignkit.errors import FormatError, JoinError, OptionError
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import Finding, Line, TextFile
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.tree_words import read_fitting

TREE_NAME = "parse"
"""The default name of trees."""

_LONG = 65535  # from this line on libxml2 numbers an element by the end of the text in it
_HEAD = 200  # lines that tell the form
_BRACKET = re.compile(r"\\[()\\]|[()]")

if TYPE_CHECKING:
    from alignkit.model.trees import Tree


class WrittenTree(NamedTuple):
    """A tree as written in its file."""

    text: str  # the brackets; blank where the sentence has no parse
    line: int  # the line, from 1, at which the text begins
    before: int | None = 0  # the characters before it in that line; None if unknown

    def placed(self, error: FormatError, path: str, about: str = "") -> FormatError:
        """Return an error of the text as one of the file; this moves line and column."""
        line = self.line + (error.line or 1) - 1
        column = error.column
        if error.line == 1 and column is not None:
            if self.before is None:
                about = f"{about}character {column} of the tree: "
                column = None
            else:
                column += self.before
        return FormatError(f"{about}{error.message}", path, line, column)


def written_trees(file: TextFile, form: str | None = None) -> Iterator[WrittenTree]:
    """Yield the trees of a file, in the order of its sentences."""
    if form is not None:
        check_known("format of trees", form, TREE_FORMATS)
    if form is None and file.path != "-":  # standard input cannot be looked at
        with file.open() as stream:
            head = stream.read(512).replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")
        form = "stanford-xml" if head.startswith(b"<") else None
    if form == "stanford-xml":
        return _xml_trees(file)
    lines = file.lines()
    first = list(islice(lines, _HEAD))
    if form is None:
        filled = [line for _, line in first if line.strip()]
        begun = [line for line in filled if line.startswith("(")] or filled
        whole = [line for line in begun if line.count("(") == line.count(")")]
        many = re.search(r"\.mrg(\.|$)", file.path) or len(whole) * 2 < len(begun)
        form = "mrg" if many else "penn"
    return TREE_FORMATS[form](file, chain(first, lines))


def _without_xml(file: TextFile, lines: Iterator[Line]) -> Iterator[Line]:
    """Yield the lines; refuse XML."""
    for number, text in lines:
        if number == 1 and text.lstrip().startswith("<"):
            raise file.error(
                "XML instead of brackets; "
                'XML on standard input is read by `tree_format="stanford-xml"`',
                number,
            )
        yield number, text


def _one_line_trees(file: TextFile, lines: Iterator[Line]) -> Iterator[WrittenTree]:
    for number, text in _without_xml(file, lines):
        yield WrittenTree(text, number)


def _many_line_trees(file: TextFile, lines: Iterator[Line]) -> Iterator[WrittenTree]:
    """Yield trees over several lines.

    A tree ends before a bracket at the start of a line, if all brackets are closed or a line was
    indented, or before a blank line, if all brackets are closed.
    """
    part: list[str] = []  # the lines of the tree so far
    first = 0  # the number of the first of them
    size = 0  # their characters
    depth = 0  # their brackets that are not closed
    indented = False  # whether one of them is, besides the first
    for number, text in _without_xml(file, lines):
        is_blank = not text.strip()
        begins = text.startswith("(") and (depth <= 0 or indented)
        if part and (begins or (is_blank and depth <= 0)):
            yield from _divided("\n".join(part), first)
            part = []
            size = 0
            depth = 0
            indented = False
        if is_blank and not part:
            continue
        if not part:
            first = number
        indented = indented or (bool(part) and text[:1] in (" ", "\t"))
        part.append(text)
        size += len(text)
        depth += text.count("(") - text.count(")")
        if size > file.options.max_size << 20:
            raise file.error(f"no tree ends within {file.options.max_size} megabytes", first)
    if part:
        yield from _divided("\n".join(part), first)


def _divided(text: str, line: int) -> Iterator[WrittenTree]:
    """Split consecutive trees; do not split if brackets do not match."""
    depth = 0
    start = 0
    parts = []
    for match in _BRACKET.finditer(text):
        is_escaped = len(match[0]) > 1
        if not is_escaped:
            depth += 1 if match[0] == "(" else -1
            if depth < 0:
                break
            if not depth:
                parts.append((start, match.end()))
                start = match.end()
    if depth or text[start:].strip() or len(parts) < 2:
        yield WrittenTree(text, line)
        return
    for start, end in parts:
        begin = end - len(text[start:end].lstrip())
        before = begin - text.rfind("\n", 0, begin) - 1
        yield WrittenTree(text[begin:end], line + text.count("\n", 0, begin), before)


def _xml_trees(file: TextFile, lines: Iterator[Line] | None = None) -> Iterator[WrittenTree]:
    """Yield the trees of Stanford's XML, one for each sentence."""
    from alignkit.io.safe_xml import line_of, local_name, read_nested

    has_sentences = False
    for element in read_nested(file, "s", "sentence"):
        parent = element.getparent()
        within = "" if parent is None else local_name(parent)
        if local_name(element) == "sentence" and within != "sentences":
            continue  # of a mention in a coreference
        has_sentences = True
        parses = []
        for child in element:
            name = local_name(child)
            if name == "parse" or (name == "tree" and child.get("style", "penn") == "penn"):
                parses.append(child)
        line = line_of(parses[0]) if parses else line_of(element)
        if parses and line >= _LONG:
            line -= (parses[0].text or "").count("\n")
        yield WrittenTree(" ".join(parse.text or "" for parse in parses), line, None)
    if not has_sentences:
        raise file.error("no <s> and no <sentence> below <sentences>, as from Stanford's tools")


TREE_FORMATS: dict[str, Callable[[TextFile, Iterator[Line]], Iterator[WrittenTree]]] = {
    "penn": _one_line_trees,
    "mrg": _many_line_trees,
    "stanford-xml": _xml_trees,
}
"""The reader of each form of tree files."""

Path = str | PathLike[str]


@naming_keywords
def read_trees(
    path: Path,
    *,
    tree_format: str | None = None,
    drop_function_tags: bool = False,
    drop_traces: bool = False,
    encoding: str = "utf-8",
    counts: Counter[str] | None = None,
) -> Iterator[Tree | None]:
    """Yield the trees of a file, one per sentence; None for a sentence without a parse.

    The words are as written; `attach_trees` adapts them to known words.

    Parameters
    ----------
    path : The file; ``-`` is standard input, ``.gz`` is decompressed.
    tree_format : ``"penn"`` (one per line), ``"mrg"`` or ``"stanford-xml"``, see
        `alignkit.io.tree_files`; None: detect it from the first lines.
    drop_function_tags, drop_traces : As in `alignkit.model.trees.Tree.parse`.
    encoding : The encoding of the file.
    counts : Gets the numbers of what was dropped, joined or not parsed.

    Raises
    ------
    FormatError : If the file cannot be read or a tree is invalid; the message gives line and
        column.

    Examples
    --------
    >>> tree = next(read_trees("samples/paraphrases.source.trees"))
    >>> tree.words[:3]
    ('A', 'fire', 'broke')
    """
    check_arguments(read_trees, locals())
    if counts is None:
        counts = Counter()
    how = {"drop_function_tags": drop_function_tags, "drop_traces": drop_traces}
    opened = TextFile(fspath(path), ReadOptions(encoding=encoding))
    file = _TreeFile(opened, tree_format, how, counts)
    return (file.tree(written, None, "") for written in file.written())


@naming_keywords
def attach_trees(
    pairs: Iterable[SentencePair],
    *,
    source_trees: Path | None = None,
    target_trees: Path | None = None,
    both_trees: Path | None = None,
    tree_name: str = TREE_NAME,
    tree_format: str | None = None,
    strict_trees: bool = False,
    lenient_trees: bool = False,
    drop_function_tags: bool = False,
    drop_traces: bool = False,
    encoding: str = "utf-8",
    counts: Counter[str] | None = None,
    observe: Callable[[Finding], None] | None = None,
) -> Iterator[SentencePair]:
    """Yield the pairs with trees from files: one tree per sentence, in the same order.

    Parameters
    ----------
    pairs : Sentence pairs with words.
    source_trees, target_trees : Files with the trees of one side.
    both_trees : A file with trees of both sides in turn: source, target, source, target, ...
    tree_name : The name of the trees in a pair.
    tree_format, encoding : As in `read_trees`.
    strict_trees, drop_function_tags, drop_traces : Like `strict` and the other options of
        `alignkit.model.trees.Tree.parse`.
    lenient_trees : Leave out and count a tree that is invalid or does not fit, instead of an error.
    counts : Gets the numbers of trees, and of what was dropped, joined, resolved, or not parsed.
    observe : Called with a `Finding` for each tree that is left out.

    Raises
    ------
    FormatError : If a tree is invalid or its leaves are not the words; the message gives line and
        column.
    JoinError : If the numbers of trees and sentences differ; the message gives both.
    MissingTextError : If a pair has no words.
    OptionError : If there is no file, or `both_trees` and another file.

    Examples
    --------
    >>> from alignkit import read_corpus
    >>> corpus = read_corpus("samples/paraphrases.jsonl")
    >>> pairs = attach_trees(corpus, source_trees="samples/paraphrases.source.trees")
    >>> next(pairs).tree("source").words[:3]
    ('A', 'fire', 'broke')
    """
    check_arguments(attach_trees, locals(), apart=["pairs"])
    has_sides = source_trees is not None or target_trees is not None
    if both_trees is not None and has_sides:
        raise OptionError(
            "`both_trees` already has both sides: leave out `source_trees` and `target_trees`"
        )
    if both_trees is None and not has_sides:
        raise OptionError("give a file of trees: `source_trees`, `target_trees` or `both_trees`")
    if counts is None:
        counts = Counter()
    how = {
        "drop_function_tags": drop_function_tags,
        "drop_traces": drop_traces,
        "strict": strict_trees,
    }
    options = ReadOptions(encoding=encoding)

    def open_file(path: Path) -> _TreeFile:
        file = TextFile(fspath(path), options)
        return _TreeFile(file, tree_format, how, counts, observe, lenient_trees)

    files: list[_TreeFile | None]
    if both_trees is not None:
        files = [open_file(both_trees)] * 2
    else:
        paths = (source_trees, target_trees)
        files = [None if path is None else open_file(path) for path in paths]
    return _attached(each("pairs", pairs, SentencePair), files, tree_name)


def _attached(
    pairs: Iterator[SentencePair], files: Sequence[_TreeFile | None], name: str
) -> Iterator[SentencePair]:
    """Yield the pairs with the next tree of the source's file, and of the target's.

    They are one file if it has the trees of both sides in turn.
    """
    sides = 2 if files[0] is files[1] else 1  # that a file has
    number = 0
    for number, pair in enumerate(pairs, 1):
        trees: list[Tree | None] = []
        for side, words, file in zip(("source", "target"), pair.words, files, strict=True):
            written = None if file is None else file.next()
            if file is not None and written is None:
                total = number + sum(1 for _ in pairs)
                raise file.wrong_count(total, sides, "the last one begins here")
            about = f"pair {pair.id[:40]!r}, {side}: "
            trees.append(file.tree(written, words, about) if file and written else None)
        yield pair.with_trees(name, source=trees[0], target=trees[1])
    for file in dict.fromkeys(files):  # one file of both sides is asked once
        if file is not None and file.next() is not None:
            raise file.wrong_count(number, sides, "the first extra one begins here")


@dataclass(eq=False)
class _TreeFile:
    """A file of trees, read one by one, with counts of all changes."""

    file: TextFile
    form: str | None
    how: dict[str, bool]  # the options of `read_fitting`
    counts: Counter[str]
    observe: Callable[[Finding], None] | None = None
    lenient: bool = False
    taken: int = 0  # trees
    line: int = 0  # of the last of them

    def __post_init__(self) -> None:
        self._trees = self.written()

    def written(self) -> Iterator[WrittenTree]:
        """Yield the trees as written."""
        try:
            yield from written_trees(self.file, self.form)
        finally:
            self.file.close()

    def next(self) -> WrittenTree | None:
        """Return the next tree, or None at the end."""
        written = next(self._trees, None)
        if written is not None:
            self.taken += 1
            self.line = written.line
        return written

    def wrong_count(self, pairs: int, sides: int, last: str) -> JoinError:
        """Return the error for wrong numbers of trees; this reads the remaining ones."""
        trees = self.taken + sum(1 for _ in self._trees)
        place = self.file.path
        where = ""
        if self.taken:
            place = f"{self.file.path}:{self.line}"
            where = f"; {last}"
        times = f", which need {2 * pairs}" if sides == 2 else ""
        return JoinError(
            f"{place}: contains {trees} trees (including sentences without a parse) for "
            f"{pairs} sentence pairs{times}{where}; a sentence without a parse is a blank "
            "line"
        )

    def tree(self, written: WrittenTree, tokens: tuple[str, ...] | None, about: str) -> Tree | None:
        """Return the tree, over the words if they are known; None if there is none."""
        try:
            read = read_fitting(written.text, tokens, **self.how)
        except FormatError as problem:
            error = written.placed(problem, self.file.path, about)
            if not self.lenient:
                raise error from None
            self.counts["trees that do not fit, left out"] += 1
            if self.observe is not None:
                kind = "tree that does not fit"
                self.observe(Finding(kind, error.message, self.file.path, error.line))
            return None
        if read is None:
            self.counts["sentences without a parse"] += 1
            return None
        done = "left out" if self.how["drop_traces"] else "kept as words"
        changes = (
            ("trees", 1),
            ("labels without their function tags", read.function_tags),
            (f"traces {done}", read.traces),
            ("sides with several trees, joined below TOP", read.joined > 1),
            ("trees with brackets as words, told by the text", read.resolved),
        )
        for kind, number in changes:
            if number:
                self.counts[kind] += number
        from alignkit.model.trees import Tree  # NumPy

        return Tree.of_brackets(read, tokens)
