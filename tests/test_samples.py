"""The samples are whole: they are read, fully annotated, and described."""

from pathlib import Path

import pytest
from command import FRENCH

from alignkit import read_corpus, score

SAMPLES = Path(__file__).parent.parent / "samples"
ANNOTATORS = ("eflomal", "anna", "ben", "gold")


@pytest.fixture(scope="module")
def paraphrases():
    return read_corpus(str(SAMPLES / "paraphrases.jsonl"), format="alignkit-jsonl")


def french(name):
    texts = {"source": str(FRENCH / "fr.txt"), "target": str(FRENCH / "en.txt")}
    return read_corpus(str(FRENCH / f"{name}.align"), format="pharaoh", name=name, **texts)


def has_both_kinds(corpus, name):
    alignments = [pair.alignment(name) for pair in corpus]
    return any(a.sure for a in alignments) and any(a.possible - a.sure for a in alignments)


def test_paraphrases_are_annotated_by_all(paraphrases):
    assert len(set(paraphrases.ids)) == len(paraphrases) >= 60
    assert paraphrases.annotators == ANNOTATORS
    for pair in paraphrases:
        assert tuple(pair.annotations) == ANNOTATORS
        assert all(pair.annotation(name).provenance for name in ANNOTATORS)
        assert all(pair.alignment(name).possible for name in ANNOTATORS)
        assert all(5 <= length <= 40 for length in pair.lengths)
        assert pair.attributes["phenomena"]
    assert paraphrases.attributes == ("genre", "phenomena")
    assert set(paraphrases.groups("genre")) == {"news", "novel", "question"}


def test_annotators_use_both_kinds_and_judge_every_paraphrase(paraphrases):
    assert all(has_both_kinds(paraphrases, name) for name in ("anna", "ben", "gold"))
    for name in ("anna", "ben"):
        assert any(pair.alignment(name) != pair.alignment("gold") for pair in paraphrases)
    assert any(pair.annotation("gold").comment for pair in paraphrases)
    links = score(paraphrases, "eflomal", "gold").links
    assert 0.15 < links.aer < 0.4
    assert links.precision > links.recall + 0.1
    text = (SAMPLES / "README.md").read_text(encoding="utf-8")
    for name in ("anna", "ben"):
        judged = [pair.annotation(name).judgment for pair in paraphrases]
        counts = [judged.count(label) for label in ("none", "partial", "paraphrase")]
        assert sum(counts) == len(paraphrases)
        assert f"| `{name}` | {' | '.join(map(str, counts))} |" in text
    assert not any(pair.annotation("gold").judgment for pair in paraphrases)


@pytest.mark.parametrize("name", ["gold", "eflomal", "fast_align"])
def test_french_is_read_with_its_texts(name):
    corpus = french(name)
    assert len(corpus) >= 30
    assert corpus.annotators == (name,)
    assert all(5 <= length <= 40 for pair in corpus for length in pair.lengths)
    assert all(pair.alignment(name).possible for pair in corpus)
    assert name != "gold" or has_both_kinds(corpus, name)


def test_french_pairs_have_ids_and_the_readme_names_every_file():
    rows = [line.split("\t") for line in (FRENCH / "meta.tsv").read_text().splitlines()]
    assert len({name for name, _ in rows}) == len(rows) == len(french("gold"))
    assert {genre for _, genre in rows} == {"news", "travel", "debate"}
    text = (SAMPLES / "README.md").read_text(encoding="utf-8")
    files = [path for path in SAMPLES.rglob("*") if path.is_file()]
    assert len(files) >= 8
    for path in files:
        assert f"`{path.relative_to(SAMPLES).as_posix()}`" in text
