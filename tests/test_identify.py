"""Systems that judge pairs: features, folds, leaks, scores, and what is saved."""

import json
from dataclasses import replace
from math import log
from types import SimpleNamespace
from unicodedata import normalize

import numpy as np
import pytest
from command import made, run
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy, kendalltau
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score, roc_auc_score

from alignkit import Annotation, Corpus, SentencePair, read_corpus, write_corpus
from alignkit.align.vectors import WordVectors
from alignkit.errors import AlignkitError, FormatError, MissingTextError, OptionError
from alignkit.identification import Identifier, IdentifierOptions, cross_validate, evaluate
from alignkit.identification.alignment_features import ALIGN, train_aligner
from alignkit.identification.evaluation import IdentifierScores, SystemLabels, _measure_of
from alignkit.identification.features import PairTexts, mean_vectors
from alignkit.identification.labelled_pairs import LabelledPairs, folds
from alignkit.identification.overlap_features import OVERLAP, tokens
from alignkit.identification.pair_model import clear_gain
from alignkit.model.labels import get_view
from alignkit.stats import mcnemar, wilson_interval

BINARY = get_view("binary", "full")
WORDS = [f"{a}{b}{c}" for a in "bdfgkl" for b in "aeiou" for c in "mnrst"]


def pairs_of(n=90, seed=0, first=0, **attributes):
    """Make pairs: those with label 1 share more words."""
    rng = np.random.default_rng(seed)
    for k in range(first, first + n):
        label = k % 2
        source = rng.choice(WORDS, 8).tolist()
        changed = rng.random(8) < (0.35 if label else 0.7)
        target = [str(rng.choice(WORDS)) if c else w for w, c in zip(source, changed, strict=True)]
        held = {name: make(k) for name, make in attributes.items()}
        said = {"gold": Annotation(None, judgment=str(label))}
        yield SentencePair(f"p{k}", source, target, said, attributes=held)


def held_texts(texts, aligner=None, **options):
    return PairTexts(texts, aligner, IdentifierOptions(**options))


def row(texts, feature, names=OVERLAP, kind="overlap", **options):
    held = held_texts([texts], **options)
    matrix = held.matrix([kind], held.frequencies(np.arange(1)))
    return matrix[0, names.index(feature)]


def test_overlap_by_hand():
    texts = "The cat sat on 2 mats, not 3.", "A cat was sitting on 2 mats"
    # words: the cat sat on 2 mats , not 3 . (10) and a cat was sitting on 2 mats (7); 4 are shared
    expected = {
        "jaccard": 4 / 13,
        "shared/shorter": 4 / 7,
        "shared/longer": 4 / 10,
        "dice 1": 8 / 17,
        "dice 2": 2 * 2 / 15,
        "dice 3": 2 * 1 / 13,
        "lcs/shorter": 4 / 7,
        "lcs/longer": 4 / 10,
        "length ratio": 7 / 10,
        "length difference": log(4),
        "digits shared": 1,
        "digits unshared": 1,
        "negation difference": 1,
        "ratio of characters": 27 / 29,
        "equal": 0,
    }
    for name, value in expected.items():
        assert row(texts, name) == pytest.approx(value), name
    content = row(texts, "jaccard of stems", function_words=frozenset({"the", "a", "on", "was"}))
    assert content == pytest.approx(3 / 7)  # cat 2 mat of cat sat 2 mat not 3 and cat sit 2 mat


def test_overlap_takes_frequencies_of_training_texts_alone():
    texts = [("one two three", "one two four"), ("five one", "two six")]
    held = held_texts([*texts, ("one unseen", "one two")])
    values = held.matrix(["overlap"], held.frequencies(np.arange(2)))[2]
    tfidf = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4)).fit(
        [t for p in texts for t in p]
    )
    first, second = tfidf.transform(["one unseen", "one two"]).toarray()
    assert values[OVERLAP.index("cosine of letters")] == pytest.approx(first @ second)
    idf = {"one": log(5 / 4) + 1, "two": log(5 / 4) + 1, "unseen": log(5) + 1}
    assert row_of(values, "idf shared, min") == pytest.approx(
        idf["one"] / (idf["one"] + idf["unseen"])
    )
    norm = np.sqrt((idf["one"] ** 2 + idf["unseen"] ** 2) * (idf["one"] ** 2 + idf["two"] ** 2))
    assert row_of(values, "cosine of words") == pytest.approx(idf["one"] ** 2 / norm)


