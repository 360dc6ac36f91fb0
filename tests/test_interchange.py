"""Files of neighbouring tools are read and written by their specifications."""

import gzip
import json
import random
from contextlib import suppress

import pytest
from command import run
from format_files import lenient, read, text
from refusals import refuses
from repetitions import FULL

from alignkit import (
    NULL,
    AlignkitError,
    Alignment,
    Annotation,
    Corpus,
    FormatError,
    Link,
    SentencePair,
    read_corpus,
    word_column,
    write_corpus,
)
from alignkit.errors import AlignmentError, OptionError, UnknownNameError
from alignkit.io import find_format

# --- word columns

TAGGED = SentencePair(
    "1",
    ["they", "left"],
    [],
    attributes={"source.upos": "PRON\tVERB", "target.upos": "", "a.b": "c"},
)


def test_a_word_column_has_a_value_for_each_word_and_follows_its_side():
    assert word_column(TAGGED, "source", "upos") == ["PRON", "VERB"]
    assert word_column(TAGGED, "target", "upos") == []
    assert word_column(TAGGED, "source", "lemma") is None
    turned = TAGGED.transpose()
    assert word_column(turned, "target", "upos") == ["PRON", "VERB"]
    assert turned.attributes["a.b"] == "c"
    assert turned.transpose() == TAGGED


@pytest.mark.parametrize("words", [["they"], ["they", "left", "."], None])
def test_a_word_column_of_other_words_is_an_error(words):
    pair = SentencePair("7", words, None, attributes={"source.upos": "PRON\tVERB"})
    with pytest.raises(AlignmentError, match=r"column source.upos has 2"):
        word_column(pair, "source", "upos")
    with pytest.raises(UnknownNameError, match="side"):
        word_column(pair, "left", "upos")


# --- Ugarit


def ugarit(*sides, n="1"):
    """A document with words given as `number text refs`, one list for each language."""
    parts = []
    for k, words in enumerate(sides, start=1):
        each = (word.split(" ", 2) for word in words)
        rows = (
            f'<w n="{number}" tp=""><text>{form}</text><refs nrefs="{refs}"/></w>'
            for number, form, refs in each
        )
        parts.append(f'<wds lnum="L{k}">{"".join(rows)}</wds>')
    languages = "".join(
        f'<language lnum="L{k}" xml:lang="{lang}"/>'
        for k, lang in enumerate(("AKK", "SUX", "ENG")[: len(sides)], start=1)
    )
    return (
        f"<?xml version='1.0' encoding='UTF-8'?>\n<document><id>7</id><title>T &amp; U</title>"
        f'<aligned-text>{languages}<sentence n="{n}">{"".join(parts)}</sentence></aligned-text>'
        "</document>"
    )


THREE = ugarit(
    ["1-2 a 2-1 | 3-1", "1-5 b  | 3-2", "1-6 c "],
    ["2-1 d 1-2 | 3-1"],
    ["3-1 e 1-2 | 2-1", "3-2 f 1-5"],
)


@pytest.mark.parametrize(
    ("chosen", "source", "target", "links"),
    [
        (None, "a b c", "d", "0-0"),
        (("AKK", "ENG"), "a b c", "e f", "0-0 1-1"),
        (("eng", "akk"), "e f", "a b c", "0-0 1-1"),
        (("L2", "L3"), "d", "e f", "0-0"),
    ],
    ids=["first two", "named", "any order and case", "by number"],
)
def test_two_of_three_languages_are_read(tmp_path, caplog, chosen, source, target, links):
    path = text(tmp_path, THREE)
    assert find_format(path) == "ugarit-xml"
    corpus, counts = read(path, "ugarit-xml", languages=chosen)
    (pair,) = corpus
    assert (pair.id, " ".join(pair.source), " ".join(pair.target)) == ("7:1", source, target)
    assert str(pair.alignment("alignment")) == links
    assert word_column(pair, "source", "id") == [
        {"a": "1-2", "b": "1-5", "c": "1-6", "d": "2-1", "e": "3-1", "f": "3-2"}[x]
        for x in pair.source
    ]
    assert counts == ({} if chosen else {"language left out": 1})
    assert ("only AKK, SUX are read, not ENG" in caplog.text) == (chosen is None)


def test_languages_left_out_are_reported_even_if_quiet_and_a_missing_one_is_an_error(
    tmp_path, capsys
):
    path = str(text(tmp_path, THREE))
    assert "not ENG" in run(capsys, "stats", path, "--quiet").err
    assert "language left out" in run(capsys, "check", path).out
    odd = text(tmp_path, TMX, "odd.tmx")
    assert "1 x unit without both languages" in run(capsys, "stats", odd, "--quiet").err
    assert "not ENG" not in run(capsys, "stats", path, "--languages", "AKK", "SUX").err
    wrong = run(capsys, "stats", path, "--languages", "AKK", "FRA")
    wrong.failed("it has AKK, SUX, ENG")
    refuses(OptionError, "two", read_corpus, path, languages=("AKK",))
    links = text(tmp_path, "0-0\n", "x.align")
    refuses(OptionError, "leave out `languages`", read_corpus, links, languages=("a", "b"))


def test_a_file_of_several_languages_is_scored_against_another_format(tmp_path, capsys):
    path = text(tmp_path, THREE)
    write_corpus(read_corpus(path, languages=("AKK", "ENG")), tmp_path / "gold.jsonl")
    ran = run(capsys, "score", path, tmp_path / "gold.jsonl", "--languages", "AKK", "ENG", "--json")
    assert json.loads(ran.out)["links"]["f1"] == 1


def test_repeated_languages_are_told_apart(tmp_path):
    path = text(tmp_path, THREE.replace('"ENG"', '"AKK"'))
    assert " ".join(read_corpus(path, languages=("AKK", "AKK"))[0].target) == "e f"
    with pytest.raises(FormatError, match="it has AKK L1, SUX, AKK L3"):
        read_corpus(path, languages=("SUX", "FRA"))


