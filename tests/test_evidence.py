"""Links of other systems as evidence: features, votes, learning, model files."""

import json
from dataclasses import replace

import numpy as np
import pytest
from agreement_goldens import french
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from scipy.special import logit
from test_refiner import letters, plain_mean

from alignkit import Alignment, Corpus, SentencePair
from alignkit.align import Aligner, Bitext
from alignkit.align.evidence import FEATURES, Evidence, doubts
from alignkit.align.model_files import read_model, write_model
from alignkit.align.model_learned import arrays_of
from alignkit.align.supervised import Refiner
from alignkit.align.supervised.cells import OTHERS, Cells, Spelled, lexicon_columns, names_of
from alignkit.align.supervised.gold import GoldPairs
from alignkit.align.supervised.learned import Learned
from alignkit.errors import AlignerError, AlignmentError, OptionError, UnknownNameError
from benchmarks.evidence import error, romanian, voted

SYSTEMS = {"good": ["good"], "two": ["two/1", "two/2"]}
GOOD = ["good", 1, True]


@pytest.fixture(scope="module")
def corpus():
    """Return pairs with gold links, a system that is nearly right, and two directions."""
    rng, pairs = np.random.default_rng(0), []
    for pair in french().rename({"eflomal": "two/1", "fast_align": "two/2"}):
        kept = [link for link in sorted(pair.alignment("gold")) if rng.random() < 0.8]
        weights = {link: float(rng.uniform(0.5, 1)) for link in kept}
        pairs.append(pair.with_annotation("good", Alignment(kept, weights=weights)))
    return Corpus(pairs)


@pytest.fixture(scope="module")
def aligner(corpus):
    return Aligner.train(corpus)


@pytest.fixture(scope="module")
def refiner(aligner, corpus):
    return Refiner.train(aligner, corpus[:40], evidence=SYSTEMS)


@pytest.fixture(scope="module")
def roen(data):
    pairs = romanian()
    return pairs, Aligner.train(pairs)


WEIGHTS = st.sampled_from([0.0, 0.005, 0.3, 0.5, 1.0])


@given(
    matrices=st.lists(st.lists(WEIGHTS, min_size=12, max_size=12), min_size=2, max_size=2),
    absent=st.booleans(),
)
def test_features_are_those_of_a_plain_loop(aligner, corpus, matrices, absent):
    words = [corpus[0].words, (("la", "mer", "est"), ("the", "sea", "is", "blue"))]
    said = np.array(matrices).reshape(2, 3, 4)  # of two channels of a system, for the second pair
    annotations = {
        f"s/{c + 1}": Alignment(list(weights), weights=weights)
        for c in range(2 - absent)
        for weights in [{(i, j): said[c, i, j] for i in range(3) for j in range(4)}]
    }
    pairs = [SentencePair("1", *words[0]), SentencePair("2", *words[1], annotations)]
    evidence = Evidence.pack(pairs, {"s": ["s/1", "s/2"]})
    bitext = Bitext.pack(pairs)
    spelled = Spelled.of(bitext)
    plain = Cells.of(aligner.decoder(bitext), bitext, 0, 2, spelled)
    cells = Cells.of(aligner.decoder(bitext), bitext, 0, 2, spelled, evidence=evidence)
    names = names_of(vectors=False, evidence=evidence.systems)
    linked = {(i, j) for c in range(2 - absent) for i, j in np.argwhere(said[c] > 0)}
    assert {tuple(x) for x in cells.places[cells.ends[1] :].tolist()} == linked | {
        tuple(x) for x in plain.places[plain.ends[1] :].tolist()
    }
    rows, known = (np.column_stack([x.pair_of, x.places]).tolist() for x in (cells, plain))
    same = [row in known for row in rows]
    own = names.index("s/1.link")
    assert (cells.features[same, :own] == plain.features[:, :own]).all()
    assert (cells.places[same] == plain.places).all()
    for k, (i, j) in enumerate(cells.places.tolist()):
        told = cells.features[k, names.index("s/1.link") :][: 2 * len(FEATURES)]
        if k < cells.ends[1]:
            assert not told.any()
            assert np.isnan(cells.shares[k]).all()
            continue
        for c, own in enumerate(told.reshape(2, -1)):
            if absent and c:
                assert not own.any()
                continue
            e, row, column = said[c, i, j], said[c, i], said[c, :, j]
            p = np.clip(float(cells.features[k, 0]), 0.001, 0.999)
            expected = [
                e > 0,
                (e > 0) * logit(np.clip(e, 0.01, 0.99)),
                min(row.sum() - e, 2),
                min(column.sum() - e, 2),
                not row.any(),
                not column.any(),
                e * logit(p),
                1,
            ]
            assert own == pytest.approx(np.array(expected, float), abs=2e-5)
        share = np.nan if absent else said[:, i, j].mean()
        assert cells.shares[k] == pytest.approx([share], abs=1e-6, nan_ok=True)


