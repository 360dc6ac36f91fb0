"""Pharaoh links are read in all their variants, the same by the kernel and line by line."""

import codecs
import gzip
import io
import random
import sys
import time

import numba  # without it, small files are read line by line
import pytest
from format_files import damaged
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from strategies import corpora

from alignkit.errors import AlignkitError, FormatError, MissingTextError, OptionError
from alignkit.io import ReadOptions, find_format, open_reading, read_corpus, write_corpus
from alignkit.io.formats.pharaoh import FORMAT
from alignkit.model.alignment import Alignment
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair


@pytest.fixture
def folder(tmp_path):
    def write(**files):
        for name, content in files.items():
            raw = content if isinstance(content, bytes) else content.encode()
            (tmp_path / name).write_bytes(raw)
        return tmp_path

    return write


def opened(path, **options):
    return open_reading(str(path), format="pharaoh", options=ReadOptions(**options))[1]


def by_line(path, **options):
    reading = opened(path, **options)
    return list(reading.pairs(FORMAT.parse(reading))), reading


def by_kernel(path, **options):
    assert numba.__version__
    reading = opened(path, **options)
    return list(FORMAT.pairs(reading)), reading


def by_block(path, **options):
    """Read as arrays, and make pairs of them."""
    reading = opened(path, **options)
    pairs = []
    for ids, arrays in FORMAT.blocks(reading):
        assert len(ids) == len(arrays)
        for k, id in enumerate(ids):
            pairs.append(SentencePair(str(id), None, None, {reading.name: arrays.alignment(k)}))
    return pairs, reading


def texts(path, **options):
    """Read both ways, which must agree; return the alignments as text."""
    pairs = by_line(path, **options)[0]
    assert by_kernel(path, **options)[0] == pairs
    return [str(pair.alignment("alignment")) for pair in pairs]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("0-0 1-2", "0-0 1-2"),
        ("1?2 0p0", "0?0 1?2"),
        ("8-8P 4-4S 5p5 6?6S 7p7P", "4-4 5?5 6?6 7?7 8?8"),
        ("3-4-P 0-0-S 1P1 2-2s 5-5-p", "0-0 1?1 2-2 3?4 5?5"),
        ("NULL-1 0-0 2-null", "0-0 -1 2-"),
        ("  3-4\t 0-0 ".replace("\t", " "), "0-0 3-4"),
        ("0-0\u00a01-1\u2003 2-2", "0-0 1-1 2-2"),
        ("2-1 0-5 0-4 2-0", "0-4 0-5 2-0 2-1"),
        ("0-0 0-0 0?0", "0-0"),
        ("007-0000", "7-0"),
        ("", ""),
        ("   ", ""),
        ("\ufeff0-0 \ufeff1-1\ufeff", "0-0 1-1"),
        ("0-0\r", "0-0"),
        ("0-0\r\r", "0-0"),
    ],
)
def test_each_variant_of_a_link_is_read(folder, written, read):
    assert texts(folder(a=written + "\n") / "a") == [read]
    assert texts(folder(a=f"0-0\n{written}\n0?0") / "a") == ["0-0", read, "0?0"]


def test_weights_base_and_direction_are_read(folder):
    (pair,), _ = by_line(folder(a="0-0:0.5 1?1:1e-3 2-2 3-3:-.5") / "a")
    assert pair.alignment("alignment").weights == {(0, 0): 0.5, (1, 1): 1e-3, (3, 3): -0.5}
    path = folder(a="1-2 3?1\n") / "a"
    assert (texts(path, base=1), texts(path, transpose=True)) == (["0-1 2?0"], ["1?3 2-1"])
    assert texts(path, base=1, transpose=True) == ["0?2 1-0"]
    with pytest.raises(FormatError, match="a:1: link 0-1 lies outside"):
        texts(folder(a="0-1") / "a", base=1)
    refuses(OptionError, "`base` must be 0 or 1", opened, path, base=2)