def row_of(values, name, names=OVERLAP):
    return values[names.index(name)]


def aligner_of(forward, reverse, scores=(-6.0, -4.0)):
    """Make an aligner that knows the posteriors of one pair."""
    return SimpleNamespace(
        posteriors=lambda *_: (np.array(forward), np.array(reverse)),
        scores=lambda pairs: np.array([scores] * len(pairs)),
    )


def test_align_by_hand():
    forward = [[0.9, 0.0, 0.0], [0.0, 0.1, 0.8]]
    reverse = [[0.7, 0.1, 0.0], [0.0, 0.1, 0.6]]
    held = held_texts(
        [("cat 7", "cat the 8")],
        aligner=aligner_of(forward, reverse),
        function_words=frozenset({"the"}),
    )
    values = held.matrix(["align"], held.frequencies(np.arange(1)))[0]
    side = 0.75, entropy([0.7, 0.1, 0.2]), entropy([0.1, 0.6, 0.3])
    other = entropy([0.9, 0.1]), entropy([0.1, 0.9]), entropy([0.8, 0.2])
    idf = log(3 / 3) + 1, log(3 / 2) + 1  # of cat, and of the others
    expected = {
        "coverage, min": (0.8 + 0.1 + 0.7) / 3,
        "coverage, max": 0.75,
        "coverage of content, min": 0.75,
        "coverage of content, max": 0.75,
        "unaligned content, max": 0,
        "unaligned digits, max": 0,
        "entropy, max": np.mean(side[1:]),
        "entropy, min": np.mean(other),
        "entropy of content, min": np.mean(other[::2]),
        "likelihood, min": -6 / 3,
        "likelihood, max": -4 / 2,
        "null, max": np.mean([0.1, 0.9, 0.2]),
        "null, min": 0.25,
        "coverage by idf, max": (0.8 * idf[0] + 0.7 * idf[1]) / sum(idf),
        "agreement of directions": (0.7 + 0.1 + 0.6) / (0.9 + 0.1 + 0.1 + 0.8),
        "share on unequal words": (0.05 + 0.1 + 0.7) / (0.8 + 0.05 + 0.1 + 0.7),
        "mass on unequal words": (0.05 + 0.1 + 0.7) / 2,
        "kendall tau": 1,
        "crossing": 0,
        "distance from diagonal": (0 + abs(1 / 2 - 2 / 3)) / 2,
        "blocks": 1,
        "longest block": 1 / 2,
        "largest sum": 0.85,
    }
    for name, value in expected.items():
        assert row_of(values, name, ALIGN) == pytest.approx(value), name


@given(st.data())
def test_features_of_links_are_those_of_a_plain_reference(data):
    n, m = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5))
    cell = st.floats(0, 1)
    cells = [data.draw(st.lists(cell, min_size=n * m, max_size=n * m)) for _ in (0, 1)]
    f, r = (np.array(x).reshape(n, m) / max(n, m) * 1.9 for x in cells)
    f, r = f / np.maximum(1, f.sum(0)), r / np.maximum(1, r.sum(1, keepdims=True))
    held = held_texts([(" ".join("abcde"[:n]), " ".join("xyzuv"[:m]))], aligner=aligner_of(f, r))
    values = held.matrix(["align"], held.frequencies(np.arange(1)))[0]
    assert np.isfinite(values).all()
    links = [(i, j) for i in range(n) for j in range(m) if f[i, j] + r[i, j] > 1]
    crossed = sum((a - c) * (b - d) < 0 for k, (a, b) in enumerate(links) for c, d in links[:k])
    possible = len(links) * (len(links) - 1) / 2
    assert row_of(values, "crossing", ALIGN) == pytest.approx(crossed / possible if possible else 0)
    tau = kendalltau(*zip(*links, strict=True)).statistic if len(links) > 1 else 1
    assert row_of(values, "kendall tau", ALIGN) == pytest.approx(1 if np.isnan(tau) else tau)
    turned = [(" ".join("abcde"[:m]), " ".join("xyzuv"[:n]))], aligner_of(r.T, f.T, (-4.0, -6.0))
    sides = [held.texts[0][::-1]], held.aligner
    for texts, aligner in (turned, sides):
        again = held_texts(texts, aligner=aligner)
        other = again.matrix(["align"], again.frequencies(np.arange(1)))[0]
        assert other == pytest.approx(values)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(*[st.text("ab 1.", max_size=12)] * 2), min_size=1, max_size=5))