def test_learning_beside_it_is_learning_without_evidence(aligner, corpus, refiner):
    alone = Refiner.train(aligner, corpus[:40])
    assert refiner.report.without == alone.report
    assert {k: x.tobytes() for k, x in arrays_of(refiner.learned.without).items()} == {
        k: x.tobytes() for k, x in arrays_of(alone.learned).items()
    }
    rest = corpus[40:]
    lacking = [pair.without_annotations("two/2") if k % 2 else pair for k, pair in enumerate(rest)]
    mixed = refiner.aligner.align_bitext(lacking, evidence=SYSTEMS)
    known = refiner.aligner.align_bitext(rest, evidence=SYSTEMS)
    plain = alone.aligner.align_bitext(rest)
    assert known.arrays.links.tolist() != plain.arrays.links.tolist()
    for k in range(len(rest)):
        assert mixed.alignment(k) == (plain if k % 2 else known).alignment(k)


def test_evidence_helps_and_its_report_names_all(refiner, corpus):
    report = refiner.report
    assert report.used
    assert report.gain.value > 0
    assert [row.kind for row in report.systems] == ["system:good", "system:two", "vote"]
    best = max(
        report.before.value,
        report.without.mean.measure.value,
        *(row.measure.value for row in report.systems),
    )
    assert report.gain.value == pytest.approx(report.after.value - best)
    rows = "before, good, two, vote, learned without evidence, learned"
    rows += ", difference to the best, weighted mean"
    assert ", ".join(row[0] for row in report.table().rows) == rows
    assert json.loads(json.dumps(report.to_json()))["without"]["pairs"] == 40
    assert "systems" not in report.without.to_json()


@pytest.mark.parametrize("vectors", [None, letters])
def test_a_system_that_is_right_is_used_as_it_is(aligner, corpus, vectors):
    """Nothing can be learned on top of it."""
    told = [pair.with_annotation("oracle", pair.alignment("gold")) for pair in corpus]
    evidence = {"oracle": ["oracle"]}
    refiner = Refiner.train(aligner, told[:12], vectors=vectors, evidence=evidence)
    assert refiner.learned.lessons.kind == "system:oracle"
    assert not refiner.report.used
    assert refiner.report.base == "system:oracle"
    links = refiner.aligner.align_bitext(told[12:], evidence={"oracle": ["oracle"]})
    for k, pair in enumerate(told[12:]):
        assert set(links.arrays.alignment(k)) == set(pair.alignment("oracle"))
    assert refiner.update(told[12:14]).learned.lessons.pairs == 14
    again = Refiner.of(refiner.aligner, evidence=evidence).update(told[:20])
    assert again.learned.used
    assert again.validate(1).pairs == 20


def test_evidence_that_is_noise_is_not_used(aligner, corpus):
    rng = np.random.default_rng(1)
    noise = [
        pair.with_annotation(
            "noise", Alignment({(int(rng.integers(n)), int(rng.integers(m))) for _ in range(n)})
        )
        for pair in corpus
        for n, m in [pair.lengths]
    ]
    refiner = Refiner.train(aligner, noise[:12], evidence={"noise": ["noise"]})
    assert refiner.report.base in ("aligner", "without")
    if not refiner.report.used:  # then pairs need no evidence
        assert not refiner.learned.lessons.evidence
        refiner.aligner.align_bitext(noise[12:14])


def without_record(learned):
    """Return a refinement that does not say from which pairs it was learned."""
    without = None if learned.without is None else without_record(learned.without)
    return replace(learned, lessons=replace(learned.lessons, taught_by=None), without=without)


