"""Read two inputs of the same pairs in step, as arrays where no words are needed."""

from __future__ import annotations

from collections.abc import Iterator

from alignkit.arrays import LinkArrays
from alignkit.cli.inputs import Input
from alignkit.errors import JoinError

__all__ = ["have_blocks", "link_blocks"]


def have_blocks(*inputs: Input) -> bool:
    """Return whether all inputs can be read as arrays, without making a pair."""
    return all(one.kind.blocks is not None and one.reading.options.source is None for one in inputs)


def link_blocks(first: Input, second: Input) -> Iterator[tuple[list[str], LinkArrays, LinkArrays]]:
    """Yield the ids and links of some thousand pairs of both inputs at a time, in flat memory.

    Raises
    ------
    JoinError
        If the two do not hold the same pairs in the same order; with ``--partial`` either may end
        before the other.
    """
    left, right = first.blocks(), second.blocks()
    shared = 0
    while True:
        (ids, links), (other_ids, other_links) = next(left, _END), next(right, _END)
        count = min(len(ids), len(other_ids))
        if ids[:count] != other_ids[:count]:
            k = next(k for k in range(count) if ids[k] != other_ids[k])
            raise JoinError(
                f"pair {shared + k + 1} has the id {ids[k]!r} in {first.path}, but "
                f"{other_ids[k]!r} in {second.path}"
            )
        shared += count
        if len(ids) == len(other_ids):
            if not ids:
                return
            yield ids, links, other_links
            continue
        longer, shorter = (first, second) if len(ids) > len(other_ids) else (second, first)
        if not first.reading.options.partial:
            more = left if longer is first else right
            total = shared + abs(len(ids) - len(other_ids)) + sum(len(rest) for rest, _ in more)
            raise JoinError(
                f"{longer.path} has {total} lines, but {shorter.path} has {shared}; "
                "if the rest is not annotated, say so by --partial"
            )
        yield ids[:count], links.first(count), other_links.first(count)
        return


_END: tuple[list[str], LinkArrays] = [], LinkArrays.pack([])
