"""The aligner's kernels compute what plain float64 loops compute."""

from types import SimpleNamespace

import aligner_reference as plain
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alignkit.align.bitext import Bitext
from alignkit.align.cooccurrence import Cooccurrence
from alignkit.align.expectation import _totals_of, pairs_of
from alignkit.align.expectation_kernel import (
    EMPTY,
    JumpCounts,
    Jumps,
    Own,
    PositionTables,
    StepOutput,
    Tables,
    ViterbiPaths,
    hmm_paths,
    hmm_step,
    lexical_step,
)
from alignkit.align.maximization_kernel import UNITS

NOTHING = np.empty(0, np.float32)
NO_LEVELS = np.empty(0, np.uint8)
SIZES = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=4)
CASES = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32 - 1),
        "sizes": SIZES,
        "band": st.integers(1, 12),
        "kinds": st.integers(1, 4),
        "p0": st.sampled_from([0.0, 0.1, 0.6]),
        "own": st.booleans(),
    }
)


def random_case(seed, sizes, band, kinds, p0, own):
    rng = np.random.default_rng(seed)
    bitext = Bitext.pack(plain.random_pairs(rng, sizes, 6))
    index, sharp = Cooccurrence.of(bitext), rng.choice([0.5, 3.0])
    cells = len(index.cells)
    words = len(bitext.source.ids), len(bitext.target.ids)
    evidence = Own(
        *(
            rng.integers(0, 256, size).astype(np.uint8) if own else NO_LEVELS
            for size in (cells, *words)
        )
    )
    evidenced = np.zeros(len(index.columns))
    if own:
        np.add.at(evidenced, index.cells, evidence.links / 255)

    def weights():
        return (evidenced + np.exp(rng.normal(0, sharp, len(evidenced)))).astype(np.float32)

    def null(words):
        return rng.dirichlet(np.ones(words)).astype(np.float32) if words else NOTHING

    forward, reverse = weights(), weights()
    vs, vt = len(bitext.source.words), len(bitext.target.words)
    totals = [
        _totals_of(index, lexical, vt)[side] / UNITS
        for side, lexical in enumerate((forward, reverse))
    ]
    tables = Tables(
        forward,
        reverse,
        (totals[0] + 0.5).astype(np.float32),
        (totals[1] + 0.5).astype(np.float32),
        null(vs),
        null(vt),
        rng.integers(0, kinds, vs).astype(np.int32),
        rng.integers(0, kinds, vt).astype(np.int32),
        np.float32(p0),
        *np.exp(rng.uniform(-12, -6, 2)).astype(np.float32),
    )
    jumps = np.exp(rng.normal(0, sharp, (2, kinds + 1, 2 * band + 2))).astype(np.float32)
    return SimpleNamespace(
        rng=rng,
        bitext=bitext,
        index=index,
        tables=tables,
        jumps=jumps,
        p0=float(np.float32(p0)),
        pairs=pairs_of(bitext, index),
        evidence=evidence,
        cells=cells,
    )


def sides(case, p):
    """Give, for both directions of pair p: t, null, kinds, each as the reference takes them."""
    pairs, tables = case.pairs, case.tables
    source = pairs.source[pairs.source_starts[p] : pairs.source_starts[p + 1]]
    target = pairs.target[pairs.target_starts[p] : pairs.target_starts[p + 1]]
    cells = slice(pairs.starts[p], pairs.starts[p + 1])
    shape = len(source), len(target)
    places, own = pairs.cells[cells].reshape(shape), np.zeros(shape)
    nulls = tables.source_null[source].astype(float), tables.target_null[target].astype(float)
    if len(case.evidence.links):
        own = case.evidence.links[cells].reshape(shape) / 255
        ours = case.evidence.source[pairs.source_starts[p] : pairs.source_starts[p + 1]]
        theirs = case.evidence.target[pairs.target_starts[p] : pairs.target_starts[p + 1]]
        units = float(tables.source_unit), float(tables.target_unit)
        nulls = (
            plain.empty(nulls[0], ours, units[0], EMPTY),
            plain.empty(nulls[1], theirs, units[1], EMPTY),
        )
    wide = np.float64
    forward = plain.emissions(
        tables.forward[places].astype(wide), tables.source_totals[source].astype(wide), own
    )
    reverse = plain.emissions(
        tables.reverse[places].T.astype(wide), tables.target_totals[target].astype(wide), own.T
    )
    return (
        (forward, nulls[1], tables.source_kinds[source]),
        (reverse, nulls[0], tables.target_kinds[target]),
    )


