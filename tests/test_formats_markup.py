"""Test the formats of JSON and XML, and the round trips and damage of all in one file."""

import json

import pytest
from format_files import comes_back, lenient, read, refused, text

from alignkit import Alignment, SentencePair, read_corpus, write_corpus

# jacana


def jacana(**members):
    return {"id": "7", "name": "7", "source": "a b", "target": "c d"} | members


def test_jacana_links_in_both_lists_are_sure(tmp_path):
    path = text(tmp_path, json.dumps([jacana(sureAlign="0-0", possibleAlign="0-0 1-1")]))
    corpus, counts = read(path, "jacana")
    assert corpus[0].alignment("alignment") == Alignment.parse("0-0 1?1")
    assert not counts


def test_jacana_ids_names_and_other_members(tmp_path):
    values = [
        jacana(id=12, sureAlign="", score=0.5, good=True, names=["x"]),
        jacana(name="other", possibleAlign=""),
        {"source": "", "target": ""},
    ]
    corpus, counts = read(text(tmp_path, json.dumps(values)), "jacana")
    assert corpus.ids == ("12", "7", "3")
    assert dict(corpus[0].attributes) == {"name": "7", "score": "0.5", "good": "true"}
    assert counts == {"member left out": 1}
    assert dict(corpus[1].attributes) == {"name": "other"}
    assert [len(pair.annotations) for pair in corpus] == [1, 1, 0]


def two_versions(tmp_path, sure, both):
    text(tmp_path, json.dumps(sure), "x/gold.sure.json")
    text(tmp_path, json.dumps(both), "x/gold.sure+poss.json")
    return tmp_path / "x"


def test_pairs_without_links_in_both_versions_are_not_annotated(tmp_path):
    text = {"id": "1", "source": "a", "target": "b"}
    only_sure = {**text, "id": "2", "sureAlign": "0-0"}
    only_both = {**text, "id": "3", "possibleAlign": "0-0"}
    sure = [text, only_sure, text | {"id": "3"}]
    both = [text, text | {"id": "2"}, only_both]
    corpus, _ = read(two_versions(tmp_path, sure, both), "jacana")
    links = [[str(alignment) for alignment in pair.alignments.values()] for pair in corpus]
    assert links == [[], ["0-0"], ["0?0"]]


@pytest.mark.parametrize(
    ("format", "key", "value", "meant"),
    [
        ("jacana", "sureAlignment", "0-0", "sureAlign"),
        ("jacana", "sure_align", "0-0 1-1", "sureAlign"),
        ("jacana", "possiblealigns", "0-0", "possibleAlign"),
        ("jsonl", "alignments", [[0, 0]], "alignment"),
        ("jsonl", "Alignment", [[0, 0]], "alignment"),
        ("edinburgh", "annotation", {"A": {"S": []}}, "annotations"),
    ],
)
def test_a_member_for_links_that_is_misspelt_is_an_error(tmp_path, format, key, value, meant):
    value = {key: value}
    if format == "jsonl":
        value |= {"src_words": ["a", "b"], "tgt_words": ["c", "d"]}
    elif format == "edinburgh":
        value = {"paraphrases": [value | {"S": {"string": "a"}, "T": {"string": "b"}}]}
    else:
        value = [jacana(**value)]
    path = text(tmp_path, json.dumps(value))
    refused(path, format, f"unknown member {key!r} of a pair; did you mean {meant!r}?", 1)


def test_a_member_that_is_named_almost_like_links_but_holds_none_is_kept(tmp_path):
    value = jacana(sureAlign="0-0", possibleAligns=3, surealigned="0-0", possible_align="none")
    corpus, counts = read(text(tmp_path, json.dumps([value])), "jacana")
    kept = {"possibleAligns": "3", "surealigned": "0-0", "possible_align": "none"}
    assert dict(corpus[0].attributes) == kept
    assert not counts


