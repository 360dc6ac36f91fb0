"""What an audit should draw and say, written plainly: no arrays, no room of the package."""

from collections import Counter, defaultdict

from reference_phrases import phrase_pairs
from scipy.stats import t


def phrase_sets(pair, hypothesis, reference, links, kind, keep_identical):
    """Return the phrase pairs of a pair by origin."""
    found = []
    for name in (hypothesis, reference):
        alignment = pair.alignment(name)
        chosen = alignment.sure if links == "sure" else alignment.possible
        found.append(
            {
                box: atomic
                for box, atomic in phrase_pairs(chosen, *pair.lengths)
                if keep_identical or not identical(pair, box)
            }
        )
    mine, theirs = found

    def wanted(atomic):
        return kind == "all" or atomic == (kind == "atomic")

    return {
        "hypothesis": {box for box, one in mine.items() if wanted(one) and box not in theirs},
        "reference": {box for box, one in theirs.items() if wanted(one) and box not in mine},
        "both": {box for box, one in mine.items() if wanted(one) and box in theirs},
    }


def identical(pair, box):
    """Say whether the words of both spans are equal, case aside."""
    source, target = pair.source[box[0] : box[1]], pair.target[box[2] : box[3]]
    return [one.casefold() for one in source] == [one.casefold() for one in target]


def kappa(first, second):
    """Cohen's kappa of two lists of judgments, None for none; None where it is 0/0."""
    both = [(a, b) for a, b in zip(first, second, strict=True) if a and b]
    if not both:
        return None
    n = len(both)
    observed = sum(a == b for a, b in both) / n
    rows, columns = Counter(a for a, _ in both), Counter(b for _, b in both)
    chance = sum(rows[name] * columns[name] for name in rows) / n**2
    return None if len({*rows, *columns}) == 1 else (observed - chance) / (1 - chance)


def share_bounds(rights):
    """Return the 95% interval of a share, for (unit, right) of each judgment; None without any."""
    units = defaultdict(list)
    for unit, right in rights:
        units[unit].append(right)
    total, m = len(rights), len(units)
    if m < 2 and total > 1:
        return None
    p = sum(right for _, right in rights) / total
    squares = sum(len(part) ** 2 for part in units.values())
    effect = squares / total
    if 0 < p < 1:
        errors = [sum(part) - p * len(part) for part in units.values()]
        effect = m / (m - 1) * sum(error**2 for error in errors) / (total * p * (1 - p))
    z = 1.959963984540054 if squares == total else float(t.ppf(0.975, total**2 / squares - 1))
    n = total if squares == total else total / max(effect, 1)
    middle, reach = p + z * z / (2 * n), z * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    return (middle - reach) / (1 + z * z / n), (middle + reach) / (1 + z * z / n)
