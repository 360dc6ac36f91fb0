"""Training does what the books say, step by step, and is the same for any number of threads."""

from itertools import pairwise

import aligner_reference as plain
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma

from alignkit import Alignment, Annotation, Corpus, SentencePair, merge, read_corpus, score
from alignkit.align import Aligner, Bitext, Settings
from alignkit.align.expectation import Workers
from alignkit.align.priors import unmarked
from alignkit.align.settings import FEW
from alignkit.align.training import Training

PLAIN = {"agree": False, "inference": "em", "spelling": 0.0, "stem_weight": 0.0, "floor": 0.0}
"""Expectation maximization as in the books, without priors."""
BOOK = [("das haus", "the house"), ("das buch", "the book"), ("ein buch", "a book")]
KOEHN = {
    ("das", "the"): (0.5, 0.6364, 0.7479),
    ("das", "book"): (0.25, 0.1818, 0.1208),
    ("das", "house"): (0.25, 0.1818, 0.1313),
    ("buch", "the"): (0.25, 0.1818, 0.1208),
    ("buch", "book"): (0.5, 0.6364, 0.7479),
    ("buch", "a"): (0.25, 0.1818, 0.1313),
    ("ein", "book"): (0.5, 0.4286, 0.3466),
    ("ein", "a"): (0.5, 0.5714, 0.6534),
    ("haus", "the"): (0.5, 0.4286, 0.3466),
    ("haus", "house"): (0.5, 0.5714, 0.6534),
}
"""Koehn 2010, Statistical Machine Translation, figure 4.4: t(e | f) after rounds 1, 2 and 3."""


def split(pairs):
    return [(source.split(), target.split()) for source, target in pairs]


def tables(aligner):
    rows = list(aligner.lexicon(0))
    return {(a, b): x for a, b, x, _ in rows}, {(b, a): y for a, b, _, y in rows}


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_ibm1_is_worked_as_in_the_textbook(rounds):
    forward, _ = tables(Aligner.train(split(BOOK), model="ibm1", ibm1=rounds, null=0.0, **PLAIN))
    assert forward == {
        pair: pytest.approx(numbers[rounds - 1], abs=6e-5) for pair, numbers in KOEHN.items()
    }


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.2]), st.integers(1, 4))
@settings(max_examples=25)
def test_ibm1_is_the_reference(seed, null, rounds):
    rng = np.random.default_rng(seed)
    pairs = plain.random_pairs(rng, rng.integers(0, 7, (12, 2)).tolist(), 6)
    if not any(source and target for source, target in pairs):
        return
    aligner = Aligner.train(pairs, model="ibm1", ibm1=rounds, null=null, **PLAIN)
    back = [(target, source) for source, target in pairs]
    for found, text, side in zip(
        tables(aligner), (pairs, back), ("forward", "reverse"), strict=True
    ):
        t, history = plain.train_lexical(text, rounds, null)
        assert found == {pair: pytest.approx(x, abs=1e-3) for pair, x in t.items()}
        assert [getattr(one, side) for one in aligner.history] == pytest.approx(history, rel=1e-4)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["ibm1", "ibm2"]), st.sampled_from([0.0, 0.1]))
@settings(max_examples=25)
def test_plain_em_never_becomes_less_likely(seed, model, null):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 9, (int(rng.integers(1, 50)), 2)).tolist()
    pairs = [(["x"], ["y"]), *plain.random_pairs(rng, sizes, int(rng.integers(2, 30)))]
    history = Aligner.train(pairs, model=model, **{**PLAIN, model: 20, "null": null}).history
    assert len(history) == (20 if model == "ibm1" else 21)
    for before, after in pairwise(history):
        for side in ("forward", "reverse"):
            least = getattr(before, side)
            assert getattr(after, side) >= least - 1e-6 * max(abs(least), 1)


def step(pairs, rounds=1, dictionary=None, **options):
    chosen = Settings(model="ibm1", ibm1=rounds, **options)
    training = Training(Bitext.pack(pairs), chosen, Workers(1), dictionary)
    training.run()
    return training