def test_of_two_scores_the_first_is_the_weight_and_the_second_is_counted(folder):
    path = folder(a="0-0:0.91:0.2 NULL-1 1-2:0.5:0.1\n\n") / "a"
    (first, second), reading = by_line(path)
    assert first.alignment("alignment").weights == {(0, 0): 0.91, (1, 2): 0.5}
    assert str(first.alignment("alignment")) == "0-0 1-2 -1"
    assert str(second.alignment("alignment")) == ""
    assert reading.counts["second score of a link"] == 2
    assert find_format(path) == "pharaoh"
    with pytest.raises(FormatError, match=r"a:1: 'x' of 0-0"):
        by_line(folder(a="0-0:0.9:x\n") / "a")


def test_letters_behind_links_are_detected_wherever_they_come(folder):
    assert find_format(folder(a="3-4-P 0-0-S\n1-1\n") / "a") == "pharaoh"
    assert find_format(folder(b="0-0 1-1\n3-4-P\n") / "b") == "pharaoh"


@pytest.mark.parametrize("weight", ["nan", "inf", "1_0", "٣", "x", "0x1", "1e999", "--1"])
def test_a_weight_that_is_no_number_is_refused(folder, weight):
    with pytest.raises(FormatError, match=r"a:2: .* is not a finite number"):
        by_line(folder(a=f"0-0\n0-0:{weight}") / "a")


@pytest.mark.parametrize(
    "token",
    [
        "x",
        "0",
        "0-",
        "-0",
        "0--1",
        "0-1-2",
        "0-1Q",
        "0-1--P",
        "NULL-NULL",
        "0:1",
        "1.5-0",
        "0-0,1-1",
        "٣-٤",
        "1_0-0",
        *("+1-0", "0-0:", "0–0", "9999999999-0", "9" * 5000 + "-0", "0-0\0", "x" * 5000, "0?"),
    ],
)
def test_what_is_no_link_is_refused_with_its_place(folder, token):
    path = folder(a=f"0-0\n1-1 {token} 2-2\n") / "a"
    for way in (by_line, by_kernel, by_block):
        with pytest.raises(FormatError, match=r"a:2:5: .* is not a link") as caught:
            way(path)
        assert len(str(caught.value)) < len(str(path)) + 120
        with pytest.raises(FormatError, match="b:1: link 0-999999999"):
            way(folder(b="0-999999999") / "b")


def test_ids_are_read_with_and_without_words(folder):
    place = folder(
        a="x1\t0-0 1-1\nx0\t\n", s="x1\tthe dog\nx0\ta\n", t="x1\tle chien\nx0\t\n", bare="a\nb"
    )
    for pairs in (by_line(place / "a")[0], by_kernel(place / "a")[0], by_block(place / "a")[0]):
        assert [pair.id for pair in pairs] == ["x1", "x0"]
        assert [str(pair.alignment("alignment")) for pair in pairs] == ["0-0 1-1", ""]
    named = beside(place, "s", "t")
    pairs = by_kernel(place / "a", **named)[0]
    assert pairs == by_line(place / "a", **named)[0]
    assert [pair.words for pair in pairs] == [(("the", "dog"), ("le", "chien")), (("a",), ())]
    with pytest.raises(FormatError, match="bare:1: expected the id 'x1'"):
        by_kernel(place / "a", source=str(place / "bare"), target=str(place / "t"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1\t0-0\n0-0\n", "a:2: either every line"),
        ("0-0\n1\t0-0\n", "a:2: either every line"),
        ("0-0\t1-1\n", "a:1: is '0-0' before"),
        ("1\t0-0\t1-1\n", "a:1: is '1' before the tab"),
        ("0-0\n" * 20000 + "7\t0-0\n", "a:20001: either every line"),
    ],
)
def test_ids_are_everywhere_or_nowhere(folder, content, message):
    path = folder(a=content) / "a"
    for way in (by_line, by_kernel):
        refuses(FormatError, message, way, path)
    if len(content) < 1000:
        refuses(FormatError, message, by_block, path)


