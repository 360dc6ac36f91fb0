"""Score with plain sets, word for word as the formulas say: what the kernels must agree with."""

from itertools import product
from math import inf

Sides = tuple[set, set, set, set]
"""Sure and all links of the hypothesis, sure and all links of the reference."""


def link_row(hyp, ref):
    a_s, a_p, b_s, b_p = hyp.sure, hyp.possible, ref.sure, ref.possible
    return list(map(len, [a_s, a_p, b_s, b_p, a_s & b_p, a_p & b_s, a_s & b_s, a_p & b_p]))


def tight_phrases(links):
    """Return every consistent, tight span pair, True if atomic."""
    sources, targets = sorted({i for i, _ in links}), sorted({j for _, j in links})
    inside = {}
    for i1, i2, j1, j2 in product(sources, sources, targets, targets):
        within = {(i, j) for i, j in links if i1 <= i <= i2 and j1 <= j <= j2}
        touching = {(i, j) for i, j in links if i1 <= i <= i2 or j1 <= j <= j2}
        corners = {i for i, _ in within} >= {i1, i2} and {j for _, j in within} >= {j1, j2}
        if within and within == touching and corners:
            inside[i1, i2 + 1, j1, j2 + 1] = within
    return {
        span: set().union(
            *(part for other, part in inside.items() if other != span and part < within)
        )
        != within
        for span, within in inside.items()
    }


def phrase_row(hyp, ref, *, longest=inf, source=(), target=()):
    """Return the counts of tight phrase pairs; where words are given, not those of equal words."""

    def stays(span):
        i1, i2, j1, j2 = span
        equal = source and source[i1:i2] == target[j1:j2]
        return max(i2 - i1, j2 - j1) <= longest and not equal

    a, b = (
        {span: kind for span, kind in tight_phrases(links).items() if stays(span)}
        for links in (hyp, ref)
    )
    a_atom, b_atom = {span for span in a if a[span]}, {span for span in b if b[span]}
    return list(map(len, [a_atom, b_atom, a_atom & b.keys(), a.keys() & b_atom, a_atom & b_atom]))


def och_ney_aer(links, sure, possible):
    """Return the alignment error rate of Och & Ney 2003 for a hypothesis without flags."""
    return 1 - (len(links & sure) + len(links & possible)) / (len(links) + len(sure))


def list_row(entries, source, target, gold):
    """Return the counts of a list of phrase pairs in one sentence pair, by trying every span."""
    spans = [
        (i1, i2, j1, j2)
        for i1, i2 in product(range(len(source)), range(1, len(source) + 1))
        for j1, j2 in product(range(len(target)), range(1, len(target) + 1))
        if i1 < i2 and j1 < j2
    ]
    found = {
        span
        for span in spans
        if (" ".join(source[span[0] : span[1]]), " ".join(target[span[2] : span[3]])) in entries
    }
    atomic = {span for span in gold if gold[span]}
    right, exact = len(found & gold.keys()), len(found & atomic)
    return [len(found), len(atomic), right, exact, exact]


def f1_reference(precision, recall):
    """Return F1 of two ratios, None where 0/0: 0 where either is 0, whatever the other is."""
    if precision == 0 or recall == 0:
        return 0.0
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall)


def macro_reference(pairs):
    """Return the averages over sentence pairs, word for word; None where there is nothing."""
    precisions, recalls, f1s, exact = [], [], [], 0
    for a_s, a_p, b_s, b_p in pairs:
        precision = len(a_s & b_p) / len(a_s) if a_s else None
        recall = len(a_p & b_s) / len(b_s) if b_s else None
        precisions += [] if precision is None else [precision]
        recalls += [] if recall is None else [recall]
        f1 = f1_reference(precision, recall)
        f1s += [] if f1 is None else [f1]
        exact += a_s == b_s

    def mean(values):
        return sum(values) / len(values) if values else None

    p, r = mean(precisions), mean(recalls)
    return {
        "precision": p,
        "recall": r,
        "f1": f1_reference(p, r),
        "mean_f1": mean(f1s),
        "exact": exact,
        "left_out": {
            "precision": len(pairs) - len(precisions),
            "recall": len(pairs) - len(recalls),
            "f1": len(pairs) - len(f1s),
        },
    }


def holm_reference(p_values):
    """Return for each p-value the least level at which Holm's steps reject it, at most 1."""

    def rejected(alpha):
        order = sorted(range(len(p_values)), key=lambda k: p_values[k])
        found = set()
        for rank, k in enumerate(order):
            if p_values[k] * (len(order) - rank) > alpha:
                break
            found.add(k)
        return found

    count = len(p_values)
    levels = sorted({1.0, *(min(1.0, p * n) for p in p_values for n in range(1, count + 1))})
    return [next((one for one in levels if k in rejected(one)), 1.0) for k in range(count)]
