"""Read trees from files, and attach them to the sentence pairs whose words they stand over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike, fspath
from typing import NamedTuple

from alignkit.arguments import check_arguments, each
from alignkit.errors import FormatError, JoinError, OptionError
from alignkit.formats.options import ReadOptions
from alignkit.formats.textfile import Finding, TextFile
from alignkit.formats.tree_files import TREE_NAME, WrittenTree, written_trees
from alignkit.sentence_pair import SentencePair
from alignkit.trees import Tree
from alignkit.trees.brackets import Brackets, read_brackets
from alignkit.trees.leaves import read_fitting

Path = str | PathLike[str]


class TreeOptions(NamedTuple):
    """Say how brackets are read; see `attach_trees`."""

    strict: bool = False
    drop_function_tags: bool = False
    drop_traces: bool = False
    lenient: bool = False


def read_trees(
    path: Path,
    *,
    tree_format: str | None = None,
    drop_function_tags: bool = False,
    drop_traces: bool = False,
    encoding: str = "utf-8",
    counts: Counter[str] | None = None,
) -> Iterator[Tree | None]:
    """Yield the trees of a file, one a sentence; None for one without a parse.

    Their words are as written; `attach_trees` fits them to known ones.

    Parameters
    ----------
    path
        The file; ``-`` is standard input, ``.gz`` is unpacked.
    tree_format
        ``"penn"`` (one a line), ``"mrg"`` or ``"stanford-xml"``, see `alignkit.formats.tree_files`;
        None tells it by the first lines.
    drop_function_tags, drop_traces
        As of `alignkit.trees.Tree.parse`.
    encoding
        The encoding of the file.
    counts
        Counts what was dropped, joined or not parsed.

    Raises
    ------
    FormatError
        If the file cannot be read, or a tree is none; the message names line and column.
    """
    check_arguments(read_trees, locals())
    options = TreeOptions(False, drop_function_tags, drop_traces)
    file = _TreeFile(path, tree_format, encoding, options, Counter() if counts is None else counts)
    return (file.tree(written, None, "") for written in file.written())


def attach_trees(
    pairs: Iterable[SentencePair],
    *,
    source: Path | None = None,
    target: Path | None = None,
    both: Path | None = None,
    name: str = TREE_NAME,
    tree_format: str | None = None,
    strict: bool = False,
    drop_function_tags: bool = False,
    drop_traces: bool = False,
    lenient: bool = False,
    encoding: str = "utf-8",
    counts: Counter[str] | None = None,
    observe: Callable[[Finding], None] | None = None,
) -> Iterator[SentencePair]:
    """Yield the pairs with the trees of files, one a sentence in the same order, over their words.

    Parameters
    ----------
    pairs
        Sentence pairs with words.
    source, target
        Files with the trees of a side.
    both
        A file with those of both sides in turn: source, target, source, target, ...
    name
        The name under which a pair has them.
    tree_format, encoding
        As of `read_trees`.
    strict, drop_function_tags, drop_traces
        As of `alignkit.trees.Tree.parse`.
    lenient
        Leave out, and count, a tree that is broken or does not fit, where an error would stop.
    counts
        Counts trees, what was dropped, joined, told by the words, refused or not parsed.

    observe
        Called with each tree that is left out, as a `Finding`.

    Raises
    ------
    FormatError
        If a tree is none, or its leaves are not the words; the message names line and column.
    JoinError
        If there are more or fewer trees than sentences; the message names both counts.
    MissingTextError
        If a pair has no words.
    OptionError
        If no file is named, or `both` and another.
    """
    check_arguments(attach_trees, locals(), apart=["pairs"])
    if both is not None and (source is not None or target is not None):
        raise OptionError("`both` names one file for both sides: leave out `source` and `target`")
    if source is None and target is None and both is None:
        raise OptionError("no file of trees is named: `source`, `target` or `both`")
    options = TreeOptions(strict, drop_function_tags, drop_traces, lenient)
    found = Counter() if counts is None else counts
    files = [
        None if path is None else _TreeFile(path, tree_format, encoding, options, found, observe)
        for path in (source, target, both)
    ]
    return _attached(each("pairs", pairs, SentencePair), files, name)


def _attached(
    pairs: Iterator[SentencePair], files: Sequence[_TreeFile | None], name: str
) -> Iterator[SentencePair]:
    source, target, both = (None if file is None else _Queue(file) for file in files)
    queues = (both, both) if both else (source, target)
    number = 0
    for number, pair in enumerate(pairs, 1):
        found: list[Tree | None] = []
        for side, words, queue in zip(("source", "target"), pair.words, queues, strict=True):
            if queue is None:
                found.append(None)
                continue
            written = queue.next()
            if written is None:
                total = number + sum(1 for _ in pairs)
                raise queue.wrong_count(total, 1 + bool(both), "the last begins here")
            about = f"pair {pair.id[:40]!r}, {side}: "
            found.append(queue.file.tree(written, words, about))
        yield pair.with_trees(name, source=found[0], target=found[1])
    for queue in {queue for queue in queues if queue is not None}:
        if queue.next() is not None:
            raise queue.wrong_count(number, 1 + bool(both), "the first too many begins here")


class _Queue:
    """Take the trees of a file one by one."""

    def __init__(self, file: _TreeFile) -> None:
        self.file, self.taken, self.line = file, 0, 0
        self._trees = file.written()

    def next(self) -> WrittenTree | None:
        """Return the next tree, None behind the last."""
        found = next(self._trees, None)
        if found is not None:
            self.taken, self.line = self.taken + 1, found.line
        return found

    def wrong_count(self, pairs: int, sides: int, last: str) -> JoinError:
        """Return the error that there are more or fewer trees; none is left then."""
        trees = self.taken + sum(1 for _ in self._trees)
        place = f"{self.file.path}:{self.line}" if self.taken else self.file.path
        times = f", which need {2 * pairs}" if sides == 2 else ""
        where = f"; {last}" if self.taken else ""
        return JoinError(
            f"{place}: holds {trees} trees, those without a parse included, for {pairs} sentence "
            f"pairs{times}{where}; a sentence without a parse is a blank line"
        )


class _TreeFile:
    """Read a file of trees, and count what is done to them."""

    def __init__(
        self,
        path: Path,
        form: str | None,
        encoding: str,
        options: TreeOptions,
        counts: Counter[str],
        observe: Callable[[Finding], None] | None = None,
    ) -> None:
        self.path = fspath(path)
        self._file = TextFile(self.path, ReadOptions(encoding=encoding))
        self._form, self._options, self._counts = form, options, counts
        self._observe = observe

    def written(self) -> Iterator[WrittenTree]:
        """Yield the trees as written."""
        try:
            yield from written_trees(self._file, self._form)
        finally:
            self._file.close()

    def tree(self, written: WrittenTree, tokens: tuple[str, ...] | None, about: str) -> Tree | None:
        """Return the tree, over the words where they are known; None where there is none."""
        tags, traces = self._options.drop_function_tags, self._options.drop_traces
        try:
            if tokens is None:
                read = read_brackets(written.text, drop_function_tags=tags, drop_traces=traces)
            else:
                read = read_fitting(
                    written.text,
                    tokens,
                    strict=self._options.strict,
                    drop_function_tags=tags,
                    drop_traces=traces,
                )
        except FormatError as problem:
            error = written.placed(problem, self.path, about)
            if not self._options.lenient:
                raise error from None
            self._counts["trees that do not fit, left out"] += 1
            if self._observe is not None:
                kind = "tree that does not fit"
                self._observe(Finding(kind, error.message, self.path, error.line))
            return None
        if read is None:
            self._counts["sentences without a parse"] += 1
            return None
        self._count(read)
        return Tree.of_brackets(read, tokens)

    def _count(self, read: Brackets) -> None:
        counts, dropped = self._counts, self._options.drop_traces
        counts["trees"] += 1
        for kind, number in (
            ("labels without their function tags", read.function_tags),
            ("traces left out" if dropped else "traces kept as words", read.traces),
            ("sides with several trees, joined below TOP", read.joined > 1),
            ("trees with brackets as words, told by the text", read.resolved),
        ):
            if number:
                counts[kind] += number