WORDS = {"s": "the dog\nbarks\n", "t": "le chien\naboie\n"}


def test_words_stand_in_two_files_or_one_bitext_or_tagged(folder):
    place = folder(
        a="0-0 1-1\n0?0\n",
        **WORDS,
        both="the dog  |||  le   chien \nbarks ||| aboie",
        st='<s snum=7> the dog </s>\r\n\r\n<s snum="9">barks</s>\r\n',
        tt="\ufeff<s snum=7> le chien </s>\n<s  snum=9 > aboie </s>",
    )
    expected = [(("the", "dog"), ("le", "chien")), (("barks",), ("aboie",))]
    for source, target in (("s", "t"), ("both", None), ("st", "tt")):
        options = {"source": str(place / source), "target": target and str(place / target)}
        pairs = by_kernel(place / "a", **options)[0]
        assert [pair.words for pair in pairs] == expected
        assert [pair.id for pair in pairs] == ["1", "2"]
        assert by_line(place / "a", **options)[0] == pairs


def beside(place, *names):
    return {side: str(place / name) for side, name in zip(("source", "target"), names, strict=True)}


def test_links_out_of_range_and_numbers_of_lines_are_told(folder):
    place = folder(a="0-0 1-1\n0-0 0-1 4?0\n", **WORDS)
    options = beside(place, "s", "t")
    message = r"a:2: link 0-1 lies outside the pair '2' of 1 x 1 words, .*`drop_out_of_range=True`"
    for way in (by_line, by_kernel):
        refuses(FormatError, message, way, place / "a", **options)
        pairs, reading = way(place / "a", drop_out_of_range=True, **options)
        assert [str(pair.alignment("alignment")) for pair in pairs] == ["0-0 1-1", "0-0"]
        assert reading.counts["link out of range"] == 2
    place = folder(one="0-0\n", two="0-0\n\n", three="0-0\n\n\n", **WORDS)
    options = beside(place, "s", "t")
    for partial in (False, True):
        message = r"three: has 3 lines, but .*s has 2 sentences; .* after line 2 are empty"
        with pytest.raises(FormatError, match=message):
            by_kernel(place / "three", partial=partial, **options)
    place = folder(three="0-0\n\n0-0\n", **WORDS)
    with pytest.raises(FormatError, match=r"has 2 sentences$"):
        by_kernel(place / "three", **beside(place, "s", "t"))
    place = folder(one="0-0\n", two="0-0\n\n", **WORDS)
    options = beside(place, "s", "t")
    with pytest.raises(FormatError, match=r"one: has 1 lines.*partial=True"):
        by_kernel(place / "one", **options)
    partial = by_kernel(place / "one", partial=True, **options)[0]
    assert [list(pair.annotations) for pair in partial] == [["alignment"], []]
    assert partial == by_line(place / "one", partial=True, **options)[0]
    whole = by_kernel(place / "two", partial=True, **options)[0]
    assert [pair.id for pair in whole] == [pair.id for pair in partial] == ["1", "2"]
    assert whole[1].alignment("alignment") == Alignment()
    tagged = "<s snum=1> a </s>\n\n<s snum=2> b </s>\n\n<s snum=3> c </s>\n"
    place = folder(a="0-0\n", s=tagged, t=tagged)
    pairs = by_kernel(place / "a", partial=True, **beside(place, "s", "t"))[0]
    assert [pair.id for pair in pairs] == ["1", "2", "3"]


def test_entities_are_unescaped_once_and_only_on_request(folder):
    place = folder(a="0-0\n", weighted="0-0:1\n", s="&amp;quot; &lt;\n", t="x\n")
    options = beside(place, "s", "t")
    for name in ("a", "weighted"):  # the kernel does not know weights
        for way in (by_line, by_kernel):
            (pair,), _ = way(place / name, unescape=True, **options)
            assert pair.source == ("&quot;", "<")
            (pair,), _ = way(place / name, **options)
            assert pair.source == ("&amp;quot;", "&lt;")


