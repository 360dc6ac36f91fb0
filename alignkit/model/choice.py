"""Which alignment of an input is meant, and errors that name the input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from alignkit.errors import (
    JoinError,
    MissingTextError,
    NotAlignedError,
    OptionError,
    UnknownNameError,
)
from alignkit.model.alignment import Alignment
from alignkit.model.sentence_pair import SentencePair


class Choice:
    """Choose the named annotator of an input, or the only one."""

    def __init__(
        self, path: str, name: str | None, option: str = "annotator", *, judged: bool = False
    ) -> None:
        self._path, self._name, self._option = path, name, option
        self._judged_will_do = judged
        self._seen: dict[str, None] = {}
        self._judged: set[str] = set()

    def of(self, pair: SentencePair) -> Alignment | None:
        """Return the alignment of a pair, None where there is none."""
        if self._name is not None:
            self._seen.update(dict.fromkeys(pair.alignments))
            self._judged.update(pair.annotations.keys() - pair.alignments.keys())
            return pair.alignments.get(self._name)
        if len(pair.alignments) > 1:
            names = ", ".join(pair.alignments)
            raise OptionError(
                f"{self._path}: pair {pair.id!r} has the alignments of {names}: choose by "
                f"`{self._option}`"
            )
        return next(iter(pair.alignments.values()), None)

    def check(self) -> None:
        """Check, when all is read, that the named annotator aligned something."""
        if self._name is None or self._name in self._seen:
            return
        known = self._seen | dict.fromkeys(sorted(self._judged))
        if known and self._name not in self._judged:
            raise UnknownNameError(f"annotator of {self._path}:", self._name, known)
        if known and not self._judged_will_do:
            raise NotAlignedError(f"pairs of {self._path}", self._name, self._seen)

    def annotated(self, pairs: Iterable[SentencePair]) -> Iterator[tuple[SentencePair, Alignment]]:
        """Yield the pairs that are aligned, each with the chosen alignment; then `check`."""
        for pair in pairs:
            if (alignment := self.of(pair)) is not None:
                yield pair, alignment
        self.check()


@contextmanager
def naming(*paths: str) -> Iterator[None]:
    """Put the inputs' names before errors about pairs and words, which do not know them."""
    try:
        yield
    except (JoinError, MissingTextError) as error:
        if any(path in str(error) for path in paths):
            raise
        raise type(error)(f"{' and '.join(paths)}: {error}") from None


def alignment_of_pair(pair: SentencePair, annotator: str | None) -> Alignment:
    """Return the alignment of the named annotator, or the only one."""
    if annotator is not None:
        return pair.alignment(annotator)
    if not (alignments := pair.alignments):
        raise OptionError(f"pair {pair.id!r} was aligned by nobody")
    if len(alignments) > 1:
        names = ", ".join(alignments)
        raise OptionError(f"pair {pair.id!r} was aligned by {names}; name one as annotator")
    return next(iter(alignments.values()))
