"""The pairs that annotators make: rewrites of a pair, and spans taken from two documents.

Both are kept in the stream of the pair that they come from, by a key of the annotator's own
(``r1``, ``x1``), so that nobody else sees them; in an export they are pairs of their own (see
`made`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct

from alignkit.annotate.errors import BadEvent

SOURCE_TEXT, TARGET_TEXT = "source_text", "target_text"
"""The attributes of a pair of documents that hold their texts, character by character."""

_LONGEST = 20_000  # characters of a rewritten text
_KEY = re.compile(r"([rx])([1-9][0-9]{0,3})", re.ASCII)

_Text = Annotated[str, Meta(max_length=_LONGEST)]
_Place = Annotated[int, Meta(ge=0)]

Texts = tuple[_Text, _Text]
"""The source and the target text of a rewrite."""
Spans = tuple[_Place, _Place, _Place, _Place]
"""Where a source and a target span begin and end, in characters; the end is behind the last."""
RewriteWrite = tuple[str, Texts | None, Texts | None]
"""The key of a rewrite, its texts before and after; None where there is none."""
ExtractWrite = tuple[str, Spans | None, Spans | None]
"""The key of an extracted pair, its spans before and after; None where there is none."""


class SentRewrite(Struct, forbid_unknown_fields=True):
    """What a client sends of rewrites."""

    rewrites: list[RewriteWrite]
    seen: list[tuple[int, int]] = []


class SentExtract(Struct, forbid_unknown_fields=True):
    """What a client sends of extracted pairs."""

    extracts: list[ExtractWrite]
    seen: list[tuple[int, int]] = []


V = TypeVar("V")
Keyed = tuple[str, V | None, V | None]


def key_number(key: str) -> int:
    """Return the number in a key.

    Examples
    --------
    >>> sorted(["r10", "r2"], key=key_number)
    ['r2', 'r10']
    """
    return int(key[1:])


def check_keys(kind: str, writes: Iterable[Keyed[Any]]) -> None:
    """Check the keys of what a client sends."""
    letter, seen = kind[0] if kind == "rewrite" else "x", set()
    for key, *_ in writes:
        match = _KEY.fullmatch(key)
        if match is None or match[1] != letter:
            raise BadEvent(f"{kind}: key {key[:40]!r} is none; expected {letter}1 to {letter}9999")
        if key in seen:
            raise BadEvent(f"{kind}: {key} is named twice")
        seen.add(key)


def read_rewrites(writes: Sequence[RewriteWrite]) -> tuple[RewriteWrite, ...]:
    """Check rewrites that a client sends; return them with white space as words need it."""
    check_keys("rewrite", writes)
    return tuple((key, _plain(before), _plain(after)) for key, before, after in writes) or ()


def _plain(texts: Texts | None) -> Texts | None:
    if texts is None:
        return None
    source, target = (" ".join(text.split()) for text in texts)
    if not source or not target:
        raise BadEvent("rewrite: a text is empty; write both")
    return source, target


def check_extracts(writes: Sequence[ExtractWrite], texts: tuple[str, str]) -> None:
    """Check spans that a client sends against the texts that they are taken from."""
    check_keys("extract", writes)
    for key, _, spans in writes:
        if spans is None:
            continue
        for text, begin, end in zip(texts, spans[::2], spans[1::2], strict=True):
            if not begin < end <= len(text) or not text[begin:end].strip():
                raise BadEvent(
                    f"extract: {key}: characters {begin} to {end} are no words of a text of "
                    f"{len(text)}"
                )


def document_texts(
    attributes: Mapping[str, str], source: Iterable[str], target: Iterable[str]
) -> tuple[str, str]:
    """Return the texts of a pair of documents; of a pair that has words alone, these joined."""
    return (
        attributes.get(SOURCE_TEXT) or " ".join(source),
        attributes.get(TARGET_TEXT) or " ".join(target),
    )


def shared_texts(made: Sequence[Iterable[Texts]]) -> set[Texts]:
    """Return the rewrites that all have, given those of each."""
    return set(made[0]).intersection(*made[1:]) if made else set()


def put(held: dict[str, V], writes: Iterable[Keyed[V]]) -> None:
    """Take over what an event writes."""
    for key, _, after in writes:
        if after is None:
            held.pop(key, None)
        else:
            held[key] = after


def effective(held: Mapping[str, V], writes: Iterable[Keyed[V]]) -> tuple[Keyed[V], ...]:
    """Return those writes that change something."""
    return tuple(write for write in writes if held.get(write[0]) != write[2]) or ()


def keyed_conflicts(
    field: str, held: Mapping[str, V], writes: Iterable[Keyed[V]]
) -> list[dict[str, Any]]:
    """Return where there is neither what was there before nor what is set."""
    return [
        {"field": field, "key": key, "before": before, "after": after, "now": held.get(key)}
        for key, before, after in writes
        if held.get(key) not in (before, after)
    ]
