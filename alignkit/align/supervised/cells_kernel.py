"""Find the cells that may be links, write what is known of each, and calibrate probabilities."""

from __future__ import annotations

import numpy as np

from alignkit._support.array_types import F4, F8, I4, I8, U1, U4
from alignkit._support.jit import inlined, jit
from alignkit.align.expectation_kernel import Own, Pairs, Tables, longest
from alignkit.align.priors_kernel import common_prefix

LEAST_MEAN = 0.0005
LEAST_NEIGHBOUR = 0.15
LEAST_SIMILARITY = 0.6
LEAST_COSINE = 0.5
CERTAIN = 0.3
FAR = 10.0


@inlined
def logit(x: float, least: float = 1e-6) -> float:
    """Return the log odds of a probability, which is taken to be this far from 0 and 1."""
    x = min(max(x, least), 1 - least)
    return float(np.log(x / (1 - x)))


@jit
def similarities(
    begin: int,
    end: int,
    source: I4,
    source_starts: I8,
    target: I4,
    target_starts: I8,
    source_codes: U4,
    source_code_starts: I8,
    target_codes: U4,
    target_code_starts: I8,
    spelled: F4,
) -> None:
    """Set spelled (C, 2): longest common subsequence and prefix of the two words of each cell.

    The subsequence counts twice over both lengths, the prefix over the longer one.
    """
    # one line of the table of longest common subsequences serves all
    line = np.zeros(longest(target_code_starts, 0, len(target_code_starts) - 1), np.int32)
    cell = 0
    for p in range(begin, end):
        for i in range(source_starts[p], source_starts[p + 1]):
            a = source_code_starts[source[i]]
            m = source_code_starts[source[i] + 1] - a
            for j in range(target_starts[p], target_starts[p + 1]):
                b = target_code_starts[target[j]]
                n = target_code_starts[target[j] + 1] - b
                prefix = common_prefix(source_codes, a, m, target_codes, b, n)
                # the prefix is part of every longest subsequence: only the rest needs the table
                common = prefix
                rest_m = m - prefix
                rest_n = n - prefix
                if rest_m > 0 and rest_n > 0 and max(m, n) <= 64:
                    line[: rest_n + 1] = 0
                    for x in range(rest_m):
                        code = source_codes[a + prefix + x]
                        # line[y] holds the row above until it is written: corner is above and left
                        corner = 0
                        for y in range(1, rest_n + 1):
                            above = line[y]
                            if code == target_codes[b + prefix + y - 1]:
                                line[y] = corner + 1
                            elif line[y - 1] > above:
                                line[y] = line[y - 1]
                            corner = above
                    common += line[rest_n]
                if m + n > 0:
                    spelled[cell, 0] = 2.0 * common / (m + n)
                    spelled[cell, 1] = prefix / max(m, n)
                cell += 1


@inlined
def kth(values: F4, first: int, step: int, count: int, best: F4) -> int:
    """Set `best` to the greatest of count values, falling; return where the first of them is."""
    best[:] = 0
    where = -1
    for k in range(count):
        x = values[first + k * step]
        if x > best[len(best) - 1]:
            # insertion into the few greatest; the first of equal ones stays first
            if x > best[0]:
                where = k
            at = len(best) - 1
            while at > 0 and best[at - 1] < x:
                best[at] = best[at - 1]
                at -= 1
            best[at] = x
    return where


@jit
def mark_cells(
    begin: int,
    end: int,
    source_starts: I8,
    target_starts: I8,
    means: F4,
    spelled: F4,
    cosines: F4,
    marks: U1,
) -> int:
    """Set marks (C,) to 1 where a cell may be a link; return how many may.

    `cosines` (C,) may be empty. A word of which no cell is likely has five of them, else two.
    """
    best = np.zeros(5, np.float32)
    base = 0
    count = 0
    for p in range(begin, end):
        n = source_starts[p + 1] - source_starts[p]
        m = target_starts[p + 1] - target_starts[p]
        for i in range(n):
            kth(means, base + i * m, 1, m, best)
            # the two best of each word, five where none is likely
            least = best[1] if best[0] > CERTAIN else best[4]
            for j in range(m):
                x = means[base + i * m + j]
                if x > 0 and x >= least:
                    marks[base + i * m + j] = 1
        for j in range(m):
            kth(means, base + j, m, n, best)
            least = best[1] if best[0] > CERTAIN else best[4]
            for i in range(n):
                x = means[base + i * m + j]
                if x > 0 and x >= least:
                    marks[base + i * m + j] = 1
        for i in range(n):
            for j in range(m):
                cell = base + i * m + j
                x = means[cell]
                if (
                    x > LEAST_MEAN
                    or spelled[cell, 0] > LEAST_SIMILARITY
                    or (len(cosines) and cosines[cell] > LEAST_COSINE)
                ):
                    marks[cell] = 1
                # a likely cell: so may be all around it
                if x > LEAST_NEIGHBOUR:
                    for a in range(max(i - 1, 0), min(i + 2, n)):
                        for b in range(max(j - 1, 0), min(j + 2, m)):
                            marks[base + a * m + b] = 1
        for cell in range(base, base + n * m):
            count += marks[cell]
        base += n * m
    return count