def test_models_with_and_without_evidence_are_read_back(aligner, refiner, corpus, tmp_path):
    refiner.save(tmp_path / "m")
    systems = refiner.learned.lessons.evidence
    voting = aligner.with_learned(Learned.vote(systems))
    voting.save(tmp_path / "vote")
    before = without_record(refiner.learned)
    aligner.with_learned(before).save(tmp_path / "before")
    assert Aligner.load(tmp_path / "before").gold_record(corpus[0]) == ""
    assert Aligner.load(tmp_path / "vote").parameters.learned.lessons.kind == "vote"
    again = Aligner.load(tmp_path / "m")
    assert again.parameters.learned.lessons == refiner.learned.lessons
    turned = {name: SYSTEMS[name] for name in ("two", "good")}  # the model's order counts
    for evidence in (SYSTEMS, turned):
        links = again.align_bitext(corpus[40:], evidence=evidence)
        same = refiner.aligner.align_bitext(corpus[40:], evidence=SYSTEMS)
        assert links.probabilities.tobytes() == same.probabilities.tobytes()
        assert links.arrays.links.tobytes() == same.arrays.links.tobytes()
    pair = corpus[45]
    told = Refiner.of(again, evidence=SYSTEMS).probabilities(pair)
    links = again.align_bitext([pair], evidence=SYSTEMS).alignment(0)
    assert {link: told[link] for link in links} == dict(links.weights)
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


@pytest.mark.parametrize("base", ["aligner", "vote", "system:good", "without"])
def test_the_rest_of_the_weight_goes_to_the_base(refiner, aligner, corpus, tmp_path, base):
    learned = refiner.learned
    lessons = replace(learned.lessons, weight=0.5, base=base)
    half = aligner.with_learned(replace(learned, lessons=lessons))
    half.save(tmp_path / "m")
    rest = list(corpus[40:])
    rest[1] = rest[1].without_annotations("two/2")
    evidence = Evidence.pack(rest, SYSTEMS).ordered(lessons.evidence)
    vote = aligner.with_learned(Learned.vote(lessons.evidence))
    ways = {
        "aligner": aligner.align_bitext(rest, threshold=0),
        "vote": vote.align_bitext(rest, threshold=0, evidence=evidence),
        "system:good": [pair.alignment("good") for pair in rest],
        "without": aligner.with_learned(learned.without).align_bitext(rest, threshold=0),
    }
    least = 0.03 if base in ("vote", "system:good") else 0.001
    full = aligner.with_learned(replace(learned, lessons=replace(lessons, weight=1.0)))
    whole = full.align_bitext(rest, threshold=0, evidence=evidence)
    loaded = Aligner.load(tmp_path / "m")
    links = loaded.align_bitext(rest, threshold=0, evidence=SYSTEMS)
    again = loaded.align_bitext(rest, threshold=0, evidence=SYSTEMS, threads=2)
    assert links.probabilities.tobytes() == again.probabilities.tobytes()
    for k in range(len(rest)):
        if k == 1:  # it lacks a system
            assert links.alignment(k).weights == ways["without"].alignment(k).weights
            continue
        of_rounds, of_base = whole.alignment(k).weights, ways[base][k].weights
        for link, p in links.alignment(k).weights.items():
            expected = plain_mean(0.5, of_rounds[link], of_base.get(link, 0.0), least)
            assert p == pytest.approx(expected, abs=1e-4), (k, link)


def test_probabilities_are_calibrated_by_what_has_most_of_the_weight(refiner, aligner):
    learned = refiner.learned
    few = replace(learned.without, lessons=replace(learned.without.lessons, weight=0.5))
    assert aligner.calibrated
    for weight, base, expected in (
        (0.95, "vote", True),
        (0.5, "vote", False),
        (0.5, "system:good", False),
        (0.5, "aligner", True),
        (0.5, "without", True),
    ):
        lessons = replace(learned.lessons, weight=weight, base=base)
        made = aligner.with_learned(replace(learned, lessons=lessons, without=few))
        assert made.calibrated == expected
        assert made.parameters.learned.is_calibrated(alone=False) == (weight > 0.9)
    assert not aligner.with_learned(Learned.vote(learned.lessons.evidence)).calibrated


