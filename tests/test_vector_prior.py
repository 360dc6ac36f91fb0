"""Words whose vectors are near get pseudo-counts, where they occur together."""

import re

import aligner_reference as plain
import numpy as np
import pytest
from command import run, write
from hypothesis import given
from hypothesis import strategies as st

from alignkit.align import Aligner, Bitext
from alignkit.align.vectors import WordVectors
from alignkit.errors import AlignkitError, AlignmentError, OptionError

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


def pseudo_count(one, other, weight, least):
    """What two vectors give, as the page on vectors has it."""
    lengths = np.linalg.norm(one) * np.linalg.norm(other)
    cosine = one @ other / lengths if lengths else 0.0
    return weight * max(cosine - least, 0) / (1 - least)


def random_vectors(rng, words):
    array = rng.normal(size=(len(words), 3)) * 10.0 ** rng.integers(-9, 9, (len(words), 1))
    array[rng.random(len(words)) < 0.2] = 0
    return WordVectors(words, array)


@given(st.integers(0, 10**6), st.floats(0, 9), st.floats(0, 0.9))
def test_a_near_word_gets_its_pseudo_count(seed, weight, least):
    rng = np.random.default_rng(seed)
    text = plain.random_text(seed, 6)
    source, target = ({word for pair in text for word in pair[side]} for side in (0, 1))
    known = random_vectors(rng, sorted(source)), random_vectors(rng, sorted(target))
    options = {"vector_weight": weight, "vector_least": least}
    found, aligner = gains(text, *known, **options)
    for (one, other), gain in found.items():
        near = known[0].of([one])[0].astype(float), known[1].of([other])[0].astype(float)
        assert gain == pytest.approx(pseudo_count(*near, weight, least), abs=2e-3 * (1 + weight))
    used = aligner.parameters.vectors
    assert used.dimensions == 3
    assert used.source_words == sum(known[0].of([word]).any() for word in source)
    in_context, other = gains(text, known[0].of, known[1].of, **options)
    assert in_context == pytest.approx(found, abs=1e-5 * (1 + weight))
    assert other.parameters.vectors.source_words == used.source_words


def test_in_context_a_word_pair_gets_the_mean_of_its_cells():
    def encode(words):
        return [[1.0, 0.0] if place == 0 else [0.6, 0.8] for place, _ in enumerate(words)]

    text = [("a", "x"), ("b a", "y x"), ("a", "y x")]  # a ~ x: cosines 1, 1 and 0.6
    found, _ = gains(text, encode, vector_weight=1.0, vector_least=0.0)
    expected = {("a", "x"): (1 + 1 + 0.6) / 3, ("a", "y"): (0.6 + 1) / 2}
    assert found == pytest.approx({**expected, ("b", "y"): 1, ("b", "x"): 0.6}, abs=1e-3)


@pytest.mark.parametrize("options", [{"inference": "em"}, {"inference": "vb"}, {"model": "ibm4"}])
def test_all_inferences_and_models_heed_vectors(options):
    pairs = [("p q", "x y")] * 3
    known = WordVectors(["p", "q", "x", "y"], [[1, 0], [0, 1], [0, 1], [1, 0]])
    assert Aligner.train(pairs, vectors=known, **options).align(*pairs[0]).sure == {(0, 1), (1, 0)}


def test_case_and_long_lines_do_not_matter():
    known = WordVectors(["Haus", "House"], [[1.0, 1.0], [2.0, 2.0]])
    for vectors in (known, known.of):
        found, _ = gains([("Haus " * 450, "HOUSE " * 450), ("haus", "house")], vectors)
        assert found == pytest.approx({("haus", "house"): 3.0}, abs=1e-3)


TEXT = plain.random_text(3, 80)
WORDS = sorted({word for pair in TEXT for side in pair for word in side})
KNOWN = WordVectors(WORDS, np.random.default_rng(5).normal(size=(len(WORDS), 4)))


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
    bitext = Bitext.pack(TEXT)
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
    vectors = WordVectors(["cat", "dog", "chat", "chien"], [[1, 0], [0, 1], [1, 0], [0, 1]])
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
            "both sides need vectors of the same space",
        ),
        ({"vectors": "glove.txt"}, TypeError, "vectors is the string 'glove.txt'"),
        ({"vectors": KNOWN, "vector_least": 1.0}, OptionError, "from 0 below 1"),
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
    assert "2 of 2 source words and 2 of 2 target words; 2 of 4 word pairs" in made.err
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
    run(capsys, "align", *two, *given).failed(f"{other}: has vectors of 1 dimensions, but {good}")
    run(capsys, "align", *two, *given[:3], good).failed(f"{good} is given twice")
    run(capsys, "align", *two, "--target-vectors", other).failed("needs --vectors FILE")
    run(capsys, "align", *two, "--vector-least", "0.2").failed("needs --vectors FILE")
    run(capsys, "align", *two, "--vectors", good, "-o", good).failed("")
