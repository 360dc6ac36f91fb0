"""Find the cells that may be links, write what is known of each, and calibrate probabilities."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import F4, F8, I4, I8, U1, U4
from alignkit._support.jit import inlined, jit
from alignkit.align.expectation_kernel import Own, Pairs, Tables, longest
from alignkit.align.priors_kernel import Spellings, common_prefix

# a cell may be a link if one of these is exceeded; see `mark_cells`
LEAST_MEAN = 0.0005
LEAST_NEIGHBOUR = 0.15  # the mean of a cell next to it
LEAST_SIMILARITY = 0.6  # of the letters of its words
LEAST_COSINE = 0.5  # of the vectors of its words

CERTAIN = 0.3  # a word whose greatest mean is above this has a likely partner
FAR = 10.0  # words; greater distances count as this one
LONGEST_WORD = 12  # letters; longer words count as this long
LONGEST_COMPARED = 64  # letters; of longer words only the prefix is compared
PUNCTUATION = 1  # the kinds of words
DIGITS = 2
UNKNOWN = -100_000  # the position of a partner that no posterior makes likely


class CellFeature(IntEnum):
    """The features of a cell (i, j), in the order of their columns.

    The cells of the matrix of posteriors are rows for source words and columns for target words.
    *Mean* is the mean of the posteriors of both directions. The *rival* of a cell is the greatest
    other mean of its row or column. *logit* is log odds.
    """

    # What the posteriors say of the cell
    MEAN = 0
    LOGIT_MEAN = 1
    LOGIT_FORWARD = 2
    LOGIT_REVERSE = 3
    LOGIT_GEOMETRIC = 4  # of the geometric mean of both directions
    MINIMUM = 5  # the smaller of both directions
    LOGIT_MINIMUM = 6
    SOURCE_NULL = 7  # the probability that the source word has no link
    TARGET_NULL = 8
    # How the cell compares with the others of its row and its column
    ROW_RIVAL = 9
    COLUMN_RIVAL = 10
    ROW_MARGIN = 11  # by how much its log odds exceed those of its rival
    COLUMN_MARGIN = 12
    ROW_REST = 13  # the sum of all other means
    COLUMN_REST = 14
    BEST_IN_ROW = 15  # 1 or 0, as are all features below that say whether
    BEST_IN_COLUMN = 16
    BEST_IN_BOTH = 17
    # What the spelling of the two words says
    IDENTICAL = 18
    REPEATED = 19  # identical, and other words of the pair are identical to one of the two
    SUBSEQUENCE = 20  # see `similarities`
    PREFIX = 21
    PUNCTUATION_BOTH = 22  # whether both words are punctuation
    PUNCTUATION_ONE = 23  # whether exactly one is
    DIGITS_BOTH = 24
    DIGITS_ONE = 25
    SOURCE_LENGTH = 26  # letters, from 0 to 1
    TARGET_LENGTH = 27
    LENGTH_DIFFERENCE = 28  # as a share of the longer word
    # The means of the cells around it; 0 beyond the sentences
    NEIGHBOURS = 29  # the mean of all eight
    SQUARE = 30  # the sum of all eight and the cell
    BEFORE_BOTH = 31  # of the cell (i - 1, j - 1)
    AFTER_BOTH = 32
    BEST_DIAGONAL = 33  # the greatest of the two before and the two after on the diagonal
    BEST_ANTIDIAGONAL = 34  # the greater of (i - 1, j + 1) and (i + 1, j - 1)
    ABOVE = 35
    BELOW = 36
    LEFT = 37
    RIGHT = 38
    # How far a word is from the place next to the partner of its neighbour; see `distance`
    FROM_PREVIOUS_SOURCE = 39
    FROM_NEXT_SOURCE = 40
    FROM_PREVIOUS_TARGET = 41
    FROM_NEXT_TARGET = 42
    # How far the cell is from the diagonal of the matrix
    OFF_DIAGONAL = 43  # as a share of the sentences
    WORDS_OFF_DIAGONAL = 44  # in target words, from 0 to 2
    # What the lexical tables alone say of the two words
    LEXICAL_MEAN = 45
    LOGIT_LEXICAL_MEAN = 46
    LOGIT_LEXICAL_FORWARD = 47
    LOGIT_LEXICAL_REVERSE = 48
    LEXICAL_MINIMUM = 49


class NeighbourFeature(IntEnum):
    """The features of the second round: what the first says of a cell and those around it.

    They are made of the probabilities of the first round as `CellFeature` has those of means.
    """

    FIRST = 0  # the probability of the first round
    LOGIT_FIRST = 1
    FIRST_ROW_MARGIN = 2  # by how much it exceeds that of its rival
    FIRST_COLUMN_MARGIN = 3
    FIRST_ROW_REST = 4
    FIRST_COLUMN_REST = 5
    # the eight cells around it, row by row
    FIRST_BEFORE_BOTH = 6
    FIRST_ABOVE = 7
    FIRST_BEFORE_AFTER = 8
    FIRST_LEFT = 9
    FIRST_RIGHT = 10
    FIRST_AFTER_BEFORE = 11
    FIRST_BELOW = 12
    FIRST_AFTER_BOTH = 13
    FIRST_BEST_IN_BOTH = 14


class SideWords(NamedTuple):
    """The words of one side of a bitext: T words, V different ones."""

    words: I4  # (T,) the number of each word
    starts: I8  # where each sentence begins
    codes: U4  # the letters of the different words, one word after the other
    code_starts: I8  # (V + 1,) where the letters of each word begin
    letters: I4  # (V,) how many letters it has
    kinds: U1  # (V,) PUNCTUATION, DIGITS if it holds a digit, 0 for others


@inlined
def logit(x: float, least: float = 1e-6) -> float:
    """Return the log odds of a probability, which is taken to be this far from 0 and 1."""
    x = min(max(x, least), 1 - least)
    return float(np.log(x / (1 - x)))


@inlined
def longest_subsequence(first: U4, second: U4, line: I4) -> int:
    """Return the length of the longest common subsequence of two words' letters.

    `line` has room for one row of the table of lengths (one for each letter of `second`, and one).
    """
    line[: len(second) + 1] = 0
    for x in range(len(first)):
        code = first[x]
        # line[y] holds the row above until it is written: corner is above and left
        corner = 0
        for y in range(1, len(second) + 1):
            above = line[y]
            if code == second[y - 1]:
                line[y] = corner + 1
            elif line[y - 1] > above:
                line[y] = line[y - 1]
            corner = above
    return int(line[len(second)])


@jit
def similarities(begin: int, end: int, source: SideWords, target: SideWords, spelled: F4) -> None:
    """Set spelled (C, 2): longest common subsequence and prefix of the two words of each cell.

    The subsequence counts twice over both lengths, the prefix over the longer one.
    """
    line = np.zeros(LONGEST_COMPARED + 1, np.int32)  # for `longest_subsequence`
    cell = 0
    for p in range(begin, end):
        for i in range(source.starts[p], source.starts[p + 1]):
            a = source.code_starts[source.words[i]]
            a_end = source.code_starts[source.words[i] + 1]
            letters = a_end - a
            for j in range(target.starts[p], target.starts[p + 1]):
                b = target.code_starts[target.words[j]]
                b_end = target.code_starts[target.words[j] + 1]
                other_letters = b_end - b
                longer = max(letters, other_letters)
                prefix = common_prefix(source.codes, a, letters, target.codes, b, other_letters)
                # the prefix is part of every longest subsequence: only the rest needs the table
                common = prefix
                if prefix < min(letters, other_letters) and longer <= LONGEST_COMPARED:
                    source_rest = source.codes[a + prefix : a_end]
                    target_rest = target.codes[b + prefix : b_end]
                    common += longest_subsequence(source_rest, target_rest, line)
                if longer > 0:
                    spelled[cell, 0] = 2.0 * common / (letters + other_letters)
                    spelled[cell, 1] = prefix / longer
                cell += 1


@inlined
def set_greatest(best: F4, values: F4, first: int, step: int, count: int) -> int:
    """Set `best` to the greatest of count values, falling; return which one is the greatest.

    -1 is returned if no value is above 0.
    """
    best[:] = 0
    where = -1
    for k in range(count):
        x = values[first + k * step]
        if x > best[len(best) - 1]:
            # insertion into the few greatest; the first of equal ones stays first
            if x > best[0]:
                where = k
            place = len(best) - 1
            while place > 0 and best[place - 1] < x:
                best[place] = best[place - 1]
                place -= 1
            best[place] = x
    return where


@inlined
def rival_of(value: float, best: F4) -> float:
    """Return the greatest other value of a row or column, whose two greatest are given."""
    if value >= best[0]:
        return float(best[1])
    return float(best[0])


@inlined
def mark_best(means: F4, first: int, step: int, count: int, best: F4, marks: U1) -> None:
    """Mark the best cells of a word: two, or five if none is likely. `best` has room for five."""
    set_greatest(best, means, first, step, count)
    if best[0] > CERTAIN:
        least = best[1]
    else:
        least = best[4]
    for k in range(count):
        x = means[first + k * step]
        if x > 0 and x >= least:
            marks[first + k * step] = 1


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
) -> None:
    """Set marks (C,) to 1 where a cell may be a link.

    These are the best cells of each word (see `mark_best`), cells whose mean, spelling or cosine is
    high enough, and all cells next to a likely one. `cosines` (C,) may be empty.
    """
    best = np.zeros(5, np.float32)
    base = 0
    for p in range(begin, end):
        n = source_starts[p + 1] - source_starts[p]
        m = target_starts[p + 1] - target_starts[p]
        for i in range(n):
            mark_best(means, base + i * m, 1, m, best, marks)
        for j in range(m):
            mark_best(means, base + j, m, n, best, marks)
        for i in range(n):
            for j in range(m):
                cell = base + i * m + j
                x = means[cell]
                if x > LEAST_MEAN or spelled[cell, 0] > LEAST_SIMILARITY:
                    marks[cell] = 1
                if len(cosines) and cosines[cell] > LEAST_COSINE:
                    marks[cell] = 1
                # a likely cell: so may be all around it
                if x > LEAST_NEIGHBOUR:
                    for a in range(max(i - 1, 0), min(i + 2, n)):
                        for b in range(max(j - 1, 0), min(j + 2, m)):
                            marks[base + a * m + b] = 1
        base += n * m


@inlined
def at(values: F4, n: int, m: int, i: int, j: int) -> float:
    """Return the value of a cell of a pair; 0 beyond the sentences."""
    if i < 0 or j < 0 or i >= n or j >= m:
        return 0.0
    return float(values[i * m + j])


@inlined
def distance(goal: int, here: int) -> float:
    """Return how far a word is from where it would follow; half of the most where none is."""
    if goal <= UNKNOWN + 1:  # next to a partner that is not known
        return 0.5
    return min(abs(here - goal), FAR) / FAR


@inlined
def set_neighbour_means(out: F4, means: F4, n: int, m: int, i: int, j: int) -> None:
    """Set the features of the means around a cell."""
    square = 0.0
    for y in range(max(i - 1, 0), min(i + 2, n)):
        for z in range(max(j - 1, 0), min(j + 2, m)):
            square += means[y * m + z]
    out[CellFeature.NEIGHBOURS] = (square - means[i * m + j]) / 8
    out[CellFeature.SQUARE] = square
    before = at(means, n, m, i - 1, j - 1)
    after = at(means, n, m, i + 1, j + 1)
    out[CellFeature.BEFORE_BOTH] = before
    out[CellFeature.AFTER_BOTH] = after
    far_before = at(means, n, m, i - 2, j - 2)
    far_after = at(means, n, m, i + 2, j + 2)
    out[CellFeature.BEST_DIAGONAL] = max(before, after, far_before, far_after)
    above_right = at(means, n, m, i - 1, j + 1)
    below_left = at(means, n, m, i + 1, j - 1)
    out[CellFeature.BEST_ANTIDIAGONAL] = max(above_right, below_left)
    out[CellFeature.ABOVE] = at(means, n, m, i - 1, j)
    out[CellFeature.BELOW] = at(means, n, m, i + 1, j)
    out[CellFeature.LEFT] = at(means, n, m, i, j - 1)
    out[CellFeature.RIGHT] = at(means, n, m, i, j + 1)


@inlined
def expected_after(partners: I8, k: int) -> int:
    """Return the position after the partner of the word before word k; 0 for the first word."""
    if k == 0:
        return 0
    return int(partners[k - 1]) + 1


@inlined
def expected_before(partners: I8, k: int, length: int) -> int:
    """Return the position before the partner of the word after k; the last for the last word."""
    if k == len(partners) - 1:
        return length - 1
    return int(partners[k + 1]) - 1


@inlined
def set_place_features(out: F4, target_of_source: I8, source_of_target: I8, i: int, j: int) -> None:
    """Set how far the cell is from its neighbours' partners, and from the diagonal."""
    n = len(target_of_source)
    m = len(source_of_target)
    out[CellFeature.FROM_PREVIOUS_SOURCE] = distance(expected_after(target_of_source, i), j)
    out[CellFeature.FROM_NEXT_SOURCE] = distance(expected_before(target_of_source, i, m), j)
    out[CellFeature.FROM_PREVIOUS_TARGET] = distance(expected_after(source_of_target, j), i)
    out[CellFeature.FROM_NEXT_TARGET] = distance(expected_before(source_of_target, j, n), i)
    words_off = abs((i + 0.5) * m / n - (j + 0.5))
    out[CellFeature.OFF_DIAGONAL] = abs((i + 0.5) / n - (j + 0.5) / m)
    out[CellFeature.WORDS_OFF_DIAGONAL] = min(words_off, 2 * FAR) / FAR


