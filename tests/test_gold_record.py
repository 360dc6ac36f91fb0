"""What a system learned from: recorded in models and annotations, kept, and never lost silently."""

import json
import zipfile
from dataclasses import replace

import pytest
from command import PARAPHRASES, made, run
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from alignkit import (
    Aligner,
    Alignment,
    Annotation,
    Corpus,
    SentencePair,
    merge,
    read_corpus,
    replaceable,
    write_corpus,
)
from alignkit.align.supervised.refiner import Refiner
from alignkit.errors import AlignerError, AlignkitError, AlignmentError, JoinError
from alignkit.model.gold_record import GoldRecord, joint_digest, pair_digest

RECORD = GoldRecord(("anna", 'b"e, [n]'), 30, "5f2c9a0b1c2d3e4f", included=True)
TAUGHT = range(30)  # places of the pairs that are learned from


@pytest.fixture(scope="module")
def corpus():
    return read_corpus(PARAPHRASES)


@pytest.fixture(scope="module")
def refiner(corpus):
    aligner = Aligner.train(corpus)
    return Refiner.train(aligner, corpus[:30], "anna")


# the record
@given(st.lists(st.text(), min_size=1), st.integers(0, 10**11), st.booleans())
def test_a_record_comes_back_from_its_text(names, pairs, included):
    record = GoldRecord(tuple(names), pairs, "0123456789abcdef", included=included)
    assert GoldRecord.parse(str(record)) == record


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "digest 5f2c9a0b1c2d3e4f",
        '30 pairs of ["anna"], digest 5f2c, with this',
        "30 pairs of [1], digest 5f2c9a0b1c2d3e4f, with this",
        '30 pairs of ["anna", digest 5f2c9a0b1c2d3e4f], digest 5f2c9a0b1c2d3e4f, with this',
        f"{RECORD} pair",
    ],
)
def test_other_texts_are_refused(text):
    refuses(AlignmentError, "expected a record such as", GoldRecord.parse, text)
    refuses(AlignmentError, "expected a record such as", Annotation, Alignment(), learned=text)


def test_a_digest_knows_the_words_and_the_sides_but_not_case():
    digest = pair_digest(["The", "cat"], ["le", "chat"])
    assert digest == pair_digest(["the", "CAT"], ("Le", "chat"))
    others = [
        pair_digest(["le", "chat"], ["The", "cat"]),
        pair_digest(["The cat"], ["le", "chat"]),
        pair_digest(["The", "cat", "le"], ["chat"]),
    ]
    assert digest not in others
    assert joint_digest([digest, *others]) == joint_digest([*others, digest, digest])
    assert joint_digest([digest]) != joint_digest(others)


# in annotations
@pytest.mark.parametrize("format", ["alignkit-jsonl", "alignkit-xml"])
@pytest.mark.parametrize("more", [{}, {"comment": "so", "flags": {"a"}}], ids=["plain", "whole"])
def test_own_formats_keep_it(format, more, tmp_path):
    said = Annotation(Alignment(), learned=str(RECORD), role="system", **more)
    judged = Annotation(None, judgment="yes", learned=str(RECORD))
    corpus = Corpus([SentencePair("1", ["a"], ["x"], {"auto": said, "judge": judged})])
    path = tmp_path / "corpus"
    assert not write_corpus(corpus, path, format=format)
    assert read_corpus(path, format=format) == corpus
    assert Corpus.from_records(corpus.to_records(each="annotation")) == corpus


def test_other_formats_count_what_they_lose(capsys, tmp_path):
    said = {"auto": Annotation(Alignment.parse("0-0"), learned=str(RECORD))}
    path = tmp_path / "corpus.jsonl"
    write_corpus(Corpus([SentencePair("1", ["a"], ["x"], said)]), path)
    told = made(capsys, "convert", path, tmp_path / "a.align", "--to", "pharaoh").err
    assert "aligned 1 pairs (learned)" in told


def test_a_wrong_record_is_an_error_with_its_place(tmp_path):
    annotation = {"sure": "0-0", "learned": "a lot"}
    line = {"id": "1", "source": ["a"], "target": ["x"], "annotations": {"A": annotation}}
    path = tmp_path / "a.jsonl"
    path.write_text(f"{json.dumps(line)}\n", "utf-8")
    refuses(AlignkitError, "a.jsonl:1: .*learned is 'a lot'", read_corpus, path)


def test_merge_and_rename_keep_it():
    texts = ["a"], ["x"]
    said = Annotation(Alignment.parse("0-0"), learned=str(RECORD))
    first = Corpus([SentencePair("1", *texts, {"anna": Alignment.parse("0-0")})])
    second = Corpus([SentencePair("1", *texts, {"auto": said})])
    both = merge(first, {"system": second}).rename({"system": "gpt"})
    assert both["1"].annotation("gpt") == said
    judged = Annotation(None, judgment="yes")
    third = Corpus([SentencePair("1", *texts, {"auto": judged})])
    joined = merge(third, {"auto": second})["1"].annotation("auto")
    assert (joined.learned, joined.judgment) == (str(RECORD), "yes")
    other = str(replace(RECORD, included=False))
    fourth = Corpus([SentencePair("1", *texts, {"auto": replace(judged, learned=other)})])
    refuses(JoinError, "already", merge, fourth, {"auto": second})


