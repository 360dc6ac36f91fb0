"""Find where hiero rules were seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from alignkit.rules.grammar import Example, RuleType
from alignkit.rules.hiero.counts import PAIRS
from alignkit.rules.hiero.encoding import Encoded, HieroEncoder, Row


def with_examples(
    types: Sequence[RuleType], rows: Sequence[Row], encoder: HieroEncoder, most: int
) -> list[RuleType]:
    """Return rule types with places where they were seen."""
    places: list[list[Example]] = [[] for _ in types]
    numbers = {encoder.sequence(type.rule): k for k, type in enumerate(types)}
    for start in range(0, len(rows), PAIRS):
        block = list(rows[start : start + PAIRS])
        for part in encoder.encode(block)[1]:
            _collect(part, block, numbers, places, most, 4 * encoder.masks)
    return [
        replace(type, examples=tuple(examples)) if examples else type
        for type, examples in zip(types, places, strict=True)
    ]


def _collect(
    part: Encoded,
    block: list[Row],
    numbers: dict[bytes, int],
    places: list[list[Example]],
    most: int,
    mask_bytes: int,
) -> None:
    data, ends = part.symbols.tobytes(), (4 * part.ends).tolist()
    pairs = np.searchsorted(part.row_ends, part.places, "right") - 1
    spans = part.spans[part.rows[part.places, 0]]
    for record in np.flatnonzero(part.values[:, 1]).tolist():  # once for each sentence pair
        key = data[ends[record] : ends[record + 1] - mask_bytes]
        examples = places[numbers[key]] if key in numbers else None
        if examples is not None and len(examples) < most:
            pair = block[pairs[record]][0]
            source, target = pair.words
            a, b, c, d = spans[record].tolist()
            examples.append(Example(pair.id, source, target, (a, b), (c, d)))
