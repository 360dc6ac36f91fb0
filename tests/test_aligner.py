"""An aligner gives links, probabilities and scores as promised, for whatever text it is given."""

import math
from dataclasses import replace
from itertools import pairwise, product

import aligner_reference as plain
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refuses
from repetitions import FULL

import alignkit
from alignkit import Alignment, SentencePair, errors
from alignkit.align import SYMMETRIZATIONS, AlignedLinks, Aligner, Bitext, Settings, Side
from alignkit.align.bitext import Pieces
from alignkit.align.settings import LONGEST_PIECE
from alignkit.model.symmetrization import METHODS

TEXT = plain.random_text(11, 120)
MODELS = [
    {"model": model, "inference": inference, "agree": agree}
    for model, (inference, agree) in product(
        ("ibm1", "ibm2", "hmm"), (("collapsed", True), ("em", False), ("vb", True))
    )
]
FERTILE = [{"model": model, "inference": "collapsed", "agree": True} for model in ("ibm3", "ibm4")]
FIRST = slice(0, 40)
NOTHING = [[], [([], [])], [([], ["a"]), (["b"], [])], [([], [])] * 3]
ANY_WORDS = st.lists(st.text(max_size=4), max_size=5)
SENSELESS = [
    {"agree": False},
    {"null": 1.0},
    {"null": math.nan},
    {"spelling": -1.0},
    {"ibm1": -1},
    {"model": "ibm9"},
    {"inference": "sampling"},
    {"band": 0},
    {"kinds": 0},
    {"prune": True, "inference": "em"},
]


@pytest.fixture(
    scope="module",
    params=[*MODELS, *FERTILE],
    ids=lambda options: "-".join(map(str, options.values())),
)
def aligner(request):
    return Aligner.train(TEXT, **request.param)


@pytest.fixture(scope="module")
def default():
    return Aligner.train(TEXT)


def shown(aligner, source, target):
    """Return the probabilities of all cells of a pair, those of a small text calibrated."""
    decoder = aligner.decoder(Bitext.pack([(source, target)]))
    both = decoder.calibrated(0, 1, decoder.posteriors(0, 1))
    return np.minimum((both[0] + both[1]) / 2, 1).reshape(len(source), len(target))


def links_of(aligner, pairs, **options):
    found = aligner.align_bitext(Bitext.pack(pairs), **options)
    alignments = [found.arrays.alignment(k) for k in range(len(pairs))]
    cells = [tuple(link) for link in found.arrays.links.tolist()]
    bounds = found.arrays.offsets
    weights = [
        dict(zip(cells[a:b], found.probabilities[a:b].tolist(), strict=True))
        for a, b in pairwise(bounds)
    ]
    return alignments, weights


def test_posteriors_add_up_to_at_most_one(aligner):
    for source, target in [*TEXT[FIRST], (["?", "1bs"], ["never", "seen", "1bt"])]:
        forward, reverse = aligner.posteriors(source, target)
        assert forward.shape == reverse.shape == (len(source), len(target))
        assert forward.min() >= 0
        assert reverse.min() >= 0
        assert forward.sum(axis=0).max() <= 1 + 1e-5
        assert reverse.sum(axis=1).max() <= 1 + 1e-5


@pytest.mark.parametrize("threshold", [0.0, 0.3, 1.0])
def test_links_are_those_above_the_threshold(aligner, threshold):
    alignments, weights = links_of(aligner, TEXT[FIRST], threshold=threshold)
    for (source, target), found, shares in zip(TEXT[FIRST], alignments, weights, strict=True):
        means = shown(aligner, source, target)
        wanted = {(i, j) for i, j in np.argwhere(means > np.float32(threshold)).tolist()}
        assert found.sure == found.possible == wanted
        assert shares == {(i, j): pytest.approx(means[i, j]) for i, j in wanted}


@pytest.mark.parametrize("symmetrize", ["posterior", "grow-diag", "forward"])
def test_links_are_sure_above_a_second_threshold(default, symmetrize):
    options = {"symmetrize": symmetrize, "threshold": 0.2}
    every, weights = links_of(default, TEXT, **options)
    graded, same = links_of(default, TEXT, sure=0.8, **options)
    assert weights == same
    for whole, part, shares in zip(every, graded, weights, strict=True):
        assert whole.sure == whole.possible == part.possible
        assert part.sure == {link for link, share in shares.items() if share > 0.8}
    assert 0 < sum(len(one.sure) for one in graded) < sum(len(one.possible) for one in graded)