@pytest.mark.parametrize(
    ("entry", "value", "told"),
    [
        *[
            ("evidence", value, "different systems")
            for value in ([], [GOOD, 5], [GOOD, ["good", 2, False]], [["good", 10**6, True]])
        ],
        ("evidence", [GOOD], "its features are not"),
        ("measures", [0.5, 2.0], "two measures"),
        ("measures", [0.5], "two measures"),
        ("without", None, "two measures"),
        ("without", {"kind": "all-30"}, "must have the entries"),
        ("kind", "system:other", "kind is"),
        ("base", "system:other", "base is"),
    ],
)
def test_false_models_are_refused(refiner, tmp_path, entry, value, told):
    refiner.save(tmp_path / "m")
    old = read_model(tmp_path / "m")
    header = {**old.header, "learned": {**old.header["learned"], entry: value}}
    write_model(tmp_path / "f", header=header, arrays=old.arrays, words=old.words)
    refuses(AlignerError, told, lambda: Aligner.load(tmp_path / "f"))


def test_columns_of_vectors_and_of_evidence_do_not_mix(aligner, corpus):
    both = letters, letters
    pairs = GoldPairs(aligner, both, SYSTEMS).add(corpus[:10], "gold").gold()
    plain = GoldPairs(aligner, both).add(corpus[:10], "gold").gold()
    first = pairs.names.index("good.link")
    assert pairs.names[:first] + pairs.names[-OTHERS:] == plain.names
    both = (pairs.cells, plain.cells)
    rows, known = (np.column_stack([x.pair_of, x.places]).tolist() for x in both)
    same = [row in known for row in rows]
    assert (pairs.cells.features[same, :first] == plain.cells.features[:, :first]).all()
    assert pairs.cells.features[:, pairs.names.index("good.link")].any()
    assert not pairs.cells.features[:, lexicon_columns(pairs.cells.features)].any()


def test_other_evidence_is_refused(refiner, aligner, corpus):
    align, rest, train = refiner.aligner.align_bitext, corpus[40:], (Refiner.train, aligner, corpus)
    for evidence, told in (
        (None, r"needs evidence of good and two \(2 files\); given: none"),
        ({"good": ["good"]}, "given: good$"),
        (SYSTEMS | {"other": ["gold"]}, r"given: good and two \(2 files\) and other"),
        (SYSTEMS | {"two": ["two/1"]}, "given: good and two$"),
    ):
        refuses(OptionError, told, align, rest, evidence=evidence)
    refuses(OptionError, "did not learn", aligner.align_bitext, rest, evidence=SYSTEMS)
    refuses(OptionError, "annotator of the gold", *train, evidence={"x": ["gold"]})
    twice = SYSTEMS | {"two/1": ["good"]}
    refuses(OptionError, "same name: good, two/1, two/2, two/1", *train, evidence=twice)
    refuses(UnknownNameError, "nobody", *train, evidence={"x": ["nobody"]})
    other = Evidence.pack(corpus[:3], SYSTEMS)
    refuses(AlignerError, "other pairs", align, Bitext.pack(rest), evidence=other)
    for weight in (1.5, -0.1, float("nan")):
        pair = SentencePair("7", ["a"], ["b"], {"w": Alignment([(0, 0)], weights={(0, 0): weight})})
        refuses(AlignmentError, "pair '7', w: link 0-0", Evidence.pack, [pair], {"w": ["w"]})


def test_what_learned_without_evidence_does_not_use_it_and_says_so(aligner, corpus, caplog):
    alone = Refiner.train(aligner, corpus[:40], threads=1).aligner
    rest = corpus[40:]
    caution = "the evidence of good and two is not used: the model learned without evidence"
    plain = alone.align_bitext(rest)
    assert plain.cautions == ()
    for evidence in (SYSTEMS, Evidence.pack(rest, SYSTEMS)):
        caplog.clear()
        links = alone.align_bitext(rest, evidence=evidence)
        assert (links.cautions, caplog.messages) == ((caution,), [caution])
        assert links.arrays.links.tolist() == plain.arrays.links.tolist()
        assert links[:2].cautions == (caution,)


def test_pairs_come_and_go(aligner, corpus):
    refiner = Refiner.train(aligner, corpus[:12], evidence=SYSTEMS, threads=1)
    before = {k: x.tobytes() for k, x in arrays_of(refiner.learned).items()}
    refiner.update(corpus[12:15])
    assert {k: x.tobytes() for k, x in arrays_of(refiner.learned).items()} != before
    assert refiner.learned.without.lessons.pairs in (12, 15)
    refiner.forget([pair.id for pair in corpus[12:15]])
    assert {k: x.tobytes() for k, x in arrays_of(refiner.learned).items()} == before
    refiner.update([corpus[11].without_annotations("gold")])
    assert len(refiner.ids) == refiner.validate(threads=1).without.pairs == 11