@inlined
def at(values: F4, base: int, n: int, m: int, i: int, j: int) -> float:
    """Return the value of a cell; 0 beyond the sentences."""
    if i < 0 or j < 0 or i >= n or j >= m:
        return 0.0
    return float(values[base + i * m + j])


@inlined
def distance(goal: int, here: int) -> float:
    """Return how far a word is from where it would follow; half of the most where none is."""
    if goal < -1000:
        return 0.5
    return min(abs(here - goal), FAR) / FAR


@jit
def cell_features(
    begin: int,
    end: int,
    source: I4,
    source_starts: I8,
    target: I4,
    target_starts: I8,
    source_kinds: U1,
    target_kinds: U1,
    source_letters: I4,
    target_letters: I4,
    forward: F4,
    reverse: F4,
    lexical_forward: F4,
    lexical_reverse: F4,
    spelled: F4,
    marks: U1,
    features: F4,
    places: I4,
    ends: I8,
) -> None:
    """Set features (K, 50) of the marked cells, places (K, 2), and ends (end - begin + 1,).

    Kinds of words: 1 punctuation, 2 holds a digit, 0 others. The cells of pair p are those from
    ends[p - begin] on.
    """
    base = 0
    row = 0
    for p in range(begin, end):
        a, b = source_starts[p], target_starts[p]
        n, m = source_starts[p + 1] - a, target_starts[p + 1] - b
        means = np.empty(n * m, np.float32)
        for cell in range(n * m):
            x = (forward[base + cell] + reverse[base + cell]) * np.float32(0.5)
            means[cell] = min(x, np.float32(1))
        by_source = np.zeros((n, 4), np.float32)
        by_target = np.zeros((m, 4), np.float32)
        to_source = np.empty(n, np.int64)
        to_target = np.empty(m, np.int64)
        same_source = np.zeros(n, np.int32)
        same_target = np.zeros(m, np.int32)
        for i in range(n):
            to_source[i] = kth(means, i * m, 1, m, by_source[i, :2])
        for j in range(m):
            to_target[j] = kth(means, j, m, n, by_target[j, :2])
        for i in range(n):
            for j in range(m):
                cell = i * m + j
                by_source[i, 2] += means[cell]
                by_target[j, 2] += means[cell]
                by_source[i, 3] += reverse[base + cell]
                by_target[j, 3] += forward[base + cell]
                if spelled[base + cell, 1] == 1:
                    same_source[i] += 1
                    same_target[j] += 1
        to_source[by_source[:, 0] < CERTAIN] = -100_000
        to_target[by_target[:, 0] < CERTAIN] = -100_000
        for i in range(n):
            for j in range(m):
                cell = i * m + j
                if not marks[base + cell]:
                    continue
                x = means[cell]
                to = min(forward[base + cell], 1.0)
                back = min(reverse[base + cell], 1.0)
                # the columns are those of `CELL` in `cells`, in its order
                out = features[row]
                if x >= by_source[i, 0]:
                    rival = by_source[i, 1]
                else:
                    rival = by_source[i, 0]
                if x >= by_target[j, 0]:
                    other_rival = by_target[j, 1]
                else:
                    other_rival = by_target[j, 0]
                out[0] = x
                out[1] = logit(x)
                out[2] = logit(to)
                out[3] = logit(back)
                out[4] = logit(np.sqrt(to * back))
                out[5] = min(to, back)
                out[6] = logit(min(to, back))
                out[7] = max(0.0, 1 - by_source[i, 3])
                out[8] = max(0.0, 1 - by_target[j, 3])
                out[9] = rival
                out[10] = other_rival
                out[11] = out[1] - logit(rival)
                out[12] = out[1] - logit(other_rival)
                out[13] = by_source[i, 2] - x
                out[14] = by_target[j, 2] - x
                out[15] = x >= by_source[i, 0]
                out[16] = x >= by_target[j, 0]
                out[17] = out[15] * out[16]
                out[18] = spelled[base + cell, 1] == 1
                out[19] = out[18] > 0 and (same_source[i] > 1 or same_target[j] > 1)
                out[20] = spelled[base + cell, 0]
                out[21] = spelled[base + cell, 1]
                kind = source_kinds[source[a + i]]
                other_kind = target_kinds[target[b + j]]
                out[22] = kind == 1 and other_kind == 1
                out[23] = (kind == 1) != (other_kind == 1)
                out[24] = kind == 2 and other_kind == 2
                out[25] = (kind == 2) != (other_kind == 2)
                letters = source_letters[source[a + i]]
                other_letters = target_letters[target[b + j]]
                out[26] = min(letters, 12) / 12
                out[27] = min(other_letters, 12) / 12
                out[28] = abs(letters - other_letters) / max(1, letters, other_letters)
                around = 0.0
                for y in range(max(i - 1, 0), min(i + 2, n)):
                    for z in range(max(j - 1, 0), min(j + 2, m)):
                        around += means[y * m + z]
                out[29] = (around - x) / 8
                out[30] = around
                before = at(means, 0, n, m, i - 1, j - 1)
                after = at(means, 0, n, m, i + 1, j + 1)
                out[31] = before
                out[32] = after
                farther = max(at(means, 0, n, m, i - 2, j - 2), at(means, 0, n, m, i + 2, j + 2))
                out[33] = max(before, after, farther)
                out[34] = max(at(means, 0, n, m, i - 1, j + 1), at(means, 0, n, m, i + 1, j - 1))
                out[35] = at(means, 0, n, m, i - 1, j)
                out[36] = at(means, 0, n, m, i + 1, j)
                out[37] = at(means, 0, n, m, i, j - 1)
                out[38] = at(means, 0, n, m, i, j + 1)
                out[39] = distance(to_source[i - 1] + 1 if i > 0 else 0, j)
                out[40] = distance(to_source[i + 1] - 1 if i < n - 1 else m - 1, j)
                out[41] = distance(to_target[j - 1] + 1 if j > 0 else 0, i)
                out[42] = distance(to_target[j + 1] - 1 if j < m - 1 else n - 1, i)
                out[43] = abs((i + 0.5) / n - (j + 0.5) / m)
                out[44] = min(abs((i + 0.5) * m / n - (j + 0.5)), 2 * FAR) / FAR
                to = min(lexical_forward[base + cell], 1.0)
                back = min(lexical_reverse[base + cell], 1.0)
                out[45] = (to + back) / 2
                out[46] = logit(out[45])
                out[47] = logit(to)
                out[48] = logit(back)
                out[49] = min(to, back)
                places[row, 0] = i
                places[row, 1] = j
                row += 1
        base += n * m
        ends[p - begin + 1] = row


