"""Files that users have are detected and read, whatever their line ends, marks and empty lines."""

import json
import re
from dataclasses import replace
from unicodedata import normalize

import pytest
from command import run
from format_files import damaged, put, read, refused, survive

import alignkit as ak
from alignkit import read_corpus, write_corpus
from alignkit.io import find_format

ONE_LINE = """\
the dog barks ||| le chien aboie ||| 0-0 1-1 2?2
no links here ||| rien du tout |||
a b ||| c ||| 0-0:0.5 1-0-P
"""


def links(corpus):
    return [str(pair.alignment("alignment")) for pair in corpus]


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_lines_of_both_sentences_and_links_are_read(tmp_path, ends, mark):
    path = put(tmp_path, "x", mark + ONE_LINE.replace("\n", ends))
    assert find_format(path) == "one-line"
    corpus = read_corpus(path)
    assert links(corpus) == ["0-0 1-1 2?2", "", "0-0 1?0"]
    assert corpus[0].words == (("the", "dog", "barks"), ("le", "chien", "aboie"))
    assert corpus[2].alignment("alignment").weights == {(0, 0): 0.5}
    again = tmp_path / "again"
    assert not write_corpus(corpus, again, format="one-line", weights=True)
    assert read_corpus(again) == corpus


def test_lines_of_both_sentences_may_begin_with_ids_and_be_empty(tmp_path):
    path = put(tmp_path, "x", "k\ta ||| b ||| 0-0\nh\tc d ||| e ||| 1-0\n")
    assert find_format(path) == "one-line"
    corpus = read_corpus(path)
    assert [pair.id for pair in corpus] == ["k", "h"]
    assert corpus[1].source == ("c", "d")
    assert not write_corpus(corpus, tmp_path / "again", format="one-line", ids=True)
    assert read_corpus(tmp_path / "again") == corpus
    corpus, counts = read(put(tmp_path, "gap", "a ||| b ||| 0-0\n\nc ||| d ||| 0-0\n"), "one-line")
    assert [pair.id for pair in corpus] == ["1", "3"]
    assert counts["empty line"] == 1


def test_a_damaged_line_of_both_sentences_is_named(tmp_path):
    path = put(tmp_path, "x", ONE_LINE * 3 + "a b ||| c\n")
    assert find_format(path) == "one-line"
    refused(path, "one-line", "1 dividers ' ||| '; expected two", 10)
    path = put(tmp_path, "x", ONE_LINE + "a b ||| c ||| 0-0 1\n")
    refused(path, "one-line", "'1' is not a link", 4)
    path = put(tmp_path, "x", ONE_LINE + "a b ||| c ||| 0-5\n")
    refused(path, "one-line", "link 0-5 lies outside", 4)


def test_phrase_tables_and_bitexts_are_not_lines_with_links(tmp_path):
    for content in ("a b ||| c\n", "a ||| b ||| 0.5 0.5 ||| 0-0\n", "a ||| b ||| 0.5 0.25\n"):
        with pytest.raises(ValueError, match="no format fits"):
            find_format(put(tmp_path, "x", content * 3))


OBJECTS = [
    {"src_words": ["a", "b"], "tgt_words": ["c"], "alignment": [[0, 0], [1, 0]]},
    {"id": "x", "src_words": ["a"], "tgt_words": ["c d"], "alignment": [], "genre": "news"},
]


@pytest.mark.parametrize("indent", [None, 2])
def test_an_array_of_objects_is_read_as_lines_are(tmp_path, indent):
    path = put(tmp_path, "x", "\n" + json.dumps(OBJECTS, indent=indent))
    lines = put(tmp_path, "lines", "".join(f"{json.dumps(each)}\n" for each in OBJECTS))
    assert find_format(path) == "jsonl"
    assert read_corpus(path) == read_corpus(lines)
    for name in ("alignkit-jsonl", "jsonl"):
        write_corpus(read_corpus(path), tmp_path / "out", format=name)
        written = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
        array = put(tmp_path, "array", json.dumps(written[name == "alignkit-jsonl" :]))
        assert find_format(array) == name
        assert read_corpus(array) == read_corpus(path)