class WordFacts(NamedTuple):
    """What the cells of each of the N words of one side of a pair say."""

    best: F4  # (N, 2) the two greatest means
    partners: I8  # (N,) the position of the greatest; UNKNOWN if it is not likely
    sums: F4  # (N,) the sum of the means
    links: F4  # (N,) the probability that the word has a link
    identical: I4  # (N,) how many words of the other side are spelled like it


@inlined
def facts_of_words(
    words: int,
    word_step: int,
    others: int,
    step: int,
    means: F4,
    posteriors: F4,
    spelled: F4,
) -> WordFacts:
    """Return what the cells of a pair say of the words of one side.

    The cell of word k and the other side's word x is k * word_step + x * step. `posteriors` are
    those that add up to 1 for each of the words, with that of its null: the reverse ones for source
    words and the forward ones for target words.
    """
    facts = WordFacts(
        np.zeros((words, 2), np.float32),
        np.empty(words, np.int64),
        np.zeros(words, np.float32),
        np.zeros(words, np.float32),
        np.zeros(words, np.int32),
    )
    for k in range(words):
        first = k * word_step
        facts.partners[k] = set_greatest(facts.best[k], means, first, step, others)
        if facts.best[k, 0] < CERTAIN:
            facts.partners[k] = UNKNOWN
        for x in range(others):
            cell = first + x * step
            facts.sums[k] += means[cell]
            facts.links[k] += posteriors[cell]
            # the common prefix is as long as the longer word
            if spelled[cell, 1] == 1:
                facts.identical[k] += 1
    return facts