def test_a_language_that_is_there_twice_is_read_once_and_reported(tmp_path, capsys):
    path = str(text(tmp_path, THREE.replace('"ENG"', '"AKK"')))
    err = run(capsys, "stats", path, "--languages", "SUX", "AKK", "--quiet").err
    assert "AKK is also AKK" in err
    assert read(path, "ugarit-xml", languages=("SUX", "AKK"))[1] == {"language left out": 1}
    assert read(path, "ugarit-xml", languages=("AKK", "AKK"))[1] == {}
    assert read(path, "ugarit-xml", languages=("SUX", "L3"))[1] == {}


def test_references_to_no_word_and_one_way_only_are_counted(tmp_path):
    words = ugarit(["1-1 a 2-1 2-9", "1-2 b 2-1 2-2"], ["2-1 c 1-1", "2-2 d "])
    corpus, counts = read(text(tmp_path, words), "ugarit-xml")
    assert str(corpus[0].alignment("alignment")) == "0-0 1-0 1-1"
    assert counts == {"reference to no word": 1, "reference one way only": 2}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('n="1-5"', 'n="1-2"', "a word number occurs twice"),
        ('<wds lnum="L2">', '<wds lnum="L9">', "unknown language 'L9'"),
        ("<text>a</text>", "", "<w n> with its <text>"),
        ("<aligned-text>", "<!DOCTYPE x><aligned-text>", "not XML"),
    ],
)
def test_broken_ugarit_files_are_errors_with_their_place(tmp_path, old, new, message):
    path = text(tmp_path, THREE.replace(old, new))
    with pytest.raises(FormatError, match=message) as caught:
        read_corpus(path, format="ugarit-xml")
    assert caught.value.line == 2


def test_a_sentence_without_links_is_not_annotated(tmp_path):
    assert not read_corpus(text(tmp_path, ugarit(["1-1 a "], ["2-1 b "])))[0].annotations


UGARIT_JSON = {
    "ugarit_id": "7",
    "title": "b'\\xc5\\xa1'",
    "lang1": "AKK",
    "lang2": "ENG",
    "lang3": "FRA",
    "tokens": {
        "l1": [{"id": "1-2", "tp": "sen_0", "text": 'b"it\'s"', "refs": ["2-1"]}],
        "l2": [{"id": "2-1", "tp": "sen_0", "text": "b'", "refs": ["1-2"]}],
        "l3": [{"id": "3-1", "tp": "", "text": "x", "refs": []}],
    },
}


def test_ugarit_json_is_unwrapped_and_chosen(tmp_path):
    path = text(tmp_path, json.dumps(UGARIT_JSON))
    assert find_format(path) == "ugarit-json"
    corpus, counts = read(path, "ugarit-json")
    (pair,) = corpus
    assert (pair.source, pair.target) == (("it's",), ("b'",))
    assert pair.attributes["title"] == "š"
    assert str(pair.alignment("alignment")) == "0-0"
    assert counts == {"text in b'...'": 2, "language left out": 1}
    assert read_corpus(path, languages=("FRA", "AKK"))[0].words == (("x",), ("it's",))


def test_ugarit_is_written_with_its_numbers_and_languages(tmp_path):
    corpus = read_corpus(text(tmp_path, THREE), languages=("AKK", "ENG"))
    out = tmp_path / "out.xml"
    assert write_corpus(corpus, out, format="ugarit-xml") == {}
    assert read_corpus(out) == corpus
    assert 'lnum="L3" xml:lang="ENG"' in out.read_text()
    assert read_corpus(out, languages=("ENG", "AKK"))[0].words == corpus[0].words[::-1]


LINKED = Alignment.parse("0-0 0-1 1-0 1-1 2?1")
PLAIN = Corpus(
    [
        SentencePair("x 1", ["a", "<b>", "c d"], ["e", "f"], {"me": LINKED}),
        SentencePair("2", ["a"], ["b"], {"me": Annotation(Alignment.parse("0-0"), "hm")}),
        SentencePair("3", [], []),
    ]
)


def test_other_corpora_in_ugarit_lose_only_what_is_reported(tmp_path):
    out = tmp_path / "out.xml"
    lost = write_corpus(PLAIN, out, format="ugarit-xml")
    assert lost == {"possible": 1, "comment": 1}
    again = read_corpus(out)
    assert [(pair.id, pair.words) for pair in again] == [(pair.id, pair.words) for pair in PLAIN]
    assert [str(a) for pair in again for a in pair.alignments.values()] == [
        "0-0 0-1 1-0 1-1 2-1",
        "0-0",
    ]
    for options in ({"base": 1}, {"transpose": True}):
        refuses(
            OptionError,
            "names words by ids",
            write_corpus,
            PLAIN,
            out,
            format="ugarit-xml",
            **options,
        )
        refuses(OptionError, "names words by ids", read_corpus, out, **options)


# --- Alpheios


def alpheios_text(prefix, language, *segments, kind="origin"):
    made = [
        {
            "index": k,
            "textType": kind,
            "tokens": [
                {"idWord": f"{prefix}-{k - 1}-{n}", "word": word, "segmentIndex": k}
                for n, word in enumerate(segment.split())
            ],
        }
        for k, segment in enumerate(segments, start=1)
    ]
    facts = [{"property": "title", "value": ["a", "b"]}]
    source = {"textId": f"id{prefix}", "text": "...", "metadata": {"properties": facts}}
    aligned = {"textId": f"id{prefix}", "lang": language, "tokenPrefix": prefix, "segments": made}
    return {"docSource": source, "alignedText": aligned}


def group(origin, target, to="id2"):
    actions = {
        "segmentIndex": 1,
        "targetId": to,
        "origin": origin.split(),
        "target": target.split(),
    }
    return {"id": "g", "actions": actions}