def test_a_damaged_element_of_an_array_is_named(tmp_path):
    broken = [*OBJECTS, {"src_words": ["a"], "tgt_words": 5}, 7]
    path = put(tmp_path, "x", ",\n".join(map(json.dumps, broken)).join(("[\n", "\n]")))
    refused(path, "jsonl", "'tgt_words' is 5; expected a list", 4)
    path = put(tmp_path, "x", "[\n" + json.dumps(OBJECTS[0]) + ",\n7]")
    refused(path, "jsonl", "expected one object per element", 3)
    path = put(tmp_path, "x", "[\n" + json.dumps(OBJECTS[0]) + "\n")
    refused(path, "jsonl", "not JSON: expected ']'")


SHORT_A3 = """\
# Sentence pair (1)
La casa verde .
NULL ({ }) The ({ 1 }) green ({ 3 }) house ({ 2 }) . ({ 4 })
# Sentence pair (2)
oui
NULL ({ 1 }) yes ({ })
"""


def test_giza_with_the_short_heading_is_read(tmp_path):
    path = put(tmp_path, "x", SHORT_A3)
    assert find_format(path) == "giza"
    corpus = read_corpus(path)
    assert links(corpus) == ["0-0 1-2 2-1 3-3", "-0"]
    scored = SHORT_A3.replace("(1)", "( 1 ) alignment score : 0.5").replace("pair", "PAIR")
    path = put(tmp_path, "x", scored)
    assert find_format(path) == "giza"
    assert read_corpus(path)[0].attributes == {"score": "0.5"}
    refused(
        put(tmp_path, "x", SHORT_A3.replace("({ 2 })", "({ x })")), "giza", "expected a word", 3
    )


def test_links_with_ids_are_read_with_texts_without_them_in_the_same_order(tmp_path, caplog):
    path = put(tmp_path, "x", "0\t0-0 1-1\n1\t\n2\t0-0\n")
    text = put(tmp_path, "text", "a b ||| c d\ne ||| f\ng ||| h\n")
    corpus = read_corpus(path, source=text)
    assert [pair.id for pair in corpus] == ["0", "1", "2"]
    assert [pair.source for pair in corpus] == [("a", "b"), ("e",), ("g",)]
    assert "have no ids" in caplog.text
    for side, words in (("s", "a b\ne\ng\n"), ("t", "c d\nf\nh\n")):
        put(tmp_path, side, words)
    sides = {"source": str(tmp_path / "s"), "target": str(tmp_path / "t")}
    assert read_corpus(path, **sides) == corpus
    with pytest.raises(ValueError, match=r"x: has 3 lines, but .* has 2"):
        read_corpus(path, source=put(tmp_path, "short", "a b ||| c d\ne ||| f\n"))


def test_ids_that_do_not_count_up_join_texts_by_order_only_if_declared(tmp_path):
    path = put(tmp_path, "x", "k7\t0-0\nk3\t0-0\n")
    text = put(tmp_path, "text", "a ||| c\ne ||| f\n")
    with pytest.raises(ValueError, match="use --text-ids no"):
        read_corpus(path, source=text)
    corpus = read_corpus(path, source=text, text_ids=False)
    assert [pair.id for pair in corpus] == ["k7", "k3"]
    assert [pair.source for pair in corpus] == [("a",), ("e",)]
    gap = put(tmp_path, "x", "1\t0-0\n3\t0-0\n")
    with pytest.raises(ValueError, match="text:2: expected the id '3'"):
        read_corpus(gap, source=text)


def test_order_is_not_claimed_for_ids_that_do_not_count_up(tmp_path, caplog):
    path = put(tmp_path, "x", "100\t0-0\n101\t0-0\n")
    text = put(tmp_path, "text", "a ||| c\ne ||| f\n")
    with pytest.raises(ValueError, match="expected the id '100'"):
        read_corpus(path, source=text)
    assert "same order" not in caplog.text


