"""The line formats of others are read with their quirks, and read(write(x)) == x."""

import pytest
from format_files import NUMBERS, alignments, holds, left_out, lenient, put, refusing, round_trip
from hypothesis import given
from hypothesis import strategies as st
from strategies import corpora

from alignkit import NULL, AlignkitError, Alignment, Corpus, Link, SentencePair
from alignkit.io import open_reading, read_corpus, read_pairs, write_corpus

# --- NAACL / WPT


def test_naacl_columns_marks_confidences_nulls_and_padding(tmp_path):
    lines = "0007 1 1\n7 2 3 P\n07 2 2 S 0.5\n7 3 1 0.25\n7 5 0\n7 0 4 P 1e-3\n\n26 1 1\n"
    first, second = read_corpus(put(tmp_path, "a", lines), format="naacl")
    assert (first.id, second.id) == ("7", "26")
    found = first.alignment("alignment")
    assert str(found) == "0-0 1-1 1?2 2-0 ?3 4-"
    assert found.weights == {Link(1, 1): 0.5, Link(2, 0): 0.25, Link(NULL, 3): 1e-3}


def test_naacl_scattered_links_come_together_in_the_order_of_first_links(tmp_path):
    path = put(tmp_path, "a", "9 1 1\n2 1 1\n9 2 2\n2 2 1\n5 1 2\n")
    assert alignments(path, "naacl") == {"9": "0-0 1-1", "2": "0-0 1-0", "5": "0-1"}


def test_naacl_from_base_0_has_no_empty_word(tmp_path):
    path = put(tmp_path, "a", "1 0 0\n1 0 2\n")
    assert alignments(path, "naacl", base=0) == {"1": "0-0 0-2"}
    with refusing(":1:", "`base=0`"):
        read_corpus(path, format="naacl")


def test_naacl_words_stand_in_snum_lines_or_plain_lines(tmp_path):
    links = put(tmp_path, "a", "26 1 2\n003 2 1\n")
    numbered = "<s snum=0003>a  b </s>\r\n<s snum=5> c</s>\n<s snum=26> d </s>\n\n"
    target = put(tmp_path, "t", "<s snum=0003> x </s>\n<s snum=5>y</s>\n<s snum=26>z z</s>")
    beside = {"format": "naacl", "source": put(tmp_path, "s", numbered), "target": target}
    full = read_corpus(links, **beside)
    assert (full.ids, full[0].words) == (("0003", "5", "26"), (("a", "b"), ("x",)))
    assert [str(pair.alignment("alignment")) for pair in full] == ["1-0", "", "0-1"]
    assert not read_corpus(links, **beside, partial=True)[1].annotations
    plain = put(tmp_path, "p", "a b ||| x\nc ||| y\nd d ||| z\n")
    short = put(tmp_path, "b", "3 1 1\n1 2 1\n")
    assert read_corpus(short, format="naacl", source=plain).ids == ("1", "2", "3")
    with refusing("a:1:", "sentence 26"):
        read_corpus(links, format="naacl", source=plain)


@pytest.mark.parametrize(
    "line",
    [
        "1 1",
        "1 1 1 S 0.5 x",
        "1 1 x",
        "1 1 1 Q 0.5",
        "1 1 1 maybe",
        "1 1 1 nan",
        "1 1 1 S 1e999",
        "1 1 -1",
        "1 1_0 1",
        "1 ١ 1",
        "1 1 10000000000000000000000000000000",
    ],
)
def test_naacl_refuses_a_broken_line_with_its_number(tmp_path, line):
    with refusing("a:2:", "expected"):
        read_corpus(put(tmp_path, "a", f"1 1 1\n{line}\n"), format="naacl")


def test_naacl_lenient_leaves_out_the_sentence_of_a_broken_line_once(tmp_path):
    ids, reading = lenient(put(tmp_path, "a", "1 1 1\n2 1\n2 1 1\n2 x\n3 1 1\nx y z\n"), "naacl")
    assert ids == ["1", "3"]
    assert reading.refused == 2  # sentence 2, and a line of nobody


