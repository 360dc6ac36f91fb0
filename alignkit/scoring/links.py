"""Take links as scripts hold them: sets and lists of tuples, Pharaoh text, `Alignment`s."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from alignkit.arguments import kind_of
from alignkit.arrays import LinkArrays
from alignkit.errors import ArgumentError
from alignkit.plain import LinksOfPair, alignment_of


def pack_links(name: str, given: Iterable[LinksOfPair] | LinkArrays) -> LinkArrays:
    """Pack the links of many sentence pairs."""
    if isinstance(given, LinkArrays):
        return given
    if isinstance(given, (str, bytes, Set, Mapping)) or not isinstance(given, Iterable):
        raise ArgumentError(
            f"{name} is {kind_of(given)}; give a list with the links of each sentence pair, such "
            "as [{(0, 0), (1, 1)}] or ['0-0 1-1']"
        )
    return LinkArrays.pack(alignment_of(f"{name}[{k}]", one) for k, one in enumerate(given))
