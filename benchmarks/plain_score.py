"""Score two Pharaoh files with plain sets: `python -m benchmarks.plain_score HYP REF LEVEL`.

LEVEL is links or both. Prints JSON as `alignkit score --json` does, without counts.
"""

from __future__ import annotations

import json
import sys
from itertools import zip_longest
from math import isnan

from benchmarks.plain import Links, parse, phrases, ratio

_KINDS = ("possible", "sure")


def link_counts(hyp: tuple[Links, Links], ref: tuple[Links, Links]) -> list[int]:
    """Return |A_S|, |B_S|, |A_S & B_P| and |A_P & B_S|."""
    (hyp_sure, hyp_possible), (ref_sure, ref_possible) = hyp, ref
    return [
        len(hyp_sure),
        len(ref_sure),
        len(hyp_sure & ref_possible),
        len(hyp_possible & ref_sure),
    ]


def link_measures(counts: list[int]) -> dict[str, float]:
    """Return the measures of links (eq. 2 of Cohn et al. 2008)."""
    hyp, ref, right, found = counts
    return measures(counts) | {"aer": 1 - ratio(right + found, hyp + ref)}


def measures(counts: list[int]) -> dict[str, float]:
    """Return precision, recall and F1, which is 0 where either of the others is."""
    hyp, ref, right, found = counts
    precision, recall = ratio(right, hyp), ratio(found, ref)
    f1 = 0.0 if 0 in (precision, recall) else 2 * precision * recall / (precision + recall)
    return {"precision": precision, "recall": recall, "f1": f1}


def phrase_counts(hyp: Links, ref: Links) -> list[int]:
    """Return |A_atom|, |B_atom|, |A_atom & B| and |A & B_atom|."""
    a, b = phrases(hyp), phrases(ref)
    a_atomic, b_atomic = {p for p in a if a[p]}, {p for p in b if b[p]}
    sets = (a_atomic, b_atomic, a_atomic & b.keys(), a.keys() & b_atomic)
    return list(map(len, sets))


def add(totals: list[int], counts: list[int]) -> None:
    for k, count in enumerate(counts):
        totals[k] += count


def score(hyp_path: str, ref_path: str, level: str) -> dict[str, dict[str, object]]:
    """Score one file against another, line by line."""
    links = [0] * 4
    pairs = {kind: [0] * 4 for kind in _KINDS}
    with open(hyp_path, encoding="utf-8") as hyps, open(ref_path, encoding="utf-8") as refs:
        for hyp_line, ref_line in zip_longest(hyps, refs):
            if hyp_line is None or ref_line is None:
                sys.exit(f"{hyp_path} and {ref_path} differ in their number of lines")
            hyp, ref = parse(hyp_line), parse(ref_line)
            add(links, link_counts(hyp, ref))
            if level == "both":
                counts = phrase_counts(hyp[1], ref[1])
                add(pairs["possible"], counts)
                if len(hyp[0]) < len(hyp[1]) or len(ref[0]) < len(ref[1]):
                    counts = phrase_counts(hyp[0], ref[0])
                add(pairs["sure"], counts)
    found: dict[str, dict[str, object]] = {"links": dict(link_measures(links))}
    if level == "both":
        found["phrases"] = {kind: measures(pairs[kind]) for kind in _KINDS}
    return found


def plain(value: object) -> object:
    """Return what JSON can hold: NaN becomes null."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    return None if isinstance(value, float) and isnan(value) else value


if __name__ == "__main__":
    print(json.dumps(plain(score(*sys.argv[1:])), indent=2))
