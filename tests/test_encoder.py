"""What an encoder says of cells: shares, what is kept of them, and aligners that use them."""

import sqlite3
from dataclasses import replace
from itertools import pairwise
from math import exp, sqrt

import numpy as np
import pytest
from command import run
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from alignkit import Alignment, Corpus, SentencePair, errors
from alignkit._support import signals
from alignkit.align import Aligner, Bitext, Settings
from alignkit.align.bitext import Pieces
from alignkit.align.cooccurrence import Cooccurrence
from alignkit.align.encoder import FunctionEncoder
from alignkit.align.encoder import kept_shares as kept
from alignkit.align.encoder.encoding import BATCH, PairEncoder
from alignkit.align.encoder.functions import encoder_of
from alignkit.align.encoder.joined_words import JoinedWords
from alignkit.align.encoder.shares import (
    UNITS,
    cosines_of,
    matched_words,
    shares_of,
    spread_of,
)
from alignkit.align.encoder.transformer import Windows
from alignkit.align.priors import add_shares
from alignkit.align.supervised import Refiner
from alignkit.cli.common import encoders

WORDS = 30


@pytest.fixture(autouse=True)
def cache(own_cache):
    """Keep shares in a folder of the test."""
    return own_cache / "encoder.sqlite"


class Meaning:
    """An encoder that knows what words mean: s7 and t7 the same, with some noise."""

    name = "meaning"
    layer = 3
    layers = 4
    progress = None

    def __init__(self, digest="1", noise=0.3, stop_after=None):
        self.digest = digest
        self.asked = []
        self._stop_after = stop_after
        self._vectors = np.random.default_rng(0).normal(size=(WORDS, 16))
        self._noise = noise

    def vectors(self, sentences):
        if self._stop_after is not None and len(self.asked) >= self._stop_after:
            raise KeyboardInterrupt
        self.asked += sentences
        return [self.of(words) for words in sentences]

    def of(self, words):
        rng = np.random.default_rng(sum(map(ord, "".join(words))))
        made = np.zeros((len(words), 16))
        for number, word in enumerate(words):
            if word[1:].isdigit():
                made[number] = self._vectors[int(word[1:])] + self._noise * rng.normal(size=16)
        lengths = np.sqrt((made**2).sum(axis=1, keepdims=True))
        return (made / np.where(lengths, lengths, 1)).astype(np.float32)


def text(pairs, seed=0, longest=9):
    """Return pairs of translated words in another order, and their links."""
    rng = np.random.default_rng(seed)
    made, links = [], []
    for _ in range(pairs):
        words = rng.choice(WORDS, rng.integers(2, longest), replace=False)
        order = rng.permutation(len(words))
        made.append(([f"S{word}" for word in words], [f"T{words[place]}" for place in order]))
        links.append(Alignment((int(place), j) for j, place in enumerate(order)))
    return made, links


def errors_of(aligned, links):
    return sum(len(set(one) ^ set(other)) for one, other in zip(aligned, links, strict=True))


def alignments(aligner, pairs):
    links = aligner.align_bitext(pairs)
    return [links.alignment(k) for k in range(len(pairs))]


# words to text
@pytest.mark.parametrize(
    ("words", "joined"),
    [
        (["Das", "Haus", "."], "Das Haus ."),
        (["今日", "は", "良い"], "今日は良い"),
        (["ｱﾒﾘｶ", "の", "。"], "ｱﾒﾘｶの 。"),
        (["บ้าน", "หลัง"], "บ้านหลัง"),
        (["今日", "I", "は"], "今日 I は"),
        (["", "a", ""], " a "),
        ([], ""),
    ],
)
def test_words_are_joined_as_their_script_is_written(words, joined):
    sentence = JoinedWords.of(words)
    assert sentence.text == joined
    assert len(sentence.owners) == len(joined)
    for number, word in enumerate(words):
        places = np.flatnonzero(sentence.owners == number)
        assert "".join(sentence.text[place] for place in places) == word