def test_lines_that_end_in_carriage_returns_mean_nothing_to_json(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(json.dumps([jacana(sureAlign="0-0")], indent=1).replace("\n", "\r").encode())
    assert len(read_corpus(path)) == 1


def test_jacana_folder_joins_two_versions(tmp_path):
    sure = [jacana(sureAlign="0-0"), jacana(id="8", sureAlign="")]
    both = [jacana(id="8", sureAlign="1-1"), jacana(sureAlign="0-0 1-0", possibleAlign="")]
    text(tmp_path, json.dumps([jacana(sureAlign="1-1")]), "x/silver.json")
    corpus, counts = read(two_versions(tmp_path, sure, both), "jacana")
    assert corpus.ids == ("7", "8", "7")
    assert [str(pair.alignment("alignment")) for pair in corpus] == ["0-0 1?0", "1?1", "1-1"]
    assert [pair.attributes["document"] for pair in corpus] == ["gold", "gold", "silver"]
    assert not counts


@pytest.mark.parametrize(
    ("sure", "both", "message"),
    [
        ([jacana(), jacana()], [jacana()], "id '7' is missing in"),
        ([jacana()], [jacana(), jacana(id="8")], "id '8' is missing in"),
        ([jacana()], [jacana(source="a x")], "tokens of '7' differ"),
    ],
)
def test_jacana_versions_that_do_not_fit_are_an_error(tmp_path, sure, both, message):
    refused(two_versions(tmp_path, sure, both), "jacana", message)


def test_jacana_notes_a_sure_link_that_the_other_version_lacks(tmp_path):
    path = two_versions(tmp_path, [jacana(sureAlign="0-0")], [jacana(sureAlign="1-1")])
    corpus, counts = read(path, "jacana")
    assert (str(corpus[0].alignment("alignment")), counts) == ("0-0 1?1", {"sure link missing": 1})


# JSON as such


@pytest.mark.parametrize(
    ("content", "message", "line"),
    [
        ("", "file ends here", 1),
        ("{}", "expected '['", 1),
        ('[\n{"source": "a", "target": "b"},\n  {]', "not JSON", 3),
        ("[\n[]\n]", "expected an object", 2),
        ('[\n\n{"id": "1", "source": "a", "target": 2}]', "'target' is 2; expected a text", 3),
        ('[{"id": [], "source": "a", "target": "b"}]', "'id' must be", 1),
        ('[\n{"source": "a", "target": "b", "sureAlign": "0-1"}]', "0-1 lies outside", 2),
        ('[\n{"source": "a", "target": "b", "sureAlign": "0:0"}]', "'0:0' is not a link", 2),
        ("[] []", "expected the end", 1),
    ],
)
def test_json_errors_name_line_and_cause(tmp_path, content, message, line):
    refused(text(tmp_path, content), "jacana", message, line)


def test_lenient_reading_leaves_broken_pairs_out(tmp_path):
    values = [jacana(sureAlign="0-0"), 1, jacana(sureAlign="0-9"), jacana(sureAlign="1-1")]
    ids, reading = lenient(text(tmp_path, json.dumps(values)), "jacana")
    assert (len(ids), reading.read, reading.refused) == (2, 2, 2)


# Edinburgh++


def edinburgh(**members):
    value = {
        "id": "novels:1",
        "train": "A",
        "S": {"string": "a b c d"},
        "T": {"string": "e f "},
        "annotations": {
            "A": {"S": [[0, [0]], [3, [0, 1]]], "P": [[1, [1]]]},
            "C": {"S": [], "P": []},
        },
    }
    return json.dumps({"version": 2, "paraphrases": [value | members]})


def test_edinburgh_holds_several_annotators_and_the_gold_one(tmp_path):
    corpus, counts = read(text(tmp_path, edinburgh()), "edinburgh")
    pair = corpus[0]
    assert (pair.id, pair.words) == ("novels:1", (("a", "b", "c", "d"), ("e", "f")))
    assert dict(pair.attributes) == {"train": "A"}
    assert pair.alignment("A") == Alignment.parse("0-0 1?1 3-0 3-1")
    assert (pair.alignment("C"), counts) == (Alignment(), {"member left out": 1})
    write_corpus(corpus, tmp_path / "again", format="edinburgh")
    written = json.loads((tmp_path / "again").read_text())["paraphrases"][0]
    assert written["annotations"]["A"] == {"S": [[0, [0]], [3, [0, 1]]], "P": [[1, [1]]]}


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"annotations": {"A": {"S": [[0, 0]]}}}, "expected [i, [j, ...]]"),
        ({"annotations": {"A": {"S": [[0, [-1]]]}}}, "-1 is not a word position"),
        ({"annotations": {"A": {"S": [[True, [1]]]}}}, "true is not a word"),
        ({"annotations": {"A": {"S": [[4, [0]]]}}}, "4-0 lies outside"),
        ({"annotations": {"A": []}}, "expected an object"),
        ({"S": "a b"}, "expected an object"),
        ({"T": {}}, "'string' is missing"),
    ],
)
def test_edinburgh_refuses_what_is_no_link(tmp_path, members, message):
    refused(text(tmp_path, edinburgh(**members)), "edinburgh", message, 1)