ALPHEIOS = {
    "origin": alpheios_text(1, "lat", "a b", "c"),
    "targets": {
        "id2": alpheios_text(2, "eng", "d e f", "g", kind="target"),
        "id3": alpheios_text(3, "fra", "h", "i j", kind="target"),
    },
    "alignmentGroups": [
        group("1-0-0 1-0-1", "2-0-2 2-0-0"),
        group("1-1-0", "3-1-0 3-1-1", to="id3"),
    ],
}


def links_of(corpus):
    return [[str(a) for a in pair.alignments.values()] for pair in corpus]


@pytest.mark.parametrize(
    ("chosen", "words", "links"),
    [
        (None, ["a b|d e f", "c|g"], [["0-0 0-2 1-0 1-2"], []]),
        (("lat", "fra"), ["a b|h", "c|i j"], [[], ["0-0 0-1"]]),
        (("eng", "lat"), ["d e f|a b", "g|c"], [["0-0 0-1 2-0 2-1"], []]),
        (("id1", "id3"), ["a b|h", "c|i j"], [[], ["0-0 0-1"]]),
    ],
    ids=["first target", "named", "target first", "by textId"],
)
def test_groups_of_the_chosen_target_are_blocks(tmp_path, chosen, words, links):
    path = text(tmp_path, json.dumps(ALPHEIOS))
    assert find_format(path) == "alpheios"
    corpus, counts = read(path, "alpheios", languages=chosen)
    assert ["|".join(map(" ".join, pair.words)) for pair in corpus] == words
    assert links_of(corpus) == links
    assert [pair.id for pair in corpus] == ["1", "2"]
    assert counts == {"metadata left out": 3, **({} if chosen else {"language left out": 1})}


def test_two_targets_of_alpheios_are_no_pair(tmp_path):
    path = text(tmp_path, json.dumps(ALPHEIOS))
    with pytest.raises(FormatError, match="the origin, lat"):
        read_corpus(path, languages=("eng", "fra"))


def test_odd_groups_of_alpheios_are_left_out_and_counted(tmp_path):
    odd = [
        group("1-0-0", ""),
        group("1-0-9", "2-0-0"),
        group("1-0-0 1-1-0", "2-0-0"),
        group("1-0-1", "2-1-0"),
    ]
    value = ALPHEIOS | {"alignmentGroups": odd, "more": 1}
    corpus, counts = read(text(tmp_path, json.dumps(value)), "alpheios", languages=("lat", "eng"))
    assert links_of(corpus) == [["0-0"], []]
    assert counts == {
        "metadata left out": 3,
        "member left out": 1,
        "group of one side only": 2,
        "id of no word": 1,
        "group across segments": 2,
    }


def test_a_segment_of_one_side_has_no_words_on_the_other(tmp_path):
    value = ALPHEIOS | {"origin": alpheios_text(1, "lat", "a b")}
    corpus, counts = read(text(tmp_path, json.dumps(value)), "alpheios", languages=("lat", "eng"))
    assert (corpus[1].source, corpus[1].target) == ((), ("g",))
    assert counts["segment of one side only"] == 1


def test_alpheios_is_written_with_its_ids(tmp_path):
    corpus = read_corpus(text(tmp_path, json.dumps(ALPHEIOS)))
    out = tmp_path / "out.json"
    assert write_corpus(corpus, out, format="alpheios") == {}
    assert read_corpus(out) == corpus
    written = json.loads(out.read_text())
    (made,) = written["alignmentGroups"]
    assert (made["actions"]["origin"], made["actions"]["target"]) == (
        ["1-0-0", "1-0-1"],
        ["2-0-0", "2-0-2"],
    )
    assert written["origin"]["docSource"]["text"] == "a b\nc"
    assert write_corpus([], out, format="alpheios") == {}
    assert len(read_corpus(out)) == 0


def test_other_corpora_in_alpheios_lose_only_what_is_reported(tmp_path):
    out = tmp_path / "out.json"
    assert write_corpus(PLAIN, out, format="alpheios") == {"possible": 1, "comment": 1, "ids": 1}
    assert links_of(read_corpus(out)) == [["0-0 0-1 1-0 1-1 2-1"], ["0-0"], []]
    hebrew = Corpus([SentencePair("1", ["שלום"], ["peace"], attributes={"source.language": "heb"})])
    write_corpus(hebrew, out, format="alpheios")
    assert json.loads(out.read_text())["origin"]["alignedText"]["direction"] == "rtl"


# --- ClearAligner and Scripture Burrito


def record(source, target, status="created", **meta):
    return {
        "meta": {"id": f"r{source}", "origin": "manual", "status": status, **meta},
        "source": source.split(),
        "target": target.split(),
    }


SOURCE_TOKENS = """id\taltId\ttext\tlemma
n40001001001\tx\tΒίβλος\tβίβλος
n40001001002\tx\tγενέσεως\tγένεσις
n40001002001\tx\tἈβραὰμ\t
"""
TARGET_TOKENS = """id\tsource_verse\ttext
40001001001\t40001001\tThe
40001001002\t40001001\tbook
40001001003\t40001001\tof origin
40001003001\t40001002\tAbraham
"""
NOTE = [{"note": "why?", "id": "n1", "authorEmail": "a@b.c"}]
RECORDS = [
    record("40001001001", "40001001001 40001001002", "approved"),
    record("40001001002", "40001001003", "needsReview", note=NOTE),
    record("40001001002", "40001001001", "rejected", note=[]),
    record("n40001002001", "40001003001 40001001003"),
]
CLEAR = {"type": "translation", "meta": {"creator": "ClearAligner"}, "records": RECORDS}


@pytest.fixture
def scripture(tmp_path):
    files = {"source": SOURCE_TOKENS, "target": TARGET_TOKENS}
    beside = {side: str(text(tmp_path, made, f"{side}.tsv")) for side, made in files.items()}

    def placed(value):
        return text(tmp_path, json.dumps(value), "links.json"), beside

    return placed


