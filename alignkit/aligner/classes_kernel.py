"""Move words between classes: the compiled loops of `classes`.

The counts of class bigrams are kept as floats that hold whole numbers. A word is described by the
classes of its neighbours, so that the gain of a class costs one look at each of them; a round
takes time linear in the tokens, plus the classes for each class beside each word.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.jit import inlined, jit

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]
Reals = NDArray[np.float64]


@inlined
def weigh(count: float, small: Reals) -> float:
    """Return x log x, from a table where x is small."""
    if count < small.size:
        return float(small[int(count)])
    return float(count * np.log(count))


@jit
def occurrences(stream: Ints, size: int) -> tuple[Offsets, Offsets]:
    """List the places of each word in the stream: (rows, places), as a counting sort does."""
    rows = np.zeros(size + 2, np.int64)
    for word in stream:
        rows[word + 2] += 1
    for word in range(2, size + 2):
        rows[word] += rows[word - 1]
    places = np.empty(stream.size, np.int64)
    for place in range(stream.size):
        word = stream[place]
        places[rows[word + 1]] = place
        rows[word + 1] += 1
    return rows[: size + 1].copy(), places


@jit
def look_around(
    word: int, stream: Ints, start: int, end: int, places: Offsets, classes: Ints, beside: Reals
) -> float:
    """Count the classes before and after a word in `beside`; return how often it follows itself."""
    beside[:] = 0
    twice = 0.0
    for k in range(start, end):
        before, after = stream[places[k] - 1], stream[places[k] + 1]
        if before != word:
            beside[0, classes[before]] += 1
        if after == word:
            twice += 1
        else:
            beside[1, classes[after]] += 1
    return twice


@jit
def shift(group: int, sign: float, beside: Reals, twice: float, bigrams: Reals) -> None:
    """Add a word to a class, or take it out of it (sign -1), in the counts of class bigrams."""
    for other in range(bigrams.shape[0]):
        bigrams[other, group] += sign * beside[0, other]
        bigrams[group, other] += sign * beside[1, other]
    bigrams[group, group] += sign * twice


@jit
def best_class(
    number: int,
    count: float,
    beside: Reals,
    twice: float,
    bigrams: Reals,
    sizes: Reals,
    small: Reals,
    near: Ints,
    gains: Reals,
) -> None:
    """Set the gain in log-likelihood of each class for a word that is in none."""
    touched = 0
    for other in range(bigrams.shape[0]):
        if beside[0, other] > 0 or beside[1, other] > 0:
            near[touched] = other
            touched += 1
    for group in range(number):
        gain = 2 * (weigh(sizes[group], small) - weigh(sizes[group] + count, small))
        own = twice
        for k in range(touched):
            other = near[k]
            if other == group:
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
def exchange(
    stream: Ints, classes: Ints, number: int, rounds: int, least: int, small: Reals
) -> int:
    """Move each word to its best class, in turn, till fewer than `least` words move in a round.

    `stream` is the text with the boundary, word `classes.size - 1`, before and after each line;
    `classes` is changed in place; the boundary keeps its own class, `number`. Returns the rounds.
    """
    rows, places = occurrences(stream, classes.size)
    bigrams = np.zeros((number + 1, number + 1))
    sizes = np.zeros(number + 1)
    for place in range(1, stream.size):
        bigrams[classes[stream[place - 1]], classes[stream[place]]] += 1
        sizes[classes[stream[place]]] += 1
    beside = np.zeros((2, number + 1))
    near = np.empty(number + 1, np.int32)
    gains = np.empty(number)
    for done in range(rounds):
        moved = 0
        for word in range(classes.size - 1):
            if rows[word] == rows[word + 1]:
                continue
            count = float(rows[word + 1] - rows[word])
            old = int(classes[word])
            twice = look_around(word, stream, rows[word], rows[word + 1], places, classes, beside)
            shift(old, -1.0, beside, twice, bigrams)
            sizes[old] -= count
            best_class(number, count, beside, twice, bigrams, sizes, small, near, gains)
            new = int(np.argmax(gains))
            if gains[new] <= gains[old] + 1e-6:
                new = old
            moved += new != old
            classes[word] = new
            shift(new, 1.0, beside, twice, bigrams)
            sizes[new] += count
        if moved < least:
            return done + 1
    return rounds
