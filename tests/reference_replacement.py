"""The alternative annotator test by its definitions, one pair at a time: slow, plain, exact."""

from fractions import Fraction

from reference_phrases import phrase_pairs
from scipy.stats import ttest_1samp

KINDS = ("equal words", "one to one", "several words")
LEAST = 30


def f1(first, second):
    if not first and not second:
        return Fraction(1)
    return Fraction(2 * len(first & second), len(first) + len(second))


def links_of(pair, name, measure):
    alignment = pair.alignment(name)
    return set(alignment.sure if measure == "sure" else alignment.possible)


def of_kind(pair, links, kind):
    chosen = set()
    for i, j in links:
        alone = sum(a == i for a, _ in links) == 1 == sum(b == j for _, b in links)
        equal = pair.source[i].casefold() == pair.target[j].casefold()
        if equal:
            its_kind = "equal words"
        else:
            its_kind = "one to one" if alone else "several words"
        if its_kind == kind:
            chosen.add((i, j))
    return chosen


def nulls(pair, links):
    source = {("s", i) for i in range(len(pair.source))} - {("s", i) for i, _ in links}
    return source | {("t", j) for j in range(len(pair.target))} - {("t", j) for _, j in links}


def items(pair, name, measure, kind):
    """Return what counts, and all of its sort."""
    links = links_of(pair, name, measure)
    if kind == "nulls":
        return nulls(pair, links), nulls(pair, links)
    return (links if kind == "all" else of_kind(pair, links, kind)), links


def likeness(pair, first, second, measure="links", kind="all", order=()):
    if measure == "judgments":
        mine, other = (pair.annotations[name].judgment for name in (first, second))
        if order:
            return -(Fraction(order.index(mine) - order.index(other)) ** 2)
        return Fraction(mine == other)
    if measure == "phrases":
        return phrase_likeness(pair, first, second)
    chosen, every = items(pair, first, measure, kind)
    others, all_others = items(pair, second, measure, kind)
    if not chosen and not others:
        return Fraction(1)
    return Fraction(len(chosen & all_others) + len(every & others), len(chosen) + len(others))


def phrases_of(pair, name):
    """Return the atomic phrase pairs of all links, and all phrase pairs."""
    every = phrase_pairs(pair.alignment(name).possible, *pair.lengths)
    return {box for box, is_atomic in every if is_atomic}, {box for box, _ in every}


def phrase_likeness(pair, first, second):
    atomic, every = phrases_of(pair, first)
    other_atomic, other_every = phrases_of(pair, second)
    if not atomic and not other_atomic:
        return Fraction(1)
    if not atomic or not other_atomic:
        return Fraction(0)
    precision = Fraction(len(atomic & other_every), len(atomic))
    recall = Fraction(len(other_atomic & every), len(other_atomic))
    return 2 * precision * recall / (precision + recall) if precision + recall else Fraction(0)


def annotated(pair, name, measure):
    if measure == "judgments":
        return name in pair.annotations and bool(pair.annotations[name].judgment)
    return name in pair.alignments


def said(pair, names, measure, kind):
    if measure == "judgments":
        return True
    if measure == "phrases":
        return any(phrases_of(pair, name)[0] for name in names)
    return any(items(pair, name, measure, kind)[0] for name in names)


def outcomes(corpus, system, names, annotator, measure="links", kind="all", order=()):
    """Yield the place, W_f and W_h of each pair in which the two are compared."""
    for place, pair in enumerate(corpus):
        who = [name for name in names if annotated(pair, name, measure)]
        others = [name for name in who if name != annotator]
        if annotator not in who or not others or not annotated(pair, system, measure):
            continue
        if not said(pair, [system, *who], measure, kind):
            continue
        mine, of_system = (
            sum(likeness(pair, x, other, measure, kind, order) for other in others) / len(others)
            for x in (annotator, system)
        )
        yield place, int(of_system >= mine), int(mine >= of_system)


def text_of(pair):
    return tuple(tuple(word.casefold() for word in side) for side in (pair.source, pair.target))


def unit_means(corpus, rows, together=None):
    """Return the mean of W_f and of d of each unit: of copies first, then of texts."""
    groups = {}
    for place, wins, losses in rows:
        pair = corpus[place]
        text = text_of(pair)
        group = pair.attributes.get(together) or text
        groups.setdefault(group, {}).setdefault(text, []).append((wins, losses - wins))
    means = []
    for texts in groups.values():
        of_texts = [
            [sum(c) / len(c) for c in zip(*copies, strict=True)] for copies in texts.values()
        ]
        means.append([sum(c) / len(c) for c in zip(*of_texts, strict=True)])
    return means


def by_rejections(p_values, alpha=0.05):
    """Return which hypotheses the procedure of Benjamini and Yekutieli rejects."""
    m = len(p_values)
    harmonic = sum(1 / k for k in range(1, m + 1))
    rising = sorted(range(m), key=p_values.__getitem__)
    most = 0
    for rank, k in enumerate(rising, 1):
        if p_values[k] <= rank * alpha / (m * harmonic):
            most = rank
    return [rising.index(k) < most for k in range(m)]


def alternative_test(corpus, system, names, epsilon=0.1, together=None, **how):
    """Return by annotator the units, the advantage, the mean of d, p, and whether rejected."""
    tested, results = [], []
    for name in names:
        means = unit_means(corpus, outcomes(corpus, system, names, name, **how), together)
        if len(means) < LEAST:
            continue
        wins, differences = zip(*means, strict=True)
        mean = sum(differences) / len(differences)
        if len(set(differences)) == 1:
            p = 0.0 if mean < epsilon else 1.0
        else:
            p = float(ttest_1samp(differences, epsilon, alternative="less").pvalue)
        tested.append(name)
        results.append((len(means), sum(wins) / len(wins), mean, p))
    rejected = by_rejections([p for *_, p in results])
    return {name: (*row, no) for name, row, no in zip(tested, results, rejected, strict=True)}