class Output:
    def __init__(self, case, agree=False):
        size = 0 if agree else case.cells
        self.forward, self.reverse = np.zeros(size, np.float32), np.zeros(size, np.float32)
        self.agreement = np.zeros(case.cells if agree else 0, np.uint8)
        self.source_nulls = np.zeros(len(case.pairs.source), np.float32)
        self.target_nulls = np.zeros(len(case.pairs.target), np.float32)
        self.likelihoods = np.full((len(case.bitext), 2), np.nan)
        self.counts = np.zeros(case.jumps.shape, np.int64)
        posteriors = self.agreement, self.forward, self.reverse, 0
        nulls = self.source_nulls, self.target_nulls
        self.step = StepOutput(*posteriors, *nulls, self.likelihoods)

    def check(self, case, p, found):
        pairs = case.pairs
        cells, shape = slice(pairs.starts[p], pairs.starts[p + 1]), found[0][0].shape
        near = {"rtol": 1e-3, "atol": 3e-4}
        if len(self.agreement):
            wanted = plain.agreement(found[0][0], found[1][0].T, sharp=len(found[0]) > 3) * 255
            assert np.abs(self.agreement[cells].reshape(shape) - wanted).max() < 0.7
        else:
            np.testing.assert_allclose(self.forward[cells].reshape(shape), found[0][0], **near)
            np.testing.assert_allclose(self.reverse[cells].reshape(shape), found[1][0].T, **near)
        targets = slice(pairs.target_starts[p], pairs.target_starts[p + 1])
        sources = slice(pairs.source_starts[p], pairs.source_starts[p + 1])
        np.testing.assert_allclose(self.target_nulls[targets], found[0][1], **near)
        np.testing.assert_allclose(self.source_nulls[sources], found[1][1], **near)
        likelihoods = [found[0][2], found[1][2]]
        np.testing.assert_allclose(self.likelihoods[p], likelihoods, rtol=1e-5, atol=1e-3)


def run_lexical(case, places=None, positions=(NOTHING, NOTHING), agree=False):
    out = Output(case, agree)
    places = np.empty(0, np.int64) if places is None else places
    tables = PositionTables(places, *positions)
    size = len(case.bitext)
    lexical_step(0, size, case.pairs, case.tables, tables, case.evidence, out.step)
    return out


def run_hmm(case, agree=False, every=1):
    out = Output(case, agree)
    jumps = Jumps(case.jumps[0], case.jumps[1])
    counts = JumpCounts(out.counts[0], out.counts[1], 0, every)
    size = len(case.bitext)
    hmm_step(0, size, case.pairs, case.tables, jumps, case.evidence, out.step, counts)
    return out


def filled(case):
    return np.flatnonzero(case.bitext.source.lengths * case.bitext.target.lengths).tolist()


@given(CASES, st.booleans(), st.sampled_from(["ibm1", "ibm2"]))
def test_ibm_1_and_2_are_the_reference(options, agree, model):
    case = random_case(**options)
    places, at = case.bitext.starts[:-1].copy(), (None, None)
    forward, reverse = (case.rng.random(case.cells).astype(np.float32) for _ in "ab")
    with_places = (places, (forward, reverse)) if model == "ibm2" else ()
    out = run_lexical(case, *with_places, agree=agree)
    for p in filled(case):
        cells = slice(places[p], case.bitext.starts[p + 1])
        (t, null, _), (back, back_null, _) = sides(case, p)
        if model == "ibm2":
            at = forward[cells].reshape(t.shape), reverse[cells].reshape(t.shape).T
        found = [
            plain.lexical(t, null, case.p0, at[0]),
            plain.lexical(back, back_null, case.p0, at[1]),
        ]
        out.check(case, p, found)


