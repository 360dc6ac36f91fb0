"""What an encoder says of texts: means of vectors, matched words, and systems that use them."""

import json
from dataclasses import replace

import numpy as np
import pytest
from command import made, run
from hypothesis import given
from hypothesis import strategies as st
from tiny_encoder import tiny_encoder

from alignkit import Annotation, Corpus, SentencePair, write_corpus
from alignkit.align.encoder import FunctionEncoder
from alignkit.errors import OptionError
from alignkit.identification import (
    Identifier,
    TextPair,
    TextRecord,
    candidate_documents,
    candidate_groups,
    candidate_sentences,
    cross_validate,
    retrieve,
)
from alignkit.identification.encoded_texts import TextEncoder, compared_words
from alignkit.model.labels import get_view

pytestmark = pytest.mark.usefixtures("own_cache")  # what encoders say is kept there
BINARY = get_view("binary", "full")
MEANINGS = {"car": 0, "auto": 0, "red": 1, "scarlet": 1, "old": 2, "ancient": 2, "dog": 3}


def meanings(words):
    """Give words of the same meaning the same vector; others have none."""
    vectors = np.zeros((len(words), 4))
    for number, word in enumerate(words):
        if word.lower() in MEANINGS:
            vectors[number, MEANINGS[word.lower()]] = 1
    return vectors


class Meanings:
    """The same as an encoder that can be kept."""

    name = "meanings"
    layer = 1
    layers = 2
    progress = None

    def __init__(self, digest="1"):
        self.digest = digest
        self.asked = []

    def vectors(self, sentences):
        self.asked += sentences
        return FunctionEncoder(meanings).vectors(sentences)


def test_two_numbers_by_hand():
    encoder = TextEncoder(meanings)
    pairs = [
        ("A red car.", "The scarlet auto!"),  # each has two words without vectors
        ("red car", "red dog"),
        ("red red car", "Red car"),
        ("", "red"),
        ("unknown", "red"),
    ]
    expected = [
        (1, 4 / 8),
        (1 / 2, 2 / 4),
        (3 / np.sqrt(5 * 2), 5 / 5),
        (0, 0),
        (0, 0),
    ]
    assert encoder.features(pairs) == pytest.approx(np.array(expected))
    turned = [pair[::-1] for pair in pairs]
    assert np.array_equal(encoder.features(turned), encoder.features(pairs))


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 1000))
def test_matched_words_are_those_of_a_plain_reference(n, m, seed):
    rng = np.random.default_rng(seed)
    drawn = [rng.normal(size=(k, 3)) for k in (n, m)]
    first, second = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in drawn)
    cosine, matched = compared_words(first, second)
    means = first.mean(0), second.mean(0)
    assert cosine == pytest.approx(means[0] @ means[1] / np.prod(np.linalg.norm(means, axis=1)))
    cells = first @ second.T
    mutual = [
        (i, j) for i in range(n) for j in range(m) if cells[i, j] == max(0, *cells[i], *cells[:, j])
    ]
    assert matched == pytest.approx(2 * len(mutual) / (n + m))


def test_what_is_kept_is_not_encoded_again():
    pairs = [("red car", "auto"), ("auto", "red car"), ("dog", "old dog"), ("", "dog")]
    first, second, other = Meanings(), Meanings(), Meanings("2")
    encoders = [TextEncoder(encoder) for encoder in (first, second, other)]
    numbers, again, apart = ([e.features(pairs), e.means(["red car", ""])] for e in encoders)
    for before, after in zip([*numbers, *numbers], [*again, *apart], strict=True):
        assert np.array_equal(before, after)
    assert len(first.asked) == 6  # two texts of two pairs, one of a pair, one alone
    assert (encoders[0].counts.encoded, encoders[0].counts.kept) == (8, 0)
    assert not second.asked
    assert (encoders[1].counts.encoded, encoders[1].counts.kept) == (0, 8)
    assert len(other.asked) == 6