def test_the_vote_is_the_mean_of_those_who_know_the_pair(aligner, corpus):
    some = [
        pair.without_annotations("good") if k % 3 == 0 else pair for k, pair in enumerate(corpus)
    ]
    evidence = Evidence.pack(some, SYSTEMS)
    voting = aligner.with_learned(Learned.vote(evidence.systems))
    links = voting.align_bitext(some, evidence=evidence)
    for k, pair in enumerate(some):
        shares = [np.minimum(sum(aligner.posteriors(*pair.words)) / 2, 1)]
        for names in SYSTEMS.values():
            if all(pair.aligned_by(name) for name in names):
                both = np.zeros((len(names), *pair.lengths))
                for c, name in enumerate(names):
                    for i, j in pair.alignment(name):
                        both[c, i, j] = pair.alignment(name).weights.get((i, j), 1.0)
                shares.append(both.mean(axis=0))
        share, weights = np.mean(shares, axis=0), links.alignment(k).weights
        assert set(weights) == {(i, j) for i, j in np.argwhere(share > 0.5).tolist()}
        assert all(weights[link] == pytest.approx(share[link], abs=1e-5) for link in weights)


def test_evidence_on_a_long_pair_is_cut_with_it(aligner, caplog):
    size = 900
    words = [f"w{k % 50}" for k in range(size)]
    across = Alignment([(k, k) for k in range(size)] + [(0, size - 1)])
    pairs = [
        SentencePair("1", ["a"], ["b"], {"s": Alignment([(0, 0)])}),
        SentencePair("2", words, words, {"s": across}),
    ]
    evidence = Evidence.pack(pairs, {"s": ["s"]})
    voting = aligner.with_learned(Learned.vote(evidence.systems))
    links = voting.align_bitext(pairs, evidence=evidence, threshold=0.49)
    assert set(links.arrays.alignment(1)) >= {(k, k) for k in range(size)}
    assert (0, size - 1) not in set(links.arrays.alignment(1))
    assert "more than 400 words" in caplog.text


def readings(pairs, name):
    """Return pairs whose annotators are wrong readings of the links of an annotator."""

    def read(pair, other):
        n, m = pair.lengths
        links, strange = pair.alignment(name), other.alignment(name)
        found = {
            "as is": links,
            "turned": [(j, i) for i, j in links],
            "shifted": [(i + 1, j + 1) for i, j in links],
            "other line": strange,
        }
        kept = {
            of: Alignment((i, j) for i, j in some if i < n and j < m) for of, some in found.items()
        }
        return SentencePair(pair.id, *pair.words, kept)

    return [read(*both) for both in zip(pairs, [*pairs[1:], pairs[0]], strict=True)]


@pytest.mark.real_data
def test_numbers_of_the_prototype(roen):
    """AER of the vote, and what shows a wrong direction or base, as first measured."""
    pairs, aligner = roen
    for names, expected in ((("giza", "fast"), 26.60), (("awesome", "giza", "fast"), 24.18)):
        assert voted(aligner, pairs, names) == pytest.approx(expected, abs=0.3)
    read = readings(pairs, "awesome")
    evidence = Evidence.pack(read, {name: [name] for name in read[0].annotations})
    told = list(doubts(aligner.decoder, Bitext.pack(read), evidence))
    expected = (
        "turned: agrees more with the aligner with :transpose",
        "shifted: agrees more with the aligner with :base1",
        "other line: agrees little with the aligner",
    )
    assert len(told) == len(expected)
    assert all(map(str.startswith, told, expected))


@pytest.mark.real_data
def test_a_hundred_pairs_and_a_neural_system_beat_it_by_a_sixth(roen):
    pairs, aligner = roen
    order = np.random.default_rng(0).permutation(len(pairs))
    taught, rest = ([pairs[k] for k in part] for part in (order[:100], order[100:]))
    evidence = {"awesome": ["awesome"]}
    refiner = Refiner.train(aligner, taught, objective="aer", evidence=evidence)
    links = refiner.aligner.align_bitext(rest, evidence=evidence).arrays
    alone = error(rest, [pair.alignment("awesome") for pair in rest])
    assert error(rest, list(links.alignments())) < 0.85 * alone
