"""Define the errors of alignkit: every one says what is wrong, where, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = [
    "AlignerError",
    "AlignkitError",
    "AlignmentError",
    "ArgumentError",
    "FormatError",
    "JoinError",
    "MissingTextError",
    "NotAlignedError",
    "OptionError",
    "UnknownNameError",
]


class AlignkitError(Exception):
    """Base of all errors that alignkit raises on purpose."""


class ArgumentError(AlignkitError, TypeError):
    """An argument of the wrong type: the message names it and says what it must be."""


class AlignmentError(AlignkitError, ValueError):
    """A link or an alignment that cannot exist (a negative index, a label on nothing, ...)."""


class AlignerError(AlignkitError, ValueError):
    """A bitext that cannot be aligned, or a file that holds no aligner."""


class OptionError(AlignkitError, ValueError):
    """An option, or a combination of options, that makes no sense."""


class MissingTextError(AlignkitError):
    """Words (or sentence lengths) are needed, but the corpus holds links only."""


class JoinError(AlignkitError):
    """Two inputs that should hold the same sentence pairs do not."""


class UnknownNameError(AlignkitError, LookupError):
    """A name that is in no table: the message lists the names that are.

    Parameters
    ----------
    kind
        What was looked up, e.g. ``"format"``.
    name
        The name that was not found.
    known
        The names that exist.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = list(known)
        if not isinstance(name, str):
            raise ArgumentError(f"{kind} is {str(name)[:40]}; it must be a text")
        near = get_close_matches(name, names, n=1) if len(name) < 100 else []
        hint = f"; did you mean {near[0]!r}?" if near else ""
        listing = ", ".join(names) if names else "none"
        super().__init__(f"unknown {kind} {name[:100]!r}{hint} (known: {listing})")
        self.kind, self.name, self.known = kind, name, names

    def __reduce__(self) -> tuple[type[UnknownNameError], tuple[str, str, list[str]]]:
        return type(self), (self.kind, self.name, self.known)


class NotAlignedError(UnknownNameError):
    """A name that judged sentence pairs, but whose alignment is wanted.

    Parameters
    ----------
    what
        What was judged, e.g. ``"pair 'p1'"``.
    name
        Who judged it.
    known
        The names of those who aligned it.
    """

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"alignment of {what} by", name, known)
        listing = ", ".join(self.known) or "nobody"
        self.args = (f"{name!r} judged {what}, but gave no alignment (aligned by: {listing})",)
        self._what = what

    def __reduce__(self) -> tuple[type[UnknownNameError], tuple[str, str, list[str]]]:
        return type(self), (self._what, self.name, self.known)


class FormatError(AlignkitError, ValueError):
    """Input that does not follow its format.

    Parameters
    ----------
    message
        What is wrong and what was expected, lower case.
    path
        The file, as the user named it.
    line, column
        Where, 1-based; None where unknown.
    """

    def __init__(
        self, message: str, path: str = "", line: int | None = None, column: int | None = None
    ) -> None:
        place = ":".join(str(part) for part in (path, line, column) if part not in ("", None))
        super().__init__(f"{place}: {message}" if place else message)
        self.message, self.path, self.line, self.column = message, path, line, column

    def __reduce__(self) -> tuple[type[FormatError], tuple[str, str, int | None, int | None]]:
        return type(self), (self.message, self.path, self.line, self.column)