def test_a_word_is_the_mean_of_its_pieces_by_their_characters():
    sentence = JoinedWords.of(["ab", "cd", "e"])  # "ab cd e"
    pieces = [(0, 1), (1, 5), (5, 5)]  # "a", "b cd", and one without characters
    states = np.array([[1, 0], [0, 1], [9, 9]], np.float32)
    half = 1 / sqrt(2)
    assert sentence.vectors(pieces, states) == pytest.approx(
        np.array([[half, half], [0, 1], [0, 0]])
    )


# shares
def plain_shares(cosines, spread):
    """Return the shares as the page on encoders defines them, one by one."""
    n, m = len(cosines), len(cosines[0])
    powers = [
        [0.0 if cosine is None else exp(7 * cosine / spread) for cosine in row] for row in cosines
    ]
    made = []
    for i in range(n):
        row = []
        for j in range(m):
            if cosines[i][j] is None:
                row.append(0)
                continue
            by_row = powers[i][j] / sum(powers[i])
            by_column = powers[i][j] / sum(powers[k][j] for k in range(n))
            row.append(round(sqrt(by_row * by_column) * 4095))
        made.append(row)
    return made


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 1000))
def test_shares_are_those_of_the_definition(n, m, seed):
    rng = np.random.default_rng(seed)
    cosines = rng.uniform(-1, 1, (n, m))
    cosines[rng.random(n) < 0.2] = np.nan
    cosines[:, rng.random(m) < 0.2] = np.nan
    known = [[None if np.isnan(cell) else cell for cell in row] for row in cosines.tolist()]
    shares = shares_of(cosines, 0.17)
    assert np.abs(shares.astype(int) - plain_shares(known, 0.17)).max() <= 1
    assert (shares_of(cosines.T, 0.17) == shares.T).all()
    rows, columns = ~np.isnan(cosines).all(axis=1), ~np.isnan(cosines).all(axis=0)
    alone = shares_of(cosines[rows][:, columns], 0.17)
    assert (shares[rows][:, columns] == alone).all()  # who has no vector takes from nobody


def test_one_word_on_each_side_has_all():
    assert shares_of(np.array([[-0.5]]), 0.17).tolist() == [[UNITS]]
    assert shares_of(np.zeros((0, 3)), 0.17).shape == (0, 3)


def test_words_without_a_vector_have_no_cosine():
    source = np.array([[1, 0], [0, 0]], np.float32)
    cosines = cosines_of(source, np.array([[0.6, 0.8]], np.float32))
    assert cosines[0, 0] == pytest.approx(0.6)
    assert np.isnan(cosines[1, 0])


def test_the_spread_is_rounded_and_needs_a_thousand_cells():
    rng = np.random.default_rng(0)
    cells = rng.normal(0.3, 0.1234, (40, 50))
    assert spread_of([cells]) == pytest.approx(0.125)
    assert spread_of([cells[:20], cells[20:]]) == pytest.approx(0.125)
    assert spread_of([cells[:1, :]]) == 0.17
    assert spread_of([]) == 0.17
    cells[0] = np.nan
    assert spread_of([cells]) == pytest.approx(0.125)
    assert spread_of([np.ones((40, 40))]) == 0.005  # never 0, by which it would divide


def test_a_word_is_matched_by_a_cell_that_is_best_both_ways():
    units = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.24]]) * UNITS
    assert matched_words(units.astype(np.uint16)) == 1  # the last is best, but not above .25


@given(st.integers(1, 1200), st.integers(3, 300))
def test_each_piece_is_taken_from_the_window_where_it_is_farthest_from_a_cut(pieces, size):
    windows = Windows.of(pieces, size)
    if pieces <= size:
        assert windows.starts == [0]
        return
    assert windows.starts[0] == 0
    assert windows.starts[-1] == pieces - size
    for piece in range(pieces):
        best = {}
        for number, start in enumerate(windows.starts):
            if start <= piece < start + size:
                cuts = [start] * (start > 0) + [start + size - 1] * (start + size < pieces)
                best[number] = min([abs(piece - cut) for cut in cuts], default=pieces)
        assert best[windows.window[piece]] == max(best.values())