@inlined
def set_posterior_features(
    out: F4, mean: float, to: float, back: float, source_links: float, target_links: float
) -> None:
    """Set what the posteriors say of the cell, forward (`to`) and reverse (`back`)."""
    out[CellFeature.MEAN] = mean
    out[CellFeature.LOGIT_MEAN] = logit(mean)
    out[CellFeature.LOGIT_FORWARD] = logit(to)
    out[CellFeature.LOGIT_REVERSE] = logit(back)
    out[CellFeature.LOGIT_GEOMETRIC] = logit(np.sqrt(to * back))
    out[CellFeature.MINIMUM] = min(to, back)
    out[CellFeature.LOGIT_MINIMUM] = logit(min(to, back))
    out[CellFeature.SOURCE_NULL] = max(0.0, 1 - source_links)
    out[CellFeature.TARGET_NULL] = max(0.0, 1 - target_links)


@inlined
def set_rival_features(
    out: F4, mean: float, rows: WordFacts, i: int, columns: WordFacts, j: int
) -> None:
    """Set how the cell compares with the others of its row and its column."""
    row_rival = rival_of(mean, rows.best[i])
    column_rival = rival_of(mean, columns.best[j])
    out[CellFeature.ROW_RIVAL] = row_rival
    out[CellFeature.COLUMN_RIVAL] = column_rival
    out[CellFeature.ROW_MARGIN] = out[CellFeature.LOGIT_MEAN] - logit(row_rival)
    out[CellFeature.COLUMN_MARGIN] = out[CellFeature.LOGIT_MEAN] - logit(column_rival)
    out[CellFeature.ROW_REST] = rows.sums[i] - mean
    out[CellFeature.COLUMN_REST] = columns.sums[j] - mean
    best_in_row = mean >= rows.best[i, 0]
    best_in_column = mean >= columns.best[j, 0]
    out[CellFeature.BEST_IN_ROW] = best_in_row
    out[CellFeature.BEST_IN_COLUMN] = best_in_column
    out[CellFeature.BEST_IN_BOTH] = best_in_row and best_in_column