def spelled_text(seed):
    rng = np.random.default_rng(seed)
    letters = "abcáçё"[: rng.integers(2, 7)]
    words = ["".join(rng.choice(list(letters), rng.integers(1, 7))) for _ in range(15)]
    sizes = rng.integers(0, 6, (10, 2))
    return [(rng.choice(words, n).tolist(), rng.choice(words, m).tolist()) for n, m in sizes]


def cells(training, array):
    bitext = training.bitext
    shapes = zip(bitext.source.lengths, bitext.target.lengths, strict=True)
    parts = np.split(array, bitext.starts[1:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def check_tables(training, weights, sources, targets):
    index, bitext, lexical = training.index, training.bitext, training.lexical
    rows = np.repeat(np.arange(len(index.rows) - 1), np.diff(index.rows))
    named = [
        (bitext.source.words[a], bitext.target.words[b])
        for a, b in zip(rows, index.columns, strict=True)
    ]
    near = {"rel": 1e-4, "abs": 1e-6}
    assert dict(zip(named, lexical.forward, strict=True)) == pytest.approx(weights, **near)
    assert dict(zip(named, lexical.reverse, strict=True)) == pytest.approx(weights, **near)
    found = dict(zip(bitext.source.words, lexical.source_totals, strict=True))
    assert found == pytest.approx({word: sources[word] for word in found}, **near)
    found = dict(zip(bitext.target.words, lexical.target_totals, strict=True))
    assert found == pytest.approx({word: targets[word] for word in found}, **near)


@given(st.integers(0, 2**32 - 1), st.integers(0, 1), st.integers(1, 4))
def test_collapsed_tables_are_counts_and_priors(seed, rounds, stem):
    pairs = spelled_text(seed)
    dictionary = {("a", "b"): 2.5, ("ab", "ab"): 1.0, ("none", "such"): 9.0}
    options = {"identity": 0.7, "stem": stem, "stem_weight": 1.3, "concentration": 0.9}
    training = step(pairs, rounds, dictionary, **options)
    if rounds:
        evidence = [part / 255 for part in cells(training, training.estimator.agreement)]
    else:  # where all begin: each link of a pair is as probable
        evidence = [np.full((len(a), len(b)), 1 / max(1, len(a) * len(b))) for a, b in pairs]
    found = plain.counts(pairs, evidence)
    weights, sources, targets = plain.tables(pairs, found, training.settings, dictionary)
    rest = training.settings.concentration
    for words, totals in ((0, sources), (1, targets)):
        for pair in pairs:
            for word in pair[words]:
                totals.setdefault(word, rest)
    check_tables(training, weights, sources, targets)


@pytest.mark.parametrize(
    ("word", "bare"),
    [
        ("plain", "plain"),
        ("μῆνιν", "μηνιν"),  # a circumflex
        ("ἄειδε", "αειδε"),  # a breathing and an accent
        ("ᾧ", "ω"),  # and an iota below
        ("ёлка", "елка"),
        ("שָׁלוֹם", "שלום"),  # points
        ("مَدْرَسَة", "مدرسة"),
        ("e\N{COMBINING ACUTE ACCENT}t\N{LATIN SMALL LETTER E WITH ACUTE}", "ete"),
        ("\N{COMBINING ACUTE ACCENT}", "\N{COMBINING ACUTE ACCENT}"),  # nothing would be left
        ("한국어", "한국어"),  # Unicode takes syllables apart
        ("がぎ", "がぎ"),
        ("हिन्दी", "हिन्दी"),
    ],
)
def test_marks_are_taken_from_words_and_letters_are_not(word, bare):
    assert unmarked(word) == bare


@pytest.mark.parametrize("pairs", [FEW - 1, FEW])
def test_links_to_the_empty_word_are_taken_out_as_others_are(pairs):
    training = Training(Bitext.pack(plain.random_text(3, pairs)), Settings(), Workers(1))
    training.run()
    bitext, own = training.bitext, training.own
    sizes = [bitext.starts[-1], len(bitext.source.ids), len(bitext.target.ids)]
    assert [len(levels) for levels in own] == (sizes if pairs >= FEW else [0, 0, 0])
    if pairs >= FEW:
        expected = np.bincount(bitext.target.ids, own.target) * training.null_units[1]
        assert np.abs(expected - training.target_null).max() < 0.01
        assert own.target.any()


@pytest.mark.parametrize("agree", [True, False])
@pytest.mark.parametrize("inference", ["em", "vb"])
def test_soft_tables_are_counts_or_their_digammas(agree, inference):
    pairs = spelled_text(7) * 4  # no word has so few counts that its digamma is below all floats
    known = next((a[0], b[0]) for a, b in pairs if a and b)
    options = {"agree": agree, "inference": inference, "spelling": 1.0}
    training = step(pairs, 2, {known: 2.5}, **options)
    forward, reverse = (
        cells(training, getattr(training.estimator, x)) for x in ("forward", "reverse")
    )
    if agree:
        forward = reverse = [a * b for a, b in zip(forward, reverse, strict=True)]
    floor = training.settings.floor if inference == "vb" else 0
    ways = []
    for side, evidence in enumerate((forward, reverse)):
        found, totals = plain.counts(pairs, evidence), {}
        for pair in found:
            found[pair] += plain.alike(*pair, 1.0, 0.0) + floor + 2.5 * (pair == known)
            totals[pair[side]] = totals.get(pair[side], 0) + found[pair]
        if inference == "vb":
            found = {pair: np.exp(digamma(max(x, 1e-3))) for pair, x in found.items()}
            totals = {word: np.exp(digamma(x)) for word, x in totals.items()}
        ways.append({pair: x / totals[pair[side]] for pair, x in found.items()})
    t, back = tables(Aligner(training.parameters()))
    assert t == pytest.approx(ways[0], rel=1e-3, abs=1e-6)
    assert back == pytest.approx({(b, a): x for (a, b), x in ways[1].items()}, rel=1e-3, abs=1e-6)


def test_rounds_come_in_order_and_are_told():
    told, text = [], plain.random_text(3, 20)
    for model, names in (("ibm1", ["ibm1"]), ("ibm2", ["ibm1", "ibm2"]), ("hmm", ["ibm1", "hmm"])):
        told.clear()
        aligner = Aligner.train(
            text, model=model, ibm1=2, ibm2=3, hmm=1, progress=lambda *done: told.append(done)
        )
        numbers = {"ibm1": 2, "ibm2": 3, "hmm": 1}
        wanted = [(name, k + 1) for name in names for k in range(numbers[name])]
        assert [(one.model, one.number) for one in aligner.history] == wanted
        assert [done for done, *_ in told] == list(range(len(wanted) + 1))
        assert {most for _, most, _ in told} == {len(wanted)}
        assert all(one.forward < 0 and one.reverse < 0 for one in aligner.history)


def hansards(data, number):
    sides = []
    for language in ("fr", "en"):
        with open(data / "hansards" / f"train.{language}", encoding="utf-8") as lines:
            sides.append([next(lines).split() for _ in range(number)])
    return Bitext.pack(zip(*sides, strict=True))


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("number", "best", "most"),
    [(2_000, False, 0.085), (10_000, False, 0.070), (10_000, True, 0.060)],
)
def test_the_hansards_are_aligned_well(data, number, best, most):
    bitext = hansards(data, number)
    found = Aligner.train(bitext, best=best).align_bitext(bitext).arrays
    gold = read_corpus(data / "hansards" / "dev.fr-en.align", format="pharaoh")
    own = Corpus(
        SentencePair(pair.id, None, None, {"found": Annotation(found.alignment(k))})
        for k, pair in enumerate(gold)
    )
    assert isinstance(found.alignment(0), Alignment)
    assert score(merge(gold, {"found": own}), "found", "alignment").links.aer <= most