def test_edinburgh_tolerates_missing_lists_and_a_link_in_both(tmp_path):
    refused(text(tmp_path, '{"pairs": []}'), "edinburgh", "no 'paraphrases'")
    members = {"annotations": {"A": {"S": [[0, [0]]], "P": [[0, [0, 1]], [1, []]]}, "C": {}}}
    corpus, counts = read(text(tmp_path, edinburgh(**members)), "edinburgh")
    assert corpus[0].alignment("A") == Alignment.parse("0-0 0?1")
    assert corpus[0].alignment("C") == Alignment()
    assert counts["word without links"] == counts["both sure and possible"] == 1


# JSON lines of word lists


def test_jsonl_keeps_words_as_they_are_and_absence_apart_from_emptiness(tmp_path):
    values = [
        {"src_words": ["a b", ""], "tgt_words": ["c"], "alignment": [[0, 0]], "genre": "news"},
        {"src_words": ["a"], "tgt_words": ["c"], "alignment": [], "n": 3, "more": {}},
        {"src_words": ["a"], "tgt_words": ["c"], "alignment": None, "id": 77},
        {"src_words": ["a"], "tgt_words": ["c"]},
    ]
    corpus, counts = read(text(tmp_path, "\n".join(map(json.dumps, values))), "jsonl")
    assert (corpus.ids, corpus[0].source) == (("1", "2", "77", "4"), ("a b", ""))
    assert [len(pair.annotations) for pair in corpus] == [1, 1, 0, 0]
    assert [dict(pair.attributes) for pair in corpus[:2]] == [{"genre": "news"}, {"n": "3"}]
    assert counts == {"member left out": 1}


@pytest.mark.parametrize(
    ("member", "message"),
    [
        ('"alignment": [[0]]', "[0] is not a link; expected [i, j]"),
        ('"alignment": [["0", "0"]]', "is not a word position"),
        ('"alignment": "0-0"', "expected a list"),
        ('"alignment": [[0, 1]]', "0-1 lies outside"),
        ('"src_words": "a"', "'src_words' occurs twice"),
        ('"id": null', "'id' must be"),
    ],
)
def test_jsonl_refuses_what_is_no_link(tmp_path, member, message):
    line = '{"src_words": ["a"], "tgt_words": ["b"], %s}'
    refused(text(tmp_path, line % '"alignment": []' + "\n\n" + line % member), "jsonl", message, 3)


# The XML of paraphrases

PARAPHRASES = """<?xml version="1.0"?>
<paraphrases xmlns="urn:x">
<paraphrase id="novels:1" genre="novel">
  <first><string> a b  c d </string></first>
  <second>e f</second>
  <alignments source="anna">
    <alignment first="0" second="0" status="Sure"/>
    <alignment first="1, 2" second="0 1" status="P"/>
    <alignment first="3" second=""/><!-- nothing -->
  </alignments>
  <alignments source="ben"/>
  <note>left out</note>
</paraphrase>
<paraphrase><first/><second/></paraphrase>
</paraphrases>"""