@inlined
def set_spelling_features(out: F4, subsequence: float, prefix: float, repeated: bool) -> None:
    """Set what is alike in the letters of both words; `repeated`: other words are identical too."""
    identical = prefix == 1
    out[CellFeature.IDENTICAL] = identical
    out[CellFeature.REPEATED] = identical and repeated
    out[CellFeature.SUBSEQUENCE] = subsequence
    out[CellFeature.PREFIX] = prefix


@inlined
def set_kind_features(
    out: F4, source: SideWords, source_word: int, target: SideWords, target_word: int
) -> None:
    """Set the kinds and the lengths of both words."""
    kind = source.kinds[source_word]
    other_kind = target.kinds[target_word]
    out[CellFeature.PUNCTUATION_BOTH] = kind == PUNCTUATION and other_kind == PUNCTUATION
    out[CellFeature.PUNCTUATION_ONE] = (kind == PUNCTUATION) != (other_kind == PUNCTUATION)
    out[CellFeature.DIGITS_BOTH] = kind == DIGITS and other_kind == DIGITS
    out[CellFeature.DIGITS_ONE] = (kind == DIGITS) != (other_kind == DIGITS)
    letters = source.letters[source_word]
    other_letters = target.letters[target_word]
    difference = abs(letters - other_letters)
    out[CellFeature.SOURCE_LENGTH] = min(letters, LONGEST_WORD) / LONGEST_WORD
    out[CellFeature.TARGET_LENGTH] = min(other_letters, LONGEST_WORD) / LONGEST_WORD
    out[CellFeature.LENGTH_DIFFERENCE] = difference / max(1, letters, other_letters)