LINK = st.builds(
    "{}{}{}{}".format,
    st.integers(0, 12),
    st.sampled_from("--?p"),
    st.integers(0, 12),
    st.sampled_from(["", "", "", "S", "P"]),
)
ODD = st.sampled_from(
    ["x", "0-", "1-1:0.5", "\ufeff", "\t", "\0", "\r", "9999999999-1", "é", "\x0b", "0-1048576"]
)
LINES = st.lists(st.lists(LINK | LINK | LINK | LINK | ODD, max_size=6).map(" ".join), max_size=6)


@given(
    lines=LINES,
    end=st.sampled_from(["", "\n", "\r\n"]),
    base=st.sampled_from([0, 1]),
    transpose=st.booleans(),
    lenient=st.booleans(),
    words=st.booleans(),
)
def test_kernel_and_plain_reading_agree(tmp_path_factory, lines, end, words, **options):
    """Pairs, counts of findings, numbers of records and errors are the same on every way."""
    place = tmp_path_factory.mktemp("ways")
    (place / "a").write_bytes("\n".join([*lines, ""]).removesuffix("\n").encode() + end.encode())
    if words:
        count = (place / "a").read_bytes().count(b"\n") + 1
        for name in ("s", "t"):
            (place / name).write_text("a b c d e f g h i j\n" * count)
        options |= beside(place, "s", "t") | {"partial": True}
        options |= {"drop_out_of_range": True} if options["base"] else {}
    results = []
    for way in [by_line, by_kernel] if words else [by_line, by_kernel, by_block]:
        try:
            pairs, reading = way(place / "a", **options)
        except FormatError as error:
            results.append(str(error))
            continue
        assert len(pairs) == reading.read
        if way is by_block:  # arrays hold links alone
            for result in results:
                assert [strip(pair) for pair in pairs] == [strip(pair) for pair in result[0]]
            pairs = results[0][0]
        results.append((pairs, +reading.counts, reading.read, reading.refused))
    assert all(result == results[0] for result in results)


def strip(pair):
    alignment = Alignment.from_bytes(*pair.alignment("alignment").packed())
    return pair.with_annotation("alignment", alignment)


@given(st.lists(st.sampled_from(["0-0", "0?0", "1-1", "1?1"]), max_size=7), st.booleans())
def test_every_repetition_is_counted_once(tmp_path_factory, tokens, odd):
    """A link written n times is n - 1 findings: one "both" if it is, the others duplicates."""
    path = tmp_path_factory.mktemp("repeated") / "a"
    path.write_text(" ".join(tokens) + (" 5-5:1\n" if odd else "\n"))
    both = sum(f"{k}-{k}" in tokens and f"{k}?{k}" in tokens for k in (0, 1))
    cells = {token[0] for token in tokens}
    for way in (by_line, by_kernel, by_block):
        _, reading = way(path)
        assert reading.counts["both sure and possible"] == both
        assert reading.counts["duplicate link"] == len(tokens) - len(cells) - both


def test_findings_are_told_once_with_their_lines(folder):
    path = folder(a="0-0\r\n1-1\r\n") / "a"
    for way in (by_line, by_kernel, by_block):
        assert way(path)[1].counts["carriage returns"] == 1
    found = []
    path = str(folder(a="0-0\n0-0 0-0 1?1 1-1\r\n") / "a")
    chosen, reading = open_reading(path, format="pharaoh", observe=found.append)
    list(chosen.pairs(reading))
    assert [str(one).removeprefix(path) for one in found] == [
        ":2: carriage returns: lines end in CRLF",
        ":2: duplicate link: 0-0 occurs again",
        ":2: both sure and possible: 1-1 is read as sure",
    ]


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        *(("utf-8", ""), ("utf-8-sig", "\ufeff"), ("latin-1", ""), ("utf-16", ""), ("UTF16", "")),
        *(("utf-16-le", "\ufeff"), ("utf_32", ""), ("shift_jis", "")),
    ],
)
def test_other_encodings_are_read(folder, encoding, mark):
    word = {"latin-1": "é", "shift_jis": "日"}.get(encoding, "日")
    files = {"a": "0-0\n0?0\n", "s": f"{word}\n\u0041 b", "t": "c\nd\n"}
    place = folder(**{name: (mark + text).encode(encoding) for name, text in files.items()})
    options = beside(place, "s", "t") | {"encoding": encoding}
    pairs = by_kernel(place / "a", **options)[0]
    assert [pair.source for pair in pairs] == [(word,), ("A", "b")]
    assert pairs == by_line(place / "a", **options)[0]
    assert len(by_block(place / "a", encoding=encoding)[0]) == 2


