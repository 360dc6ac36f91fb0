"""Texts whose languages are exchanged are recognized by the words that an aligner knows."""

import json
import random
from collections import Counter
from itertools import islice

import pytest
from command import FRENCH, feed, made, run
from hypothesis import given
from hypothesis import strategies as st

from alignkit import Aligner, Bitext, read_corpus
from alignkit.align import KnownWords
from alignkit.align.known_words import Vocabularies
from alignkit.cluster.aligning import align

FR, EN = FRENCH / "fr.txt", FRENCH / "en.txt"
PARAPHRASES = FRENCH.parent / "paraphrases.jsonl"


def words_of(path):
    return [line.casefold().split() for line in path.read_text("utf-8").splitlines()]


def vocabularies(pairs):
    """Return the vocabularies of an aligner that is trained on these pairs."""
    sides = [Counter(word for pair in pairs for word in pair[side]) for side in (0, 1)]
    return Vocabularies(*([word for word, _ in counts.most_common()] for counts in sides))


def exchanged(pairs):
    return [(target, source) for source, target in pairs]


def is_exchanged(model, pairs):
    return model.count(Bitext.pack(pairs)).exchanged


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("known") / "fr-en.model"
    pairs = list(zip(words_of(FR), words_of(EN), strict=True))
    Aligner.train(pairs, model="ibm1", threads=1).save(path)
    return path


WORDS = st.lists(st.sampled_from(["a", "b", "c", "1", ".", "é"]), max_size=4)
VOCABULARY = st.lists(st.sampled_from(["a", "b", "c", "1", ".", "é"]), unique=True)


@given(st.lists(st.tuples(WORDS, WORDS), max_size=5), VOCABULARY, VOCABULARY)
def test_known_words_are_counted_as_by_a_plain_reference(pairs, source, target):
    known = Vocabularies(source, target).count(Bitext.pack(pairs))
    numbers = Counter()
    for first, second in pairs:
        sides = [[word for word in side if word.isalpha()] for side in (first, second)]
        straight = sum(x in source for x in sides[0]) + sum(x in target for x in sides[1])
        turned = sum(x in target for x in sides[0]) + sum(x in source for x in sides[1])
        numbers += Counter(
            source_words=len(sides[0]),
            target_words=len(sides[1]),
            source_known=sum(x in source for x in sides[0]),
            target_known=sum(x in target for x in sides[1]),
            source_exchanged=sum(x in target for x in sides[0]),
            target_exchanged=sum(x in source for x in sides[1]),
            pairs=1,
            pairs_fit=straight > turned,
            pairs_exchanged=turned > straight,
        )
    assert known == KnownWords(**numbers, different=False)  # the vocabularies are too small
    assert (known.exchanged, known.caution) == (False, "")


@given(st.lists(st.tuples(WORDS, WORDS), max_size=6), st.integers(0, 6))
def test_counts_of_parts_add_up(pairs, cut):
    vocabulary = Vocabularies(["a", "b"], ["c", "é"])
    whole, first, second = (
        vocabulary.count(Bitext.pack(part)) for part in (pairs, pairs[:cut], pairs[cut:])
    )
    assert first + second == whole


def test_the_rule():
    """All conditions hold, or nothing is said; each is broken once."""
    counts = {
        "source_words": 100,
        "source_known": 10,
        "source_exchanged": 90,
        "target_words": 100,
        "target_known": 20,
        "target_exchanged": 80,
        "pairs": 12,
        "pairs_fit": 1,
        "pairs_exchanged": 9,
    }
    known = KnownWords(**counts)
    assert known.exchanged
    assert known.caution == (
        "the texts fit the other direction better: 10% of the source words and 20% of the target "
        "words are known (12 pairs), but 90% and 80% if source and target are exchanged"
    )
    for change in (
        {"different": False},
        {"source_exchanged": 19},
        {"target_exchanged": 29},
        {"pairs_fit": 2},
        {"pairs_fit": 0, "pairs_exchanged": 4},
        {"source_words": 0, "source_known": 0, "source_exchanged": 0},
    ):
        assert not KnownWords(**counts | change).exchanged, change


def test_align_warns_of_exchanged_languages(capsys, model, tmp_path):
    out = tmp_path / "out"
    words = ("--load", model, "-o", out, "--json", "--quiet")
    ran = made(capsys, "align", EN, FR, *words)
    assert ran.err.startswith(f"alignkit: {model}: warning: the texts fit the other direction")
    assert "100% and 100% if source" in ran.err
    known = ran.json["known_words"]
    assert (known["pairs"], known["pairs_exchanged"], known["exchanged"]) == (52, 52, True)
    ran = made(capsys, "align", FR, EN, *words)
    assert ran.err == ""
    assert ran.json["known_words"]["exchanged"] is False
    assert "known_words" not in made(capsys, "align", FR, EN, "--json", "-o", out).json


def test_lines_that_come_one_by_one_are_judged_together(capsys, monkeypatch, model):
    lines = [
        f"{b} ||| {a}" for a, b in zip(*map(str.splitlines, map(_text, (FR, EN))), strict=True)
    ]
    feed(monkeypatch, "".join(f"{line}\n" for line in lines))
    ran = made(capsys, "align", "-", "--load", model, "--quiet")
    assert ran.out.count("\n") == len(lines)
    assert ran.err.count("fit the other direction") == 1


def _text(path):
    return path.read_text("utf-8")