# in models
def records(aligner, corpus):
    return [GoldRecord.parse(aligner.gold_record(pair)) for pair in corpus]


def test_an_aligner_knows_which_pairs_it_learned_from(refiner, corpus, tmp_path):
    assert refiner.learned.used
    path = tmp_path / "model"
    refiner.save(path)
    header = json.loads(zipfile.ZipFile(path).read("header.json"))
    assert header["header"]["learned"]["annotators"] == ["anna"]
    for aligner in (refiner.aligner, Aligner.load(path)):
        known = records(aligner, corpus)
        assert [record.included for record in known] == [k in TAUGHT for k in range(len(corpus))]
        digests = [pair_digest(*pair.words) for pair in corpus[:30]]
        assert {(r.annotators, r.pairs, r.digest) for r in known} == {
            (("anna",), 30, joint_digest(digests))
        }
        bare = SentencePair("1", None, None, {"x": Alignment.parse("0-0")})
        assert not GoldRecord.parse(aligner.gold_record(bare)).included


def test_what_a_loaded_aligner_learned_before_is_kept(refiner, corpus, tmp_path):
    refiner.save(tmp_path / "model")
    again = Refiner.of(Aligner.load(tmp_path / "model"))
    again.update(corpus[30:34], "ben").update(corpus[:2], "ben")
    known = records(again.aligner, corpus)
    assert [record.included for record in known] == [k < 34 for k in range(len(corpus))]
    assert known[0].annotators == ("anna", "ben")
    assert known[0].pairs == 34


def test_an_aligner_that_uses_no_gold_links_has_no_record(refiner, corpus):
    assert refiner.aligner.with_learned(None).gold_record(corpus[0]) == ""
    begun = Refiner.begin(refiner.aligner.with_learned(None))
    assert begun.aligner.gold_record(corpus[0]) == ""
    forgotten = Refiner.train(refiner.aligner.with_learned(None), corpus[:30], "anna")
    forgotten.forget(corpus.ids)
    assert forgotten.aligner.gold_record(corpus[0]) == ""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"annotators": []}, "are not lists"),
        ({"annotators": "anna"}, "are not lists"),
        ({"annotators": [1]}, "are not lists"),
        ({"digests": ["5f2c"]}, "are not lists"),
        ({"digests": ["5f2c9a0b1c2d3e4f"] * 2}, "not in increasing order"),
        ({"digests": None}, "are not lists"),
    ],
)
def test_a_forged_record_is_refused(refiner, change, said, tmp_path):
    from alignkit.align.model_files import read_model, write_model

    refiner.save(tmp_path / "model")
    stored = read_model(tmp_path / "model")
    header = dict(stored.header)
    header["learned"] = {**header["learned"], **change}
    parts = {"header": header, "arrays": stored.arrays, "words": stored.words}
    write_model(tmp_path / "forged", **parts)
    refuses(AlignerError, said, Aligner.load, tmp_path / "forged")


# where it is asked for
def test_nothing_is_decided_on_pairs_that_an_aligner_learned_from(
    capsys, tmp_path, refiner, corpus
):
    refiner.save(tmp_path / "model")
    out = tmp_path / "out.jsonl"
    words = ["--load", tmp_path / "model", "--annotator", "auto", "--to", "alignkit-jsonl"]
    made(capsys, "align", PARAPHRASES, *words, "-o", out)
    aligned = read_corpus(out)
    assert [pair.annotation("auto").learned for pair in aligned] == [
        refiner.aligner.gold_record(pair) for pair in corpus
    ]
    made(capsys, "convert", out, tmp_path / "out.xml")
    printed = made(capsys, "agree-replace", tmp_path / "out.xml", "--system", "auto", "--json").json
    assert printed["may_replace"] is None
    assert printed["leaks"] == [{"code": "learned", "names": ["anna"], "pairs": 30}]
    assert "in 30 of these 64 pairs" in printed["answer"]
    rest = replaceable(aligned[30:], "auto", samples=100)
    assert rest.leaks == ()
    assert rest.learned is not None
    assert "from 30 pairs of anna" in str(rest)


def test_learning_while_aligning_is_recorded_and_voting_is_not(capsys, tmp_path):
    out = tmp_path / "out.jsonl"
    words = ["--annotator", "auto", "--to", "alignkit-jsonl", "-o", out]
    made(capsys, "align", PARAPHRASES, "--learn", "ben", *words)
    records = {pair.annotation("auto").learned for pair in read_corpus(out)}
    assert {GoldRecord.parse(text).included for text in records} == {True}
    made(capsys, "align", PARAPHRASES, *words)
    assert {pair.annotation("auto").learned for pair in read_corpus(out)} == {""}
    run(capsys, "agree-replace", out, "--system", "auto", "--json")