def test_each_word_has_at_most_one_word_in_its_direction(aligner):
    forward, _ = links_of(aligner, TEXT, symmetrize="forward")
    reverse, _ = links_of(aligner, TEXT, symmetrize="reverse")
    assert all(len({j for _, j in one.possible}) == len(one.possible) for one in forward)
    assert all(len({i for i, _ in one.possible}) == len(one.possible) for one in reverse)
    assert sum(len(one.possible) for one in forward) > len(TEXT)


@pytest.mark.parametrize("method", METHODS)
def test_symmetrizations_are_those_of_symmetrize(default, method):
    forward, _ = links_of(default, TEXT, symmetrize="forward")
    reverse, _ = links_of(default, TEXT, symmetrize="reverse")
    merged, _ = links_of(default, TEXT, symmetrize=method)
    for one, other, both in zip(forward, reverse, merged, strict=True):
        assert both == alignkit.symmetrize(one, other, method)


def test_weights_are_probabilities_however_links_are_chosen(default):
    for method in SYMMETRIZATIONS:
        _, weights = links_of(default, TEXT[FIRST], symmetrize=method)
        for (source, target), shares in zip(TEXT[FIRST], weights, strict=True):
            means = shown(default, source, target)
            assert shares == {link: pytest.approx(means[link], abs=1e-6) for link in shares}


@pytest.mark.parametrize("options", MODELS, ids=str)
def test_scores_are_the_likelihoods_of_the_round_that_would_follow(options):
    bitext = Bitext.pack(TEXT)
    last = {"ibm1": "ibm1", "ibm2": "ibm2", "hmm": "hmm"}[options["model"]]
    aligner = Aligner.train(bitext, **options, **{last: 3})
    further = Aligner.train(bitext, **options, **{last: 4}).history[-1]
    scores = aligner.scores(bitext)
    assert scores.shape == (len(TEXT), 2)
    rounding = len(TEXT) / 2**17
    assert scores.sum(axis=0) == pytest.approx([further.forward, further.reverse], abs=rounding)
    assert aligner.history == Aligner.train(bitext, **options, **{last: 4}).history[:-1]


def test_translations_score_higher_than_other_sentences(default):
    rotated = [(source, TEXT[k - 1][1]) for k, (source, _) in enumerate(TEXT)]
    right, wrong = (default.scores(Bitext.pack(pairs)).mean() for pairs in (TEXT, rotated))
    assert right > wrong + 1
    assert default.scores([([], ["a"]), (["a"], []), ([], [])]).tolist() == [[0, 0]] * 3


def test_the_lexicon_holds_probabilities():
    aligner = Aligner.train(TEXT, model="ibm1", agree=False, inference="em", spelling=0.0)
    rows, sums = list(aligner.lexicon(0)), {}
    for source, target, forward, reverse in rows:
        sums[0, source] = sums.get((0, source), 0) + forward
        sums[1, target] = sums.get((1, target), 0) + reverse
    assert all(x == pytest.approx(1, abs=1e-4) for x in sums.values())
    assert list(aligner.lexicon(0.2)) == [row for row in rows if max(row[2:]) >= 0.2]
    numbers = [Side.pack(x for x, _ in TEXT).words.index(source) for source, *_ in rows]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("pairs", NOTHING, ids=["no pairs", "an empty one", "half-empty", "empty"])
@pytest.mark.parametrize("options", MODELS[:2], ids=str)
def test_nothing_to_learn_from_is_an_error(pairs, options):
    refuses(errors.AlignerError, "nothing to learn from", Aligner.train, pairs, **options)


def test_a_corpus_of_one_pair(aligner):
    options = {name: getattr(aligner.settings, name) for name in ("model", "inference", "agree")}
    for pair in ((["x"], ["y"]), (["das", "haus"], ["the", "house"])):
        one = Aligner.train([pair], **options)
        assert all(math.isfinite(x) for row in one.scores(Bitext.pack([pair])) for x in row)
        forward, reverse = one.posteriors(*pair)
        assert np.isfinite(forward).all()
        assert np.isfinite(reverse).all()