def with_links(corpus):
    return corpus.filter(lambda pair: any(str(a.alignment) for a in pair.annotations.values()))


@given(corpora(holds("naacl") | {"ids"}, ids=st.integers(0, 10**9 - 1).map(str)))
def test_naacl_gives_back_what_has_links(corpus):
    back, lost = round_trip(corpus, "naacl")
    assert back == with_links(corpus)
    assert lost["empty"] == len(corpus) - len(back)


HELD = holds("naacl") | {"ids", "text"}


@given(corpora(HELD - {"no text"}, ids=NUMBERS.map(lambda n: n.zfill(4))))
def test_naacl_with_words_gives_back_all(corpus):
    corpus = Corpus({int(pair.id): pair for pair in corpus}.values())
    assert round_trip(corpus, "naacl", written={"source": "s", "target": "t"}) == (corpus, {})


def test_naacl_writing_numbers_pairs_whose_ids_are_no_numbers_and_tells(tmp_path):
    one = Alignment.parse("0-0")
    pairs = [SentencePair(id, ("a",), ("b",), {"x": one}) for id in ("2", "b", "2", "007")]
    path = str(tmp_path / "a")
    assert write_corpus(pairs, path, format="naacl") == {"ids": 3}
    assert read_corpus(path, format="naacl").ids == ("2", "1", "3", "7")
    later = [SentencePair(id, ("a",), ("b",), {"x": one}) for id in ("b", "1")]
    assert write_corpus(later, path, format="naacl") == {"ids": 2}  # no number is given twice
    assert read_corpus(path, format="naacl").ids == ("1", "2")
    assert write_corpus(pairs, path, format="naacl", source=str(tmp_path / "b")) == {"ids": 4}
    bad = [SentencePair("1", ("|||",), ("b",), {"x": one})]
    with pytest.raises(AlignkitError, match="divider"):
        write_corpus(bad, path, format="naacl", source=str(tmp_path / "b"))


# --- GIZA A3 and RTE

GIZA = """\
# Sentence pair (1) source length 3 target length 4 alignment score : 0.0123
elles sont parties hier
NULL ({ 2 }) they ({ 1 }) left ({ 3 }) yesterday ({ 4 })
# Sentence pair (12) source length 4 target length 2
b c
NULL ({ }) ({ ({ 1 }) }) ({ 1 2 }) NULL ({ }) (a) ({ 2 })
"""


def test_giza_bracketed_words_are_the_source_and_null_holds_target_words(tmp_path):
    first, second = read_corpus(put(tmp_path, "a", GIZA), format="giza")
    assert first.words == (("they", "left", "yesterday"), ("elles", "sont", "parties", "hier"))
    assert str(first.alignment("alignment")) == "0-0 1-2 2-3 -1"
    assert (first.attributes, second.attributes) == ({"score": "0.0123"}, {})
    assert second.source == ("({", "})", "NULL", "(a)")
    assert str(second.alignment("alignment")) == "0-0 1-0 1-1 3-1"


def test_giza_transposed_exchanges_words_and_links(tmp_path):
    path = put(tmp_path, "a", GIZA)
    there = read_corpus(path, format="giza", transpose=True)
    assert there == read_corpus(path, format="giza").transpose()
    write_corpus(there, str(tmp_path / "b"), format="giza", transpose=True)
    assert read_corpus(str(tmp_path / "b"), format="giza") == read_corpus(path, format="giza")


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("pair (1)", "pair 1", 1),
        ("length 3", "length 2", 1),
        ("NULL ({ 2 })", "nil ({ 2 })", 3),
        ("left ({ 3 })", "left ({ 3", 3),
        ("left ({ 3 })", "left { 3 })", 3),
        ("left ({ 3 })", "left ({ p3 })", 3),
        ("left ({ 3 })", "left ({ 5 })", 1),
        ("left ({ 3 })", "left ({ 0 })", 1),
        ("elles sont parties hier\n", "", 3),
    ],
)
def test_giza_refuses_a_broken_record_and_goes_on_at_the_next(tmp_path, old, new, line):
    left_out(put(tmp_path, "a", GIZA.replace(old, new, 1)), "giza", f"a:{line}:", ["12"])