def test_a_function_is_asked_once_and_not_kept():
    calls = []

    def noted(words):
        calls.append(words)
        return meanings(words)

    encoder = TextEncoder(noted)
    for _ in range(2):
        encoder.features([("red car", "old dog")])
    assert len(calls) == 2
    TextEncoder(noted).features([("red car", "old dog")])
    assert len(calls) == 4


def pairs_of(n=90, seed=0, first=0):
    """Make pairs without a common word: those with label 1 have common meanings."""
    rng = np.random.default_rng(seed)
    for k in range(first, first + n):
        label = k % 2
        target = ["auto", "scarlet"] if label else ["dog", "ancient"]
        target.append(f"word{rng.integers(50)}")
        said = {"gold": Annotation(None, judgment=str(label))}
        yield SentencePair(f"p{k}", ["Red", "car", f"name{k}"], target, said)


def test_a_system_learns_from_the_two_numbers_and_needs_them_again(tmp_path, caplog):
    train, test = Corpus(pairs_of()), Corpus(pairs_of(20, 1, 500))
    system = Identifier.train(train, BINARY, features=("encoder",), encoder=Meanings())
    gold = {pair.id: pair.annotations["gold"].judgment for pair in test}
    assert system.predict(test) == gold
    assert {name for name, _ in system.weights} == {"cosine of mean vectors", "matched words"}
    path = tmp_path / "model.json"
    system.save(path)
    assert json.loads(path.read_text(encoding="utf-8"))["encoder"]["name"] == "meanings"
    with pytest.raises(OptionError, match="encoder meanings, and needs"):
        Identifier.load(path)
    loaded = Identifier.load(path, encoder=Meanings())
    assert loaded.probabilities(test) == system.probabilities(test)
    assert not caplog.messages
    Identifier.load(path, encoder=Meanings("2"))
    assert "can be wrong" in caplog.text
    turned = Corpus(replace(p, source=p.target, target=p.source) for p in test)
    assert loaded.probabilities(turned) == system.probabilities(test)


def test_a_system_that_does_not_use_the_encoder_does_not_need_it(tmp_path):
    system = Identifier.train(Corpus(pairs_of()), BINARY, features=("overlap",), encoder=meanings)
    path = tmp_path / "model.json"
    system.save(path)
    assert "|encoder:none|" in Identifier.load(path).signature
    with pytest.raises(OptionError, match="trained without an encoder"):
        Identifier.load(path, encoder=meanings)
    with pytest.raises(OptionError, match="'encoder' needs an encoder"):
        Identifier.train(Corpus(pairs_of()), BINARY, features=("encoder",))


def test_auto_tries_the_encoder_if_there_is_one():
    corpus = Corpus(pairs_of(120))
    with_encoder = Identifier.train(corpus, BINARY, features=("auto",), encoder=meanings)
    rng = np.random.default_rng(0)
    target = ["auto", "scarlet", "dog", "ancient"]
    hidden = [replace(p, target=[str(rng.choice(target))]) for p in corpus]
    without = Identifier.train(Corpus(hidden), BINARY, features=("auto",), encoder=meanings)
    assert without.model.features == ("cosine",)
    assert set(with_encoder.model.features) <= {"cosine", "overlap", "align", "encoder"}
    scores = cross_validate(corpus, BINARY, [("cosine",), ("encoder",)], count=3, encoder=meanings)
    rows = {row["system"]: row["accuracy"] for row in scores.to_json()["systems"]}
    assert rows["encoder"] == 1


TEXTS = {"a": "Red car here", "b": "a scarlet auto", "c": "an old dog"}