def test_empty_sides_are_aligned_to_nothing(aligner):
    pairs = [([], ["1bt"]), TEXT[0], (["1bs"], []), ([], []), TEXT[1], ([], [])]
    for method in ("posterior", "union", "forward"):
        found, _ = links_of(aligner, pairs, symmetrize=method)
        assert all(found[k] == Alignment() for k in (0, 2, 3, 5))
        alone, _ = links_of(aligner, [TEXT[0], TEXT[1]], symmetrize=method)
        assert [found[1], found[4]] == alone
    assert aligner.align("", "") == Alignment()
    assert aligner.posteriors([], ["a", "b"])[0].shape == (0, 2)
    assert links_of(aligner, []) == ([], [])
    with_empty = Aligner.train([*TEXT, ([], ["1bt"]), (["?"], [])], settings=aligner.settings)
    assert len(with_empty.history) == len(aligner.history)


def test_aligned_links_are_a_sequence_of_alignments():
    pairs = plain.random_text(5, 9)
    links = Aligner.train(pairs).align_bitext(pairs)
    every = list(links)
    assert len(links) == len(every) == len(pairs)
    assert every == [links.alignment(k) for k in range(len(pairs))]
    assert every[0].weights
    assert (links[0], links[-1]) == (every[0], every[-1])
    assert isinstance(links[2:5], AlignedLinks)
    for part in (slice(2, 5), slice(None, None, -2), slice(4, 2)):
        assert list(links[part]) == every[part]
    assert list(reversed(links)) == every[::-1]
    assert every[3] in links
    for wrong in (len(pairs), -len(pairs) - 1):
        refuses(IndexError, f"there are {len(pairs)} pairs", lambda wrong=wrong: links[wrong])


def test_joined_and_replaced_links_keep_what_is_to_be_minded():
    pairs = plain.random_text(5, 4)
    links = Aligner.train(pairs).align_bitext(pairs)
    first, second = (replace(links, cautions=cautions) for cautions in (("a", "b"), ("b", "c")))
    assert AlignedLinks.joined([first, second]).cautions == ("a", "b", "c")
    places = np.array([True, False, True, False])
    assert first.replaced(second, places).cautions == ("a", "b", "c")


def test_long_lines_are_cut_at_equal_fractions():
    words = 2 * LONGEST_PIECE + 100
    spoken = np.random.default_rng(3).integers(1, 30, words)
    source, target = ([f"{k}{'abcdefg'[k % 7]}{side}" for k in spoken] for side in "st")
    text = [*TEXT, (source, target), (source, ["1bt"]), (["1bs"] * words, [])]
    pieces = Pieces.of(Bitext.pack(text))
    assert pieces.bitext.source.lengths.max() <= LONGEST_PIECE
    assert pieces.pairs.tolist() == [*range(len(TEXT)), *np.repeat([0, 1, 2], 3) + len(TEXT)]
    assert Pieces.of(Bitext.pack(TEXT)) is None
    aligner, packed = Aligner.train(text), Bitext.pack(text)
    found = aligner.align_bitext(packed).arrays
    assert (len(found), found.lengths.tolist()) == (len(text), [[len(a), len(b)] for a, b in text])
    alignkit.LinkArrays(found.links, found.sure, found.offsets, found.lengths)  # checks them
    assert len(found.alignment(len(TEXT)).sure & {(k, k) for k in range(words)}) > 0.9 * words
    assert aligner.scores(packed).shape == (len(text), 2)
    assert aligner.align_bitext(Bitext.pack(text)).arrays.links.tolist() == found.links.tolist()


@settings(max_examples=100 if FULL else 10)
@given(st.lists(st.tuples(ANY_WORDS, ANY_WORDS), max_size=5))
def test_any_text_is_aligned(pairs):
    pairs = [*pairs, (["naïve", "\ud800", "\x00", "日本", ""], ["日本", "", "\n", "e\u0301"])]
    aligner, bitext = Aligner.train(pairs), Bitext.pack(pairs)
    for method in ("posterior", "grow-diag-final-and"):
        arrays = aligner.align_bitext(bitext, symmetrize=method, threshold=0.1).arrays
        assert arrays.lengths.tolist() == [[len(a), len(b)] for a, b in pairs]
        alignkit.LinkArrays(arrays.links, arrays.sure, arrays.offsets, arrays.lengths)
    assert np.isfinite(aligner.scores(bitext)).all()