RTE = """\
# sentence pair 1\r
\ufeffThe mill burned down . \r
NULL ({ p5 / / }) \ufeffA ({ p1 / / }) mill ({ 2 p1 / / }) burnt ({ 4 3 / / }) ! ({ / / })\r
# sentence pair 2\r
A b .\r
NULL ({ / / }) b ({ 2 / / }) . ({ 3 / / }\r
"""


def test_rte_text_is_the_source_and_the_last_parenthesis_may_lack(tmp_path):
    path = put(tmp_path, "a", RTE)
    chosen, reading = open_reading(path, format="rte")
    first, second = read_pairs(chosen, reading)
    assert first.words == (("The", "mill", "burned", "down", "."), ("A", "mill", "burnt", "!"))
    assert str(first.alignment("alignment")) == "0?0 0?1 1-1 2-2 3-2 4?"
    assert str(second.alignment("alignment")) == "1-0 2-1"
    assert reading.counts["missing parenthesis"] == 1
    assert read_corpus(path, format="rte", transpose=True)[0] == first.transpose()


@pytest.mark.parametrize(
    "text",
    [
        RTE.replace("! ({ / / })", "! ({ / / }"),  # not at the end of the file
        RTE.rstrip()[:-2],  # another end
        RTE.replace("b ({ 2 / / })", "b ({ 2 })"),
        RTE.replace("b ({ 2 / / })", "b ({ q2 / / })"),
    ],
)
def test_rte_forgives_nothing_else(tmp_path, text):
    left_out(put(tmp_path, "a", text), "rte", "a:", ["1"] if "! ({ / / })" in text else ["2"])


@pytest.mark.parametrize("format", ["giza", "rte"])
def test_giza_and_rte_tell_what_they_lose(tmp_path, format):
    both = Alignment(nulls=[Link(0, NULL), Link(NULL, 0)])
    pairs = [SentencePair("a", ("a",), ("b",), {"x": both}), SentencePair("2", ("a",), ("b",))]
    lost = write_corpus(pairs, str(tmp_path / "a"), format=format)
    assert lost == {"ids": 1, "nulls": 1, "absent": 1}
    assert read_corpus(str(tmp_path / "a"), format=format).ids == ("1", "2")


# --- interpretable STS

ISTS = """\
<sentence id="1" status="ok">
// A cat sleeps.
// The cat
<source>
1 A :
2 cat :
3 sleeps :
4 . :
</source>
<translation>
1 The :
2 cat :
</translation>
<alignment>
1 2 <==> 1 2 // SPE2 // 4 // A cat <==> The cat
3 <==> 0 // NOALI // 1 // sleeps <==> -not aligned-
4 <==> 0 // NOALI // NIL // . <==> -not aligned-
</alignment>
</sentence>


<sentence id="2" status="">
<source>
</source>
<translation>
1 : :
</translation>
<alignment>
0 <==> 1 // NOALI // NIL // -not aligned- <==> :
</alignment>
</sentence>
"""


def test_ists_chunks_are_blocks_with_labels_and_zero_is_null(tmp_path):
    first, second = read_corpus(put(tmp_path, "a.wa", ISTS), format="ists")
    found = first.alignment("alignment")
    assert str(found) == "0-0 0-1 1-0 1-1 2- 3-"
    assert found.labels == dict.fromkeys(found.possible, "SPE2 4") | {Link(2, NULL): "NOALI 1"}
    assert first.attributes == {"status": "ok", "source text": "A cat sleeps."}
    assert second.words == ((), (":",))
    assert (str(second.alignment("alignment")), second.attributes) == ("-0", {})


def test_ists_counts_words_of_chunks_that_differ(tmp_path):
    path = put(tmp_path, "a.wa", ISTS.replace("A cat <==>", "A dog <==>"))
    chosen, reading = open_reading(path, format="ists")
    assert len(list(read_pairs(chosen, reading))) == 2
    assert reading.counts == {"chunk words differ": 1}


