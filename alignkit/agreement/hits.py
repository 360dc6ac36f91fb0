"""What triggers cautions, and how hits of the same caution in several places make one `Caution`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from alignkit.tables.result import Caution

_SHORT = 30  # characters: two numbers that are shorter together stand in a line


@dataclass(frozen=True)
class Hit:
    """What triggers a caution, in one place."""

    pairing: str = ""  # ``"A ~ B"``; empty: in the whole report
    where: str = ""  # the level, the view or the section
    text: str = ""  # the number
    size: float = 0.0  # the hit with the largest is the worst
    detail: str = ""  # hits with another detail make another caution
    brief: str = ""  # the number in a line; empty if it is `text`
    aside: bool = False  # whether it is of another pairing than of two annotators


Hits = Iterator[tuple[str, Hit]]  # the code of a caution, and its trigger


def find_cautions(
    hits: Iterable[tuple[str, Hit]], texts: Mapping[str, tuple[str, ...]], options: object
) -> tuple[Caution, ...]:
    """Return the triggered cautions, in the order of their texts.

    The texts of a code are what the caution says, what to do instead, and perhaps the same in a
    line. They are templates with {number}, {brief}, {detail} and the names of options.
    """
    hits_of: dict[tuple[str, str], list[Hit]] = {}  # by code and detail: one caution each
    for code, hit in hits:
        hits_of.setdefault((code, hit.detail), []).append(hit)
    order = list(texts)
    cautions = []
    for code, detail in sorted(hits_of, key=lambda key: order.index(key[0])):
        of_caution = hits_of[code, detail]
        pairings = tuple(dict.fromkeys(hit.pairing for hit in of_caution if hit.pairing))
        number = _number(of_caution, several=len(pairings) > 1)
        words = {"number": number, "brief": _brief(of_caution), "detail": detail, **vars(options)}
        says, instead, *brief = (text.format(**words) for text in texts[code])
        cautions.append(Caution(code, says, instead, number, pairings, *brief))
    return tuple(cautions)


def _number(hits: list[Hit], *, several: bool) -> str:
    """Return the number at each place; for several pairings, the worst and its name."""
    hits_at: dict[str, list[Hit]] = {}
    for hit in hits:
        hits_at.setdefault(hit.where, []).append(hit)
    parts = []
    for where, of_place in hits_at.items():
        worst = max(of_place, key=lambda hit: hit.size)
        # the numbers of the pairings, or which of them have any
        is_fewer = len(of_place) < len(hits) / len(hits_at)
        differ = len({hit.text for hit in of_place}) > 1 or is_fewer
        words = [where, worst.text]
        if several and worst.text and differ:
            words.append(f"[worst: {worst.pairing}]")
        parts.append(" ".join(filter(None, words)))
    return "; ".join(parts)


def _brief(hits: list[Hit]) -> str:
    """Return the worst number for words and for sure words, or the worst of all."""
    of_annotators = [hit for hit in hits if not hit.aside]
    ranked = sorted(of_annotators or hits, key=lambda hit: hit.size)
    worst_at = {hit.where: hit.brief or hit.text for hit in ranked}  # the last one stays
    worst = ranked[-1]
    number = worst_at[worst.where]
    words = worst_at.get("possible words")
    sure = worst_at.get("sure words")
    if of_annotators and words and sure and words != sure and len(words + sure) < _SHORT:
        return f"{words} (sure: {sure})"
    which = []
    if worst.where == "sure words" and words != sure:
        which.append("sure words")
    if not of_annotators:
        which.append(worst.pairing)
    if which:
        return f"{number} ({', '.join(which)})"
    return words or number