def test_weights_of_links_are_read_from_a_second_file(tmp_path):
    path = put(tmp_path, "x", "0-0 1?1 NULL-2 0-0\n\n2-1\n")
    beside = put(tmp_path, "w", "\ufeff0.5 1e-3 .25 0.75\r\n\r\n1\r\n")
    corpus = read_corpus(path, link_weights=beside)
    first, second, third = (pair.alignment("alignment") for pair in corpus)
    assert first.weights == {(0, 0): 0.75, (1, 1): 1e-3, (-1, 2): 0.25}
    assert (len(second), third.weights) == (0, {(2, 1): 1})
    ids = put(tmp_path, "ids", "a\t0-0\nb\t1-1 2-2\n")
    corpus = read_corpus(ids, link_weights=put(tmp_path, "w", "a\t0.5\nb\t0.5, 0.25\n"))
    assert corpus[1].alignment("alignment").weights == {(1, 1): 0.5, (2, 2): 0.25}
    pathlike = read_corpus(ids, link_weights=tmp_path / "w")
    assert pathlike == corpus


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("0.5\n0.5\n", "w:1: 1 numbers for 2 links in .*x:1"),
        ("0.5 0.5\n", "w: has fewer lines"),
        ("0.5 0.5\n0.5\n0.5\n", "w:3: has more lines than"),
        ("0.5 0.5\nhalf\n", "w:2: 'half' of a link"),
    ],
)
def test_weights_that_do_not_fit_the_links_are_named(tmp_path, weights, message):
    path = put(tmp_path, "x", "0-0 1-1\n2-2\n")
    with pytest.raises(ValueError, match=message):
        read_corpus(path, link_weights=put(tmp_path, "w", weights))


def test_only_links_without_weights_take_those_of_a_second_file(tmp_path):
    weights = put(tmp_path, "w", "0.5\n")
    with pytest.raises(ValueError, match="x:1: links have weights"):
        read_corpus(put(tmp_path, "x", "0-0:0.5\n"), link_weights=weights)
    with pytest.raises(ValueError, match="leave out `link_weights`"):
        read_corpus(put(tmp_path, "x", "a ||| b ||| 0-0\n"), link_weights=weights)


def test_one_of_two_files_may_have_another_encoding(tmp_path, capsys):
    wide = tmp_path / "wide"
    wide.write_bytes("0-0 1-1\n".encode("utf-16"))
    plain = put(tmp_path, "plain", "0-0 1-2\n")
    assert ak.score(wide, plain, hyp_encoding="utf-16").links.f1 == 0.5
    assert ak.score(plain, wide, ref_encoding="utf-16").links.f1 == 0.5
    assert "50.0" in run(capsys, "score", wide, plain, "--hyp-encoding", "utf-16").out
    for files, side in (((wide, plain), "hyp"), ((plain, wide), "ref")):
        with pytest.raises(ValueError, match=f"declare it with `{side}_encoding`"):
            ak.score(*files)
        assert f"declare it with --{side}-encoding" in run(capsys, "score", *files).err
    weights = put(tmp_path, "w", "0.5 0.5\n")
    assert (
        "50.0"
        in run(
            capsys, "score", plain, wide, "--ref-encoding", "utf-16", "--link-weights", weights
        ).out
    )


LDC = """\
1,2-1(SEM) 3[DET]-2(GIS) 4-(NTR) -3(NTC) 0-4(NTR) 5-5
1 2(SEM) 1-1(COR) 2,3-4(GIS)

rejected
-1(NTR) 2-2[OMN],3(COR/SEM)
"""
LDC_SOURCE = "a b c d e\nf g h\ni\nj\nk l\n"
LDC_TARGET = "A B C D E\nF G H I\nJ\nK\nL M N\n"


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_word_alignments_of_the_ldc_are_read(tmp_path, ends):
    path = put(tmp_path, "x", LDC.replace("\n", ends))
    assert find_format(path) == "ldc"
    corpus, counts = read(path, "ldc")
    assert links(corpus.filter(lambda pair: pair.annotations)) == [
        "0-0 1-0 2-1 4-4 -2 -3 3-",
        "0-0 0-1 1-3 2-3",
        "",
        "1-1 1-2 -0",
    ]
    assert counts["tags of words left out"] == 2
    assert counts["rejected, without an alignment"] == 1
    first = corpus[0].alignment("alignment").labels
    assert first == {
        (0, 0): "SEM",
        (1, 0): "SEM",
        (2, 1): "GIS",
        (3, -1): "NTR",
        (-1, 2): "NTC",
        (-1, 3): "NTR",
    }
    assert (corpus[3].annotations, corpus[3].attributes) == ({}, {"status": "rejected"})
    sides = {
        "source": put(tmp_path, "s", LDC_SOURCE),
        "target": put(tmp_path, "t", LDC_TARGET.replace("\n", ends)),
    }
    named = read_corpus(path, **sides)
    assert named[0].attributes == {"source.tag": "_\t_\tDET\t_\t_"}
    assert named[4].attributes == {"target.tag": "_\tOMN\t_"}
    assert named[1].words == (("f", "g", "h"), ("F", "G", "H", "I"))
    turned = read_corpus(path, transpose=True, drop_out_of_range=True, **sides)
    assert turned[0].attributes == {"target.tag": "_\t_\tDET\t_\t_"}