def test_records_are_links_by_their_status(scripture):
    path, beside = scripture(CLEAR)
    assert find_format(path) == "scripture"
    corpus, counts = read(path, "scripture", **beside)
    first, second = corpus
    assert (first.id, second.id) == ("40001001", "40001002")
    assert first.words == (("Βίβλος", "γενέσεως"), ("The", "book", "of origin"))
    links = first.alignment("alignment")
    assert str(links) == "0-0 0-1 1?2"
    assert links.labels == {
        Link(0, 0): "approved",
        Link(0, 1): "approved",
        Link(1, 2): "needsReview",
        Link(1, 0): "rejected",
    }
    assert first.annotation("alignment").comment == "why?"
    assert str(second.alignment("alignment")) == "0-0"
    assert counts == {"record across verses": 1}
    assert word_column(second, "source", "lemma") == ["_"]
    assert word_column(first, "source", "id") == ["n40001001001", "n40001001002"]


def test_scripture_comes_back_with_its_records(scripture, tmp_path):
    path, beside = scripture(CLEAR)
    corpus = read_corpus(path, **beside)
    out, tokens = tmp_path / "out.json", {side: str(tmp_path / f"out.{side}") for side in beside}
    lost = write_corpus(corpus, out, format="scripture", **tokens)
    lost_columns = {f"attribute source.{name}": 2 for name in ("altId", "lemma")}
    assert lost == lost_columns
    key = str
    assert sorted(json.loads(out.read_text())["records"], key=key) == sorted(RECORDS, key=key)
    again = read_corpus(out, **beside)
    assert again == corpus
    assert [pair.words for pair in read_corpus(out, **tokens)] == [pair.words for pair in corpus]


def test_changed_links_of_scripture_become_records_of_their_own(scripture, tmp_path):
    path, beside = scripture(CLEAR)
    first, second = read_corpus(path, **beside)
    changed = first.with_annotation(
        "alignment", Annotation(Alignment.parse("0-0 0-1 1-2 1?1"), "so")
    )
    out = tmp_path / "out.json"
    lost = write_corpus([changed, second], out, format="scripture")
    assert lost["records whose links have another status"] == 3
    again = read_corpus(out, **beside)[0]
    assert str(again.alignment("alignment")) == "0-0 0-1 1?1 1-2"
    assert again.annotation("alignment").comment == "so"
    written = json.loads(out.read_text())["records"]
    assert [(r["source"], r["target"], r["meta"]["status"]) for r in written[:3]] == [
        (["n40001001001", "n40001001002"][:1], ["40001001001", "40001001002"], "created"),
        (["n40001001002"], ["40001001002"], "needsReview"),
        (["n40001001002"], ["40001001003"], "created"),
    ]


def test_groups_of_scripture_burrito_are_read(scripture):
    records = [
        {"meta": {"process": "manual"}, "source": ["40001001001"], "target": ["40001001002"]}
    ]
    groups = [
        {
            "type": "translation",
            "documents": [{}, {}],
            "roles": ["source", "target"],
            "records": records,
        }
    ]
    path, beside = scripture({"format": "alignment", "version": "0.3", "groups": groups})
    assert find_format(path) == "scripture"
    assert links_of(read_corpus(path, **beside)) == [["0-1"], []]
    path, beside = scripture({"groups": [*groups, groups[0] | {"type": "other", "documents": 1}]})
    corpus, counts = read(path, "scripture", **beside)
    assert (links_of(corpus), counts) == ([["0-1"], []], {"record of other texts": 1})


def test_odd_records_are_counted_or_refused_alone(scripture):
    odd = [record("40001001009", "40001001001"), record("40001001001", "40001001001", "maybe"), 5]
    path, beside = scripture(CLEAR | {"records": odd})
    with pytest.raises(FormatError, match="record 2: status 'maybe'"):
        read_corpus(path, **beside)
    _, reading = lenient(path, "scripture", **beside)
    odd = {"id of no word": 1, "group of one side only": 1}
    assert reading.counts == {**odd, "broken record": 2}


def test_scripture_needs_its_tokens_and_metadata_has_no_links(scripture, tmp_path):
    path, beside = scripture(CLEAR)
    refuses(FormatError, "two files of tokens", read_corpus, path)
    path, beside = scripture(
        {"format": "scripture burrito", "meta": {}, "ingredients": {"x.json": {}}}
    )
    assert find_format(path) == "scripture"
    refuses(FormatError, "metadata of a Scripture Burrito", read_corpus, path)
    for wrong, place in (
        ("id\ttext\n4000\tx\n", ":2"),
        (SOURCE_TOKENS + "40001001001\tx\ty\tz\n", ":5"),
    ):
        bad = text(tmp_path, wrong, "bad.tsv")
        refuses(
            FormatError,
            f"bad.tsv{place}",
            read_corpus,
            scripture(CLEAR)[0],
            source=bad,
            target=beside["target"],
        )


def test_tokens_without_a_heading_are_id_and_text(scripture, tmp_path):
    path, beside = scripture(CLEAR)
    bare = text(tmp_path, "40001001001\tΒίβλος\n40001001002\tγενέσεως\n", "bare.tsv")
    (first, _) = read_corpus(path, source=bare, target=beside["target"])
    assert first.source == ("Βίβλος", "γενέσεως")


def test_other_corpora_in_scripture_lose_only_what_is_reported(tmp_path):
    tokens = {side: str(tmp_path / f"out.{side}") for side in ("source", "target")}
    out = tmp_path / "out.json"
    assert write_corpus(PLAIN, out, format="scripture", **tokens) == {"ids": 3}
    again = read_corpus(out, **tokens)
    assert links_of(again) == [["0-0 0-1 1-0 1-1 2?1"], ["0-0"]]
    assert again[1].annotation("alignment").comment == "hm"
    bad = [SentencePair("1", ["a\tb"], ["c"])]
    refuses(
        AlignkitError,
        "'a.tb' is empty",
        write_corpus,
        bad,
        out,
        format="scripture",
        **tokens,
    )


# --- CoNLL-U and PUD