@inlined
def set_lexical_features(out: F4, to: float, back: float) -> None:
    """Set what the lexical tables say of both words, forward (`to`) and reverse (`back`)."""
    out[CellFeature.LEXICAL_MEAN] = (to + back) / 2
    out[CellFeature.LOGIT_LEXICAL_MEAN] = logit(out[CellFeature.LEXICAL_MEAN])
    out[CellFeature.LOGIT_LEXICAL_FORWARD] = logit(to)
    out[CellFeature.LOGIT_LEXICAL_REVERSE] = logit(back)
    out[CellFeature.LEXICAL_MINIMUM] = min(to, back)


@jit
def cell_features(
    begin: int,
    end: int,
    source: SideWords,
    target: SideWords,
    posteriors: tuple[F4, F4],
    lexical: tuple[F4, F4],
    spelled: F4,
    marks: U1,
    features: F4,
) -> tuple[I4, I8]:
    """Set features (K, 50) of the marked cells; return places (K, 2), ends (end - begin + 1,).

    The columns are those of `CellFeature`. The cells of pair p are those from ends[p - begin] on.
    """
    forward, reverse = posteriors
    lexical_forward, lexical_reverse = lexical
    places = np.empty((len(features), 2), np.int32)
    ends = np.zeros(end - begin + 1, np.int64)
    base = 0
    row = 0
    for p in range(begin, end):
        a = source.starts[p]
        b = target.starts[p]
        n = source.starts[p + 1] - a
        m = target.starts[p + 1] - b
        cells = n * m
        to = forward[base : base + cells]
        back = reverse[base : base + cells]
        pair_spelled = spelled[base : base + cells]
        means = np.empty(cells, np.float32)
        for k in range(cells):
            means[k] = min((to[k] + back[k]) * np.float32(0.5), np.float32(1))
        rows = facts_of_words(n, m, m, 1, means, back, pair_spelled)
        columns = facts_of_words(m, 1, n, m, means, to, pair_spelled)
        for i in range(n):
            for j in range(m):
                k = i * m + j
                cell = base + k
                if not marks[cell]:
                    continue
                out = features[row]
                mean = means[k]
                forward_posterior = min(to[k], 1.0)
                reverse_posterior = min(back[k], 1.0)
                set_posterior_features(
                    out, mean, forward_posterior, reverse_posterior, rows.links[i], columns.links[j]
                )
                set_rival_features(out, mean, rows, i, columns, j)
                repeated = rows.identical[i] > 1 or columns.identical[j] > 1
                set_spelling_features(out, pair_spelled[k, 0], pair_spelled[k, 1], repeated)
                set_kind_features(out, source, source.words[a + i], target, target.words[b + j])
                set_neighbour_means(out, means, n, m, i, j)
                set_place_features(out, rows.partners, columns.partners, i, j)
                lexical_to = min(lexical_forward[cell], 1.0)
                lexical_back = min(lexical_reverse[cell], 1.0)
                set_lexical_features(out, lexical_to, lexical_back)
                places[row, 0] = i
                places[row, 1] = j
                row += 1
        base += cells
        ends[p - begin + 1] = row
    return places, ends