def test_bytes_of_another_encoding_are_refused_with_their_place(folder):
    place = folder(
        a="0-0\n0-0\n", s=b"a\nb \xe9\n", t="c\nd\n", w=codecs.BOM_UTF16_LE + b"0\0-\0000\0\n\0x"
    )
    with pytest.raises(FormatError, match=r"s:2:3: not utf-8 \(byte 0xe9\); .*`encoding`"):
        by_kernel(place / "a", **beside(place, "s", "t"))
    refuses(FormatError, r"w:2: not utf-16", by_kernel, place / "w", encoding="utf-16")
    for unknown in ("utf-9", "hex", ""):
        refuses(OptionError, "unknown encoding", opened, place / "a", encoding=unknown)


def test_packed_files_and_standard_input_are_read(folder, monkeypatch):
    packed = gzip.compress(b"0-0\n1?1\n" * 500)
    place = folder(**{"a.gz": packed, "cut.gz": packed[:-20], "odd.gz": packed[:2] + b"0-0\n"})
    assert len(by_kernel(place / "a.gz")[0]) == 1000
    broken = bytearray(packed)
    broken[15] ^= 0xFF
    (place / "flipped.gz").write_bytes(broken)
    for name in ("cut.gz", "odd.gz", "flipped.gz"):
        for way in (by_line, by_kernel, by_block):
            refuses(FormatError, r"gz: cannot be", way, place / name)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"0-0\n1-1"), encoding="utf-8"))
    assert texts_of("-") == ["0-0", "1-1"]
    with pytest.raises(OptionError, match="standard input"):
        read_corpus("-", format="pharaoh", source="-", target="x")


def texts_of(path):
    return [str(pair.alignment("alignment")) for pair in read_corpus(path, format="pharaoh")]


def test_lenient_reading_leaves_out_broken_lines_and_counts_them(folder):
    path = folder(a="0-0\nx\n1-1\n\n2-\n") / "a"
    for way in (by_line, by_kernel, by_block):
        pairs, reading = way(path, lenient=True, name="anna")
        assert all(list(pair.annotations) == ["anna"] for pair in pairs)
        assert [pair.id for pair in pairs] == ["1", "3", "4"]
        assert (reading.read, reading.refused, reading.counts["broken record"]) == (3, 2, 2)


HUGE = [
    *(b"0-0 " * 250_000, b"9" * 10_000_000, b"x " * 5_000_000, b"\0" * 10_000_000),
    *(b" ".join(b"%d-%d" % (k % 1000, 99999 - k) for k in range(99999)), b"\t" * 9_999_999),
]


