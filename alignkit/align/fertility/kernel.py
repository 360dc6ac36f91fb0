"""Score and improve alignments of IBM 3 and IBM 4: the compiled loops over one sentence pair.

A word is taken out of its cept (the words linked to one source word) and put into another; the
change of the log-probability is found from the neighbours of the word in that cept and from the
cept after it. The terms that do not depend on the order of the words stand in `Pair.local`,
`Pair.fertilities` and `Pair.null`; those of IBM 4 that do, in `Pair.first` and `Pair.rest`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import F4, F8, I4, I8
from alignkit._support.jit import inlined, jit

CEPT = 0
NEXT = 1
HEAD = 0
SIZE = 1
TOTAL = 2
CENTRE = 3
LEAST_GAIN = 1e-6  # a change must gain more than the rounding of the logs
HOPELESS = -12.0
"""The order is not looked at where all other terms are so much worse than those of another cept."""


class KernelPair(NamedTuple):
    """One sentence pair under a model (all numbers are logs) with its alignment.

    Cept i > 0 is that of source word i - 1; cept 0 is that of NULL.
    """

    local: F4
    """What a link costs by itself, (N + 1, M): the translation, in IBM 3 also the distortion."""
    fertilities: F4
    """n(s | word) for each cept and size s from 0 to F, (N + 1, F + 1); row 0 is not used."""
    factorial: bool
    """Whether a cept of s words counts s! times (IBM 3, where `fertilities` holds n(s) s!)."""
    null: F8  # the probability of each number of NULL words, (M + 1,)
    first: F4  # d1(step | class of the word of the cept before, class of the word); IBM 3: size 0
    rest: F4  # d>1(step | class of the word), for steps from 1
    sources: I4  # the class of each cept's word, (N + 1,); [0] is the start of the sentence
    targets: I4  # the class of each target word, (M,)
    links: I4  # the cept of each target word and the next word of that cept, -1 at its end, (2, M)
    cepts: I4
    """Of each cept first word (-1: none), number of words, sum and centre of their 1-based
    positions, (4, N + 1); the centre is the mean, rounded up, that of the start 0."""
    growth: F8  # how the fertility terms change if a cept gets one more word, (N + 1,)


@inlined
def renew(i: int, pair: KernelPair) -> None:
    """Set what follows from the words of cept i."""
    cepts = pair.cepts
    size = cepts[SIZE, i]
    if i == 0:
        pair.growth[0] = pair.null[min(size + 1, pair.null.size - 1)] - pair.null[size]
        return
    if size > 0:
        # the mean of the 1-based positions, rounded up
        cepts[CENTRE, i] = (cepts[TOTAL, i] + size - 1) // size
    log = pair.fertilities[i]
    if size < log.size - 1:
        # log n(s + 1) - log n(s); with `factorial` the table holds n(s) s! already
        pair.growth[i] = log[size + 1] - log[size]
    elif pair.factorial:  # each further word halves the probability
        pair.growth[i] = np.log(0.5 * (size + 1))
    else:
        pair.growth[i] = np.log(0.5)


@inlined
def put(j: int, i: int, pair: KernelPair) -> None:
    """Put word j into cept i, in order of position; the words of NULL have no order."""
    links = pair.links
    cepts = pair.cepts
    links[CEPT, j] = i
    cepts[SIZE, i] += 1
    cepts[TOTAL, i] += j + 1
    if i > 0:
        k = cepts[HEAD, i]
        if k < 0 or k > j:
            # j becomes the head: its list goes on with the old one
            links[NEXT, j] = k
            cepts[HEAD, i] = j
        else:
            # k: the last word of the cept before j
            while 0 <= links[NEXT, k] < j:
                k = links[NEXT, k]
            links[NEXT, j] = links[NEXT, k]
            links[NEXT, k] = j
    renew(i, pair)


@inlined
def take(j: int, pair: KernelPair) -> None:
    """Take word j out of its cept."""
    links = pair.links
    cepts = pair.cepts
    i = links[CEPT, j]
    cepts[SIZE, i] -= 1
    cepts[TOTAL, i] -= j + 1
    if i > 0:
        k = cepts[HEAD, i]
        if k == j:
            cepts[HEAD, i] = links[NEXT, j]
        else:
            # k: the word before j in the list of its cept
            while links[NEXT, k] != j:
                k = links[NEXT, k]
            links[NEXT, k] = links[NEXT, j]
    renew(i, pair)


@inlined
def swap(j: int, k: int, pair: KernelPair) -> None:
    """Let words j and k swap their cepts."""
    a = pair.links[CEPT, j]
    b = pair.links[CEPT, k]
    take(j, pair)
    take(k, pair)
    put(j, b, pair)
    put(k, a, pair)


@inlined
def head_log(step: int, before: int, word: int, first: F4) -> float:
    """Return log d1(step | class of the cept before, class of the word); the ends stand for all."""
    # the table has the steps -band .. band; column 0 is that of -band
    band = first.shape[2] // 2
    step = min(max(step, -band), band)
    return float(first[before, word, step + band])


@inlined
def rest_log(step: int, word: int, rest: F4) -> float:
    """Return log d>1(step | class of the word), step > 0; the end stands for all beyond."""
    return float(rest[word, min(step, rest.shape[1]) - 1])


@inlined
def order_gain(j: int, i: int, before: int, after: int, pair: KernelPair) -> float:
    """Return the change of the order terms of IBM 4 when word j goes into cept i > 0.

    `before` and `after` are the nearest cepts around i that have words, 0 where there is none.
    """
    links = pair.links
    cepts = pair.cepts
    first = pair.first
    rest = pair.rest
    sources = pair.sources
    targets = pair.targets
    # the head of cept i is placed by its step from the centre of the cept before
    start = cepts[CENTRE, before]
    head = cepts[HEAD, i]
    if head < 0:
        # the cept was empty: j is its head, and the cept after had its step from `start`
        gain = head_log(j + 1 - start, sources[before], targets[j], first)
        old_centre = start
        old_class = sources[before]
        new_centre = j + 1
    else:
        old_centre = cepts[CENTRE, i]
        old_class = sources[i]
        # ceil((TOTAL + j + 1) / (SIZE + 1))
        size = cepts[SIZE, i]
        new_centre = (cepts[TOTAL, i] + j + 1 + size) // (size + 1)
        if j < head:
            # j becomes the head, and the old head an ordinary word after it
            gain = head_log(j + 1 - start, sources[before], targets[j], first)
            gain += rest_log(head - j, targets[head], rest)
            gain -= head_log(head + 1 - start, sources[before], targets[head], first)
        else:
            # j goes between u and v: the step v - u becomes the two steps j - u and v - j
            u = head
            v = links[NEXT, head]
            while 0 <= v < j:
                u = v
                v = links[NEXT, v]
            gain = rest_log(j - u, targets[j], rest)
            if v >= 0:
                gain += rest_log(v - j, targets[v], rest) - rest_log(v - u, targets[v], rest)
    if after > 0 and (head < 0 or new_centre != old_centre):
        # the head of the next cept takes its step from the new centre
        k = cepts[HEAD, after]
        gain += head_log(k + 1 - new_centre, sources[i], targets[k], first)
        gain -= head_log(k + 1 - old_centre, old_class, targets[k], first)
    return float(gain)


@inlined
def word_gain(j: int, i: int, pair: KernelPair) -> float:
    """Return the change of the log-probability when word j, in no cept now, goes into cept i."""
    gain = float(pair.local[i, j] + pair.growth[i])
    if i == 0 or pair.first.size == 0:
        return gain
    sizes = pair.cepts[SIZE]
    # the nearest cepts that have words; empty ones take no part in the order
    before = i - 1
    while before > 0 and sizes[before] == 0:
        before -= 1
    after = i + 1
    while after < sizes.size and sizes[after] == 0:
        after += 1
    if after == sizes.size:
        after = 0
    return gain + order_gain(j, i, before, after, pair)


@jit
def word_gains(j: int, old: int, pair: KernelPair, gains: F8) -> None:
    """Set the change of the log-probability when word j, in no cept now, goes into each cept.

    It is minus infinity where that is hopeless, other than for the cept `old`.
    """
    top = -np.inf
    for i in range(gains.size):
        # without the order terms, which are slow: they are added where they could still decide
        gains[i] = pair.local[i, j] + pair.growth[i]
        top = max(top, gains[i])
    if pair.first.size > 0:
        for i in range(1, gains.size):
            # NULL (i = 0) has no order terms
            if i == old or gains[i] > top + HOPELESS:
                gains[i] = word_gain(j, i, pair)
            else:
                gains[i] = -np.inf


@jit
def swap_gain(j: int, k: int, pair: KernelPair) -> float:
    """Return the change of the log-probability when words j and k swap their cepts."""
    a = pair.links[CEPT, j]
    b = pair.links[CEPT, k]
    if pair.first.size == 0:
        local = pair.local
        # IBM 3: the sizes of the cepts stay, so that only the four links change
        return float(local[b, j] + local[a, k] - local[a, j] - local[b, k])
    take(j, pair)
    # out with both words, then in with them crosswise; each step is scored as the pair then is
    gain = -word_gain(j, a, pair)
    take(k, pair)
    gain -= word_gain(k, b, pair)
    gain += word_gain(j, b, pair)
    put(j, b, pair)
    gain += word_gain(k, a, pair)
    # back to how it was
    take(j, pair)
    put(j, a, pair)
    put(k, b, pair)
    return gain


@jit
def order_burdens(pair: KernelPair) -> F8:
    """Return how much the order terms of each cept of IBM 4 cost, and the head of the next: U.

    No change of the order within a cept, or of the centre before the next, can gain more than that.
    """
    links = pair.links
    cepts = pair.cepts
    burdens = np.zeros(cepts.shape[1])
    if pair.first.size == 0:
        return burdens
    before = 0
    for i in range(1, burdens.size):
        j = cepts[HEAD, i]
        # an empty cept
        if j < 0:
            continue
        step = j + 1 - cepts[CENTRE, before]
        cost = head_log(step, pair.sources[before], pair.targets[j], pair.first)
        # logs are negative, so that burdens are at least 0
        burdens[i] -= cost
        if before > 0:
            burdens[before] -= cost
        k = links[NEXT, j]
        # the further words of the cept, each by its step from the one before
        while k >= 0:
            burdens[i] -= rest_log(k - j, pair.targets[k], pair.rest)
            j = k
            k = links[NEXT, k]
        before = i
    return burdens


@inlined
def swap_bound(j: int, k: int, pair: KernelPair, burdens: F8) -> float:
    """Return what a swap of words j and k gains at most: all order terms around would be free."""
    a = pair.links[CEPT, j]
    b = pair.links[CEPT, k]
    local = pair.local
    gain = local[b, j] + local[a, k] - local[a, j] - local[b, k]
    return float(gain + burdens[a] + burdens[b])


@jit
def put_all(alignment: I4, pair: KernelPair) -> float:
    """Set the alignment: the source word of each target word, -1 for NULL.

    Returns log P(target words, alignment | source words).
    """
    pair.cepts[:] = 0
    pair.cepts[HEAD] = -1
    # the score of no links: all cepts empty; then word by word
    score = pair.null[0]
    for i in range(pair.cepts.shape[1]):
        renew(i, pair)
        if i > 0:
            score += pair.fertilities[i, 0]
    for j in range(alignment.size):
        score += word_gain(j, alignment[j] + 1, pair)
        put(j, alignment[j] + 1, pair)
    return float(score)


@jit
def climb(sweeps: int, pair: KernelPair) -> float:
    """Move each word to its best cept and swap words while that gains; return the whole gain.

    Stops where no move and no swap gains, or after so many sweeps.
    """
    m = pair.links.shape[1]
    gains = np.empty(pair.cepts.shape[1])
    total = 0.0
    for _ in range(sweeps):
        before = total
        for j in range(m):
            old = pair.links[CEPT, j]
            # the best cept for word j while all others stay
            take(j, pair)
            word_gains(j, old, pair, gains)
            new = int(np.argmax(gains))
            if gains[new] > gains[old] + LEAST_GAIN:
                total += gains[new] - gains[old]
            else:
                new = old
            put(j, new, pair)
        burdens = order_burdens(pair)
        for j in range(m):
            # swaps: a bound first, since most cannot gain
            for k in range(j + 1, m):
                same = pair.links[CEPT, j] == pair.links[CEPT, k]
                if not same and swap_bound(j, k, pair, burdens) > LEAST_GAIN:
                    gain = swap_gain(j, k, pair)
                    if gain > LEAST_GAIN:
                        swap(j, k, pair)
                        burdens = order_burdens(pair)
                        total += gain
        # a local optimum: no move and no swap gains
        if total == before:
            break
    return total


@inlined
def weigh(count: float, small: F8) -> float:
    """Return x log x, from a table where x is small."""
    if count < small.size:
        return float(small[int(count)])
    return float(count * np.log(count))


@jit
def occurrences(stream: I4, size: int) -> tuple[I8, I8]:
    """List the places of each word in the stream: (rows, places), as a counting sort does."""
    rows = np.zeros(size + 2, np.int64)
    for word in stream:
        # shifted by two, so that after the second loop rows[word + 1] is where the next goes
        rows[word + 2] += 1
    for word in range(2, size + 2):
        rows[word] += rows[word - 1]
    places = np.empty(stream.size, np.int64)
    # now rows[word] is where word ends, that is where word + 1 begins
    for place in range(stream.size):
        word = stream[place]
        places[rows[word + 1]] = place
        rows[word + 1] += 1
    return rows[: size + 1].copy(), places


@jit
def look_around(
    word: int, stream: I4, start: int, end: int, places: I8, classes: I4, beside: F8
) -> float:
    """Count the classes before and after a word in `beside`; return how often it follows itself."""
    beside[:] = 0
    twice = 0.0
    for k in range(start, end):
        before = stream[places[k] - 1]
        after = stream[places[k] + 1]
        # a word next to itself is counted once, in `twice`
        if before != word:
            beside[0, classes[before]] += 1
        if after == word:
            twice += 1
        else:
            beside[1, classes[after]] += 1
    return twice


@jit
def shift(group: int, sign: float, beside: F8, twice: float, bigrams: F8) -> None:
    """Add a word to a class, or take it out of it (sign -1), in the counts of class bigrams."""
    for other in range(bigrams.shape[0]):
        bigrams[other, group] += sign * beside[0, other]
        bigrams[group, other] += sign * beside[1, other]
    bigrams[group, group] += sign * twice


@jit
def best_class(
    number: int,
    count: float,
    beside: F8,
    twice: float,
    bigrams: F8,
    sizes: F8,
    small: F8,
    near: I4,
    gains: F8,
) -> None:
    """Set the gain in log-likelihood of each class for a word that is in none."""
    # only classes that stand beside the word change their cells with it
    touched = 0
    for other in range(bigrams.shape[0]):
        if beside[0, other] > 0 or beside[1, other] > 0:
            near[touched] = other
            touched += 1
    for group in range(number):
        # log-likelihood = sum n(g, h) log n(g, h) - 2 sum n(g) log n(g), over class bigrams
        # and classes (Kneser & Ney 1993); the gain is the change of these terms
        gain = 2 * (weigh(sizes[group], small) - weigh(sizes[group] + count, small))
        own = twice
        for k in range(touched):
            other = near[k]
            if other == group:
                # neighbours of the class itself fall into the cell (group, group)
                own += beside[0, other] + beside[1, other]
                continue
            if beside[0, other] > 0:
                old = bigrams[other, group]
                gain += weigh(old + beside[0, other], small) - weigh(old, small)
            if beside[1, other] > 0:
                old = bigrams[group, other]
                gain += weigh(old + beside[1, other], small) - weigh(old, small)
        old = bigrams[group, group]
        gains[group] = gain + weigh(old + own, small) - weigh(old, small)


@jit
def exchange(stream: I4, classes: I4, number: int, rounds: int, least: int, small: F8) -> None:
    """Move each word to its best class, in turn, till fewer than `least` words move in a round.

    `stream` is the text with the boundary, word `classes.size - 1`, before and after each line;
    `classes` is changed in place; the boundary keeps its own class, `number`.
    """
    rows, places = occurrences(stream, classes.size)
    bigrams = np.zeros((number + 1, number + 1))
    sizes = np.zeros(number + 1)
    # the counts of class bigrams and of classes
    for place in range(1, stream.size):
        group = classes[stream[place]]
        bigrams[classes[stream[place - 1]], group] += 1
        sizes[group] += 1
    beside = np.zeros((2, number + 1))
    near = np.empty(number + 1, np.int32)
    gains = np.empty(number)
    for _ in range(rounds):
        moved = 0
        for word in range(classes.size - 1):
            start = rows[word]
            end = rows[word + 1]
            if start == end:
                continue
            count = float(end - start)
            old = int(classes[word])
            twice = look_around(word, stream, start, end, places, classes, beside)
            # out of its class, the gain of each class, and into the best
            shift(old, -1.0, beside, twice, bigrams)
            sizes[old] -= count
            best_class(number, count, beside, twice, bigrams, sizes, small, near, gains)
            new = int(np.argmax(gains))
            # no gain beyond rounding: it stays
            if gains[new] <= gains[old] + 1e-6:
                new = old
            moved += new != old
            classes[word] = new
            shift(new, 1.0, beside, twice, bigrams)
            sizes[new] += count
        if moved < least:
            break