ENGLISH = """# newdoc
# sent_id = n1
# text = Let's go now.
1-2\tLet's\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tLet\tlet\tVERB\tVB\tMood=Imp\t0\troot\t0:root\t_
2\t's\twe\tPRON\tPRP\t_\t3\tnsubj\t_\t_
3\tgo now\tgo\tVERB\tVB\t_\t1\txcomp\t_\t_
3.1\tgo\tgo\tVERB\t_\t_\t_\t_\t1:conj\t_
4\t.\t.\tPUNCT\t.\t_\t1\tpunct\t_\t_

# sent_id = n2
# text = Yes
1\tYes\tyes\tINTJ\t_\t_\t0\troot\t_\t_

"""
KOREAN = """# sent_id = n1
# text = 가자
1\t가자\t_\tVERB\t_\t_\t0\troot\t_\t_

# sent_id = n2
# text = 네
1\t네\t_\tINTJ\t_\t_\t0\troot\t_\t_

"""


@pytest.fixture
def beside(tmp_path):
    files = {"source": ENGLISH, "target": KOREAN}
    return {side: str(text(tmp_path, made, f"{side}.conllu")) for side, made in files.items()}


@pytest.mark.parametrize(
    ("format", "links", "id"),
    [
        ("pharaoh", "0-0 2?0\n0-0\n", "n1"),
        ("pharaoh", "n1\t0-0 2?0\nn2\t0-0\n", "n1"),
        ("naacl", "1 1 1\n1 3 1 P\n2 1 1\n", "n1"),
        ("pud", '[{"1": ["1"], "3": ["1"], "X": []}, {"1": ["1"]}]', "n1"),
    ],
    ids=["pharaoh", "with ids", "naacl", "pud"],
)
def test_conllu_gives_the_words_of_any_format_of_links(tmp_path, beside, format, links, id):
    path = text(tmp_path, links, "links")
    assert find_format(path) == format
    first, second = read_corpus(path, **beside)
    assert (first.id, second.id) == (id, "n2")
    assert first.words == (("Let", "'s", "go now", "."), ("가자",))
    assert str(first.alignment("alignment")) in ("0-0 2?0", "0-0 2-0")
    assert word_column(first, "source", "upos") == ["VERB", "PRON", "VERB", "PUNCT"]
    assert word_column(first, "source", "deps") == ["0:root", "_", "_", "_"]
    assert word_column(first, "target", "lemma") is None
    assert first.attributes["source.text"] == "Let's go now."
    mixed = {**beside, "target": str(text(tmp_path, "가자\n네\n", "plain"))}
    assert [pair.words for pair in read_corpus(path, **mixed)] == [first.words, second.words]


def test_conllu_is_written_as_it_was_read(tmp_path, beside):
    links = text(tmp_path, '[{"1": ["1"], "2": ["X"], "X": ["1"]}, {}]', "links.json")
    corpus = read_corpus(links, **beside)
    assert corpus[0].alignment("alignment").nulls == {Link(1, NULL), Link(NULL, 0)}
    assert len(corpus[1].alignment("alignment")) == 0
    out = {side: str(tmp_path / f"out.{side}") for side in beside}
    assert write_corpus(corpus, tmp_path / "out.json", format="pud", **out) == {}
    assert read_corpus(tmp_path / "out.json", **out) == corpus
    lost = write_corpus(corpus, tmp_path / "en-ko.conllu", format="conllu")
    assert lost == {"nulls": 1, "empty": 1, "links": 1}
    assert find_format(tmp_path / "en-ko") == "conllu"
    again = read_corpus(tmp_path / "en-ko")
    assert again == corpus.map(lambda pair: pair.without_annotations("alignment"))
    for side, known in (("source", ENGLISH), ("target", KOREAN)):
        assert (tmp_path / f"out.{side}").read_text() == known
        assert (tmp_path / f"en-ko.{side}.conllu").read_text() == known
    alone = read_corpus(tmp_path / "en-ko.source.conllu")
    assert [pair.source for pair in alone] == [pair.source for pair in corpus]
    assert {pair.target for pair in alone} == {None}


def test_a_corpus_without_columns_becomes_conllu(tmp_path):
    assert (
        write_corpus(
            PLAIN.map(lambda pair: pair.without_annotations("me"))[:2],
            tmp_path / "x",
            format="conllu",
        )
        == {}
    )
    first = (tmp_path / "x.source.conllu").read_text().split("\n\n")[0]
    assert first.startswith("# sent_id = x 1\n# text = a <b> c d\n1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n")
    for words in (["a\tb"], [""], []):
        bad = [SentencePair("1", words, ["c"])]
        message = "pair '1'(: token| has no source words)"
        refuses(AlignkitError, message, write_corpus, bad, tmp_path / "y", format="conllu")
    assert not (tmp_path / "y.source.conllu").exists()


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("\n2\t's", "\n3\t's", 6, "word id '3'; expected 2"),
        ("\n1-2\t", "\n2-3\t", 4, "word id '2-3'; expected 1"),
        ("\n3.1\t", "\n4.1\t", 8, "word id '4.1'; expected 4"),
        ("\tVERB\tVB\tMood=Imp", "\tVERB\tVB", 5, "9 tab-separated columns; expected 10"),
        (
            "4\t.\t",
            "4\t\t",
            9,
            "10 tab-separated columns",
        ),
    ],
)
def test_broken_conllu_is_an_error_with_its_line(tmp_path, beside, old, new, line, message):
    path = text(tmp_path, ENGLISH.replace(old, new), "source.conllu")
    refuses(FormatError, f"source.conllu:{line}: {message}", read_corpus, path, format="conllu")