def chains(case, p):
    for side, (t, null, kinds) in enumerate(sides(case, p)):
        yield (t, null, case.p0, *plain.chain(case.jumps[side].astype(np.float64), kinds)), kinds


@given(CASES, st.booleans())
def test_the_hmm_is_the_reference(options, agree):
    case = random_case(**options)
    out, counts = run_hmm(case, agree), np.zeros(case.jumps.shape)
    for p in filled(case):
        found = []
        for side, (given_, kinds) in enumerate(chains(case, p)):
            found.append(plain.hmm(*given_))
            links, _, _, jumps, ended = found[-1]
            plain.count_jumps(jumps, ended, links[:, 0], kinds, counts[side])
        out.check(case, p, found)
    np.testing.assert_allclose(out.counts / UNITS, counts, rtol=2e-3, atol=1e-3)


@pytest.mark.parametrize("size", [(60, 55), (33, 60), (60, 1), (1, 60), (57, 8)])
def test_long_sentences_are_the_reference(size):
    case = random_case(size[0], [size, (3, 2)], band=10, kinds=3, p0=0.1, own=False)
    out = run_hmm(case)
    for p in filled(case):
        out.check(case, p, [plain.hmm(*given_) for given_, _ in chains(case, p)])


@given(CASES, st.tuples(st.integers(1, 3), st.integers(1, 4)))
@settings(max_examples=25)
def test_the_hmm_is_what_all_alignments_together_say(options, size):
    case = random_case(**{**options, "sizes": [size if options["seed"] % 2 else size[::-1]]})
    (given_, _), (back, _) = chains(case, 0)
    for one in (given_, back):
        if one[0].shape[0] <= 3:
            links, nulls, likelihood, best = plain.hmm_by_enumeration(*one)
            slow = plain.hmm(*one)
            np.testing.assert_allclose(slow[0], links, atol=1e-9)
            np.testing.assert_allclose(slow[1], nulls, atol=1e-9)
            assert slow[2] == pytest.approx(likelihood, rel=1e-9, abs=1e-9)
            assert plain.best_score(*one) == pytest.approx(best, rel=1e-9, abs=1e-9)
    run_hmm(case).check(case, 0, [plain.hmm(*given_), plain.hmm(*back)])


def test_jumps_are_counted_in_some_pairs():
    case = random_case(3, [(4, 5)] * 6, band=3, kinds=2, p0=0.1, own=False)
    some = (run_hmm(case, every=4).counts / UNITS).sum(axis=(1, 2))
    words = [5, 4]  # at most: each word comes from a jump, and the end is one more
    assert (some > 2).all()
    assert (some < 2 * (np.array(words) + 1) + 1e-3).all()
    assert run_hmm(case, every=0).counts.sum() == 0


@given(CASES)
def test_viterbi_finds_a_most_probable_path(options):
    case = random_case(**options)
    paths = [np.full(len(side), -9, np.int32) for side in (case.pairs.target, case.pairs.source)]
    jumps = Jumps(case.jumps[0], case.jumps[1])
    to = ViterbiPaths(*paths, 0, 0)
    hmm_paths(0, len(case.bitext), case.pairs, case.tables, jumps, case.evidence, to)
    starts = case.pairs.target_starts, case.pairs.source_starts
    for p in range(len(case.bitext)):
        if p not in filled(case):
            for path, start in zip(paths, starts, strict=True):
                assert (path[start[p] : start[p + 1]] == -1).all()
            continue
        for side, (given_, _) in enumerate(chains(case, p)):
            path = paths[side][starts[side][p] : starts[side][p + 1]]
            best = plain.best_score(*given_)
            assert plain.path_score(path, *given_) == pytest.approx(best, rel=1e-5, abs=2e-3)
