"""Words whose vectors fit each other best get pseudo-counts, where they occur together."""

import re

import aligner_reference as plain
import numpy as np
import pytest
from command import run, write
from hypothesis import given
from hypothesis import strategies as st
from test_encoder import plain_shares

from alignkit.align import Aligner, Bitext
from alignkit.align.encoder.shares import UNITS
from alignkit.align.vectors import WordVectors
from alignkit.errors import AlignerError, AlignkitError, AlignmentError, OptionError

TEXT = plain.random_text(3, 80)
WORDS = sorted({word for pair in TEXT for side in pair for word in side})
KNOWN = WordVectors(WORDS, np.random.default_rng(5).normal(size=(len(WORDS), 4)))

BARE = {"spelling": 0.0, "stem_weight": 0.0, "model": "ibm1", "ibm1": 0}


def gains(text, vectors, target_vectors=None, **options):
    """Return what vectors add to each word pair of a text, and the aligner."""
    options = {**BARE, **options}
    without = Aligner.train(text, **options).parameters
    aligner = Aligner.train(text, vectors=vectors, target_vectors=target_vectors, **options)
    added = aligner.parameters.forward - without.forward
    rows = np.repeat(np.arange(len(without.source)), np.diff(without.rows))
    return {
        (without.source[row], without.target[column]): float(gain)
        for row, column, gain in zip(rows, without.columns, added, strict=True)
    }, aligner


def random_vectors(rng, words):
    array = rng.normal(size=(len(words), 3)) * 10.0 ** rng.integers(-9, 9, (len(words), 1))
    array[rng.random(len(words)) < 0.2] = 0
    return WordVectors(words, array)


def cosines(source, target):
    """Return the cosines of the words of a pair as lists; None for words without a vector."""
    rows = []
    for one in source.astype(float):
        row = []
        for other in target.astype(float):
            lengths = np.linalg.norm(one) * np.linalg.norm(other)
            row.append(one @ other / lengths if lengths else None)
        rows.append(row)
    return rows


def mean_shares(text, vectors, target_vectors):
    """Return the mean share of each word pair over its places, as the page on vectors has it."""
    shares = {}
    for source, target in text:
        if not source or not target:
            continue
        known = cosines(vectors.of(source), target_vectors.of(target))
        for word, row in zip(source, plain_shares(known, 0.17), strict=True):
            for other, share in zip(target, row, strict=True):
                shares.setdefault((word, other), []).append(share / UNITS)
    return {both: sum(values) / len(values) for both, values in shares.items()}


@given(st.integers(0, 10**6), st.floats(0, 9))
def test_words_whose_vectors_fit_each_other_best_get_a_pseudo_count(seed, weight):
    rng = np.random.default_rng(seed)
    text = plain.random_text(seed, 6)
    source, target = ({word for pair in text for word in pair[side]} for side in (0, 1))
    known = random_vectors(rng, sorted(source)), random_vectors(rng, sorted(target))
    added, aligner = gains(text, *known, vector_weight=weight)
    expected = mean_shares(text, *known)
    assert added == {
        both: pytest.approx(weight * expected[both], abs=2e-3 * (1 + weight)) for both in added
    }
    assert (aligner.parameters.vectors.dimensions, aligner.parameters.vectors.spread) == (3, 0.17)
    called, other = gains(text, known[0].of, known[1].of, vector_weight=weight)
    assert called == added
    assert other.parameters.vectors == aligner.parameters.vectors
    assert other.encoding.words == aligner.encoding.words
    assert other.encoding.unknown == aligner.encoding.unknown


@pytest.mark.parametrize("options", [{"inference": "em"}, {"inference": "vb"}, {"model": "ibm4"}])
def test_all_inferences_and_models_heed_vectors(options):
    pairs = [("p q", "x y")] * 3
    known = WordVectors(["p", "q", "x", "y"], [[1, 0], [0, 1], [0, 1], [1, 0]])
    assert Aligner.train(pairs, vectors=known, **options).align(*pairs[0]).sure == {(0, 1), (1, 0)}


