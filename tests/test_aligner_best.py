"""The mean of models of words and of their first letters: `best`."""

import aligner_reference as plain
import numpy as np
import pytest
from command import write
from hypothesis import given
from hypothesis import strategies as st

from alignkit import Aligner, Annotation, Bitext, Corpus, SentencePair
from alignkit.align.priors import cut_dictionary
from alignkit.align.settings import PREFIXES
from alignkit.align.supervised import Refiner
from alignkit.cli.main import main

NEW = (["1BSabc", "neverseen", "2csa"], ["1btab", "2ctabcdef", "Neverseens"])
WORDS = st.lists(st.text("abé", max_size=7), max_size=4)
TEXT = [
    tuple([f"{word}{'abcdef'[: 1 + (k + j) % 6]}" for j, word in enumerate(side)] for side in two)
    for k, two in enumerate(plain.random_text(31, 90))
]


@pytest.fixture(scope="module")
def best():
    return Aligner.train(TEXT, best=True)


@pytest.fixture(scope="module")
def alone():
    return [
        (Aligner.train([tuple([w[:size] for w in side] for side in two) for two in TEXT]), size)
        for size in (100, *PREFIXES)
    ]


@pytest.mark.parametrize("pair", [*TEXT[:5], NEW], ids=range(6))
def test_posteriors_are_the_mean_of_three_models(best, alone, pair):
    each = [
        aligner.posteriors(*([word[:size] for word in side] for side in pair))
        for aligner, size in alone
    ]
    found = best.posteriors(*pair)
    for side in (0, 1):
        assert np.allclose(found[side], np.mean([one[side] for one in each], axis=0), atol=1e-6)
        assert not np.array_equal(found[side], each[0][side])


def test_what_has_no_mean_is_that_of_whole_words(best, alone):
    words = alone[0][0]
    assert (best.history, list(best.lexicon())) == (words.history, list(words.lexicon()))
    assert np.array_equal(best.scores(TEXT), words.scores(TEXT))


def test_what_words_alone_tell_is_the_mean_too(best, alone):
    each = [
        aligner.decoder(
            Bitext.pack([tuple([word[:size] for word in side] for side in TEXT[2])])
        ).lexical(0, 1)
        for aligner, size in alone
    ]
    found = best.decoder(Bitext.pack(TEXT[2:3])).lexical(0, 1)
    assert np.allclose(found, np.mean(each, axis=0), atol=1e-6)


def test_viterbi_takes_the_most_probable_position_by_the_mean(best):
    for pair in TEXT[:9]:
        forward, reverse = best.posteriors(*pair)
        for method, table in (("forward", forward), ("reverse", reverse.T)):
            links = {
                (int(column.argmax()), j)
                for j, column in enumerate(table.T)
                if column.max(initial=0) >= 1 - column.sum()
            }
            wanted = links if method == "forward" else {link[::-1] for link in links}
            assert best.align(*pair, symmetrize=method).sure == wanted


@given(st.lists(st.tuples(WORDS, WORDS), max_size=5), st.integers(1, 5))
def test_a_bitext_that_is_cut_is_that_of_words_that_are_cut(pairs, letters):
    cut = Bitext.pack(pairs).cut(letters)
    for k, (source, target) in enumerate(pairs):
        assert cut.source.sentence(k) == [word.casefold()[:letters] for word in source]
        assert cut.target.sentence(k) == [word.casefold()[:letters] for word in target]
    assert (np.diff(cut.source.frequencies) <= 0).all()


def test_entries_of_a_dictionary_are_cut_and_the_greatest_is_taken():
    entries = {("Haus", "house"): 1.0, ("hausen", "houses"): 2.0, ("hau", "how"): 0.5}
    assert cut_dictionary(entries, 4, casefold=True) == {("haus", "hous"): 2.0, ("hau", "how"): 0.5}
    assert ("Haus", "hous") in cut_dictionary(entries, 4, casefold=False)


def test_a_dictionary_tells_all_models():
    told = Aligner.train(TEXT, best=True, dictionary={(TEXT[0][0][0], TEXT[0][1][-1]): 50.0})
    for part in (told.parameters, *told.parameters.prefixes.values()):
        assert part.forward.max() > 50


def test_what_is_learned_from_gold_looks_at_the_mean(best):
    gold = [
        SentencePair(str(k), *two, {"gold": Annotation(best.align(*two))})
        for k, two in enumerate(TEXT[:12])
    ]
    refiner = Refiner.train(best, Corpus(gold), "gold", prior="none")
    assert refiner.aligner.parameters.prefixes.keys() == set(PREFIXES)
    assert refiner.probabilities(gold[0]).shape == tuple(map(len, TEXT[0]))


@pytest.fixture
def texts(tmp_path):
    texts = ("".join(f"{' '.join(two[side])}\n" for two in TEXT) for side in (0, 1))
    return [write(tmp_path, name, text) for name, text in zip("ab", texts, strict=True)]


def test_the_command_aligns_and_saves_all_models(capsys, tmp_path, texts, best):
    model, links = str(tmp_path / "m"), str(tmp_path / "links")
    assert main(["align", *texts, "--best", "--save", model, "-o", links]) == 0
    told = capsys.readouterr().err
    assert all(f"first {n} letters, hmm, 4 rounds" in told for n in (4, 5))
    found = (tmp_path / "links").read_text("utf-8").splitlines()
    wanted = best.align_bitext(TEXT).arrays
    for k, line in enumerate(found):
        assert line.split() == [f"{i}-{j}" for i, j in sorted(wanted.alignment(k).sure)]
    assert main(["align", *texts, "--load", model, "-o", f"{links}2"]) == 0
    assert (tmp_path / "links2").read_text("utf-8").splitlines() == found
    assert main(["align", *texts, "--best", "--load", model]) == 2
    assert "leave out --best" in capsys.readouterr().err
