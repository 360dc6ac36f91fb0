"""Short names of annotators, for sentences and tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from os.path import commonprefix

from alignkit._support.wording import visible
from alignkit.tables.text_width import char_width, cut_middle

_LONG = 8  # characters: longer names lose the words that all names begin with
_LONGEST = 12  # characters: names that are still longer lose their middle


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Return short names: without the common prefix, and cut in the middle if still long."""
    short = _without_prefix(names)
    cut = {name: cut_middle(text, _LONGEST) for name, text in short.items()}
    counts = Counter(cut.values())
    if len(counts) == len(cut):
        return cut
    inner = _differing(short)
    if len(set(inner.values()) - {""}) == len(cut):
        return inner
    return {name: text if counts[text] == 1 else visible(name) for name, text in cut.items()}


def _without_prefix(names: Sequence[str]) -> dict[str, str]:
    """Return the names, the long ones without the words that all begin with."""
    parts = [re.split("([-_./])", visible(name)) for name in names]
    words = [part[::2] for part in parts]
    shared = len(commonprefix(words)) if len(names) > 1 else 0  # noqa: RUF071
    short = {}
    for name, part in zip(names, parts, strict=True):
        text = "".join(part)
        if char_width(text) > _LONG:
            text = "".join(part[2 * shared :])
            if sum(map(str.isalpha, text)) < 2:  # a lone letter reads as a statistic
                text = "".join(part[2 * max(shared - 1, 0) :])
        short[name] = text
    return short


def _differing(short: dict[str, str]) -> dict[str, str]:
    """Return the parts of names that differ, for names that are alike where they are cut."""
    start = len(commonprefix(list(short.values())))  # noqa: RUF071
    end = len(commonprefix([text[::-1] for text in short.values()]))  # noqa: RUF071
    shortest = min(map(len, short.values()))
    side = 0 if shortest - start - end > 3 else 3  # no lone letter
    first = max(start - side, 0)
    last = max(end - side, 0)
    return {
        name: cut_middle(text[first : len(text) - last], _LONGEST) for name, text in short.items()
    }


def listed(names: Iterable[str]) -> str:
    """Return names as a list in a sentence."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