# in training and aligning
def test_the_pseudo_count_of_a_word_pair_is_the_weighted_mean_over_its_places():
    pairs, _ = text(20)
    bitext = PairEncoder(Meaning()).encoded(Bitext.pack(pairs, written=True))
    index = Cooccurrence.of(bitext)
    prior = np.full(len(index.columns), 0.5, np.float32)
    add_shares(prior, index, bitext.shares, 3)
    places = {}
    for k in range(len(bitext)):
        cells = bitext.shares[bitext.starts[k] : bitext.starts[k + 1]].tolist()
        words = [(s, t) for s in bitext.source.sentence(k) for t in bitext.target.sentence(k)]
        for both, share in zip(words, cells, strict=True):
            places.setdefault(both, []).append(share / UNITS)
    for row, source in enumerate(bitext.source.words):
        for place in range(index.rows[row], index.rows[row + 1]):
            known = places[source, bitext.target.words[index.columns[place]]]
            assert prior[place] == pytest.approx(0.5 + 3 * sum(known) / len(known), abs=1e-6)


def test_who_knows_what_words_mean_makes_fewer_errors():
    plain = helped = 0
    for seed in range(4):
        pairs, links = text(10, seed)
        plain += errors_of(alignments(Aligner.train(pairs), pairs), links)
        helped += errors_of(alignments(Aligner.train(pairs, encoder=Meaning()), pairs), links)
    assert plain > 40
    assert helped < plain / 8


def test_an_encoder_reads_words_as_written():
    encoder = Meaning()
    Aligner.train(text(5)[0], encoder=encoder)
    assert all(word[0] in "ST" for words in encoder.asked for word in words)
    folded = Bitext.pack(text(5)[0])
    refuses(errors.AlignerError, "written=True", Aligner.train, folded, encoder=encoder)


@given(st.integers(0, 100))
def test_links_of_a_new_pair_do_not_depend_on_what_is_beside_it(seed):
    aligner = trained()
    pairs, _ = text(4, seed=seed)
    together = alignments(aligner, pairs)
    assert together == [alignments(aligner, [pair])[0] for pair in pairs]
    assert together[0] == aligner.align(*pairs[0])


_TRAINED = []


def trained():
    if not _TRAINED:
        _TRAINED.append(Aligner.train(text(12, seed=5)[0], encoder=FunctionEncoder(Meaning().of)))
    return _TRAINED[0]


@given(st.integers(0, 1000))
def test_pairs_with_words_of_their_own_are_the_same_pairs(seed):
    pairs, _ = text(5, seed=seed)
    bitext = Bitext.pack(pairs)
    apart = bitext.apart()
    for k in range(len(pairs)):
        assert apart.source.sentence(k) == bitext.source.sentence(k)
        assert apart.target.sentence(k) == bitext.target.sentence(k)
    numbers = [set(apart.source.ids[a:b].tolist()) for a, b in pairwise(apart.source.starts)]
    assert sum(map(len, numbers)) == len(set().union(*numbers))


def test_parts_and_pieces_take_their_shares_along():
    pairs = [(["a"] * 3, ["b"] * 2), (["c"] * 900, ["d"] * 450), (["e"], []), (["f"], ["g"])]
    bitext = Bitext.pack(pairs)
    shares = np.arange(bitext.starts[-1], dtype=np.uint64).astype(np.uint16)
    bitext = replace(bitext, shares=shares)
    part = bitext.part(1, 3)
    assert (part.shares == shares[bitext.starts[1] : bitext.starts[3]]).all()
    assert part.part(-1, 10).shares.size == 0
    pieces = Pieces.of(bitext)
    whole = shares[bitext.starts[1] : bitext.starts[2]].reshape(900, 450)
    for piece in range(len(pieces.bitext)):
        cut = pieces.bitext.part(piece, piece + 1)
        n, m = int(cut.source.lengths[0]), int(cut.target.lengths[0])
        if pieces.pairs[piece] == 1:
            i, j = pieces.shifts[piece]
            assert (cut.shares.reshape(n, m) == whole[i : i + n, j : j + m]).all()
    assert pieces.bitext.part(0, 1).shares.tolist() == [0, 1, 2, 3, 4, 5]


def test_long_lines_are_encoded_whole():
    rng = np.random.default_rng(1)
    words = rng.integers(0, WORDS, 500)
    encoder = Meaning()
    pairs = [([f"S{word}" for word in words], [f"T{word}" for word in words])]
    aligner = Aligner.train([*pairs, *text(5)[0]], encoder=encoder)
    assert max(map(len, encoder.asked)) == 500
    assert (499, 499) in set(aligner.align(*pairs[0]))


