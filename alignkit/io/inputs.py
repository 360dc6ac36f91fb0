"""Inputs of sentence pairs: the alignment to use, errors with paths, and reading two in parallel.

Two inputs of the same pairs are read as arrays if no words are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import tee, zip_longest
from typing import TYPE_CHECKING, Any, Protocol

from alignkit import errors

if TYPE_CHECKING:
    from alignkit.model.alignment import Alignment
    from alignkit.model.arrays import LinkArrays
    from alignkit.model.sentence_pair import SentencePair


@dataclass
class Choice:
    """Choose the given annotator of an input, or the only one."""

    path: str
    name: str | None
    option: str = "annotator"
    judged: bool = False  # whether an annotator who only judged will do
    aligners: dict[str, None] = field(default_factory=dict)  # who aligned a pair so far
    judges: set[str] = field(default_factory=set)  # and who only judged one

    def of(self, pair: SentencePair) -> Alignment | None:
        """Return the alignment of a pair; None if there is none."""
        if self.name is not None:
            self.aligners.update(dict.fromkeys(pair.alignments))
            self.judges.update(pair.annotations.keys() - pair.alignments.keys())
            return pair.alignments.get(self.name)
        if len(pair.alignments) > 1:
            names = ", ".join(pair.alignments)
            raise errors.OptionError(
                f"{self.path}: pair {pair.id!r} has alignments of {names}: choose one with "
                f"`{self.option}`"
            )
        return next(iter(pair.alignments.values()), None)

    def check(self) -> None:
        """Check at the end that the given annotator aligned something."""
        if self.name is None or self.name in self.aligners:
            return
        known = self.aligners | dict.fromkeys(sorted(self.judges))
        if known and self.name not in self.judges:
            raise errors.UnknownNameError(f"annotator of {self.path}:", self.name, known)
        if known and not self.judged:
            raise errors.NotAlignedError(f"pairs of {self.path}", self.name, self.aligners)

    def annotated(self, pairs: Iterable[SentencePair]) -> Iterator[tuple[SentencePair, Alignment]]:
        """Yield the aligned pairs, each with the chosen alignment; then `check`."""
        for pair in pairs:
            alignment = self.of(pair)
            if alignment is not None:
                yield pair, alignment
        self.check()


@contextmanager
def naming(*paths: str) -> Iterator[None]:
    """Add the paths of the inputs to errors about pairs and words."""
    try:
        yield
    except (errors.AlignmentError, errors.JoinError, errors.MissingTextError) as error:
        if any(path in str(error) for path in paths):
            raise
        raise type(error)(f"{' and '.join(paths)}: {error}") from None


_Block = tuple[Sequence[object], "LinkArrays", "LinkArrays"]


class OutOfStepError(errors.JoinError):
    """Two inputs with ids of their own have a different order."""


class NamedInput(Protocol):
    """An input with its path and the name of its format."""

    path: str
    format: str


class LinkInput(NamedInput, Protocol):
    """An input of alignments: path, format, reading, links as arrays, and pairs."""

    kind: Any
    reading: Any

    def blocks(self) -> Iterator[tuple[Sequence[object], LinkArrays]]:
        """Yield the ids and links of many pairs at a time."""

    def pairs(self) -> Iterator[SentencePair]:
        """Yield the sentence pairs."""


def have_blocks(*inputs: LinkInput) -> bool:
    """Return whether all inputs can be read as arrays, without creating pairs."""
    return all(
        given.kind.blocks is not None and given.reading.options.source is None for given in inputs
    )


class _Side:
    """The pairs of one input, in portions of any size."""

    def __init__(self, source: LinkInput) -> None:
        self._blocks = source.blocks()
        self._ids: Sequence[object] = ()
        self._links: LinkArrays
        self._at = 0

    def ready(self) -> int:
        """Return how many pairs are available; 0 only at the end."""
        while self._at == len(self._ids):
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._ids, self._links = block
            self._at = 0
        return len(self._ids) - self._at

    def take(self, count: int) -> tuple[Sequence[object], LinkArrays]:
        """Return the next available pairs."""
        start = self._at
        self._at += count
        return self._ids[start : self._at], self._links.part(start, self._at)

    def rest(self) -> list[object]:
        """Return the ids of the pairs that are left, and discard the pairs."""
        left: list[object] = []
        while self.ready():
            left += self._ids[self._at :]
            self._at = len(self._ids)
        return left


def link_blocks(
    first: LinkInput,
    second: LinkInput,
    *,
    ordered: bool = False,
    beyond: Callable[[Sequence[object]], None] = lambda ids: None,
) -> Iterator[_Block]:
    """Yield ids and links of many pairs of both inputs; `beyond` gets the ids of the surplus.

    Without `ordered`, the ids must be equal.
    """
    left = _Side(first)
    right = _Side(second)
    shared = 0
    while count := min(left.ready(), right.ready()):
        ids, links = left.take(count)
        other_ids, other_links = right.take(count)
        if not ordered and ids != other_ids:
            for k, (mine, theirs) in enumerate(zip(ids, other_ids, strict=True), shared + 1):
                if str(mine) != str(theirs):
                    raise OutOfStepError(
                        f"pair {k} has the id {str(mine)!r} in {first.path}, but "
                        f"{str(theirs)!r} in {second.path}; put both in the same order"
                    )
        shared += count
        yield ids, links, other_links
    first_rest = left.rest()
    rest = first_rest or right.rest()
    beyond(rest)
    if rest and not first.reading.options.partial:
        longer, shorter = (first, second) if first_rest else (second, first)
        raise errors.JoinError(
            f"{longer.path} has {shared + len(rest)} lines, but {shorter.path} has "
            f"{shared}; if the rest is not annotated, use `partial=True`"
        )


def in_order(
    first: Iterable[SentencePair], second: Iterable[SentencePair]
) -> tuple[Iterator[SentencePair], Iterator[SentencePair]]:
    """Return both inputs; the n-th pair of the second gets the id of the n-th of the first."""
    pairs, names = tee(first)
    return pairs, _renamed(second, names)


def _renamed(
    pairs: Iterable[SentencePair], names: Iterable[SentencePair]
) -> Iterator[SentencePair]:
    """Yield pairs with the ids of others; surplus pairs keep their ids."""
    for named, pair in zip_longest(names, pairs):
        if pair is not None:
            yield pair if named is None else replace(pair, id=named.id)


def sides_hint(*inputs: NamedInput) -> str:
    """Say how two CoNLL-U files are read, if these are among the inputs: each has one side."""
    tagged = [given.path for given in inputs if given.format == "conllu"]
    others = [given.path for given in inputs if given.format != "conllu"]
    if len(tagged) != 2 or len(others) > 1:
        return ""
    from alignkit.io.tagged_words import sides_as_options, two_sides

    sides = two_sides(tagged) or (tagged[0], tagged[1])
    links = others[0] if others else "LINKS"
    return (
        "each CoNLL-U file has the words of one side; give them with a file of links: "
        f"{links} {sides_as_options(sides)}"
    )


def hinting(error: errors.JoinError, *inputs: NamedInput) -> errors.JoinError:
    """Mention `in_order` in an error if the inputs share no id, or one has no ids of its own.

    If the inputs are the two sides of one corpus, say so.
    """
    hint = sides_hint(*inputs)
    if hint:
        return errors.JoinError(f"{error}; {hint}")
    no_id_shared = isinstance(error, errors.MissingPairsError) and ": 0 pairs" in f": {error}"
    if not (no_id_shared or isinstance(error, errors.OtherIdsError)):
        return error
    return errors.JoinError(
        f"{error}; if both have the same pairs in the same order, use `in_order=True`"
    )