def test_pud_counts_what_is_no_word_and_refuses_what_is_no_id(tmp_path, beside):
    odd = '[{"3.1": ["1"], "1": ["X", "1"]}, {}]'
    corpus, counts = read(text(tmp_path, odd), "pud", **beside)
    assert links_of(corpus) == [["0-0"], [""]]
    assert counts == {"link of an empty node": 1, "null next to words": 1}
    for wrong in (
        '[{"a": ["1"]}, {}]',
        '[{"X": ["X"]}, {}]',
        '[{"1": "1"}, {}]',
        "[5, {}]",
        "[{}]",
        "[{}, {}, {}]",
    ):
        refuses(FormatError, None, read_corpus, text(tmp_path, wrong), format="pud", **beside)
    rest = read_corpus(text(tmp_path, "[{}]"), format="pud", partial=True, **beside)
    assert [list(pair.annotations) for pair in rest] == [["alignment"], []]


# --- TMX

TMX = """<?xml version="1.0"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en"/><body>
<tu tuid="u1"><note>n</note><prop type="domain">law</prop>
<tuv xml:lang="en-GB"><seg>Press <bpt i="1">&lt;b&gt;</bpt>Stop<ept i="1">x</ept> <hi>now</hi>.
</seg></tuv><tuv xml:lang="fr"><note>not text</note><seg>Arrêtez <ph>{1}</ph>.</seg></tuv>
<tuv xml:lang="de"><seg>Halt</seg></tuv></tu>
<tu><tuv lang="FR"><seg>Non</seg></tuv><tuv lang="en-gb"><seg>No</seg></tuv></tu>
<tu><tuv xml:lang="fr"><seg>Seul</seg></tuv></tu>
</body></tmx>
"""


@pytest.mark.parametrize(
    ("chosen", "words", "counts"),
    [
        (
            None,
            ["Press Stop now .|Arrêtez .", "No|Non"],
            {
                "language left out": 1,
                "inline tag": 4,
                "unit without both languages": 1,
                "note of one language left out": 1,
            },
        ),
        (
            ("fr", "en"),
            ["Arrêtez .|Press Stop now .", "Non|No"],
            {"inline tag": 4, "unit without both languages": 1, "note of one language left out": 1},
        ),
        (
            ("de", "en-GB"),
            ["Halt|Press Stop now ."],
            {"inline tag": 3, "unit without both languages": 2, "note of one language left out": 1},
        ),
    ],
    ids=["first two", "named", "region"],
)
def test_units_of_two_languages_are_pairs(tmp_path, chosen, words, counts):
    made = TMX.replace("</hi>.", "</hi> .").replace("</note><prop", "</note><note>m</note><prop")
    path = text(tmp_path, made)
    assert find_format(path) == "tmx"
    corpus, counted = read(path, "tmx", languages=chosen)
    assert ["|".join(map(" ".join, pair.words)) for pair in corpus] == words
    assert counted == counts
    assert corpus[0].id == "u1"
    assert corpus[0].attributes.items() >= {"note": "n\nm", "domain": "law"}.items()


@pytest.mark.parametrize(
    ("made", "format"),
    [
        ('<tmx version="1.4"><header/><body/></tmx>', "tmx"),
        ('<aligned-text xmlns="urn:x"><language lnum="L1"/></aligned-text>', "ugarit-xml"),
    ],
    ids=["tmx", "aligned-text"],
)
def test_the_first_element_shows_the_format(tmp_path, made, format):
    path = text(tmp_path, made)
    assert find_format(path) == format
    if format == "tmx":
        assert len(read_corpus(path)) == 0


def test_words_of_the_older_alpheios_editor_have_numbers_of_their_sentence(tmp_path):
    made = """<aligned-text xmlns="urn:x"><language lnum="L1" xml:lang="grc"/>
<language lnum="L2" xml:lang="eng"/><sentence id="s1"><wds lnum="L1"><comment>c</comment>
<w n="1-1"><text>a</text><refs nrefs="1-2"/></w></wds><wds lnum="L2"><w n="1-1"><text>b</text></w>
<w n="1-2"><text>c</text><refs nrefs="1-1"/></w></wds></sentence></aligned-text>"""
    corpus, counts = read(text(tmp_path, made), "ugarit-xml")
    assert (corpus[0].id, str(corpus[0].alignment("alignment"))) == ("s1", "0-1")
    assert counts == {"element left out": 1}


def test_tmx_without_two_languages_names_those_present(tmp_path):
    path = text(tmp_path, TMX)
    with pytest.raises(FormatError, match="it has en-GB, fr, de"):
        read_corpus(path, languages=("en", "it"))
    single = text(
        tmp_path,
        TMX.replace("en-GB", "fr")
        .replace("en-gb", "fr")
        .replace('"de"', '"fr"')
        .replace("FR", "fr"),
    )
    with pytest.raises(FormatError, match="it has fr"):
        read_corpus(single)


UNITS = """<tmx version="1.4"><header/><body>
<tu><tuv xml:lang="en"><seg>One</seg></tuv><tuv xml:lang="hu"/></tu>
<tu><tuv xml:lang="en"><seg>Yes</seg></tuv><tuv xml:lang="fr"><seg>Oui</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>A</seg></tuv><tuv xml:lang="de-AT"><seg>B</seg></tuv>
<tuv xml:lang="FR-ca"><seg>C</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>No</seg></tuv><tuv xml:lang="sv"><seg>Nej</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>No</seg></tuv><tuv xml:lang="fr"><seg>Non</seg></tuv>
<tuv xml:lang="pt"/></tu>
</body></tmx>"""


def test_tmx_names_the_languages_that_it_leaves_out_in_any_unit(tmp_path, capsys):
    path = text(tmp_path, UNITS)
    ran = run(capsys, "stats", path, "--quiet")
    assert f"{path}: only en and fr are read, not de-AT, sv; see the option languages" in ran.err
    found = run(capsys, "check", path).out
    assert "language left out: de-AT" in found
    assert "both languages: en, sv" in found
    assert "not de" not in run(capsys, "stats", path, "--languages", "en", "fr").err


def test_tmx_units_without_a_segment_are_called_so(tmp_path):
    counts = read(text(tmp_path, UNITS), "tmx")[1]
    assert counts == {
        "unit without <seg>": 1,
        "text without <seg>": 1,
        "language left out": 1,
        "unit without both languages": 1,
    }


