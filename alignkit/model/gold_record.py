"""What a system learned from: the annotators, the number and a digest of the pairs.

An annotation by such a system has this record as text (`Annotation.learned`), which also says
whether the pair itself was among those pairs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from alignkit._support.arguments import check_attributes
from alignkit.errors import AlignmentError
from alignkit.model.texts import compared

_DIGEST = 8  # bytes
_TEXT = re.compile(r"([0-9]{1,12}) pairs? of (\[.*\]), digest ([0-9a-f]{16}), (with|without) this")


def pair_digest(source: Iterable[str], target: Iterable[str]) -> str:
    """Return the digest of the words of a pair, ignoring case: 16 hexadecimal digits.

    Examples
    --------
    >>> pair_digest(["The", "cat"], ["le", "chat"])
    '997dc181cc3d872f'
    """
    from json import dumps

    folded_source = [compared(word, ignore_case=True) for word in source]
    folded_target = [compared(word, ignore_case=True) for word in target]
    return _digest(dumps([folded_source, folded_target], ensure_ascii=True))


def joint_digest(digests: Iterable[str]) -> str:
    """Return the digest of several pairs, in any order; copies count once."""
    return _digest(" ".join(sorted(set(digests))))


def _digest(text: str) -> str:
    """Return the digest of an ASCII text."""
    from hashlib import blake2b  # with OpenSSL behind it

    return blake2b(text.encode("ascii"), digest_size=_DIGEST).hexdigest()


@dataclass(frozen=True)
class GoldRecord:
    """What the system that made an annotation learned from.

    Parameters
    ----------
    annotators : Whose links it learned from.
    pairs : The number of pairs.
    digest : The `joint_digest` of these pairs.
    included : Whether the annotated pair is one of them.

    Examples
    --------
    >>> record = GoldRecord(("anna",), 30, "5f2c9a0b1c2d3e4f", included=True)
    >>> str(record)
    '30 pairs of ["anna"], digest 5f2c9a0b1c2d3e4f, with this'
    >>> GoldRecord.parse(str(record)) == record
    True
    """

    annotators: tuple[str, ...]
    pairs: int
    digest: str
    included: bool

    def __post_init__(self) -> None:
        check_attributes(self)

    def __str__(self) -> str:
        from json import dumps

        pairs = "1 pair" if self.pairs == 1 else f"{self.pairs} pairs"
        names = dumps(list(self.annotators))
        this = "with" if self.included else "without"
        return f"{pairs} of {names}, digest {self.digest}, {this} this"

    @classmethod
    def parse(cls, text: str) -> GoldRecord:
        """Read a record from text.

        Raises
        ------
        AlignmentError : If it is not as `str` writes it.
        """
        from json import loads

        match = _TEXT.fullmatch(text)
        names: object = None
        if match is not None:
            try:
                names = loads(match[2])
            except (ValueError, RecursionError):
                names = None
        if match is None or not isinstance(names, list) or set(map(type, names)) - {str}:
            raise AlignmentError(
                f"learned is {text[:60]!r}; expected a record such as '30 pairs of "
                '["anna"], digest 5f2c9a0b1c2d3e4f, with this\' (or: without this)'
            )
        return cls(tuple(names), int(match[1]), match[3], match[4] == "with")