def test_features_do_not_change_with_the_sides(texts):
    if not any(tokens(text) for pair in texts for text in pair):
        return
    every = np.arange(len(texts))
    both = [held_texts(x) for x in (texts, [pair[::-1] for pair in texts])]
    first, second = (x.matrix(["overlap", "bow"], x.frequencies(every)).toarray() for x in both)
    assert np.isfinite(first).all()
    assert first == pytest.approx(second)


def test_vectors_and_bags():
    vectors = WordVectors(["red", "car"], [[1.0, 0.0], [0.0, 2.0]])
    held = held_texts(
        [("red car", "red boat")],
        encode=mean_vectors(vectors),
        encode_pairs=lambda pairs: np.ones((len(pairs), 3)),
    )
    idf = held.frequencies(np.arange(1))
    assert held.matrix(["vectors"], idf).tolist() == [[0, 1, 0.25, 0]]
    assert held.matrix(["pairs"], idf).tolist() == [[1, 1, 1]]
    # boat, car, red: |u - v| and u v
    assert held.matrix(["bow"], idf).toarray().tolist() == [[1, 1, 0, 0, 0, 1]]


def labelled(pairs, group=None):
    return LabelledPairs.of(Corpus(pairs), BINARY, None, group)


def test_groups_and_equal_pairs_stay_together():
    pairs = list(pairs_of(40, film=lambda k: str(k // 4)))
    equal = replace(pairs[0], id="again", source=pairs[0].target, target=pairs[0].source)
    held = labelled([*pairs, replace(equal, attributes={"film": "9"})], "film")
    assert held.groups[-1] == held.groups[0] == held.groups[39]  # 9 joins 0 by the equal pair
    for train, test in folds(held, np.arange(41), 4, 0):
        assert not set(held.groups[train]) & set(held.groups[test])
        assert sorted([*train, *test]) == list(range(41))
    with pytest.raises(OptionError, match="divided into 10 folds"):
        list(folds(held, np.arange(41), 10, 0))


def test_what_cannot_be_learned_is_refused():
    with pytest.raises(OptionError, match="belong together by entity"):
        cross_validate(Corpus(pairs_of(entity=str)), BINARY)
    with pytest.raises(OptionError, match="direction"):
        LabelledPairs.of(Corpus(pairs_of()), get_view("turku", "full"), None, None)
    few = [p for k, p in enumerate(pairs_of()) if k % 2 == 0 or k < 20]
    with pytest.raises(OptionError, match="10 pairs; 20 are needed"):
        cross_validate(Corpus(few), BINARY)
    with pytest.raises(OptionError, match="one label"):
        cross_validate(Corpus(p for k, p in enumerate(pairs_of()) if k % 2), BINARY)
    other = {"other": Annotation(None, judgment="1")}
    both = Corpus(replace(p, annotations={**p.annotations, **other}) for p in pairs_of())
    with pytest.raises(OptionError, match="gold, other judged pairs"):
        cross_validate(both, BINARY)
    for features, said in (
        ((), "one feature set"),
        (("auto", "bow"), "auto"),
        (("vectors",), "give"),
    ):
        with pytest.raises(OptionError, match=said):
            cross_validate(Corpus(pairs_of()), BINARY, [features])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"count": 60}, "45 pairs .* into 60 folds"),
        ({"count": 1}, "into 1 folds"),
        ({"systems": ()}, "one system"),
        ({"systems": [("cosine", "cosine")]}, "each once"),
        ({"strengths": (float("nan"),)}, "`strengths` is nan"),
        ({"strengths": 0.1}, "strengths is 0.1"),
        ({"function_words": "the"}, "function_words is the string"),
        ({"seed": -1}, "seed"),
    ],
    ids=["folds", "one fold", "no system", "twice", "nan", "number", "string", "seed"],
)
def test_bad_options_are_refused(given, said):
    with pytest.raises(AlignkitError, match=said):
        cross_validate(Corpus(pairs_of()), BINARY, **given)


def test_folds_of_one_label_are_refused():
    pairs = Corpus(pairs_of(100, film=lambda k: "odd" if k % 2 else str(k)))
    with pytest.raises(OptionError, match="all pairs of a label"):
        cross_validate(pairs, BINARY, [["cosine"]], group="film")