def test_learning_from_gold_uses_the_encoder():
    pairs, links = text(40)
    numbered = enumerate(zip(pairs, links, strict=True))
    gold = Corpus(SentencePair(str(k), *pair, {"gold": link}) for k, (pair, link) in numbered)
    aligner = Aligner.train(pairs, encoder=Meaning())
    refiner = Refiner.train(aligner, gold)
    assert refiner.report.pairs == 40
    new, truth = text(20, seed=9)
    assert errors_of(alignments(refiner.aligner, new), truth) < 20
    assert refiner.aligner.encoder is aligner.encoder
    assert refiner.probabilities(new[0]).shape == (len(new[0][0]), len(new[0][1]))


# what is kept
def test_what_was_encoded_before_is_not_encoded_again():
    pairs, _ = text(40)
    first, second = Meaning(), Meaning()
    one = Aligner.train(pairs, encoder=first)
    again = Aligner.train(pairs, encoder=second)
    assert len(first.asked) == 80
    assert second.asked == []
    assert (one.encoding.encoded, one.encoding.kept) == (80, 0)
    assert (again.encoding.encoded, again.encoding.kept) == (0, 80)
    assert one.encoding.matched == again.encoding.matched > 0
    assert alignments(one, pairs) == alignments(again, pairs)
    other = Meaning(digest="2")
    Aligner.train(pairs, encoder=other)
    assert len(other.asked) == 80  # another encoder, other shares


def test_nothing_of_a_function_is_kept(cache):
    calls = []

    def vectors(words):
        calls.append(words)
        return Meaning().of(words)

    pairs, _ = text(10)
    aligner = Aligner.train(pairs, encoder=vectors)
    assert len(calls) == 20
    alignments(aligner, text(10)[0])
    assert len(calls) == 20  # but it is asked once for a pair
    Aligner.train(pairs, encoder=vectors)
    assert len(calls) == 40
    assert not cache.exists()


def test_interrupting_loses_no_more_than_a_batch():
    pairs, _ = text(6 * BATCH)
    bitext = Bitext.pack(pairs, written=True)
    stopping = Meaning(stop_after=6 * BATCH)
    with pytest.raises(KeyboardInterrupt):
        PairEncoder(stopping, spread=0.17).encoded(bitext)
    encoder = Meaning()
    PairEncoder(encoder, spread=0.17).encoded(bitext)
    assert len(encoder.asked) <= 2 * len(pairs) - len(stopping.asked) + 2 * BATCH