def test_a_damaged_group_of_the_ldc_is_named(tmp_path):
    path = put(tmp_path, "x", LDC + "1-1(SEM) 2-x(SEM)\n")
    assert find_format(path) == "ldc"
    refused(path, "ldc", "'2-x(SEM)' is not a group", 6)
    refused(put(tmp_path, "x", LDC + "-(NTR)\n"), "ldc", "has no words on either side", 6)
    sides = {"source": put(tmp_path, "s", LDC_SOURCE), "target": put(tmp_path, "t", LDC_TARGET)}
    with pytest.raises(ValueError, match="x:6: has more lines"):
        read_corpus(put(tmp_path, "x", LDC + "1-1(SEM)\n"), **sides)
    short = put(tmp_path, "x", "1-1(SEM)\n")
    with pytest.raises(ValueError, match="x: has fewer lines"):
        read_corpus(short, **sides)
    assert len(read_corpus(short, partial=True, **sides)) == 1
    with pytest.raises(ValueError, match="x:1: link 9-1 lies outside"):
        read_corpus(put(tmp_path, "x", "9-1(SEM)\n" + LDC.partition("\n")[2]), **sides)


WORD_ALIGNER = """\
<sentence id="1" status="">
// the cat , // sleeps
// chat , dort
<source>
1 the : DET
2 cat :
3 , :
4 // :
5 sleeps :
</source>
<translation>
1 chat :
2 , : COO
3 dort :
</translation>
<alignment>
1 2 <==> 1 // SEM // the cat <==> chat
3 <==> 0 // NT // , <==> <not translated>
4 <==> 0 // NT // // <==> <not translated>
0 <==> 2 // NT // <not translated> <==> ,
5 <==> 3 // COR // sleeps <==> dort
</alignment>
</sentence>


<sentence id="2" status="rejected">
//
//
<source>
1 a :
</source>
<translation>
1 b :
</translation>
<alignment>
</alignment>
</sentence>
"""


def test_files_of_the_ldc_word_aligner_are_read_and_come_back(tmp_path):
    path = put(tmp_path, "x", WORD_ALIGNER.replace("\n", "\r\n"))
    assert find_format(path) == "ists"
    corpus, counts = read(path, "ists")
    first, second = corpus
    assert str(first.alignment("alignment")) == "0-0 1-0 4-2 -1 2- 3-"
    labels = first.alignment("alignment").labels
    assert (labels[0, 0], labels[-1, 1], labels[4, 2]) == ("SEM", "NT", "COR")
    assert first.attributes == {"source.tag": "DET\t_\t_\t_\t_", "target.tag": "_\tCOO\t_"}
    assert (second.annotations, second.attributes) == ({}, {"status": "rejected"})
    assert not counts["chunk words differ"]
    assert not write_corpus(corpus, tmp_path / "again", format="ists")
    assert read_corpus(tmp_path / "again") == corpus
    broken = put(tmp_path, "x", WORD_ALIGNER.replace("// NT // , <==>", "// N T // , <==>"))
    refused(broken, "ists", "// TYPE //", 18)
    spaced = corpus[:1].map(
        lambda pair: replace(pair, attributes={"source.tag": "a b" + "\t_" * 4})
    )
    lost = write_corpus(spaced, tmp_path / "again", format="ists")
    assert lost == {"attribute source.tag": 1}