@pytest.mark.parametrize(
    "doctype", ['<!DOCTYPE tmx [<!ENTITY a "b">]>', '<!DOCTYPE tmx SYSTEM "x" [<!ENTITY a "b">]>']
)
def test_tmx_with_entities_is_refused(tmp_path, doctype):
    path = text(tmp_path, TMX.replace('<!DOCTYPE tmx SYSTEM "tmx14.dtd">', doctype))
    refuses(FormatError, "document type", read_corpus, path, format="tmx")


def test_a_declaration_that_the_bytes_contradict_does_not_count(tmp_path):
    for start in ('<?xml version="1.0" encoding="utf-16"?>', ""):
        pairs = read_corpus(text(tmp_path, start + TMX[TMX.index("<tmx") :]), format="tmx")
        assert [pair.words for pair in pairs] == [p.words for p in read_corpus(text(tmp_path, TMX))]


# --- detection


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (b"\\id TIT\n\\c 1\n\\v 1 \\w Paul\\w*\n", "USFM without alignments"),
        (b'<?xml version="1.0"?><xliff version="1.2"><file/></xliff>', "XLIFF"),
        (b'<?xml version="1.0"?>\n<s id="a"><english>a</english><sure>1-1</sure></s>', "CzEnAli"),
        (b"PAR1\x15\x04\x15\x00\n\xffPAR1", "Parquet"),
        (b'<?xml version="1.0"?>\n<proiel export-time="x"><source/></proiel>', "PROIEL.*CoNLL-U"),
        (b'<?xml version="1.0"?>\n<Alibi><s n="1"/></Alibi>', "Alibi XML.*ali_w2w"),
        (b"#FORMAT=WebAnno TSV 3.3\n#T_SP=x\n\n#Text=a b\n1-1\t0-1\ta\t_\n", "WebAnno.*src_words"),
        (b'[{"id": 1, "annotations": [{"completed_by": 1, "result": []}]}]', "Label St.*src_words"),
        (b'{"id": 1, "text": "a b", "label": [[0, 1, "X"]]}\n', "doccano.*src_words"),
        (b'{"id": 1, "text": "a", "entities": [], "relations": []}\n', "doccano.*src_words"),
        ("λόγος ἦν\n".encode("utf-16-le"), "UTF-16"),
        ("λόγος ἦν\n".encode("utf-16-be"), "UTF-16"),
        ("\ufeffa b\n".encode("utf-16-le"), "UTF-16"),
    ],
    ids=[
        "usfm",
        "xliff",
        "czenali",
        "parquet",
        "proiel",
        "alibi",
        "webanno",
        "label studio",
        "doccano",
        "doccano relations",
        "utf-16-le",
        "utf-16-be",
        "byte order mark",
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "packed"])
def test_what_alignkit_does_not_read_is_named(tmp_path, made, name, pack):
    path = tmp_path / "x"
    path.write_bytes(pack(made))
    with pytest.raises(FormatError, match=name):
        find_format(path)


# --- damage

SAMPLES = {
    "ugarit-xml": THREE,
    "ugarit-json": json.dumps(UGARIT_JSON, indent=1),
    "alpheios": json.dumps(ALPHEIOS, indent=1),
    "scripture": json.dumps(CLEAR, indent=1),
    "pud": '[{"1": ["1"], "2": ["X"], "X": ["1"]}, {"1": ["1"]}]',
    "conllu": ENGLISH,
    "tmx": TMX,
}
VALUES = (None, 5, "", "x", [], {}, [None], True, -1, {"a": []})


DAMAGED = 200 if FULL else 60


def damaged(raw, count, draw):
    """Return variants of a file: cut, with other bytes, lines left out or doubled, other JSON."""
    variants = []
    for _ in range(count):
        kind, at = draw.randrange(4), draw.randrange(len(raw))
        if kind == 0:
            variants.append(raw[:at])
        elif kind == 1:
            variants.append(raw[:at] + bytes([draw.randrange(256)]) + raw[at + 1 :])
        elif kind == 2:
            lines = raw.splitlines(keepends=True)
            k = draw.randrange(len(lines))
            variants.append(
                b"".join(lines[:k] + lines[k:][: draw.randrange(2)] * 2 + lines[k + 1 :])
            )
        elif raw[:1] in b"[{":
            value = json.loads(raw)
            spot = value
            while isinstance(spot, dict | list) and len(spot):
                key = draw.choice(list(spot) if isinstance(spot, dict) else range(len(spot)))
                if draw.random() < 0.3 or not isinstance(spot[key], dict | list) or not spot[key]:
                    if draw.random() < 0.5:
                        del spot[key]
                    else:
                        spot[key] = draw.choice(VALUES)
                    break
                spot = spot[key]
            variants.append(json.dumps(value).encode())
    return variants


def survives(path, format, **options):
    """Check that reading a broken file is an error of the package, or gives a corpus."""
    for how in ({}, {"lenient": True, "drop_out_of_range": True}):
        with suppress(FormatError):
            read(path, format, **how, **options)
    with suppress(FormatError):
        find_format(path)


@pytest.mark.parametrize("format", SAMPLES)
def test_damaged_files_are_errors_or_counted(tmp_path, scripture, beside, format):
    words = {"scripture": scripture(CLEAR)[1], "pud": beside}.get(format, {})
    path = tmp_path / "broken"
    for broken in damaged(SAMPLES[format].encode(), DAMAGED, random.Random(format)):
        path.write_bytes(broken)
        survives(path, format, **words)


@pytest.mark.parametrize("side", ["source", "target"])
def test_damaged_tokens_are_errors_or_counted(tmp_path, scripture, side):
    path, beside = scripture(CLEAR)
    known = {"source": SOURCE_TOKENS, "target": TARGET_TOKENS}[side].encode()
    for broken in damaged(known, DAMAGED, random.Random(side)):
        (tmp_path / "broken").write_bytes(broken)
        survives(path, "scripture", **{**beside, side: str(tmp_path / "broken")})