def test_without_a_folder_to_keep_it_in_all_else_works(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    encoder = Meaning()
    Aligner.train(text(5)[0], encoder=encoder)
    assert len(encoder.asked) == 10
    assert "cannot be kept" in caplog.text


@pytest.mark.parametrize("damage", [b"", b"no database, but long enough to look like one" * 99])
def test_a_damaged_file_of_shares_does_no_harm(cache, damage, caplog):
    pairs, _ = text(5)
    links = alignments(Aligner.train(pairs, encoder=Meaning()), pairs)
    cache.write_bytes(damage)
    again = Meaning()
    assert alignments(Aligner.train(pairs, encoder=again), pairs) == links
    assert len(again.asked) == 10
    assert ("is damaged" in caplog.text) == bool(damage)
    third = Meaning()
    Aligner.train(pairs, encoder=third)
    assert third.asked == []


def test_damaged_shares_are_computed_again(cache):
    pairs, _ = text(5)
    links = alignments(Aligner.train(pairs, encoder=Meaning()), pairs)
    with sqlite3.connect(cache) as connection:
        connection.execute("UPDATE shares SET data = x'00'")
    connection.close()
    again = Meaning()
    assert alignments(Aligner.train(pairs, encoder=again), pairs) == links
    assert len(again.asked) == 10


def test_the_oldest_shares_go_first(monkeypatch):
    monkeypatch.setattr(kept, "MOST_BYTES", 200_000)
    rng = np.random.default_rng(0)
    keys = [kept.key_of(number) for number in range(200)]
    for key in keys:
        database = kept.KeptShares()
        database.keep({key: rng.integers(0, 65536, 1000).astype(np.uint16)})
        database.trim()
        database.close()
    known = kept.KeptShares().shares(keys)
    assert 20 < len(known) < 110
    assert keys[-1] in known
    assert keys[0] not in known


def test_keys_tell_words_from_words():
    lists = [["a", "b"], ["ab"], ["a"], ["a", "b", ""], ["b", "a"], ["1:a"], []]
    assert len({kept.key_of(words) for words in lists}) == len(lists)
    assert kept.key_of(["a"], ["b"]) != kept.key_of(["a", "b"], [])


# models
def test_a_model_names_its_encoder_and_needs_it_again(tmp_path, caplog):
    path = tmp_path / "model"
    pairs, _ = text(12)
    aligner = Aligner.train(pairs, encoder=Meaning())
    aligner.save(path)
    refuses(errors.OptionError, "the encoder meaning", Aligner.load, path)
    again = Aligner.load(path, encoder=Meaning())
    used = again.parameters.encoder
    assert used == aligner.parameters.encoder
    assert (used.name, used.layer, used.layers, used.digest) == ("meaning", 3, 4, "1")
    new, truth = text(20, seed=3)
    assert alignments(again, new) == alignments(aligner, new)
    assert caplog.text == ""
    without = alignments(Aligner.load(path, encoder=False), new)
    assert errors_of(alignments(again, new), truth) < errors_of(without, truth)
    Aligner.load(path, encoder=Meaning(digest="other"))
    assert "encoder meaning, layer 3" in caplog.text


def test_functions_are_told_apart_by_their_names(tmp_path, caplog):
    path = tmp_path / "model"
    Aligner.train(text(12)[0], encoder=FunctionEncoder(Meaning().of, "first")).save(path)
    Aligner.load(path, encoder=FunctionEncoder(Meaning().of, "first"))
    assert caplog.text == ""
    Aligner.load(path, encoder=FunctionEncoder(Meaning().of, "second"))
    assert "encoder first, layer 0, and not" in caplog.text


def test_an_old_model_can_be_given_an_encoder(tmp_path):
    path = tmp_path / "model"
    Aligner.train(text(12)[0]).save(path)
    new, truth = text(20, seed=3)
    plain = errors_of(alignments(Aligner.load(path), new), truth)
    helped = errors_of(alignments(Aligner.load(path, encoder=Meaning()), new), truth)
    assert helped < 0.7 * plain


@pytest.mark.parametrize(
    ("name", "value"),
    [("layer", 5), ("layer", 0), ("layers", "4"), ("spread", 0.0), ("spread", 1), ("digest", None)],
)
def test_a_header_with_a_false_encoder_is_refused(name, value):
    from alignkit.align.model_header import _encoder

    right = {"name": "x", "layer": 3, "layers": 4, "digest": "1", "spread": 0.17}
    assert _encoder(right).spread == 0.17
    with pytest.raises(errors.AlignerError, match="encoder"):
        _encoder(right | {name: value})
    with pytest.raises(errors.AlignerError, match="expected name, layer"):
        _encoder({"name": "x"})


# functions, and what they return
def test_a_function_has_a_name_and_must_return_a_vector_for_each_word():
    def twice(words):
        return np.ones((2 * len(words), 3))

    assert encoder_of(twice).name == "twice"
    assert FunctionEncoder(twice, "laser").name == "laser"
    assert encoder_of(Meaning()).name == "meaning"
    pairs, _ = text(3)
    refuses(errors.AlignmentError, "one row per word", Aligner.train, pairs, encoder=twice)
    refuses(errors.ArgumentError, "an encoder is", Aligner.train, pairs, encoder=7)
    refuses(
        errors.EncoderError,
        "neither a folder nor",
        Aligner.train,
        pairs,
        encoder="no/name",
    )
    refuses(
        errors.OptionError,
        "the same",
        Aligner.train,
        pairs,
        encoder=Meaning(),
        vectors=Meaning().of,
    )


def test_an_encoder_that_finds_few_counterparts_is_warned_of(caplog):
    pairs, _ = text(40, longest=30)

    def of_few_words(words):
        known = [word[1:].isdigit() and int(word[1:]) < WORDS / 2 for word in words]
        return Meaning().of(words) * np.array(known)[:, np.newaxis]

    aligner = Aligner.train(pairs, encoder=of_few_words)
    assert aligner.encoding.matched_share < 0.65
    assert "of_few_words finds" in caplog.text
    caplog.clear()
    Aligner.train(pairs, encoder=Meaning())
    assert caplog.text == ""


def test_words_without_a_vector_are_counted():
    pairs = [(["S1", "?", "S2"], ["T2", "T1"]), (["S3"], ["!"]), (["S4"], [])]
    aligner = Aligner.train(pairs, encoder=Meaning())
    counts = aligner.encoding
    assert (counts.words, counts.unknown) == ((4, 3), (1, 1))
    assert "2 words have no vector" in str(counts)
    assert counts.to_json()["source_words_without_vector"] == 1


def test_progress_never_goes_back():
    encoder = Meaning()
    seen = []
    encoder.progress = lambda done, total: seen.append((done, total))
    pairs, _ = text(250)  # the first 200 are encoded before the others, for the spread
    Aligner.train(pairs, encoder=encoder)
    assert {total for _, total in seen} == {500}
    counts = [done for done, _ in seen]
    assert counts == sorted(set(counts))
    assert counts[-1] == 500


def test_settings_of_vectors_hold_for_encoders():
    pairs, links = text(30)
    none = Aligner.train(pairs, encoder=Meaning(), settings=Settings(vector_weight=0))
    plain = Aligner.train(pairs)
    differing = errors_of(alignments(none, pairs), alignments(plain, pairs))
    assert differing <= errors_of(alignments(plain, pairs), links) / 4


# the command
@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--encoder", "no/model"], "no/model is neither"),
        (["--encoder", "nofolder/a/b"], "folder with an encoder"),
        (["--encoder", "{folder}"], "has no config.json"),
        (["--encoder", "x", "--vectors", "y"], "do the same"),
        (["--encoder-layer", "3"], "--encoder-layer needs --encoder"),
        (["--download"], "--download needs --encoder"),
        (["--no-encoder"], "--no-encoder needs --load"),
        (["--encoder", "x", "--target-vectors", "y"], "--target-vectors needs --vectors"),
        (["--vector-weight", "3"], "--encoder or --vectors"),
    ],
)
def test_the_command_refuses_what_makes_no_sense(words, problem, capsys, tmp_path):
    (tmp_path / "s").write_text("a b\n")
    words = [word.format(folder=tmp_path) for word in words]
    run(capsys, "align", tmp_path / "s", tmp_path / "s2", *words).failed(problem)