def test_what_is_left_out_is_counted():
    pairs = list(pairs_of(60))
    pairs[0] = replace(pairs[0], annotations={})
    pairs[1] = replace(pairs[1], source=(), target=())
    scores = cross_validate(Corpus(pairs), BINARY, [["cosine"]], count=3)
    assert len(scores.predictions) == 58
    text = " ".join(scores.notes)
    assert "1 pair without a label" in text
    assert "1 pair without words" in text
    assert "few: 58 training pairs" in text
    assert scores.to_json()["cautions"] == list(scores.notes)


def test_labels_in_ids_do_not_leak():
    pairs = list(pairs_of())
    told = [replace(p, id=f"{p.annotations['gold'].judgment}-{p.id}") for p in pairs]
    first, second = (
        cross_validate(Corpus(x), BINARY, [["overlap"]], count=3) for x in (pairs, told)
    )
    assert list(first.predictions.values()) == list(second.predictions.values())


SAME = {
    "case": lambda words: [word.upper() for word in words],
    "normal form": lambda words: [normalize("NFD", word) for word in words],
    "spaces": lambda words: [" ".join(words)],
}


@pytest.mark.parametrize("change", SAME.values(), ids=SAME)
def test_equal_pairs_in_other_forms_do_not_leak(change):
    pairs = [replace(p, source=(*p.source, "\u00e9")) for p in pairs_of()]
    other = [replace(p, id=f"{p.id}'", source=change(p.source)) for p in pairs]
    held = labelled([*pairs, *other])
    assert held.groups[:90].tolist() == held.groups[90:].tolist()
    with pytest.raises(OptionError, match="90 equal, 0 grouped"):
        Identifier.train(Corpus(pairs), BINARY, test=Corpus(other), features=("cosine",))


def test_unknown_groups_of_test_pairs_are_counted():
    train, test = Corpus(pairs_of(film=str)), Corpus(pairs_of(10, seed=1, first=500, movie=str))
    notes = Identifier.train(train, BINARY, test=test, group="film", features=("cosine",)).notes
    assert any("10 test pairs without film" in note for note in notes)


def test_the_aligner_does_not_depend_on_the_order_of_texts():
    texts = [(" ".join(p.source), " ".join(p.target)) for p in pairs_of(30)]
    turned = [pair[:: 1 - 2 * (k % 2)] for k, pair in enumerate(texts)]
    first, second = (
        train_aligner(x).posteriors(["bam", "ban"], ["ban"]) for x in (texts, turned[::-1])
    )
    assert np.array_equal(first, second)


def test_random_labels_are_not_predicted():
    """Equal pairs have equal random labels: a system that saw one would know the other."""
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, 60).astype(str).tolist()
    pairs = [
        replace(p, annotations={"gold": Annotation(None, judgment=x)})
        for p, x in zip(pairs_of(60), labels, strict=True)
    ]
    twice = [*pairs, *(replace(p, id=f"{p.id}'") for p in pairs)]
    scores = cross_validate(Corpus(twice), BINARY, [["bow"]], count=5, strengths=(1000.0,))
    right = np.mean(scores.systems[0].labels == scores.gold.labels)
    assert right < 0.7


