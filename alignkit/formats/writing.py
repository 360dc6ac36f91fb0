"""Carry what was asked for into the writers of the formats, and open their files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TextIO

from alignkit.alignment import Alignment
from alignkit.annotation import Annotation
from alignkit.corpus import SentencePair
from alignkit.errors import AlignkitError, OptionError
from alignkit.formats.options import WriteOptions
from alignkit.formats.words import is_word
from alignkit.output import WriteError, replacing

__all__ = ["WriteError", "Writing", "replacing"]


class Writing:
    """Carry the options into a writer, and open its files.

    Parameters
    ----------
    path
        The file or folder; ``-`` is standard output.
    options
        What the user declared.
    base
        The format's own number of the first word.

    Attributes
    ----------
    lost
        How often something was left out because the format cannot hold it, by kind.
    """

    def __init__(self, path: str, options: WriteOptions, *, base: int = 0) -> None:
        if options.base not in (None, 0, 1):
            raise OptionError(f"base must be 0 or 1, not {options.base}")
        self.path = path
        self.options = options
        self.base = base if options.base is None else options.base
        self.written = 0
        self.lost: Counter[str] = Counter()

    @contextmanager
    def open(self, path: str | None = None) -> Iterator[TextIO]:
        """Open the output, or another file of it, for writing; see `replacing`."""
        with replacing(self.path if path is None else path) as stream:
            yield stream

    @contextmanager
    def open_texts(self) -> Iterator[tuple[TextIO | None, TextIO | None]]:
        """Open the files for the words, where the user named them."""
        with ExitStack() as stack:
            yield tuple(  # type: ignore[misc]
                stack.enter_context(replacing(path)) if path else None
                for path in (self.options.source, self.options.target)
            )

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """Make the folder of a format that is one, and the folders above it."""
        if self.path == "-":
            raise OptionError("this format is a folder of files and cannot go to standard output")
        try:
            Path(self.path).mkdir(parents=True, exist_ok=True)
            yield Path(self.path)
        except OSError as problem:
            raise WriteError(f"{self.path}: cannot be written: {problem.strerror}") from None

    def annotator(self, pair: SentencePair) -> str | None:
        """Return whose alignment of a pair to write, None where there is none.

        Raises
        ------
        OptionError
            If there are several and the user named none.
        """
        chosen = self.options.annotator
        if chosen is not None:
            return chosen if chosen in pair.annotations else None
        if len(pair.annotations) > 1:
            names = ", ".join(pair.annotations)
            raise OptionError(
                f"pair {pair.id!r} has the alignments of {names}, but this format holds one: "
                "choose by --annotator"
            )
        return next(iter(pair.annotations), None)

    def annotation(self, pair: SentencePair) -> Annotation | None:
        """Return the annotation of a pair to write; see `annotator`."""
        name = self.annotator(pair)
        return None if name is None else pair.annotations[name]

    def oriented(self, alignment: Alignment) -> Alignment:
        """Return the alignment with the links in the direction in which they are to be written."""
        return alignment.transpose() if self.options.transpose else alignment

    def words(self, pair: SentencePair) -> tuple[str, str]:
        """Return both sentences as lines of tokens with single spaces.

        Raises
        ------
        MissingTextError
            If the text is not known.
        AlignkitError
            If a token is empty or holds white space, which would come back as other tokens.
        """
        source, target = pair.words
        for token in (*source, *target):
            if not is_word(token):
                raise AlignkitError(
                    f"pair {pair.id!r}: token {token!r} is empty or holds white space or a control "
                    "character, which this format cannot keep apart"
                )
        return " ".join(source), " ".join(target)