@jit
def neighbour_features(
    lengths: I4, ends: I8, places: I4, probabilities: F4, features: F4, column: int
) -> None:
    """Set the 15 features from a column on: what the first round says of the cells around each.

    lengths (P, 2) are those of the pairs, whose cells are from ends[p] to before ends[p + 1].
    """
    for p in range(len(lengths)):
        n, m = lengths[p, 0], lengths[p, 1]
        first = np.zeros(n * m, np.float32)
        for row in range(ends[p], ends[p + 1]):
            first[places[row, 0] * m + places[row, 1]] = probabilities[row]
        by_source = np.zeros((n, 3), np.float32)
        by_target = np.zeros((m, 3), np.float32)
        for i in range(n):
            kth(first, i * m, 1, m, by_source[i, :2])
        for j in range(m):
            kth(first, j, m, n, by_target[j, :2])
        for i in range(n):
            for j in range(m):
                by_source[i, 2] += first[i * m + j]
                by_target[j, 2] += first[i * m + j]
        for row in range(ends[p], ends[p + 1]):
            i, j = places[row, 0], places[row, 1]
            x = first[i * m + j]
            out = features[row, column:]
            if x >= by_source[i, 0]:
                rival = by_source[i, 1]
            else:
                rival = by_source[i, 0]
            if x >= by_target[j, 0]:
                other_rival = by_target[j, 1]
            else:
                other_rival = by_target[j, 0]
            out[0] = x
            out[1] = logit(x)
            out[2] = x - rival
            out[3] = x - other_rival
            out[4] = by_source[i, 2] - x
            out[5] = by_target[j, 2] - x
            k = 6
            for y in range(i - 1, i + 2):
                for z in range(j - 1, j + 2):
                    if y != i or z != j:
                        out[k] = at(first, 0, n, m, y, z)
                        k += 1
            out[14] = x >= by_source[i, 0] and x >= by_target[j, 0]


LEAST = 0.1  # cells with a lower mean posterior keep it when they are calibrated
CLIP = 0.001  # probabilities are this far from 0 and 1 when their log odds are taken


@inlined
def against_rival(x: float, best: float, second: float) -> float:
    """Return the logarithm of a mean over the greatest other one."""
    rival = second if x >= best else best
    return float(np.log((x + 0.01) / (rival + 0.01)))