def start(content, occurrence=1, **more):
    facts = {"occurrence": occurrence, "occurrences": 2, "content": content, **more}
    return "\\zaln-s |" + " ".join(f'x-{name}="{fact}"' for name, fact in facts.items()) + "\\*"


def marked(*words):
    return "\n".join(f'\\w {word}|x-occurrence="1" x-occurrences="1"\\w*' for word in words)


END = "\\zaln-e\\*"
TRANSLATION = f"""\\id TIT EN_X text of a test
\\usfm 3.0
\\mt Titus

\\c 1
\\s1 A heading
\\p
\\v 1 {start("Παῦλος", strong="G39720", lemma="Παῦλος")}{marked("Paul")}{END}, {marked("a")}
{start("Θεοῦ")}{start("δοῦλος")}{marked("servant", "of")}{END}{END}\\f + \\ft a \\+w x\\+w*
\\f* \\v 2-3
\\q1 {start("καὶ", 2)}{marked("and")}{END} {start("ὁ")}{marked("the")}{END} {start("καὶ", 2)}
{marked("also")}{END}
\\ts\\*
\\v 4 {marked("not", "aligned")}
"""
ORIGINAL = """\\id TIT
\\c 1
\\v 1 \\w Παῦλος|lemma="Παῦλος" strong="G39720" x-morph="Gr,N"\\w*,
\\w δοῦλος\\w* \\w Θεοῦ\\w* \\w δὲ\\w*
\\v 2 \\w καὶ\\w* \\v 3 \\w ὁ\\w* \\w καὶ\\w*
\\v 4 \\w οὐ\\w*
"""


def test_a_verse_without_words_is_counted(tmp_path):
    text = TRANSLATION + "\\v 5\n\\v 6 " + marked("end") + "\n"
    corpus, counts = read(put(tmp_path, "x", text), "usfm")
    assert [pair.id for pair in corpus][-1] == "TIT.1.6"
    assert counts["verse without words, left out"] == 1


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_aligned_bibles_are_read_with_source_words_as_they_appear(tmp_path, ends, caplog):
    path = put(tmp_path, "x", "\ufeff" + TRANSLATION.replace("\n", ends))
    assert find_format(path) == "usfm"
    first, second, third = read_corpus(path)
    assert [pair.id for pair in (first, second, third)] == ["TIT.1.1", "TIT.1.2-3", "TIT.1.4"]
    assert first.words == (("Παῦλος", "Θεοῦ", "δοῦλος"), ("Paul", "a", "servant", "of"))
    assert str(first.alignment("alignment")) == "0-0 1-2 1-3 2-2 2-3"
    assert first.attributes == {"source.strong": "G39720\t_\t_", "source.lemma": "Παῦλος\t_\t_"}
    assert second.words == (("καὶ", "ὁ"), ("and", "the", "also"))
    assert str(second.alignment("alignment")) == "0-0 0-2 1-1"
    assert (third.source, third.target, third.annotations) == (None, ("not", "aligned"), {})


def test_the_original_gives_aligned_bibles_their_order_and_all_words(tmp_path):
    path = put(tmp_path, "x", TRANSLATION)
    decomposed = normalize("NFD", ORIGINAL)
    assert decomposed != ORIGINAL
    corpus, counts = read(path, "usfm", source=put(tmp_path, "grc", decomposed))
    first, second, third = corpus
    assert tuple(normalize("NFC", word) for word in first.source) == (
        "Παῦλος",
        "δοῦλος",
        "Θεοῦ",
        "δὲ",
    )
    assert str(first.alignment("alignment")) == "0-0 1-2 1-3 2-2 2-3"
    assert first.attributes["source.morph"] == "Gr,N\t_\t_\t_"
    assert str(second.alignment("alignment")) == "1-1 2-0 2-2"
    assert (len(third.source), third.annotations) == (1, {})
    assert counts == {"heading, left out": 1, "footnote or cross-reference, left out": 1}
    other = put(tmp_path, "grc", ORIGINAL.replace("\\w Θεοῦ\\w*", "").partition("\\v 2")[0])
    corpus, counts = read(path, "usfm", source=other)
    assert str(corpus[0].alignment("alignment")) == "0-0 1-2 1-3"
    assert counts["milestone of no word of the original"] == 1
    assert counts["verse that the original does not have"] == 2
    assert len(corpus[1].source) == 2