@pytest.mark.parametrize(
    "change",
    [
        lambda p: replace(p, id="q"),
        lambda p: replace(p, id="q", source=p.target, target=p.source),
        lambda p: replace(p, id="q", source=(*p.source, "new")),
        lambda p: replace(p, id="q", source=[word.upper() for word in p.source]),
    ],
    ids=["equal", "reversed", "grouped", "case"],
)
def test_test_pairs_of_the_training_part_are_refused(change):
    train = Corpus(pairs_of(film=lambda k: str(k // 3)))
    test = Corpus([change(train[4]), *pairs_of(10, seed=1, first=500, film=str)])
    options = {"group": "film", "features": ("cosine",)}
    with pytest.raises(OptionError, match="in the training part"):
        Identifier.train(train, BINARY, test=test, **options)
    noted = Identifier.train(train, BINARY, test=test, leaks="report", **options)
    assert any("in the training part" in note for note in noted.notes)
    assert any("of the test part" in note for note in noted.notes)


def test_another_usual_group_is_a_leak_too():
    said = {"film": str, "entity": lambda k: str(k // 3 % 100)}
    train, test = (Corpus(pairs_of(90, n, 600 * n, **said)) for n in (0, 1))
    with pytest.raises(OptionError, match=r"\(entity=.*check --leaks.*--keep-together"):
        Identifier.train(train, BINARY, test=test, group="film", features=("cosine",))


def test_pairs_that_trained_a_system_are_counted():
    train = Corpus(pairs_of())
    scores = evaluate([Identifier.train(train, BINARY, features=("cosine",))], train)
    assert "90 pairs trained" in str(scores.notes)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 4)), min_size=4, max_size=30))
def test_measures_are_those_of_scikit_learn(rows):
    gold, tenths = np.array(rows).T
    if len(set(gold.tolist())) < 2:
        return
    chance = tenths / 4
    system = SystemLabels("a", (chance >= 0.5).astype(int), np.column_stack((1 - chance, chance)))
    f1, auc, calibration = _measure_of(gold, system)(np.ones((1, len(gold))))[:, 0]
    assert f1 == pytest.approx(f1_score(gold, system.labels)) or np.isnan(f1)
    assert auc == pytest.approx(roc_auc_score(gold, chance))
    certain = np.maximum(chance, 1 - chance)
    right = np.where(chance > 0.5, gold == 1, gold == 0)
    bins = [(certain == c) for c in set(certain.tolist())]
    off = sum(abs((certain[b] - right[b]).sum()) for b in bins) / len(gold)
    assert calibration == pytest.approx(off)


def test_measures_of_drawn_pairs_are_those_of_copied_pairs():
    rng = np.random.default_rng(3)
    gold, chance = rng.integers(0, 3, 40), rng.dirichlet((1, 1, 1), 40)
    weights = rng.integers(0, 4, 40)
    system = SystemLabels("a", chance.argmax(1), chance)
    copied = SystemLabels("a", *(np.repeat(x, weights, 0) for x in (chance.argmax(1), chance)))
    mine = _measure_of(gold, system)(weights[None].astype(float))
    other = _measure_of(np.repeat(gold, weights), copied)(np.ones((1, weights.sum())))
    assert mine == pytest.approx(other)
    macro = f1_score(np.repeat(gold, weights), copied.labels, average="macro")
    assert mine[0, 0] == pytest.approx(macro)


def scores_of(groups, right):
    """Scores of systems that are right on some pairs, all with the label 1."""
    n = len(groups)
    systems = [
        SystemLabels(name, np.array(row, int), np.column_stack((1 - np.array(row), row)))
        for name, row in right.items()
    ]
    ids = tuple(map(str, range(n)))
    gold = LabelledPairs(BINARY, None, ids, [("", "")] * n, np.ones(n, int), np.array(groups))
    return IdentifierScores(BINARY, ids, tuple(systems), gold)


def test_accuracy_and_its_test_have_the_group_as_unit():
    groups = np.repeat(np.arange(12), 25)  # of a group, all pairs have the same result
    better, worse = (np.repeat([1, 0], [few * 25, 300 - few * 25]) for few in (9, 4))
    scores = scores_of(groups, {"cosine": worse, "overlap": better})
    _, overlap, _ = scores.tables()[0].to_records()
    assert overlap["accuracy_low"] < wilson_interval(9, 12)[0]
    assert overlap["accuracy_high"] > wilson_interval(9, 12)[1] - 0.01
    assert overlap["p"] == pytest.approx(mcnemar(5, 0))
    assert "the group (12 groups)" in scores.tables()[0].note


def test_without_groups_the_unit_is_the_pair():
    better, worse = (np.repeat([1, 0], [few, 60 - few]) for few in (45, 30))
    scores = scores_of(np.arange(60), {"cosine": worse, "overlap": better})
    _, overlap, _ = scores.tables()[0].to_records()
    bounds = overlap["accuracy_low"], overlap["accuracy_high"]
    assert bounds == pytest.approx(wilson_interval(45, 60))
    assert overlap["p"] == pytest.approx(mcnemar(15, 0))
    assert "tests: the pair" in scores.tables()[0].note


def test_the_gain_of_more_features_is_clear_if_groups_agree():
    gain = np.repeat([1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0], 40)
    assert clear_gain(gain, np.arange(280))
    assert not clear_gain(gain, np.repeat(np.arange(7), 40))


@pytest.mark.parametrize(
    "features", [("overlap", "align"), ("cosine",), ("bow",), ("auto",)], ids="+".join
)
def test_a_saved_system_judges_alike(tmp_path, features):
    train, test = Corpus(pairs_of(50)), Corpus(pairs_of(20, seed=7, first=500))
    system = Identifier.train(
        train, BINARY, test=test, features=features, function_words={"bam"}, strengths=(0.3, 0.5)
    )
    system.save(tmp_path / "model.json")
    loaded = Identifier.load(tmp_path / "model.json")
    assert loaded.predict(test) == system.predict(test)
    assert loaded.probabilities(test) == system.probabilities(test)
    assert loaded.signature == system.signature
    assert "|strengths:0.3,0.5|" in loaded.signature
    assert loaded.weights == system.weights
    turned = Corpus(replace(p, source=p.target, target=p.source) for p in test)
    for id, row in loaded.probabilities(turned).items():
        assert row == pytest.approx(loaded.probabilities(test)[id])


def test_damaged_systems_are_refused(tmp_path):
    path = tmp_path / "model.json"
    Identifier.train(Corpus(pairs_of()), BINARY).save(path)
    record = json.loads(path.read_text(encoding="utf-8"))
    changes = [{k: None} for k in record if record[k] is not None]
    changes += [{"options": record["options"] | {"seed": 1}}]
    for change in changes:
        path.write_text(json.dumps(record | change), encoding="utf-8")
        with pytest.raises(FormatError, match=r"damaged|is not a system"):
            Identifier.load(path)
    forest = Identifier.train(Corpus(pairs_of()), BINARY, features=("cosine",), classifier="forest")
    assert not any("constant" in note for note in forest.notes)
    with pytest.raises(OptionError, match="cannot be saved"):
        forest.save(path)


def test_pairs_to_judge_need_words_and_ids_of_their_own():
    system = Identifier.train(Corpus(pairs_of()), BINARY, features=("cosine",))
    with pytest.raises(MissingTextError):
        system.predict([SentencePair("a", None, None, {})])
    with pytest.raises(OptionError, match="the id 'p0'"):
        system.predict([*pairs_of(2), *pairs_of(2)])
    assert set(system.predict([SentencePair("a", ["b"], [], {})])) == {"a"}


def test_labels_that_cannot_be_compared_are_reported():
    base = get_view("turku", "base")

    def judged(labels, n=90, first=0):
        pairs = zip(pairs_of(n, first=first), labels * n, strict=False)
        return Corpus(replace(p, annotations={"a": Annotation(None, judgment=x)}) for p, x in pairs)

    system = Identifier.train(judged("43"), base, features=("overlap",))
    assert "'1', '2': it is never predicted" in str(system.notes)
    test = Corpus([*judged("432", 30, 500), SentencePair("no words", ["\u00a0"], [], {})])
    scores = evaluate([system], test)
    assert "1 pair without words" in str(scores.notes)
    assert set(scores.predictions.values()) <= {"4", "3"}
    assert {p["2"] for p in system.probabilities(test).values()} == {0}
    nothing = evaluate([system], judged("x", 30, 500))
    assert nothing.tables()[0].anchor == "labels"
    assert "30 pairs without" in str(nothing.notes)


def test_words_after_the_first_400_are_not_aligned():
    long = SentencePair("long", ["bam"] * 401, ["ban"], {})
    train, test = Corpus(pairs_of()), Corpus([long])
    scores = evaluate([Identifier.train(train, BINARY, features=("align",))], test)
    assert "only the first 400" in str(scores.notes)


def test_the_command(tmp_path, capsys):
    train, test = tmp_path / "train.jsonl", tmp_path / "test.jsonl"
    write_corpus(Corpus(pairs_of(phenomena=lambda k: "odd" if k % 3 else "even")), train)
    write_corpus(Corpus(pairs_of(30, seed=9, first=500)), test)
    base = ["--scheme", "binary", "-o", tmp_path / "p.tsv"]
    made(capsys, "identify", train, *base, "--folds", 3, "--save", tmp_path / "m.json")
    scored = made(
        capsys,
        "score-labels",
        train,
        "--predictions",
        tmp_path / "p.tsv",
        "--scheme",
        "binary",
        "--json",
    ).json
    again = made(capsys, "identify", train, *base, "--folds", 3, "--json").json
    assert again["systems"][0]["accuracy"] == pytest.approx(scored["systems"][0]["accuracy"])
    made(capsys, "profile", train, "--predictions", tmp_path / "p.tsv", "--scheme", "binary")
    run(capsys, "identify", test, "--load", tmp_path / "m.json", "--view", "x").failed("view full")
    for words in (["--group", "x"], ["--seed", 3], ["--features", "bow"], ["--folds", 4], [train]):
        said = "leave TEST out" if len(words) == 1 else f"leave {words[0]} out"
        run(capsys, "identify", test, "--load", tmp_path / "m.json", *words).failed(said)
    ran = made(capsys, "identify", test, "--load", tmp_path / "m.json", "-o", "-")
    assert ran.out.startswith("p500\t")
    assert "aligner:inductive" in ran.err
    loaded = made(capsys, "identify", test, "--load", tmp_path / "m.json", *base)
    assert (tmp_path / "p.tsv").read_text(encoding="utf-8").startswith("p500\t")
    assert "aligner:inductive" in loaded.out
    told = made(
        capsys,
        "identify",
        train,
        test,
        *base,
        "--compare",
        "--csv",
        "--probabilities",
        tmp_path / "q.tsv",
    )
    assert [line.split(",")[1] for line in told.out.splitlines()[1:6]] == [
        "cosine",
        "overlap",
        "align",
        "overlap+align",
        "majority",
    ]
    rows = [line.split("\t") for line in (tmp_path / "q.tsv").read_text().splitlines()]
    assert rows[0] == ["id", "0", "1"]
    assert all(float(a) + float(b) == pytest.approx(1, abs=2e-6) for _, a, b in rows[1:])


def test_the_command_refuses(tmp_path, capsys):
    train = tmp_path / "train.jsonl"
    write_corpus(Corpus(pairs_of()), train)
    base = ["identify", train, "--scheme", "binary"]
    run(capsys, *base, train).failed("in the training part")
    run(capsys, *base, "--group", "film").failed("film")
    run(capsys, *base, "--strengths", 0).failed("above 0")
    run(capsys, *base, "--strengths", "nan").failed("above 0")
    run(capsys, *base, "--folds", 91).failed("folds")
    run(capsys, *base, "--load", train).failed("is not a system")
    run(capsys, *base, "--no-text").failed("--no-text")
    run(capsys, *base, "--features", "vectors").failed("vectors")
    run(capsys, *base, "-o", tmp_path / "no" / "p.tsv").failed("folder")


@pytest.mark.real_data
@pytest.mark.slow
def test_the_numbers_of_published_corpora(data):
    """The prototype's numbers: accuracy, F1, AUC on PARADE, accuracy and macro F1 in Finnish."""
    from alignkit.scoring.link_classes import function_words

    parade = read_corpus(str(data / "parade/PARADE_validation.txt"))
    view = get_view("parade-votes", "binary")
    english = function_words("english").source
    options = {"strengths": (0.1,), "group": "entity", "function_words": english}
    scores = cross_validate(parade, view, **options).to_json()["systems"]
    rows = {row["system"]: (row["accuracy"], row["f1_of_1"], row["auc"]) for row in scores}
    assert rows["majority"][0] == pytest.approx(0.511, abs=0.0005)
    assert rows["overlap"] == pytest.approx((0.724, 0.692, 0.796), abs=0.005)
    assert rows["align"] == pytest.approx((0.718, 0.700, 0.785), abs=0.0065)
    assert rows["overlap+align"] == pytest.approx((0.724, 0.698, 0.795), abs=0.005)
    finnish = read_corpus(str(data / "turku/opus-pb-dev.json"))
    options = {"strengths": (0.1,), "group": "none", "count": 5}
    scores = cross_validate(finnish, get_view("turku", "base"), **options).to_json()["systems"]
    rows = {row["system"]: (row["accuracy"], row["macro_f1"]) for row in scores}
    assert rows["cosine"] == pytest.approx((0.588, 0.475), abs=0.005)
    assert rows["overlap"] == pytest.approx((0.611, 0.502), abs=0.005)
    assert rows["align"] == pytest.approx((0.565, 0.483), abs=0.0065)
    assert rows["overlap+align"] == pytest.approx((0.622, 0.546), abs=0.005)