def test_ists_reads_what_the_evaluation_script_of_the_task_takes(tmp_path):
    text = ISTS.replace('id="1" status="ok"', 'id ="1"').replace("// 1 // sleeps", "// 0 // sleeps")
    text = text.replace("1 2 <==> 1 2 // SPE2 // 4", "1  2<==>1\t2 // SPE2_FACT // 4.5")
    text = text.replace("4 <==> 0 // NOALI // NIL // . <==> -not aligned-", "2 <==> 2 // SIMI // 3")
    chosen, reading = open_reading(put(tmp_path, "a.wa", text), format="ists")
    pair = next(read_pairs(chosen, reading))
    found = pair.alignment("alignment")
    assert (pair.id, str(found)) == ("1", "0-0 0-1 1-0 1-1 2-")
    assert found.labels == dict.fromkeys(found.possible, "SPE2_FACT 4.5") | {(2, NULL): "NOALI 0"}
    assert reading.counts == {"duplicate link": 1, "two labels": 1}


def test_ists_words_of_noali_are_aligned_to_nothing(tmp_path):
    path = put(tmp_path, "a.wa", ISTS.replace("// SPE2 // 4", "// NOALI // NIL", 1))
    assert alignments(path, "ists") == {"1": "-0 -1 0- 1- 2- 3-", "2": "-0"}


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('id="1"', "id=1", 1),
        ("// The cat\n", "", 3),
        ("2 cat :\n3", "3 cat :\n3", 6),
        ("3 sleeps :", "3 sleeps", 7),
        ("</source>\n", "", 9),
        ("<alignment>\n", "", 14),
        ("1 2 <==> 1 2", "1 2 = 1 2", 15),
        ("1 2 <==> 1 2", "1 9 <==> 1 2", 15),
        ("1 2 <==> 1 2", "1 2 <==> 0 2", 15),
        ("1 2 <==> 1 2 // SPE2", "0 <==> 0 // SPE2", 15),
        ("// SPE2 // 4", "// SPE2 // four", 15),
        ("</sentence>\n\n", "\n\n", 19),
    ],
)
def test_ists_refuses_a_broken_record_and_goes_on_at_the_next(tmp_path, old, new, line):
    left_out(put(tmp_path, "a.wa", ISTS.replace(old, new, 1)), "ists", f"a.wa:{line}:", ["2"])


def test_ists_tells_what_it_loses(tmp_path):
    odd = Alignment([(0, 0)], nulls=[(1, NULL)], labels={(0, 0): "a b c", (1, NULL): "NOALI"})
    pair = SentencePair("1\n2", ("a", "b"), ("c",), {"x": odd}, {"status": 'a"', "genre": "y"})
    lost = write_corpus([pair], str(tmp_path / "a"), format="ists")
    assert lost == {"labels": 1, "ids": 1, "attribute genre": 1, "attribute status": 1}
    assert alignments(str(tmp_path / "a"), "ists") == {"1": "0-0 1-"}


def test_pharaoh_takes_no_links_for_an_id(tmp_path):
    path = put(tmp_path, "a", "0-0 1-1\t\n\t\n0-0 \t\n")
    assert alignments(path, "pharaoh") == {"1": "0-0 1-1", "2": "", "3": "0-0"}
    with refusing("a:1:", "is '0-0' before the tab an id or a link?"):
        read_corpus(put(tmp_path, "a", "0-0\t\n"), format="pharaoh")
    for head in ("0-0 1-1", "7 1-1"):
        with refusing("a:2:", "an id or a link?"):
            read_corpus(put(tmp_path, "a", f"7\t0-0\n{head}\t0-0\n"), format="pharaoh")


def test_giza_headers_of_other_aligners_are_read(tmp_path):
    text = """\
# sentence pair (4) source length 1 target length 1 alignment score : 0
a
NULL ({ }) b ({ 1 })
#  Sentence pair (5) source length  1 target length 1 alignment
a
NULL ({ 1 }) b ({ })
"""
    path = put(tmp_path, "a.A3", text)
    assert alignments(path, "giza") == {"4": "0-0", "5": "-0"}
    assert [pair.attributes for pair in read_corpus(path, format="giza")] == [{"score": "0"}, {}]