@jit
def neighbour_features(
    lengths: I4, ends: I8, places: I4, probabilities: F4, features: F4, column: int
) -> None:
    """Set the features of the second round (`NeighbourFeature`), from a column on.

    lengths (P, 2) are those of the pairs, whose cells are from ends[p] to before ends[p + 1].
    """
    for p in range(len(lengths)):
        n = lengths[p, 0]
        m = lengths[p, 1]
        first = np.zeros(n * m, np.float32)
        for row in range(ends[p], ends[p + 1]):
            first[places[row, 0] * m + places[row, 1]] = probabilities[row]
        row_best = np.zeros((n, 2), np.float32)
        column_best = np.zeros((m, 2), np.float32)
        for i in range(n):
            set_greatest(row_best[i], first, i * m, 1, m)
        for j in range(m):
            set_greatest(column_best[j], first, j, m, n)
        row_sum = np.zeros(n, np.float32)
        column_sum = np.zeros(m, np.float32)
        for i in range(n):
            for j in range(m):
                row_sum[i] += first[i * m + j]
                column_sum[j] += first[i * m + j]
        for row in range(ends[p], ends[p + 1]):
            i = places[row, 0]
            j = places[row, 1]
            x = first[i * m + j]
            out = features[row, column:]
            out[NeighbourFeature.FIRST] = x
            out[NeighbourFeature.LOGIT_FIRST] = logit(x)
            out[NeighbourFeature.FIRST_ROW_MARGIN] = x - rival_of(x, row_best[i])
            out[NeighbourFeature.FIRST_COLUMN_MARGIN] = x - rival_of(x, column_best[j])
            out[NeighbourFeature.FIRST_ROW_REST] = row_sum[i] - x
            out[NeighbourFeature.FIRST_COLUMN_REST] = column_sum[j] - x
            # the cells around it, in the order of the features from this one on
            k = NeighbourFeature.FIRST_BEFORE_BOTH.value
            for y in range(i - 1, i + 2):
                for z in range(j - 1, j + 2):
                    if y != i or z != j:
                        out[k] = at(first, n, m, y, z)
                        k += 1
            best_in_both = x >= row_best[i, 0] and x >= column_best[j, 0]
            out[NeighbourFeature.FIRST_BEST_IN_BOTH] = best_in_both