def test_case_is_ignored_unless_asked_for():
    upper = [([w.upper() for w in source], [w.upper() for w in target]) for source, target in TEXT]
    aligner = Aligner.train([*TEXT[::2], *upper[1::2]])
    assert links_of(aligner, TEXT)[0] == links_of(Aligner.train(TEXT), TEXT)[0]
    assert aligner.align(*upper[0]) == aligner.align(*TEXT[0])
    assert "STRASSE".casefold() in Bitext.pack([(["Straße"], [])]).source.words
    assert Bitext.pack([(["A", "a"], ["B"])], casefold=False).source.words == ["A", "a"]
    cased = Aligner.train(Bitext.pack(TEXT, casefold=False))
    assert cased.align(*TEXT[0]) == Aligner.train(TEXT).align(*TEXT[0])
    assert not cased.parameters.casefold


@given(st.lists(st.tuples(ANY_WORDS, ANY_WORDS), max_size=6))
def test_a_bitext_gives_back_its_words(pairs):
    bitext = Bitext.pack(pairs, casefold=False)
    assert len(bitext) == len(pairs)
    for k, (source, target) in enumerate(pairs):
        assert (bitext.source.sentence(k), bitext.target.sentence(k)) == (source, target)
    for side in (bitext.source, bitext.target):
        assert len(set(side.words)) == len(side.words)
        assert (np.diff(side.frequencies) <= 0).all()
        assert side.frequencies.sum() == len(side.ids) == side.lengths.sum()
    assert np.diff(bitext.starts).tolist() == [len(a) * len(b) for a, b in pairs]


def test_texts_lists_of_words_and_a_corpus_are_the_same_bitext():
    texts = [(" ".join(source), "  ".join(target)) for source, target in TEXT]
    mixed = [(source.split(), target) for source, target in texts]
    corpus = alignkit.Corpus(SentencePair(str(k), *pair) for k, pair in enumerate(TEXT))
    trained = [Aligner.train(bitext) for bitext in (TEXT, texts, mixed, corpus)]
    assert all(each.history == trained[0].history for each in trained)
    source, target = texts[0]
    found = {aligner.align(source, target.split()) for aligner in trained}
    assert len(found) == 1
    assert trained[0].align_bitext(texts).alignment(0) in found


def test_what_is_no_bitext_and_decoding_that_makes_no_sense_are_refused(default):
    with pytest.raises(errors.MissingTextError, match="'x' has no words"):
        Aligner.train([SentencePair("x", None, None)])
    with pytest.raises(errors.AlignerError, match="2 source sentences, but 1 target"):
        Bitext(Side.pack([["a"], ["b"]]), Side.pack([["a"]]))
    refuses(errors.UnknownNameError, "symmetrization", default.align, "a", "b", symmetrize="grow")
    for options in ({"threshold": 1.5}, {"threshold": float("nan")}, {"sure": -0.1}):
        refuses(errors.OptionError, "probability", default.align, "a", "b", **options)


@pytest.mark.parametrize("options", SENSELESS, ids=str)
def test_settings_that_make_no_sense_are_refused(options):
    unknown = set(options) in ({"model"}, {"inference"})
    error = errors.UnknownNameError if unknown else errors.OptionError
    refuses(error, None, Settings, **options)
    refuses(error, None, Aligner.train, TEXT, **options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"inference": "em"},
        {"inference": "vb", "agree": False, "identity": 2.0},
        {"kinds": 2},
        {"best": True},
    ],
    ids=str,
)
def test_a_pair_alone_is_aligned_as_among_others(options):
    pairs = [*plain.random_text(5, 60), (["new", "new", "1999"], ["1999", "né", "ne", "new"])]
    aligner = Aligner.train(pairs[:55], **options)
    whole = aligner.align_bitext(pairs)
    for k, (source, target) in enumerate(pairs):
        alone = aligner.align_bitext([(source, target)])
        begin, end = whole.arrays.offsets[[k, k + 1]]
        assert np.array_equal(alone.arrays.links, whole.arrays.links[begin:end])
        assert np.array_equal(alone.probabilities, whole.probabilities[begin:end])
        assert aligner.align([word.upper() for word in source], target) == aligner.align(
            " ".join(source), " ".join(target)
        )


@pytest.mark.parametrize("pair", [(["a", 1], ["b"]), (["a"], [None])])
def test_a_pair_alone_of_what_are_no_words_is_refused(pair):
    refuses(errors.ArgumentError, None, Aligner.train(plain.random_text(5, 9)).align_bitext, [pair])