def test_paraphrase_xml_reads_blocks_nulls_and_several_annotators(tmp_path):
    corpus, counts = read(text(tmp_path, PARAPHRASES), "paraphrase-xml")
    first, second = corpus
    assert (first.id, dict(first.attributes)) == ("novels:1", {"genre": "novel"})
    assert first.words == (("a", "b", "c", "d"), ("e", "f"))
    assert first.alignment("anna") == Alignment.parse("0-0 1?0 1?1 2?0 2?1 3-")
    assert first.alignment("ben") == Alignment()
    assert (second.id, second.words, len(second.annotations)) == ("2", ((), ()), 0)
    assert counts == {"element left out": 1}


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ('second="0"', 'second="2"', "0-2 lies outside", 7),
        ('second="0"', 'second="x"', "'x' is not a word", 7),
        ('second="0"', 'second="-1"', "'-1' is not a word position", 7),
        ('first="0" second="0"', "", "without word positions", 7),
        ("Sure", "maybe", "expected sure or possible", 7),
        ('source="ben"', 'source="anna"', "'anna' occurs twice", 11),
        ("<second>e f</second>", "", "expected <first> and <second>", 3),
        ("<second>e f</second>", "<second/><second/>", "<second> occurs twice", 5),
        ("<second>e f</second>", "<second><w>e</w></second>", "<w>, expected the words", 5),
        ("<!-- nothing -->", "x", "among the alignments", 6),
        ("</paraphrase>\n</", "</paraphrase>\n", "not XML", None),
        ("<paraphrase><", "<pair/><paraphrase><", "element <pair>, expected <paraphrase>", 14),
    ],
)
def test_paraphrase_xml_errors_name_the_line(tmp_path, old, new, message, line):
    assert old in PARAPHRASES
    refused(text(tmp_path, PARAPHRASES.replace(old, new, 1)), "paraphrase-xml", message, line)


def test_paraphrase_xml_names_the_one_annotator_as_told(tmp_path):
    path = text(tmp_path, PARAPHRASES.replace(' source="anna"', ""))
    assert read_corpus(path, format="paraphrase-xml", name="me").annotators == ("me", "ben")


def test_paraphrase_xml_blocks_cannot_fill_the_memory(tmp_path):
    many = " ".join(map(str, range(5000)))
    path = text(tmp_path, PARAPHRASES.replace('"1, 2" second="0 1"', f'"{many}" second="{many}"'))
    refused(path, "paraphrase-xml", "a block of 5000 x 5000 words")


def test_paraphrase_xml_attributes_cannot_fill_the_time(tmp_path):
    many = " ".join(f'a{k}="1"' for k in range(100_000))
    path = text(tmp_path, PARAPHRASES.replace("<paraphrase>", f"<paraphrase {many}>"))
    refused(path, "paraphrase-xml", "a pair with 100000 attributes", 14)


def test_paraphrase_xml_notes_what_the_root_says(tmp_path):
    content = PARAPHRASES.replace('xmlns="urn:x"', 'version="3"')
    assert read(text(tmp_path, content), "paraphrase-xml")[1]["attributes left out"] == 1


def test_paraphrase_xml_counts_attributes_it_cannot_name(tmp_path):
    pair = SentencePair("1", ["a"], ["b"], {}, {"a b": "x", "id": "y", "ok": "z"})
    lost = write_corpus([pair], tmp_path / "x", format="paraphrase-xml")
    assert lost == {"attribute a b": 1, "attribute id": 1}
    assert dict(read_corpus(tmp_path / "x", format="paraphrase-xml")[0].attributes) == {"ok": "z"}


# The real corpora


@pytest.mark.real_data
def test_edinburgh_training_pairs(data, tmp_path):
    corpus, counts = read(data / "edinburgh", "jacana")
    assert len(corpus) == len(set(corpus.ids)) == 714
    assert not counts
    sure = read_corpus(data / "edinburgh" / "gold.train.sure.json", format="jacana")
    both = read_corpus(data / "edinburgh" / "gold.train.sure+poss.json", format="jacana")
    parts = corpus, sure, both
    joined, first, second = ([pair.alignment("alignment") for pair in part] for part in parts)
    assert [links.sure for links in joined] == [links.possible for links in first]
    assert [links.possible for links in joined] == [links.possible for links in second]
    assert any(links.sure != links.possible for links in joined)
    comes_back(corpus, tmp_path / "x", "jacana")