def test_the_command_asks_for_the_encoder_of_a_model(capsys, tmp_path):
    path = tmp_path / "model"
    Aligner.train(text(12)[0], encoder=Meaning()).save(path)
    (tmp_path / "s").write_text("S1 S2\n")
    (tmp_path / "t").write_text("T2 T1\n")
    words = "align", tmp_path / "s", tmp_path / "t", "--load", path
    run(capsys, *words).failed("(--encoder meaning;", "(--no-encoder;")
    assert run(capsys, *words, "--no-encoder").code == 0
    Aligner.train(text(12)[0], encoder=FunctionEncoder(Meaning().of, "mine")).save(path)
    run(capsys, *words).failed("only Python can give", "(--no-encoder;")


def test_a_project_is_not_made_where_its_model_lacks_the_encoder(capsys, tmp_path):
    pytest.importorskip("starlette")
    path = tmp_path / "model"
    Aligner.train(text(12)[0], encoder=Meaning()).save(path)
    project = tmp_path / "project"
    words = "annotate", "samples/paraphrases.jsonl", "--project", project, "--no-browser"
    run(capsys, *words, "--model", path).failed("the encoder meaning")
    assert not project.exists()


def test_a_stop_says_how_many_sentences_are_kept():
    progress = encoders.EncodingProgress()
    progress(30, 100)
    progress(60, 100)
    assert [told() for told in signals._cleanups] == [
        "60 sentences are encoded and kept: the next run goes on from there"
    ]
    progress(100, 100)
    assert not signals._cleanups