def test_words_are_looked_up_as_written():
    known = WordVectors(["Polish", "polish", "q", "x", "Y"], np.eye(2)[[0, 1, 1, 1, 0]])
    pairs = [("Polish q", "X y")] * 3
    for vectors in (known, known.of):
        assert Aligner.train(pairs, vectors=vectors).align(*pairs[0]).sure == {(0, 1), (1, 0)}
    with pytest.raises(AlignerError, match="read words as they are written"):
        Aligner.train(Bitext.pack(pairs), vectors=known)
    Aligner.train(Bitext.pack(pairs, casefold=False), vectors=known)


def test_long_lines_have_vectors():
    source, target = ([f"{letter}{number}" for number in range(450)] for letter in "st")
    known = WordVectors(source + target, np.tile(np.eye(450), (2, 1)))
    aligner = Aligner.train([(source, target), ("a b", "x y")], vectors=known)
    assert (449, 449) in set(aligner.align(source, target))


def test_vectors_and_an_encoder_are_one_way_of_the_data():
    by_vectors = Aligner.train(TEXT, vectors=KNOWN)
    by_encoder = Aligner.train(TEXT, encoder=KNOWN.of)
    np.testing.assert_allclose(
        by_vectors.parameters.forward, by_encoder.parameters.forward, atol=1e-2
    )
    assert by_vectors.parameters.vectors.spread == by_encoder.parameters.encoder.spread
    assert by_vectors.encoding.matched == pytest.approx(by_encoder.encoding.matched, abs=2)
    assert by_vectors.encoder is None


def test_links_of_a_new_pair_do_not_depend_on_what_is_beside_it():
    aligner = Aligner.train(TEXT, vectors=KNOWN)
    new = plain.random_text(4, 12)
    together = aligner.align_bitext(new)
    assert [str(links) for links in together] == [str(aligner.align(*pair)) for pair in new]


def test_vectors_that_fit_few_words_are_warned_of(caplog):
    words = [f"w{number}" for number in range(40)]
    pairs = [(" ".join(words), " ".join(words[::-1]))] * 5
    Aligner.train(pairs, vectors=WordVectors(words[:10], np.eye(10)))
    assert "the word vectors find a mutual best match for only 25% of the words" in caplog.text
    caplog.clear()
    Aligner.train(pairs, vectors=WordVectors(words, np.eye(40)))
    assert caplog.text == ""


@pytest.mark.parametrize("vectors", [KNOWN, KNOWN.of], ids=["static", "in context"])
def test_equal_files_by_any_way(tmp_path, vectors):
    made = []
    for way in [{"threads": 1}, {"threads": 3}, {"folder": tmp_path}]:
        Aligner.train(TEXT, vectors=vectors, **way).save(tmp_path / "m")
        made.append((tmp_path / "m").read_bytes())
    assert made[0] == made[1] == made[2]
    Aligner.train(TEXT).save(tmp_path / "m")
    assert (tmp_path / "m").read_bytes() != made[0]