def test_a_remark_says_how_the_source_words_are_ordered(tmp_path, capsys):
    path = put(tmp_path, "x", TRANSLATION)
    assert "they first appear" in run(capsys, "stats", path).err
    ran = run(capsys, "stats", path, "--source", put(tmp_path, "grc", ORIGINAL))
    assert "the order in which" not in ran.err


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        (f"{marked('Paul')}{END}", marked("Paul"), "is not closed", 8),
        (f"{END}{END}", f"{END}{END}{END}", "without \\zaln-s before it", 10),
        ('x-content="ὁ"', "", "has no x-content", 12),
        ('x-occurrence="2"', 'x-occurrence="two"', "x-occurrence is 'two'", 12),
        ("\\w servant", "\\wservant", "is not complete", 9),
        ('also|x-occurrence="1" x-occurrences="1"\\w*', "also", "is not complete", 13),
    ],
)
def test_a_damaged_verse_of_an_aligned_bible_is_named(tmp_path, old, new, message, line):
    assert old in TRANSLATION
    path = put(tmp_path, "x", TRANSLATION.replace(old, new))
    assert find_format(path) == "usfm"
    refused(path, "usfm", message, line)
    assert len(read(path, "usfm", lenient=True)[0]) == 2


def test_an_aligned_bible_that_begins_with_its_only_milestone_is_known(tmp_path):
    part = TRANSLATION[TRANSLATION.index("\\zaln-s") :]
    path = put(tmp_path, "x", part[: part.index("\\zaln-s", 1)])
    assert find_format(path) == "usfm"


def test_older_aligned_bibles_have_milestones_that_end_with_their_line(tmp_path):
    older = re.sub(r"(\\zaln-s [^\\]*)\\\*", r"\1\n", TRANSLATION)
    assert older.count("\n") > TRANSLATION.count("\n")
    path = put(tmp_path, "x", older)
    assert find_format(path) == "usfm"
    assert read_corpus(path) == read_corpus(put(tmp_path, "new", TRANSLATION))
    part = put(tmp_path, "part", TRANSLATION[TRANSLATION.index("\\v 1") :])
    assert [pair.id for pair in read_corpus(part)] == ["1", "2-3", "4"]


def test_usfm_needs_alignments_and_an_original_in_usfm(tmp_path):
    with pytest.raises(ValueError, match=r"USFM without alignments .*`source`"):
        find_format(put(tmp_path, "x", ORIGINAL))
    path = put(tmp_path, "x", TRANSLATION)
    with pytest.raises(ValueError, match="original in USFM"):
        read_corpus(path, source=put(tmp_path, "plain", "a b c\n"))
    with pytest.raises(ValueError, match="leave out `target`"):
        read_corpus(path, source=path, target=path)


OF_USERS = {
    "one-line": ONE_LINE,
    "jsonl": json.dumps(OBJECTS, indent=1),
    "giza": SHORT_A3,
    "ldc": LDC,
    "ists": WORD_ALIGNER,
    "usfm": TRANSLATION,
    "pharaoh": "0-0:0.9:0.1 NULL-1 3-4-P\n\n1-NULL 2?2-s\n",
}


@pytest.mark.parametrize("format", OF_USERS)
def test_damaged_files_of_users_are_read_or_refused_with_their_place(tmp_path, format):
    path = tmp_path / "x"
    for raw in damaged(OF_USERS[format].encode(), 120):
        path.write_bytes(raw)
        survive(path, format)


def test_objects_of_our_own_with_labels_and_a_text_are_no_export_of_doccano(tmp_path):
    annotation = {"sure": "0-0", "labels": {"0-0": "X"}}
    value = {"id": "1", "source": ["a"], "target": ["b"], "attributes": {"text": "x"}}
    path = put(tmp_path, "x", json.dumps(value | {"annotations": {"anna": annotation}}) + "\n")
    assert find_format(path) == "alignkit-jsonl"
