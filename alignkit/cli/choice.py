"""Choose one annotator's alignments of an input, and name the input in what goes wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from alignkit.annotation import Annotation
from alignkit.corpus import SentencePair
from alignkit.errors import JoinError, MissingTextError, OptionError, UnknownNameError

__all__ = ["Choice", "naming"]


class Choice:
    """Choose the named annotator of an input, or the only one.

    Parameters
    ----------
    path
        The input.
    name
        The annotator; None where the user named nobody.
    option
        The option by which one is named.
    """

    def __init__(self, path: str, name: str | None, option: str = "--annotator") -> None:
        self._path, self._name, self._option = path, name, option
        self._seen: dict[str, None] = {}

    def of(self, pair: SentencePair) -> Annotation | None:
        """Return the annotation of a pair, None where there is none.

        Raises
        ------
        OptionError
            If there are several and none was named.
        """
        if self._name is not None:
            self._seen.update(dict.fromkeys(pair.annotations))
            return pair.annotations.get(self._name)
        if len(pair.annotations) > 1:
            names = ", ".join(pair.annotations)
            raise OptionError(
                f"{self._path}: pair {pair.id!r} has the alignments of {names}: choose by "
                f"{self._option}"
            )
        return next(iter(pair.annotations.values()), None)

    def check(self) -> None:
        """Check, when all is read, that the named annotator occurred.

        Raises
        ------
        UnknownNameError
            If other annotators occurred, but this one did not.
        """
        if self._name is not None and self._seen and self._name not in self._seen:
            raise UnknownNameError(f"annotator of {self._path}:", self._name, self._seen)

    def annotated(self, pairs: Iterable[SentencePair]) -> Iterator[tuple[SentencePair, Annotation]]:
        """Yield the pairs that are annotated, each with the chosen annotation; then `check`."""
        for pair in pairs:
            annotation = self.of(pair)
            if annotation is not None:
                yield pair, annotation
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