@jit
def calibrate(
    begin: int,
    end: int,
    pairs: Pairs,
    tables: Tables,
    own: Own,
    few: bool,
    forward: F4,
    reverse: F4,
    source_letters: U4,
    source_starts: I8,
    target_letters: U4,
    target_starts: I8,
    source_signs: U1,
    target_signs: U1,
    source_counts: F4,
    target_counts: F4,
    agreement: float,
    weights: F8,
    probabilities: F4,
    features: F4,
) -> None:
    """Set the probabilities (C,) of the cells of the pairs from begin to before end.

    `weights` (F + 1,) are those of the features and the bias. `features` (C, F) are set too where
    it is not empty. Words are given by their letters, whether they are signs without letters, and
    how often the text of training has them. In texts of few pairs, whose own links are not taken
    out of the tables, they are taken out here.
    """
    some = np.zeros(len(weights) - 1, np.float64)
    most_n = longest(pairs.source_starts, begin, end)
    most_m = longest(pairs.target_starts, begin, end)
    bests = np.zeros((most_n, 2), np.float32)
    others = np.zeros((most_m, 2), np.float32)
    rows = np.zeros(most_n, np.float32)
    columns = np.zeros(most_m, np.float32)
    means = np.zeros(most_n * most_m, np.float32)
    mine = np.zeros(most_n * most_m, np.float32)
    base = 0
    for p in range(begin, end):
        a, b = pairs.source_starts[p], pairs.target_starts[p]
        n = pairs.source_starts[p + 1] - a
        m = pairs.target_starts[p + 1] - b
        start = pairs.starts[p]
        rows[:n] = 0
        columns[:m] = 0
        for i in range(n):
            for j in range(m):
                cell = i * m + j
                to = forward[base + cell]
                back = reverse[base + cell]
                means[cell] = min((to + back) * np.float32(0.5), np.float32(1))
                # what the pair itself gave to the tables
                mine[cell] = 0
                if len(own.links) > 0:
                    mine[cell] = np.float32(own.links[start + cell]) / np.float32(255)
                elif few:
                    mine[cell] = to * back * means[cell]
                rows[i] += mine[cell]
                columns[j] += mine[cell]
        for i in range(n):
            kth(means, i * m, 1, m, bests[i])
        for j in range(m):
            kth(means, j, m, n, others[j])
        for i in range(n):
            source = pairs.source[a + i]
            first = source_starts[source]
            letters = source_starts[source + 1] - first
            for j in range(m):
                cell = i * m + j
                x = float(means[cell])
                probabilities[base + cell] = x
                if x < LEAST:
                    continue
                target = pairs.target[b + j]
                at = target_starts[target]
                more = target_starts[target + 1] - at
                prefix = common_prefix(source_letters, first, letters, target_letters, at, more)
                equal = prefix == letters and prefix == more
                sign = source_signs[source] > 0
                other_sign = target_signs[target] > 0
                to = float(forward[base + cell])
                back = float(reverse[base + cell])
                # s, how far other pairs link the two words, and its shares of all their links
                weight = float(tables.forward[pairs.cells[start + cell]])
                support = max(weight - mine[cell], 0.0)
                total = max(float(tables.source_totals[source]) - rows[i], 0.0)
                other_total = max(float(tables.target_totals[target]) - columns[j], 0.0)
                share = (support + 0.05) / (total + 0.5)
                other_share = (support + 0.05) / (other_total + 0.5)
                # the features are those of `FEATURES`, in its order
                some[0] = logit(x, CLIP)
                some[1] = (logit(to, CLIP) + logit(back, CLIP)) / 2
                some[2] = logit(min(to, back), CLIP)
                some[3] = against_rival(x, bests[i, 0], bests[i, 1])
                some[4] = against_rival(x, others[j, 0], others[j, 1])
                some[5] = np.log(support + 0.1)
                some[6] = np.log(min(share, other_share, 2.0))
                some[7] = np.log(max(source_counts[source], target_counts[target], 1.0))
                some[8] = equal
                if equal or prefix < 3:
                    some[9] = 0.0
                else:
                    some[9] = prefix / max(letters, more)
                some[10] = sign != other_sign
                some[11] = abs((i + 0.5) / n - (j + 0.5) / m)
                if equal or (sign and other_sign):
                    some[12] = 0.0
                else:
                    some[12] = agreement
                odds = weights[len(some)]
                for k in range(len(some)):
                    odds += weights[k] * some[k]
                probabilities[base + cell] = 1 / (1 + np.exp(-odds))
                if len(features) > 0:
                    features[base + cell] = some
        base += n * m