# --- the real files


@pytest.fixture(scope="module")
def folder(data):
    return data / "interchange"


@pytest.fixture(scope="module")
def treebanks(folder):
    return {
        "source": str(folder / "pud-en-ko.en.conllu"),
        "target": str(folder / "pud-en-ko.ko.conllu"),
    }


REAL = {
    "ugarit-31699.xml": "ugarit-xml",
    "ugarit-32103.xml": "ugarit-xml",
    "ugarit-32103.json": "ugarit-json",
    "alpheios-lat-eng.json": "alpheios",
    "alpheios-lat-eng-short.json": "alpheios",
    "scripture-burrito.json": "scripture",
    "pud-en-ko.alignment.json": "pud",
    "pud-en-ko.en.conllu": "conllu",
    "pud-en-ko.ko.conllu": "conllu",
}


@pytest.mark.real_data
@pytest.mark.parametrize("name", REAL)
def test_real_files_are_found_and_damage_is_survived(folder, tmp_path, treebanks, name):
    assert find_format(folder / name) == REAL[name]
    raw = (folder / name).read_bytes()
    raw = raw if len(raw) < 1 << 17 else b"\n".join(raw.split(b"\n")[:300])
    if REAL[name] == "pud":
        raw = json.dumps(json.loads((folder / name).read_bytes())[:20], indent=1).encode()
    words = treebanks if REAL[name] in ("pud", "scripture") else {}
    for broken in damaged(raw, 200, random.Random(name)):
        (tmp_path / "broken").write_bytes(broken)
        survives(tmp_path / "broken", REAL[name], partial=True, **words)


BY_HAND = {
    (
        "pud-en-ko.alignment.json",
        None,
        1,
    ): """2 those 7 의원들에게, 4 follow 4 따르는, 5 social 1 소셜,
        6 media 2 미디어, 7 transitions 3 전환을, 10 Hill 6 의회, 12 this 8 이것은, 14 be 12 이다,
        16 little 9 조금, 17 different 10 다를""",
    (
        "ugarit-31699.xml",
        ("AKK", "ENG"),
        0,
    ): """1 ri2-mu-usz 1 Rimuš, 2 _lugal_ 3 king, 3 _kisz_ 4 of,
        3 _kisz_ 6 world, 4 isz-tum 8 from, 5 da-ar 9 ancient, 5 da-ar 10 times, 8 d 14 Enlil,
        10 en-lil2 14 Enlil, 22 ib-ni-ma 42 he""",
    ("ugarit-32103.json", None, 0): """2 d 1 Enki, 4 en-ki 1 Enki, 5 ir-e-ma-am 4 love-charm,
        6 e3-ra- 6 he, 6 e3-ra- 7 loves, 12 -am 6 he, 12 -am 7 loves, 13 ir-e-mu-um 10 love-charm,
        14 _dumu_ 12 child, 16 d 14 Ishtar""",
}
"""Links looked up in the files: a word from 1, the word, and those of the other side."""


@pytest.mark.real_data
@pytest.mark.parametrize(("name", "languages", "k"), BY_HAND, ids=["pud", "three", "json"])
def test_links_looked_up_by_hand_are_read(folder, treebanks, name, languages, k):
    words = treebanks if name.startswith("pud") else {}
    pair = read_corpus(folder / name, languages=languages, **words)[k]
    links = pair.alignment("alignment").sure
    for line in BY_HAND[name, languages, k].split(","):
        i, source, j, target = line.split()
        assert (pair.source[int(i) - 1], pair.target[int(j) - 1]) == (source, target)
        assert (int(i) - 1, int(j) - 1) in links


@pytest.mark.real_data
def test_real_counts_are_those_of_the_plain_files(folder, treebanks):
    corpus = read_corpus(folder / "pud-en-ko.alignment.json", **treebanks)
    alignments = [pair.alignment("alignment") for pair in corpus]
    plain = [
        item
        for value in json.loads((folder / "pud-en-ko.alignment.json").read_bytes())
        for key in value
        for item in [(key, other) for other in value[key]]
    ]
    nulls = sum("X" in item for item in plain)
    assert (sum(map(len, alignments)), nulls) == (len(plain) - nulls, 1220)
    assert sum(len(a.nulls) for a in alignments) == 1220
    lengths = [
        [pair.lengths for pair in read_corpus(folder / name)] for name in REAL if "alph" in name
    ]
    assert lengths == [[(83, 163), (86, 114)], [(3, 2), (4, 7)]]
    assert read_corpus(folder / "ugarit-32103.xml")[0].alignments == (
        read_corpus(folder / "ugarit-32103.json")[0].alignments
    )


@pytest.mark.real_data
@pytest.mark.parametrize("name", [name for name in REAL if "burrito" not in name])
def test_real_files_come_back(folder, tmp_path, treebanks, name):
    format = REAL[name].replace("-json", "-xml")
    words = treebanks if format == "pud" else {}
    corpus = read_corpus(folder / name, **words)
    if format == "conllu":
        corpus = corpus.map(
            lambda pair: SentencePair(pair.id, pair.source, ["x"], {}, pair.attributes)
        )
        write_corpus(corpus, tmp_path / "out", format=format)
        again = (tmp_path / "out.source.conllu").read_text("utf-8")
        assert again.rstrip("\n") == (folder / name).read_text("utf-8").rstrip("\n")
        return
    out = {side: str(tmp_path / side) for side in words}
    lost = write_corpus(corpus, tmp_path / "out", format=format, **out)
    assert lost == ({"attribute url": 1} if name.endswith("03.json") else {})
    again = read_corpus(tmp_path / "out", **out)
    for pair, known in zip(again, corpus, strict=True):
        assert (pair.id, pair.words, pair.annotations) == (known.id, known.words, known.annotations)
        assert known.attributes.items() - pair.attributes.items() == (
            {("url", known.attributes["url"])} if lost else set()
        )
