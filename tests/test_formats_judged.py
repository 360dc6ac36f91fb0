"""Corpora of judged pairs are read as they are, and what is odd in them is counted."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from command import made, run
from format_files import damaged, put, survive
from refusals import refuses
from repetitions import repetitions

from alignkit import Alignment, Corpus, read_corpus, write_corpus
from alignkit.corpora.validation import examine
from alignkit.errors import FormatError, OptionError
from alignkit.io import ReadOptions, find_format, open_reading, read_pairs

TURKU = [
    {
        "label": "4<i",
        "txt1": '"A small  house."',
        "txt2": "A house",
        "fold": 2,
        "goeswith": "film-1",
        "context": {"doc1": "d", "beg1": 10, "end1": 27, "doc2": "e", "beg2": 0, "end2": 9},
        "rewrites": [['A "house"', "One house"], ["The house", "This house"]],
    },
    {"label": "x", "txt1": "broken", "txt2": "text", "context": None, "goeswith": None},
]
TSV = "label\tsource\tlex-similarity\ttxt1\ttxt2\n4>\tweb\t0.5\ta b\tc\n2\tweb\t0.1\td\te f\n"
PARADE = (
    "Four-class labels\tBinary labels\tEntity\tDefinition1\tDefinition2\n"
    '3\t1\tstack\t"last in first out\ta pile\n1\t1\tqueue\ta line\tfirst in first out\n'
)


def relation(pair: str, type: str, sense: str, first: str, second: str, **more: str) -> str:
    """Write a relation; a text is `positions: words`."""
    members = {"pair_id": pair, "type_id": "5", "type_name": type, "sense_preserving": sense}
    for k, side in enumerate((first, second), start=1):
        positions, _, words = side.partition(":")
        members |= {f"s{k}_scope": positions, f"s{k}_text": words.strip()}
    members |= {"key_s1": "", "key_s2": "", "k1_text": "", "k2_text": ""} | more
    return "<relation>" + "".join(f"<{k}>{v}</{k}>" for k, v in members.items()) + "</relation>\n"


RELATIONS = (
    "<xml>\n"
    + "".join(
        [
            relation("10", "Identity", "yes", "0, 1: they left", "1, 2: they left"),
            relation("2", "Ordering, changed", "yes", "0, 1: a b", "0: c", key_s1=", 0"),
            relation("10", "Addition/Deletion", "yes", "", "0: today"),
            relation("10", "Entailment", "no", "2: home", "3, 4: the house"),
            relation("2", "Non-paraphrase", "no", "whole sentence: a b", "whole sentence: c"),
            relation("2", "Addition/Deletion", "no", "2: x", ""),
        ]
    )
    + "</xml>\n"
)
PAIRS = (
    "<xml><pair><pair_id>2</pair_id><sent1_tok>a b x</sent1_tok><sent2_tok>c</sent2_tok>"
    "<mrpc_label>1</mrpc_label><etpc_label>0</etpc_label><negation>0</negation></pair>\n"
    "<pair><pair_id>10</pair_id><sent1_tok>they left home .</sent1_tok>"
    "<sent2_tok>today they left the house .</sent2_tok><mrpc_label>0</mrpc_label>"
    "<etpc_label>1</etpc_label></pair>\n"
    "<pair><pair_id>11</pair_id><sent1_tok>a</sent1_tok><sent2_tok>b</sent2_tok>"
    "<mrpc_label>0</mrpc_label><etpc_label>0</etpc_label></pair></xml>\n"
)


def read(path: str | Path, format: str, **options: bool) -> tuple[Corpus, Counter[str]]:
    kind, reading = open_reading(str(path), format=format, options=ReadOptions(**options))
    return Corpus(read_pairs(kind, reading)), reading.counts


def judgments(corpus: Corpus, name: str) -> list[str]:
    return [pair.annotations[name].judgment for pair in corpus if name in pair.annotations]


def test_turku_json(tmp_path):
    path = put(tmp_path, "x.json", json.dumps(TURKU, indent=1))
    assert find_format(path) == "turku"
    corpus, counts = read(path, "turku")
    assert corpus.ids == ("1", "1/r1", "1/r2", "2")
    assert judgments(corpus, "turku") == ["4<i", "4", "4", "x"]
    assert corpus["1"].source == ('"A', "small", 'house."')
    assert dict(corpus["1"].attributes) == {
        **{"fold": "2", "goeswith": "film-1", "doc1": "d", "beg1": "10", "end1": "27"},
        **{"doc2": "e", "beg2": "0", "end2": "9"},
    }
    assert dict(corpus["1/r2"].attributes) == {"fold": "2", "goeswith": "film-1", "rewrite_of": "1"}
    assert not corpus["2"].attributes
    assert all(not pair.alignments for pair in corpus)
    assert counts == {"context length differs": 1}


def test_turku_is_unquoted_only_when_asked(tmp_path):
    texts = {"label": "3", "txt1": '"Say ""yes"" now"', "txt2": 'He said "yes"'}
    path = put(tmp_path, "x.json", json.dumps([texts]))
    (pair,) = read(path, "turku", unquote=True)[0]
    assert pair.words == (("Say", '"yes"', "now"), ("He", "said", '"yes"'))
    assert read(path, "turku")[0][0].source == ('"Say', '""yes""', 'now"')


def test_turku_columns(tmp_path):
    path = put(tmp_path, "x.tsv", "\ufeff" + TSV.replace("\n", "\r\n"))
    assert find_format(path) == "turku"
    corpus, _ = read(path, "turku")
    assert (judgments(corpus, "turku"), corpus["1"].words) == (["4>", "2"], (("a", "b"), ("c",)))
    assert dict(corpus["2"].attributes) == {"source": "web", "lex-similarity": "0.1"}


@pytest.mark.parametrize("label", ["4si", "4<>", "3i", "5", "", "４"])
def test_a_bad_label_is_refused_or_kept_and_counted(tmp_path, label):
    path = put(tmp_path, "x.tsv", TSV.replace("4>", label))
    with pytest.raises(FormatError, match="turku; expected one of") as caught:
        read_corpus(path, format="turku")
    assert (caught.value.line, caught.value.path) == (2, path)
    corpus, counts = read(path, "turku", lenient_labels=True)
    assert judgments(corpus, "turku") == [*filter(None, [label]), "2"]
    assert counts == {"label of no scheme": 1}


def test_parade(tmp_path):
    path = put(tmp_path, "x.txt", PARADE)
    assert find_format(path) == "parade"
    corpus, counts = read(path, "parade")
    assert judgments(corpus, "parade") == ["3", "1"]
    assert corpus["1"].source == ('"last', "in", "first", "out")
    assert dict(corpus["2"].attributes) == {"binary": "1", "entity": "queue"}
    assert counts == {"labels contradict": 1}


def test_etpc_with_its_texts(tmp_path):
    put(tmp_path, "e/textual.xml", RELATIONS)
    put(tmp_path, "e/text_pairs.xml", PAIRS)
    assert find_format(tmp_path / "e") == "etpc"
    corpus, counts = read(tmp_path / "e", "etpc")
    assert corpus.ids == ("2", "10", "11")
    for own in ("alignkit-jsonl", "alignkit-xml"):
        write_corpus(corpus, tmp_path / own, format=own)
        assert read_corpus(tmp_path / own, format=own) == corpus
    second = corpus["10"].alignment("etpc")
    assert second.sure == {(0, 1), (1, 2)}
    assert {tuple(null) for null in second.sure_nulls} == {(-1, 0)}
    assert second.labels[(2, 3)] == second.labels[(2, 4)] == "Entailment"
    first = corpus["2"].alignment("etpc")
    assert first.sure == {(0, 0), (1, 0)}
    assert not first.nulls
    assert first.labels[(2, -1)] == "Addition/Deletion"
    assert judgments(corpus, "etpc") == ["0", "1", "0"]
    assert judgments(corpus, "mrpc") == ["1", "0", "0"]
    assert corpus["11"].annotations["etpc"].alignment is None
    phenomena = "Ordering; changed, Non-paraphrase, Addition/Deletion"
    told = {"negation": "0", "phenomena": phenomena, "whole-sentence": "Non-paraphrase"}
    assert dict(corpus["2"].attributes) == told
    assert counts == {"stray comma": 1, "link from a block of texts that differ": 2}


def test_links_from_blocks_of_texts_that_differ_are_counted(tmp_path, capsys):
    """Of 2 x 3 and 1 x 1 words; not those of equal texts, without the sense, or one-sided."""
    blocks = [
        relation("1", "Synonymy", "yes", "0, 1: went off", "0, 1, 2: has gone away"),
        relation("1", "Identity", "yes", "2: The", "3: the"),
        relation("1", "Identity", "yes", "3, 4: they left", "4, 5: they left"),
        relation("1", "Ordering", "yes", "5, 6: a b", "6, 7: a b"),
        relation("1", "Entailment", "no", "7: home", "8, 9: the house"),
        relation("1", "Addition/Deletion", "yes", "8: today", ""),
    ]
    put(tmp_path, "e/t.xml", f"<xml>{''.join(blocks)}</xml>")
    told = "7 x link from a block of texts that differ"
    given = (tmp_path / "e", "--format", "etpc")
    assert told in run(capsys, "stats", *given, "--quiet").out
    assert run(capsys, "stats", *given, "--json").json["noted"] == {told[4:]: 7}
    ran = run(capsys, "check", *given)
    assert f"findings: {told}" in ran.out
    assert "2 x 3 words" in ran.out
    (found,) = run(capsys, "check", *given, "--json").json
    assert (found["counts"], [one["times"] for one in found["findings"]]) == ({told[4:]: 7}, [6, 1])


def test_a_pair_of_whole_sentences_is_not_aligned(tmp_path, capsys):
    whole = "whole sentence: a b"
    put(tmp_path, "e/t.xml", f"<xml>{relation('1', 'Non-paraphrase', 'no', whole, whole)}</xml>")
    (pair,) = read(tmp_path / "e", "etpc")[0]
    assert (dict(pair.annotations), pair.attributes["whole-sentence"]) == ({}, "Non-paraphrase")
    assert "empty alignment" not in run(capsys, "check", tmp_path / "e", "--format", "etpc").out


def test_relations_longer_than_what_is_looked_at_are_found(tmp_path):
    one = relation("10", "Identity", "yes", "0, 1: they left", "1, 2: they left")
    path = put(tmp_path, "textual.xml", f"<xml>\n{one * (600_000 // len(one))}</xml>\n")
    assert find_format(path) == find_format(tmp_path) == "etpc"
    assert find_format(put(tmp_path / "cut", "x.xml", f"<xml>\n{one * 3000}")) == "etpc"
    refuses(FormatError, "not XML", read_corpus, tmp_path / "cut" / "x.xml", format="etpc")


def test_etpc_without_texts(tmp_path):
    path = put(tmp_path, "e/textual.xml", RELATIONS)
    corpus, _ = read(tmp_path / "e", "etpc")
    assert corpus.ids == ("2", "10")
    assert not corpus["2"].has_text
    assert corpus == read(path, "etpc")[0]
    corpus, _ = read(tmp_path / "e", "etpc", no_text=True)
    words = ("they", "left", "home"), ("today", "they", "left", "the", "house")
    assert (corpus["10"].words, corpus["2"].words) == (words, (("a", "b", "x"), ("c",)))


def test_who_reads_words_from_relations_is_told_that_there_may_be_more(tmp_path, capsys):
    put(tmp_path, "e/textual.xml", RELATIONS)
    given = ["stats", tmp_path / "e", "--format", "etpc"]
    assert run(capsys, *given, "--no-text").err.count("may be longer") == 1
    assert "may be longer" not in run(capsys, *given).err
    put(tmp_path, "e/text_pairs.xml", PAIRS)
    assert "may be longer" not in run(capsys, *given, "--no-text").err


def test_what_is_only_read_says_so(tmp_path, capsys):
    with pytest.raises(OptionError, match=r"turku is read-only; .* alignkit-xml"):
        write_corpus([], tmp_path / "x", format="turku")
    path = put(tmp_path, "x.tsv", TSV)
    run(capsys, "convert", path, tmp_path / "y", "--to", "turku").failed("turku")
    ran = made(capsys, "convert", path, tmp_path / "y.jsonl", "--to", "alignkit-jsonl")
    assert ran.err.count("not tokenized") == 1
    assert read_corpus(tmp_path / "y.jsonl") == read_corpus(path)


SMALL = {
    "turku": {"x": json.dumps(TURKU, indent=1)},
    "turku-tsv": {"x": TSV},
    "parade": {"x": PARADE},
    "etpc": {"e/textual.xml": RELATIONS, "e/text_pairs.xml": PAIRS},
}


@pytest.mark.parametrize("name", SMALL)
def test_damaged_files_give_an_error_or_a_corpus(tmp_path, name):
    files, format = SMALL[name], name.removesuffix("-tsv")
    for part, text in files.items():
        put(tmp_path, part, text)
    place = str(tmp_path / ("e" if len(files) > 1 else "x"))
    mild = ReadOptions(lenient_labels=True, unquote=True, no_text=True)
    for part, text in files.items():
        for raw in damaged(text.encode(), repetitions(100)):
            (tmp_path / part).write_bytes(raw)
            survive(place, format)
            with suppress(FormatError):
                find_format(place)
            with suppress(FormatError):
                found = examine(place, format=format, options=mild)
                assert found.refused <= found.counts["broken record"]
        put(tmp_path, part, text)


@pytest.mark.real_data
def test_real_corpora_of_judged_pairs(data):
    """Counted apart: rewrites, null contexts and texts of another length than their place."""
    sizes = {"sv-test.json": 1217, "opus-pb-dev.json": 4894, "opus-sample-first-3000.tsv": 2999}
    labels = 0
    for name, pairs in sizes.items():
        path = data / "turku" / name
        assert find_format(path) == "turku"
        corpus, counts = read(path, "turku")
        assert len(corpus) == pairs
        rewrites = sum("rewrite_of" in pair.attributes for pair in corpus)
        labels += pairs - rewrites
        if name == "sv-test.json":
            assert (counts, rewrites) == ({"context length differs": 2134 - 2108}, 136)
            assert sum("beg1" in pair.attributes for pair in corpus) == 1081 - 14
            quoted = read(path, "turku", unquote=True)[0]
            changed = [a.id for a, b in zip(corpus, quoted, strict=True) if a != b]
            assert len([id for id in changed if "/" not in id]) == 3
        else:
            assert not counts
    assert labels == 8974
    (path,) = (data / "parade").glob("*.txt")
    corpus, counts = read(path, "parade")
    assert (find_format(path), len(corpus), sum(counts.values())) == ("parade", 1275, 0)


@pytest.mark.real_data
def test_real_relations(data):
    """Counted apart: 3,394 relations of 1,864 pairs, all without the sense."""
    assert find_format(data / "etpc") == "etpc"
    corpus, counts = read(data / "etpc", "etpc", no_text=True)
    assert len(corpus) == 1864
    assert (counts["stray comma"], counts["line end in a text"]) == (6, 265)
    assert not counts["unknown type"]
    assert sum("whole-sentence" in pair.attributes for pair in corpus) == 260
    alignments = [pair.alignments["etpc"] for pair in corpus if pair.alignments]
    assert len(alignments) == 1864 - 257
    assert all(found == Alignment(labels=found.labels) for found in alignments)
    words = [word for pair in corpus for side in pair.words for word in side]
    assert sum(word != "_" for word in words) == 18_764 - 1  # one of the words is that sign
    assert corpus["2"].source[13:16] == ("$", "2.5", "billion")