LEAST = 0.1  # cells with at least this mean posterior are calibrated
KEPT = 0.05  # cells with at most this one keep it; between the two, the calibrated share rises
CLIP = 0.001  # probabilities are this far from 0 and 1 when their log odds are taken


class CalibrationFeature(IntEnum):
    """The features for calibrating probabilities; docs/align/probabilities.md defines them."""

    LOGIT_MEAN = 0
    MEAN_LOGIT = 1
    LOGIT_MINIMUM = 2
    ROW_RIVAL = 3
    COLUMN_RIVAL = 4
    SUPPORT = 5
    CONSISTENCY = 6
    FREQUENCY = 7
    EQUAL = 8
    PREFIX = 9
    PUNCTUATION_ONE = 10
    OFF_DIAGONAL = 11
    AGREEMENT = 12


class CalibratedWords(NamedTuple):
    """The V different words of one side, as far as calibration looks at them."""

    spellings: Spellings
    signs: U1  # (V,) whether a word has no letter or digit
    counts: F4  # (V,) how often the text of training has it


class Calibration(NamedTuple):
    """How the probabilities of a text are calibrated."""

    source: CalibratedWords
    target: CalibratedWords
    few: bool  # whether the tables have the own links of each pair, which are taken out here
    agreement: float  # of the directions, in log odds
    weights: F8  # (F + 1,) of the features and the bias


@inlined
def against_rival(x: float, best: F4) -> float:
    """Return the logarithm of a mean over its rival; see `rival_of`."""
    return float(np.log((x + 0.01) / (rival_of(x, best) + 0.01)))


@inlined
def set_word_features(
    out: F8,
    source: CalibratedWords,
    source_word: int,
    target: CalibratedWords,
    target_word: int,
    agreement: float,
) -> None:
    """Set the features of two words, whatever their places are."""
    word = source.spellings
    first = word.starts[source_word]
    letters = word.starts[source_word + 1] - first
    other = target.spellings
    other_first = other.starts[target_word]
    other_letters = other.starts[target_word + 1] - other_first
    prefix = common_prefix(word.letters, first, letters, other.letters, other_first, other_letters)
    equal = prefix == letters and prefix == other_letters
    sign = source.signs[source_word] > 0
    other_sign = target.signs[target_word] > 0
    count = source.counts[source_word]
    other_count = target.counts[target_word]
    out[CalibrationFeature.FREQUENCY] = np.log(max(count, other_count, 1.0))
    out[CalibrationFeature.EQUAL] = equal
    if equal or prefix < 3:
        out[CalibrationFeature.PREFIX] = 0.0
    else:
        out[CalibrationFeature.PREFIX] = prefix / max(letters, other_letters)
    out[CalibrationFeature.PUNCTUATION_ONE] = sign != other_sign
    if equal or (sign and other_sign):
        out[CalibrationFeature.AGREEMENT] = 0.0
    else:
        out[CalibrationFeature.AGREEMENT] = agreement


@inlined
def given_by_pair(
    links: U1, few: bool, cell: int, to: np.float32, back: np.float32, mean: np.float32
) -> np.float32:
    """Return the link that a pair itself gave to the tables, from 0 to 1.

    It is known in 255ths where it was taken out of the tables (`Own`). In texts of few pairs it is
    not, and is estimated as the product of both posteriors and their mean. Else it counts as 0.
    """
    if len(links) > 0:
        return np.float32(links[cell]) / np.float32(255)
    if few:
        return to * back * mean
    return np.float32(0)


@inlined
def set_support_features(
    out: F8, weight: float, given: float, source_total: float, target_total: float
) -> None:
    """Set how far other pairs link the two words, also as a share of all their links.

    `weight` is that of the table, which contains what the pair itself has `given`; the totals are
    those of other pairs.
    """
    support = max(weight - given, 0.0)
    share = (support + 0.05) / (max(source_total, 0.0) + 0.5)
    other_share = (support + 0.05) / (max(target_total, 0.0) + 0.5)
    out[CalibrationFeature.SUPPORT] = np.log(support + 0.1)
    out[CalibrationFeature.CONSISTENCY] = np.log(min(share, other_share, 2.0))


