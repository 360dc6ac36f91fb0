"""The errors of alignkit: each says what is wrong, where, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

_COMPARED = 20_000  # ids; more take more than a second


class AlignkitError(Exception):
    """Base of all errors that alignkit raises on purpose.

    Examples
    --------
    >>> import alignkit
    >>> try:
    ...     alignkit.Alignment.parse("0-0 1:1")
    ... except alignkit.AlignkitError as error:
    ...     print(type(error).__name__)
    AlignmentError
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self.args), self.__dict__


def _rebuilt(kind: type[AlignkitError], args: tuple[Any, ...]) -> AlignkitError:
    """Rebuild an unpickled error without calling its constructor."""
    error = kind.__new__(kind)
    error.args = args
    return error


class PartsError(AlignkitError):
    """Several parts that cannot be read, with the reason for each."""

    def __init__(self, what: str, errors: Iterable[str]) -> None:
        self.what = what
        self.errors = list(errors)
        super().__init__(what, self.errors)

    def __str__(self) -> str:
        return "\n".join((f"{self.what}:", *(f"  {error}" for error in self.errors)))


class ArgumentError(AlignkitError, TypeError):
    """An argument of the wrong type: the message names it and the expected type."""


class AlignmentError(AlignkitError, ValueError):
    """A link or an alignment that cannot exist (a negative index, a label on nothing, ...)."""


class TreeError(AlignkitError, ValueError):
    """A tree that is invalid, does not match its words, or is too deep for another tool."""


class EncoderError(AlignkitError):
    """An encoder cannot be found, loaded or used."""


class AlignerError(AlignkitError, ValueError):
    """A bitext that cannot be aligned, or a file without an aligner."""


class OptionError(AlignkitError, ValueError):
    """An option, or a combination of options, that makes no sense."""


class MissingTextError(AlignkitError):
    """Words (or sentence lengths) are needed, but the corpus has only links."""


class JoinError(AlignkitError):
    """Two inputs that should hold the same sentence pairs do not."""


class OtherIdsError(JoinError):
    """Two inputs that seem to hold the same sentence pairs, with other ids."""


class MissingPairsError(JoinError):
    """An input lacks pairs of the other; `partial` allows it."""


def _similar(name: str, known: Sequence[str], most: int) -> list[str]:
    """Return the known names that an unknown one may stand for, the most similar first."""
    from difflib import get_close_matches  # no start needs it

    return get_close_matches(name, known, n=most)


class UnknownNameError(AlignkitError, LookupError):
    """An unknown name: the message lists the known names."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = list(known)
        if not isinstance(name, str):
            raise ArgumentError(f"{kind} is {str(name)[:40]}; expected a string")
        if len(name) < 100:
            near = _similar(name, names, 1)
        else:
            near = []
        if near:
            hint = f"; did you mean {near[0]!r}?"
        else:
            hint = ""
        listing = ", ".join(names) if names else "none"
        super().__init__(f"unknown {kind} {name[:100]!r}{hint} (known: {listing})")
        self.kind = kind
        self.name = name
        self.known = names


class UnknownArgumentError(UnknownNameError, ArgumentError):
    """An unknown keyword argument: the message suggests the most similar known one."""

    def __init__(self, function: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"argument of {function}:", name, known)


class NotAlignedError(UnknownNameError):
    """An alignment by somebody who only judged the sentence pairs."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"alignment of {what} by", name, known)
        listing = ", ".join(self.known) or "nobody"
        self.args = (f"{name!r} judged {what}, but gave no alignment (aligned by: {listing})",)
        self._what = what


class UnknownIdError(UnknownNameError, KeyError):
    """An id that no sentence pair of a corpus has: the message suggests similar ids."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        ids = list(islice(known, _COMPARED))
        if len(name) < 100:
            near = _similar(name, ids, 3)
        else:
            near = []
        super().__init__("id", name, near)
        if near:
            hint = f"; did you mean {' or '.join(map(repr, near))}?"
        elif ids:
            hint = f"; the first id is {ids[0]!r}"
        else:
            hint = "; the corpus is empty"
        self.args = (f"no pair of the corpus has the id {name[:100]!r}{hint}",)
        self.known = ids

    __str__ = Exception.__str__  # a KeyError would show its message in quotes


class RepeatedIdError(AlignkitError, LookupError):
    """An id that several sentence pairs share, although it must be unique."""


class FormatError(AlignkitError, ValueError):
    """Input that does not follow its format.

    Parameters
    ----------
    message : What is wrong and what was expected, lower case.
    path : The file, as the user named it.
    line, column : Position, 1-based; None if unknown.
    advice : What to do, which follows the message after a semicolon.

    Examples
    --------
    >>> print(FormatError("expected a link such as 0-0", "gold.align", line=3))
    gold.align:3: expected a link such as 0-0
    """

    def __init__(
        self,
        message: str,
        path: str = "",
        line: int | None = None,
        column: int | None = None,
        *,
        advice: str = "",
    ) -> None:
        self.problem = message
        if advice:
            message = f"{message}; {advice}"
        place = ":".join(str(part) for part in (path, line, column) if part not in ("", None))
        super().__init__(f"{place}: {message}" if place else message)
        self.message = message
        self.path = path
        self.line = line
        self.column = column


class JudgmentError(FormatError):
    """A judgment of a pair with a label that its scheme does not have."""

    def __init__(
        self,
        message: str,
        path: str = "",
        line: int | None = None,
        *,
        pair: str = "",
        annotator: str = "",
        judgment: str = "",
    ) -> None:
        super().__init__(message, path, line)
        self.pair = pair
        self.annotator = annotator
        self.judgment = judgment

    @classmethod
    def of(cls, problem: FormatError, pair: str, annotator: str, judgment: str) -> JudgmentError:
        """Return the error of a pair's judgment, given the scheme's error."""
        message = f"pair {pair[:40]!r}, annotator {annotator[:40]!r}: {problem.message}"
        return cls(message, pair=pair, annotator=annotator, judgment=judgment)


class UnknownFormatError(FormatError):
    """A file in an unknown format: no format matches, or several do."""

    def __init__(self, message: str, path: str = "", fitting: Iterable[str] = ()) -> None:
        super().__init__(message, path)
        self.fitting = list(fitting)


class FileError(FormatError, OSError):
    """A file that cannot be opened; the classes below are special cases."""

    def __init__(self, path: str, number: int | None, reason: str) -> None:
        super().__init__(f"cannot be read: {reason}", path)
        self.errno = number
        self.strerror = reason
        self.filename = path

    @classmethod
    def of(cls, problem: OSError, path: str) -> FileError:
        """Return the error for an OSError of a file."""
        kind = next((kind for known, kind in _KINDS.items() if isinstance(problem, known)), cls)
        return kind(path, problem.errno, problem.strerror or str(problem))

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.errno, self.strerror or "")


class MissingFileError(FileError, FileNotFoundError):
    """A file that does not exist."""


class IsFolderError(FileError, IsADirectoryError):
    """A folder where a file is expected."""


class ForbiddenFileError(FileError, PermissionError):
    """A file that the user may not read."""


_KINDS: dict[type[OSError], type[FileError]] = {
    FileNotFoundError: MissingFileError,
    IsADirectoryError: IsFolderError,
    PermissionError: ForbiddenFileError,
}
