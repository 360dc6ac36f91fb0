"""Read two files of alignments side by side: in step, or joined by their ids."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from errno import ENOENT
from typing import TYPE_CHECKING, Union

from alignkit.alignment import Alignment
from alignkit.corpus import SentencePair
from alignkit.errors import (
    AlignmentError,
    JoinError,
    MissingFileError,
    MissingTextError,
    OptionError,
)
from alignkit.formats import open_reading, read_pairs
from alignkit.formats.detect import find_format
from alignkit.in_step import have_blocks, link_blocks
from alignkit.join import join_pairs
from alignkit.scoring.blocks import Block, pair_blocks
from alignkit.scoring.settings import Settings
from alignkit.scoring.signature import Signature

if TYPE_CHECKING:
    from alignkit.arrays import LinkArrays

__all__ = ["LinkFile", "Path", "TwoFiles"]

Path = Union[str, "os.PathLike[str]"]


class LinkFile:
    """Hold a file of alignments; its format is found.

    Parameters
    ----------
    path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = os.fspath(path)
        if os.path.isdir(self.path):
            raise OptionError(f"{self.path} is a folder; read it by read_corpus(path, format=...)")
        _check_no_links(self.path)
        self.format = find_format(self.path)
        self.kind, self.reading = open_reading(self.path, format=self.format)

    def blocks(self) -> Iterator[tuple[Sequence[object], LinkArrays]]:
        """Yield ids and links of many pairs at a time."""
        if self.kind.blocks is None:
            raise OptionError(f"format {self.format} cannot be read without its words")
        return self.kind.blocks(self.reading)

    def pairs(self) -> Iterator[SentencePair]:
        """Yield the sentence pairs."""
        return read_pairs(self.kind, self.reading)


class TwoFiles:
    """Hold the alignments of a system and those of the gold standard, in a file each.

    Parameters
    ----------
    hypothesis, reference
        The files.

    Attributes
    ----------
    skipped
        How many pairs were left out because one side has not annotated them.
    """

    def __init__(self, hypothesis: Path, reference: Path) -> None:
        self._paths = hypothesis, reference
        self._open()

    def _open(self) -> None:
        self.skipped = 0
        self._hyp, self._ref = map(LinkFile, self._paths)

    @property
    def signature(self) -> Signature:
        """How the files were read."""
        hyp, ref = self._hyp, self._ref
        return Signature(
            format=f"{hyp.format}/{ref.format}", base=f"{hyp.reading.base}/{ref.reading.base}"
        )

    def in_step(self, settings: Settings) -> bool:
        """Return whether the links alone will do, so that both can be read as arrays."""
        return not settings.needs_words and have_blocks(self._hyp, self._ref)

    def blocks(self, settings: Settings, *, joined: bool = False) -> Iterator[Block]:
        """Yield what is to be counted; where both have ids in another order, ask for `joined`.

        Raises
        ------
        JoinError
            If the two do not hold the same pairs; as `OutOfStepError` where only the order differs.
        MissingTextError
            If words are needed that neither file holds.
        """
        if joined:
            self._open()
        if joined or not self.in_step(settings):
            yield from pair_blocks(self._annotated(settings), "hyp", "ref", settings)
            return
        for _, hyp, ref in link_blocks(self._hyp, self._ref):
            yield hyp, ref, None, None

    def _annotated(self, settings: Settings) -> Iterator[SentencePair]:
        try:
            for ref, hyp in join_pairs(self._ref.pairs(), self._hyp.pairs()):
                sides = {"hyp": _only(self._hyp, hyp), "ref": _only(self._ref, ref)}
                if None in sides.values():
                    self.skipped += 1
                    continue
                known = ref if ref.has_text else hyp
                if settings.needs_words and not known.has_text:
                    raise MissingTextError("the words are needed, and neither file holds any")
                found = {name: one for name, one in sides.items() if one is not None}
                yield SentencePair(ref.id, known.source, known.target, found)
        except (JoinError, MissingTextError) as error:
            raise type(error)(f"{self._hyp.path} and {self._ref.path}: {error}") from None


def _only(file: LinkFile, pair: SentencePair) -> Alignment | None:
    """Return the one alignment of a pair, None where there is none."""
    if len(pair.alignments) > 1:
        raise OptionError(
            f"{file.path}: pair {pair.id!r} has the alignments of {', '.join(pair.alignments)}; "
            "read the file by read_corpus, and score the corpus: score(corpus, hypothesis, "
            "reference)"
        )
    return next(iter(pair.alignments.values()), None)


def _check_no_links(path: str) -> None:
    """Refuse links that were given where a path is expected."""
    if os.path.exists(path) or not path.split():
        return
    try:
        Alignment.parse(path)
    except AlignmentError:
        return
    raise MissingFileError(
        path,
        ENOENT,
        f"no such file; links themselves are given as a list, a text a sentence pair: [{path!r}]",
    )