def test_parts_are_judged_together(model, tmp_path):
    for k, (first, last) in enumerate([(0, 0), (0, 20), (20, 52)]):
        for side, path in (("a", EN), ("b", FR)):
            lines = _text(path).splitlines(True)[first:last]
            (tmp_path / f"in{k}.{side}").write_text("".join(lines), "utf-8")
    done = align(
        None, f"{tmp_path}/in*.a", f"{tmp_path}/in*.b", f"{tmp_path}/out*", model=str(model)
    )
    pairs = list(zip(words_of(EN), words_of(FR), strict=True))
    assert done.known_words == Aligner.load(model).known_words(pairs)
    assert done.known_words.exchanged


def test_learning_from_a_gold_corpus_warns_too(capsys, model, tmp_path):
    corpus = tmp_path / "gold.jsonl"
    texts = ("--source", FR, "--target", EN)
    made(capsys, "convert", FRENCH / "gold.align", corpus, *texts, "--name", "gold")
    turned = tmp_path / "turned.jsonl"
    made(capsys, "convert", corpus, turned, "--swap")
    assert "fit the other" in run(capsys, "learn", turned, "--load", model, "--quiet").err
    assert "fit the other" not in run(capsys, "learn", corpus, "--load", model, "--quiet").err


def test_paraphrases_are_never_called_exchanged():
    pairs = [pair.words for pair in read_corpus(PARAPHRASES)]
    for size in (2, 5, 10, 20, 40, len(pairs)):
        model = vocabularies(pairs[:size])
        assert not is_exchanged(model, exchanged(pairs[:size]))
        assert not is_exchanged(model, exchanged(pairs))


def lines(path, count=None):
    with open(path, encoding="utf-8") as stream:
        return [line.casefold().split() for line in islice(stream, count)]


def bilingual(data):
    """Return corpora of two languages, by name; the same letters begin those of one pair."""
    hansards = data / "hansards"
    corpora = {
        "fr-en hansards": zip(
            lines(hansards / "train.fr", 6000), lines(hansards / "train.en", 6000), strict=True
        ),
        "fr-en sample": zip(words_of(FR), words_of(EN), strict=True),
        "grc-en": zip(
            lines(data / "grc-eng/grc.txt"), lines(data / "grc-eng/eng.txt"), strict=True
        ),
    }
    for folder in sorted((data / "xl-wa").iterdir()):
        rows = (line.casefold().split("\t") for line in _text(folder / "text.tsv").splitlines())
        corpora[f"en-{folder.name} xlwa"] = [(row[0].split(), row[1].split()) for row in rows]
    for name in ("czenali", "kftt", "swedish"):
        rows = map(json.loads, _text(data / f"align6/{name}.text.jsonl").splitlines())
        corpora[name] = [(row["src_words"], row["tgt_words"]) for row in rows]
    pud = data / "reports" / "pud-en-ru"
    read = {"source": str(pud / "en.conllu"), "target": str(pud / "target.conllu")}
    corpora["en-ru pud"] = [pair.words for pair in read_corpus(pud / "alignment.json", **read)]
    return {name: _casefolded(pairs) for name, pairs in corpora.items()}


def monolingual(data):
    bible = data / "bible"
    corpora = {
        "bible": zip(lines(bible / "text.f", 6000), lines(bible / "text.e", 6000), strict=True)
    }
    for name, path in {
        "mtref": "multimwa/mtref-train.tsv",
        "wiki": "multimwa/wiki-dev.tsv",
        "edinburgh": "edinburgh/gold.train.sure.json",
        "turku": "turku/sv-test.json",
        "rte": "rte2/RTE2_dev_A.align.txt",
    }.items():
        formats = {"multimwa": "multimwa", "edinburgh": "jacana", "turku": "turku", "rte2": "rte"}
        format = formats[path.partition("/")[0]]
        corpus = read_corpus(data / path, format=format)
        corpora[name] = [pair.words for pair in corpus]
    return {name: _casefolded(pairs) for name, pairs in corpora.items()}


def _casefolded(pairs):
    return [tuple([word.casefold() for word in side] for side in pair) for pair in pairs]


@pytest.mark.slow
@pytest.mark.real_data
def test_exchanged_texts_are_recognized_and_others_are_not(data):
    """Models of 50 to 3,000 pairs; 5 to 100 other pairs of the same or of another corpus."""
    rng = random.Random(1)
    corpora = bilingual(data)
    tried = missed = 0
    for name, pairs in corpora.items():
        half = len(pairs) // 2
        others = [corpora[n][-half:] for n in corpora if n[:5] == name[:5] and n != name]
        for size in (50, 200, 3000):
            model = vocabularies(pairs[: min(size, half)])
            for texts in (pairs[half:], *others):
                for count in (5, 20, 100):
                    drawn = rng.sample(texts, min(count, len(texts)))
                    assert not is_exchanged(model, drawn), (name, size, count)
                    if model.different and size > 50 and count > 5:
                        tried += 1
                        missed += not is_exchanged(model, exchanged(drawn))
    assert tried > 60
    assert missed <= 0.02 * tried


@pytest.mark.slow
@pytest.mark.real_data
def test_no_paraphrases_are_called_exchanged(data):
    """Models of 5 to 6,000 pairs, on their own texts and on others, both ways."""
    rng = random.Random(2)
    corpora = monolingual(data)
    for name, pairs in corpora.items():
        for size in (5, 10, 20, 50, 200, 6000):
            for _ in range(10 if size < 200 else 1):
                own = rng.sample(pairs, min(size, len(pairs)))
                model = vocabularies(own)
                for texts in (own, *corpora.values()):
                    drawn = rng.sample(texts, min(len(texts), 30))
                    assert not is_exchanged(model, drawn), name
                    assert not is_exchanged(model, exchanged(drawn)), name
