"""Test the word classes."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alignkit.align.fertility.training import word_classes


def packed(lines):
    offsets = np.cumsum([0, *map(len, lines)])
    return np.array([word for line in lines for word in line], np.int32), offsets


def likelihood(lines, classes):
    """Sum N(g, g') log N(g, g') - 2 N(g) log N(g) over the classes of each line and its ends."""
    bigrams, sizes = Counter(), Counter()
    text = ["end"]
    for line in lines:
        text += [int(classes[word]) for word in line] + ["end"]
    bigrams.update(pairwise(text))
    sizes.update(text[1:])
    gain = sum(n * math.log(n) for n in bigrams.values())
    return gain - 2 * sum(n * math.log(n) for n in sizes.values())


@st.composite
def texts(draw):
    size = draw(st.integers(1, 12))
    lines = st.lists(st.lists(st.integers(0, size - 1), max_size=8), min_size=1, max_size=8)
    return size, draw(lines)


@given(texts(), st.integers(2, 4))
def test_more_rounds_never_lower_the_likelihood(text, number):
    size, lines = text
    made = (word_classes(*packed(lines), size, number, rounds=rounds) for rounds in range(5))
    for before, after in pairwise(likelihood(lines, classes) for classes in made):
        assert after >= before - 1e-9


@given(texts(), st.integers(2, 4))
def test_in_the_end_no_word_would_rather_be_elsewhere(text, number):
    size, lines = text
    classes = word_classes(*packed(lines), size, number, rounds=100)
    best = likelihood(lines, classes)
    for word in range(size):
        for group in range(number):
            other = classes.copy()
            other[word] = group
            assert likelihood(lines, other) <= best + 1e-5


def test_words_in_like_places_share_a_class():
    # subjects, verbs, objects; each line is one of each
    lines = [[s, 3 + v, 6 + o] for s in range(3) for v in range(3) for o in range(3)]
    classes = word_classes(*packed(lines), 9, 3)
    assert classes.tolist() == [classes[0]] * 3 + [classes[3]] * 3 + [classes[6]] * 3
    assert len(set(classes.tolist())) == 3


def test_classes_are_numbered_from_0_may_be_more_than_words_and_one_holds_all():
    classes = word_classes(*packed([[0, 1], [1]]), 2, 50)
    assert classes.dtype == np.int32
    assert set(classes.tolist()) <= set(range(50))
    for lines, size in (([], 0), ([[]], 0), ([[]], 3), ([[0]], 1)):
        assert len(word_classes(*packed(lines), size, 2)) == size
    assert word_classes(*packed([[0, 1, 2]]), 3, 1).tolist() == [0, 0, 0]


@pytest.mark.real_data
def test_forms_of_number_and_tense_find_together(data):
    lines = (data / "hansards" / "train.en").read_text(encoding="utf-8").split("\n")[:10000]
    counts = Counter(word for line in lines for word in line.split())
    number = {word: k for k, (word, _) in enumerate(counts.most_common())}
    numbered = [[number[word] for word in line.split()] for line in lines]
    classes = word_classes(*packed(numbered), len(number))
    together = [("is", "was"), ("would", "should"), ("i", "we"), ("his", "their"), ("in", "at")]
    assert sum(classes[number[a]] == classes[number[b]] for a, b in together) >= 3
    even = (np.arange(len(number)) * 50 // len(number)).astype(np.int32)
    assert likelihood(numbered, classes) > likelihood(numbered, even)