@pytest.mark.parametrize("kind", ["damaged", pytest.param("huge", marks=pytest.mark.slow)])
def test_damaged_files_give_an_error_or_consistent_counts(folder, kind):
    rng = random.Random(3)
    links = (f"{rng.randrange(9)}{rng.choice('-?')}{rng.randrange(9)}" for _ in range(120))
    whole = "".join(f"{a} {b} {c}\n" for a, b, c in zip(links, links, links, strict=True)).encode()
    place = folder(s="a b c d e f g h i\n" * 40)
    words = beside(place, "s", "s") | {"partial": True}
    slowest = 0.0
    half = len(whole) // 2
    variants = {
        "damaged": damaged(whole, 200, 5),
        "huge": (whole[:half] + b"\n" + text + b"\n" + whole[half:] for text in HUGE),
    }
    for k, variant in enumerate(variants[kind]):
        (place / "a").write_bytes(variant)
        present = variant.count(b"\n") + (not variant.endswith(b"\n") and bool(variant))
        for way, options in ((by_kernel, {}), (by_kernel, words), (by_block, {})):
            start = time.process_time()
            try:
                pairs, reading = way(place / "a", lenient=True, **options)
            except FormatError:
                assert options  # without words every line is refused by itself
            else:
                expected = max(present, 40) if options else present
                assert len(pairs) == reading.read
                assert reading.read + reading.refused == expected, k
            slowest = max(slowest, time.process_time() - start)
    assert slowest < 30


@given(corpora(FORMAT.holds - {"no text"} | {"text"}))
def test_pairs_with_words_are_read_back(tmp_path_factory, corpus):
    place = tmp_path_factory.mktemp("words")
    names = {"source": place / "s", "target": place / "t"}
    assert write_corpus(corpus, place / "a", format="pharaoh", **names) == {}
    assert read_corpus(place / "a", format="pharaoh", **names) == corpus
    if not any("|||" in word for pair in corpus for word in (*pair.source, *pair.target)):
        write_corpus(corpus, place / "a", format="pharaoh", source=place / "both")
        assert read_corpus(place / "a", format="pharaoh", source=place / "both") == corpus


def test_writing_tells_what_it_loses(tmp_path):
    one = Alignment([(0, 0)], weights={(0, 0): 1.0})
    corpus = [
        SentencePair("x", ("a",), ("b",), {"anna": one}, {"genre": "news"}),
        SentencePair("y", ("a",), ("b",)),
        SentencePair("z", ("a",), ("b",), {"anna": one, "ben": Alignment.parse("0?0 0-")}),
    ]
    names = {"source": tmp_path / "s", "target": tmp_path / "t"}
    lost = write_corpus(corpus, tmp_path / "a", format="pharaoh", annotator="anna", **names)
    assert lost == {"weights": 2, "attribute genre": 1, "absent": 1, "ids": 3}
    assert (tmp_path / "a").read_text() == "0-0\n\n0-0\n"
    lost = write_corpus(corpus[:2], tmp_path / "a", format="pharaoh", **names)
    assert (tmp_path / "a").read_text() == "0-0\n\n"  # a line for each pair, at the end too
    (tmp_path / "a").write_text("0-0\n")
    again = read_corpus(tmp_path / "a", format="pharaoh", partial=True, **names)
    assert [list(pair.annotations) for pair in again] == [["alignment"], []]
    with pytest.raises(OptionError, match=r"'z' has alignments of anna, ben.*`annotator`"):
        write_corpus(corpus, tmp_path / "a", format="pharaoh")
    with pytest.raises(OptionError, match="different files"):
        write_corpus(corpus, tmp_path / "a", format="pharaoh", source=tmp_path / "a")


def test_words_that_would_come_back_otherwise_are_not_written(tmp_path):
    def write(*words, **names):
        pair = SentencePair("7", words, ("x",), {"a": Alignment()})
        write_corpus([pair], tmp_path / "a", format="pharaoh", **names)

    both, two = {"source": tmp_path / "s"}, {"source": tmp_path / "s", "target": tmp_path / "t"}
    for word in ("", "a b", "a\n", "\t"):
        refuses(AlignkitError, r"pair '7': token .* whitespace", write, word, **two)
    refuses(AlignkitError, "divider", write, "a|||b", **both)
    write("a|||b", **two)
    with pytest.raises(MissingTextError):
        write_corpus([SentencePair("7", None, None)], tmp_path / "a", format="pharaoh", **two)