def test_candidates_are_compared_by_meaning():
    documents = [TextRecord(id, {"text": text, "group": "g"}) for id, text in TEXTS.items()]
    result = candidate_documents(documents, encoder=meanings, min_similarity=0.5)
    (pair,) = result.pairs
    assert pair.id == "a~b"
    assert float(pair.attributes["similarity"]) == pytest.approx(1)
    assert float(pair.attributes["matched"]) == pytest.approx(4 / 6, abs=1e-4)
    assert "|encoder:meanings|" in result.signature
    of_group = candidate_groups(documents, encoder=meanings, min_group=3, clusters=2)
    (pair,) = of_group.pairs
    assert pair.id == "a~b"
    assert float(pair.attributes["similarity"]) == pytest.approx(1)
    lines = TextPair("d", "Red car here\nold", "an ancient dog\na scarlet auto", {})
    options = {"min_similarity": 0.6, "max_similarity": 1.0, "lines": (1, 1), "per_window": 1}
    of_lines = candidate_sentences([lines], encoder=meanings, **options)
    assert [each.target for each in of_lines.pairs] == ["a scarlet auto", "an ancient dog"]
    assert of_lines.pairs[1].attributes["matched"] == "0.5000"  # old, and ancient
    with pytest.raises(OptionError, match="do the same"):
        candidate_documents(documents, encoder=meanings, similarity=meanings)


def test_retrieval_by_meaning():
    said = {"gold": Annotation(None, judgment="1")}
    pairs = [("red car", "scarlet auto"), ("old dog", "ancient dog"), ("old car", "ancient auto")]
    corpus = Corpus(
        SentencePair(str(k), source.split(), target.split(), said)
        for k, (source, target) in enumerate(pairs)
    )
    result = retrieve(corpus, BINARY, encoder=meanings, at=(1,))
    assert result.ranks["1"].tolist() == [1] * 6


def test_options_that_do_not_fit_are_refused(tmp_path, capsys):
    train = tmp_path / "train.jsonl"
    write_corpus(Corpus(pairs_of()), train)
    base = ["identify", train, "--scheme", "binary"]
    run(capsys, *base, "--features", "encoder").failed("needs --encoder NAME")
    run(capsys, *base, "--encoder", tmp_path).failed("add it to --features")
    run(capsys, *base, "--encoder-layer", 2).failed("--encoder-layer needs --encoder")
    terms = tmp_path / "terms.tsv"
    terms.write_text("group\ttext\ng\ta\n", encoding="utf-8")
    words = "candidates", "groups", terms, "--encoder", tmp_path, "--vectors", terms
    run(capsys, *words).failed("do the same")
    run(capsys, "candidates", "documents", terms, "--download").failed("--download needs --encoder")


@pytest.mark.slow
def test_the_commands_with_a_transformer(tmp_path, capsys):
    folder = tiny_encoder(tmp_path / "tiny")
    train, test, model = (tmp_path / name for name in ("train.jsonl", "test.jsonl", "m.json"))
    write_corpus(Corpus(pairs_of()), train)
    write_corpus(Corpus(pairs_of(20, 1, 500)), test)
    base = ["identify", train, "--scheme", "binary", "--folds", 3, "--compare"]
    words = [*base, "--features", "overlap", "encoder", "--encoder", folder, "--json"]
    ran = made(capsys, *words, "--save", model)
    assert [row["system"] for row in ran.json["systems"]][-3:] == [
        "encoder",
        "overlap+encoder",
        "majority",
    ]
    assert "180 texts encoded" in ran.err
    again = made(capsys, *words)
    assert again.json["systems"] == ran.json["systems"]
    assert "0 texts encoded in 0 s, 180 known" in again.err
    run(capsys, "identify", test, "--load", model).failed("needs it")
    made(capsys, "identify", test, "--load", model, "--encoder", folder)
    out = tmp_path / "pairs.jsonl"
    documents = tmp_path / "documents.jsonl"
    lines = [json.dumps({"id": id, "text": text}) for id, text in TEXTS.items()]
    documents.write_text("\n".join(lines), encoding="utf-8")
    ran = made(
        capsys, "candidates", "documents", documents, "--encoder", folder, "-o", out, "--json"
    )
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert all(0 <= float(row["matched"]) <= 1 for row in rows)
    assert "layer 1 of 2" in ran.json["signature"]
    sample = "samples/paraphrases.jsonl"
    words = "--scheme", "paraphrase", "--annotator", "anna"
    made(capsys, "candidates", "retrieve", sample, *words, "--encoder", folder)