@jit
def calibrate(
    begin: int,
    end: int,
    pairs: Pairs,
    tables: Tables,
    own: Own,
    posteriors: tuple[F4, F4],
    calibration: Calibration,
    features: F4,
) -> F4:
    """Return the probabilities (C,) of the cells of the pairs from begin to before end.

    What a pair itself gave to the tables is taken out of them first: `own` has it, unless it is
    empty, and `few` says whether it is estimated then (see `given_by_pair`). `features` (C, F) are
    set too where it is not empty.
    """
    forward, reverse = posteriors
    source_words, target_words, few, agreement, weights = calibration
    probabilities = np.empty(len(forward), np.float32)
    out = np.zeros(len(weights) - 1, np.float64)
    most_n = longest(pairs.source_starts, begin, end)
    most_m = longest(pairs.target_starts, begin, end)
    row_best = np.zeros((most_n, 2), np.float32)
    column_best = np.zeros((most_m, 2), np.float32)
    row_taken = np.zeros(most_n, np.float32)
    column_taken = np.zeros(most_m, np.float32)
    means = np.zeros(most_n * most_m, np.float32)
    taken = np.zeros(most_n * most_m, np.float32)
    base = 0
    for p in range(begin, end):
        a = pairs.source_starts[p]
        b = pairs.target_starts[p]
        n = pairs.source_starts[p + 1] - a
        m = pairs.target_starts[p + 1] - b
        start = pairs.starts[p]
        row_taken[:n] = 0
        column_taken[:m] = 0
        for i in range(n):
            for j in range(m):
                cell = i * m + j
                to = forward[base + cell]
                back = reverse[base + cell]
                means[cell] = min((to + back) * np.float32(0.5), np.float32(1))
                taken[cell] = given_by_pair(own.links, few, start + cell, to, back, means[cell])
                row_taken[i] += taken[cell]
                column_taken[j] += taken[cell]
        for i in range(n):
            set_greatest(row_best[i], means, i * m, 1, m)
        for j in range(m):
            set_greatest(column_best[j], means, j, m, n)
        for i in range(n):
            source = pairs.source[a + i]
            for j in range(m):
                cell = i * m + j
                x = float(means[cell])
                probabilities[base + cell] = x
                if x <= KEPT:
                    continue
                target = pairs.target[b + j]
                to = float(forward[base + cell])
                back = float(reverse[base + cell])
                mean_logit = (logit(to, CLIP) + logit(back, CLIP)) / 2
                out[CalibrationFeature.LOGIT_MEAN] = logit(x, CLIP)
                out[CalibrationFeature.MEAN_LOGIT] = mean_logit
                out[CalibrationFeature.LOGIT_MINIMUM] = logit(min(to, back), CLIP)
                out[CalibrationFeature.ROW_RIVAL] = against_rival(x, row_best[i])
                out[CalibrationFeature.COLUMN_RIVAL] = against_rival(x, column_best[j])
                weight = float(tables.forward[pairs.cells[start + cell]])
                source_total = float(tables.source_totals[source]) - row_taken[i]
                target_total = float(tables.target_totals[target]) - column_taken[j]
                set_support_features(out, weight, taken[cell], source_total, target_total)
                off_diagonal = abs((i + 0.5) / n - (j + 0.5) / m)
                out[CalibrationFeature.OFF_DIAGONAL] = off_diagonal
                set_word_features(out, source_words, source, target_words, target, agreement)
                odds = weights[len(out)]
                for k in range(len(out)):
                    odds += weights[k] * out[k]
                calibrated = 1 / (1 + np.exp(-odds))
                faded_in = min((x - KEPT) / (LEAST - KEPT), 1.0)
                probabilities[base + cell] = x + faded_in * (calibrated - x)
                if len(features) > 0:
                    features[base + cell] = out
        base += n * m
    return probabilities