def test_a_saved_model_tells_of_vectors_and_aligns_new_words_by_them(tmp_path):
    bitext = Bitext.pack(TEXT, written=True)
    trained = Aligner.train(bitext, vectors=KNOWN)
    trained.save(tmp_path / "m")
    links = trained.align_bitext(bitext)
    for given_vectors in (None, KNOWN):
        loaded = Aligner.load(tmp_path / "m", vectors=given_vectors)
        assert loaded.parameters.vectors == trained.parameters.vectors
        again = loaded.align_bitext(bitext)
        np.testing.assert_array_equal(again.probabilities, links.probabilities)
        np.testing.assert_array_equal(again.arrays.links, links.arrays.links)
    Aligner.train(TEXT).save(tmp_path / "m")
    assert Aligner.load(tmp_path / "m").parameters.vectors is None
    Aligner.train(TEXT, vectors=KNOWN).save(tmp_path / "m")
    vectors = WordVectors(["cat", "dog", "chat", "chien"], np.eye(2, 4)[[0, 1, 0, 1]])
    aligner = Aligner.load(tmp_path / "m", vectors=vectors)
    crossed = {(0, 1), (1, 0)}
    assert aligner.align("cat dog", "chien chat").sure == crossed
    assert Aligner.load(tmp_path / "m").align("cat dog", "chien chat").sure != crossed


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"vectors": lambda words: np.ones((1, 2))}, AlignmentError, "of shape (1, 2) for"),
        ({"target_vectors": KNOWN}, OptionError, "target_vectors need vectors"),
        (
            {"vectors": KNOWN, "target_vectors": WordVectors(["a"], [[1.0]])},
            AlignmentError,
            "of the same space",
        ),
        ({"vectors": "glove.txt"}, TypeError, "string 'glove.txt'"),
        ({"vectors": KNOWN, "vector_weight": -1.0}, OptionError, "from 0 to"),
    ],
)
def test_what_gives_no_vectors_is_refused(options, error, message):
    with pytest.raises(AlignkitError, match=re.escape(message)) as raised:
        Aligner.train(TEXT, **options)
    assert isinstance(raised.value, error)


@pytest.fixture
def two(tmp_path):
    return write(tmp_path, "a", "p q\n" * 3), write(tmp_path, "b", "x y\n" * 3)


VECTORS = "p 1 0\nq 0 1\nx 0 1\ny 1 0\nz 1 1\n"


def test_vectors_of_a_file_are_heeded_and_told(capsys, tmp_path, two):
    vectors = write(tmp_path, "v", VECTORS)
    made = run(capsys, "align", *two, "--vectors", vectors, "--save", tmp_path / "m")
    assert (made.code, made.out) == (0, "0-1 1-0\n" * 3)
    assert f"{vectors}: 4 vectors of 2 dimensions, 0.0 MB" in made.err
    assert "vectors: all words have vectors; 100% of the words that can have a mutual" in made.err
    parts = [write(tmp_path, name, VECTORS) for name in ("v1", "v2")]
    apart = run(capsys, "align", *two, "--vectors", parts[0], "--target-vectors", parts[1])
    assert apart.out == made.out
    assert "2 vectors of 2 dimensions" in apart.err
    none = run(capsys, "align", *two, "--vectors", vectors, "--vector-weight", "0")
    assert none.out == "0-0 1-1\n" * 3
    again = run(capsys, "align", *two, "--load", tmp_path / "m")
    assert again.out == made.out
    assert "was trained with vectors" in again.err
    new = [write(tmp_path, "c", "cat dog\n"), write(tmp_path, "d", "chien chat\n")]
    vectors = write(tmp_path, "w", "cat 1 0\ndog 0 1\nchat 1 0\nchien 0 1\n")
    load = ["--load", tmp_path / "m", "--vectors", vectors]
    assert run(capsys, "align", *new, *load).out == "0-1 1-0\n"


def test_errors_of_vectors_name_file_and_line(capsys, tmp_path, two):
    bad = write(tmp_path, "v", "p 1 0\nq 1\n")
    run(capsys, "align", *two, "--vectors", bad).failed(f"{bad}:2: expected a word and 2 numbers")
    other = write(tmp_path, "w", "x 1\n")
    good = write(tmp_path, "v", VECTORS)
    given = ["--vectors", good, "--target-vectors", other]
    run(capsys, "align", *two, *given).failed(f"{other}: has vectors of 1")
    run(capsys, "align", *two, *given[:3], good).failed(f"{good} is given twice")
    run(capsys, "align", *two, "--target-vectors", other).failed("needs --vectors FILE")
    run(capsys, "align", *two, "--vectors", good, "-o", good).failed("")