def again(corpus, place, **options):
    names = {"source": place / "s", "target": place / "t"} if corpus[0].has_text else {}
    write_corpus(corpus, place / "a", format="pharaoh", **names)
    return read_corpus(place / "a", format="pharaoh", **names, **options)


def links(corpus):
    made = [pair.alignment("alignment") for pair in corpus if pair.annotations]
    return len(made), sum(len(one.sure) for one in made), sum(len(one) for one in made)


@pytest.mark.real_data
def test_the_romanian_files_are_read_and_written(data, tmp_path):
    place = data / "roen"
    gold = read_corpus(place / "roen.gold", format="pharaoh", base=1, source=place / "roen.src-tgt")
    assert (len(gold), again(gold, tmp_path)) == (248, gold)
    files = sorted(place.glob("*/*.talp"))
    assert len(files) == 12
    for path in files:
        options = {"transpose": "reverse" in path.name, "source": str(place / "roen.src-tgt")}
        corpus = read_corpus(path, format="pharaoh", **options)
        assert len(corpus) == 248
        assert [pair.words for pair in corpus] == [pair.words for pair in gold]
        assert (again(corpus, tmp_path), by_line(path, **options)[0]) == (corpus, list(corpus))


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("links_of", "source", "target", "pairs", "annotated"),
    [
        ("hansards/dev.fr-en.align", "train.fr", "train.en", 100_000, 184),
        ("bible/text.a", "text.f", "text.e", 28_908, 15),
    ],
)
def test_the_gold_is_a_part_of_the_text(data, tmp_path, links_of, source, target, pairs, annotated):
    path = data / links_of
    names = {"source": path.with_name(source), "target": path.with_name(target)}
    message = rf"{annotated} lines, .* {pairs} sentences; .*partial=True"
    refuses(FormatError, message, read_corpus, path, format="pharaoh", **names)
    corpus = read_corpus(path, format="pharaoh", partial=True, **names)
    assert [bool(pair.annotations) for pair in corpus] == [k < annotated for k in range(pairs)]
    count, sure, every = links(corpus)
    assert (count, 0 < sure <= every) == (annotated, True)
    read = again(corpus[:1000], tmp_path)  # a line for each pair, blank without links
    for before, after in zip(corpus[:1000], read, strict=True):
        assert (after.source, after.target) == (before.source, before.target)
        assert after.alignment("alignment") == before.alignments.get("alignment", Alignment())


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["alibi/ali_w2w_LaBarbeBleue_BlueBeard.txt", "ugarit/*lat.txt"])
def test_other_variants_are_read(data, tmp_path, name):
    (path,) = (one for one in (data / "formats").glob(name) if one.name != "lat.txt")
    pairs, reading = by_kernel(path)
    assert (by_line(path)[0], reading.refused) == (pairs, 0)
    _, sure, every = links(pairs)
    assert 0 < sure < every
    write_corpus(pairs, tmp_path / "a", format="pharaoh")
    assert texts_of(tmp_path / "a") == [str(pair.alignment("alignment")) for pair in pairs]


def test_ids_are_written_when_asked_for_and_refused_where_they_would_not_come_back(tmp_path):
    pairs = [
        SentencePair("a.1", ("x",), ("y",), {"alignment": Alignment.parse("0-0")}),
        SentencePair("a.3", ("u", "v"), ("w",), {"alignment": Alignment()}),
    ]
    files = {"source": tmp_path / "s", "target": tmp_path / "t"}
    write_corpus(pairs, tmp_path / "links", format="pharaoh", ids=True, **files)
    assert (tmp_path / "links").read_text() == "a.1\t0-0\na.3\t\n"
    assert read_corpus(tmp_path / "links", format="pharaoh", **files) == Corpus(pairs)
    for id in ("0-0", "a b", ""):
        with pytest.raises(AlignkitError, match="id"):
            write_corpus([SentencePair(id, None, None)], tmp_path / "x", format="pharaoh", ids=True)
