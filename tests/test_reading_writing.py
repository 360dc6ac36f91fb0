"""Reading counts and complains in one place; writing leaves the whole output or the old one."""

import pytest
from refusals import refuses

from alignkit import NULL, AlignkitError, Alignment, FormatError, SentencePair, io
from alignkit._support.wording import natural_key
from alignkit.errors import OptionError, UnknownNameError
from alignkit.io.atomic_files import WriteError, replacing
from alignkit.io.format import EVERYTHING
from alignkit.io.records import RawAnnotation, RawLink, Reading, Record
from alignkit.io.text_files import Finding

PAIR = SentencePair("1", ("a",), ("b",), {"gold": Alignment.parse("0-0")})


def build(links, *, source=("a", "b"), target=("x", "y", "z"), base=0, seen=None, **options):
    observe = None if seen is None else seen.append
    reading = Reading("file", io.ReadOptions(**options), base=base, observe=observe)
    record = Record("7", 3, source, target, {"anna": RawAnnotation([RawLink(*k) for k in links])})
    return reading.build(record), reading


def alignment(links, **options):
    return build(links, **options)[0].alignment("anna")


def test_base_and_direction_are_settled_and_what_a_link_says_is_kept():
    assert alignment([(1, 0)]) == Alignment.parse("1-0")
    assert alignment([(1, 3)], base=1) == Alignment.parse("0-2")
    assert alignment([(2, 1)], transpose=True) == Alignment.parse("1-2")
    turned = Alignment(nulls=[(NULL, 2), (1, NULL)])
    assert alignment([(3, None), (None, 2)], base=1, transpose=True) == turned
    links = [
        (0, 0, "sure", None, 0.5, "EQUI"),
        (1, 1, "possible"),
        (1, None, "possible", None, None, "NOALI"),
        (0, 2, "none", None, None, "wrong"),
    ]
    made = alignment(links)
    assert (made.sure, made.possible) == ({(0, 0)}, {(0, 0), (1, 1)})
    assert (made.nulls, made.sure_nulls, made.weights) == ({(1, NULL)}, set(), {(0, 0): 0.5})
    assert made.labels == {(0, 0): "EQUI", (1, NULL): "NOALI", (0, 2): "wrong"}


@pytest.mark.parametrize(
    ("link", "options", "said"),
    [
        ((2, 0), {}, "link 2-0 .*'7' of 2 x 3 words, counted from 0;"),
        ((0, 3), {}, "link 0-3"),
        ((0, 1), {"base": 1}, "link 0-1 .* counted from 1;"),
        ((0, 2), {"transpose": True}, "link 0-2 .* target first;"),
        ((None, 3), {}, "link -3"),
        ((2, None), {"source": ("a",)}, r"link 2- .* 1 x 3"),
        ((9, 3), {"source": None}, r"link 9-3 .* \? x 3"),
        ((5, 5, "none", None, None, "wrong"), {}, "link 5-5"),
    ],
)
def test_links_out_of_range_are_refused_or_dropped(link, options, said):
    refuses(FormatError, f"^file:3: {said}", build, [link], **options)
    seen = []
    first = (options.get("base", 0),) * 2
    pair, reading = build([first, link], drop_out_of_range=True, seen=seen, **options)
    assert (len(pair.alignment("anna")), reading.counts) == (1, {"link out of range": 1})
    assert str(seen[0]).startswith("file:3: link out of range: link ")
    pair, reading = build([link], lenient=True, **options)
    assert pair is None
    assert (reading.read, reading.refused, reading.counts) == (0, 1, {"broken record": 1})


def test_tokens_are_shared_and_unescaped_once():
    one, reading = build([], source=["".join("ab")], target=["&amp;lt;"], unescape=True)
    assert one.source[0] is reading.build(Record("8", 4, ["a" + "b"], ["&amp;lt;"])).source[0]
    assert one.target == ("&lt;",)
    assert reading.tokens(" ab\t&gt; ") == ("ab", ">")
    assert reading.token("&amp;lt;") is one.target[0]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("giza", "# Sentence pair (1)\n&amp;lt; b\nNULL ({ }) a ({ 1 })\n"),
        ("yawat", "1\na\n&amp;lt; b\n"),
    ],
)
def test_the_words_of_every_format_are_unescaped_once(tmp_path, name, text):
    (tmp_path / "x.crp").write_text(text)
    (tmp_path / "x.aln").write_text("\n1 0:0:unspec\n")
    (pair,) = io.iterate_pairs(tmp_path / "x.crp", format=name, unescape=True)
    assert pair.target == ("&lt;", "b")


def test_files_come_in_natural_order_and_how_much_is_read_is_known(tmp_path):
    for name in ("b10", "b9", "a11", "b9x", "B1"):
        (tmp_path / name).touch()
    reading = Reading(str(tmp_path), io.ReadOptions())
    assert [path.name for path in reading.files("*")] == ["B1", "a11", "b9", "b9x", "b10"]
    assert natural_key("7" * 200) < natural_key("7" * 9_000)
    assert str(Finding("odd", "very", "a", 3)) == "a:3: odd: very"
    assert str(Finding("odd", "very", "a")) == "a: odd: very"
    path = tmp_path / "a"
    path.write_text("0-0\n" * 400_000)
    chosen, reading = io.open_reading(str(path), format="pharaoh")
    assert reading.fraction() is None
    pairs = chosen.pairs(reading)
    next(pairs)
    assert 0 < reading.fraction() < 1
    pairs.close()
    assert Reading("-", io.ReadOptions()).fraction() is None


def test_files_that_cannot_be_read_are_named(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere", tmp_path / "a.gz"):
        refuses(FormatError, f"^{path}: cannot be read: ", io.read_corpus, path, format="pharaoh")


def test_options_that_make_no_sense_are_refused(tmp_path):
    refuses(UnknownNameError, "did you mean 'pharaoh'", io.read_corpus, "a", format="pharao")
    refuses(UnknownNameError, "argument of read_corpus: 'colour'", io.read_corpus, "a", colour=1)
    for options, message in (
        ({"target": "b"}, "`target` needs `source`"),
        ({"format": "alignkit-xml", "source": "b"}, "contains the words"),
        ({"base": 2}, "`base` must be 0 or 1, not 2"),
    ):
        refuses(OptionError, message, io.iterate_pairs, "a", **{"format": "pharaoh", **options})
    call = io.write_corpus, [], tmp_path / "a"
    refuses(OptionError, "`base` must be 0 or 1", *call, format="pharaoh", base=2)
    refuses(OptionError, "different files", *call, format="pharaoh", source="t", target="t")
    assert list(tmp_path.iterdir()) == []


def test_each_format_says_what_it_holds():
    kinds = {kind for name in io.FORMATS for kind in io.get_format(name).holds}
    assert {kind for kind in kinds if not kind.startswith("attribute ")} == EVERYTHING


def failing():
    yield PAIR
    raise KeyboardInterrupt


def test_a_failure_leaves_the_old_files_and_nothing_else(tmp_path):
    names = {name: tmp_path / name for name in ("links", "source", "target")}
    for path in names.values():
        path.write_text("old")
    place = names.pop("links")
    refuses(KeyboardInterrupt, None, io.write_corpus, failing(), place, format="pharaoh", **names)
    surrogate = SentencePair("2", ("a",), ("\udc80",), {"gold": Alignment()})
    with pytest.raises(WriteError, match=r"'\\udc80' cannot be written"):
        io.write_corpus([PAIR, surrogate], place, format="pharaoh", **names)
    files = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert files == dict.fromkeys(("links", "source", "target"), "old")
    io.write_corpus([PAIR], place, format="pharaoh", **names)
    assert [path.read_text() for path in (place, *names.values())] == ["0-0\n", "a\n", "b\n"]
    assert len(list(tmp_path.iterdir())) == 3


def test_a_file_can_be_converted_into_itself(tmp_path):
    path = tmp_path / "a"
    path.write_text("1?1 0-0\n")
    pairs = io.iterate_pairs(str(path), format="pharaoh")
    io.write_corpus(pairs, path, format="pharaoh", transpose=True)
    assert path.read_text() == "0-0 1?1\n"


def test_places_that_cannot_be_written_are_named_and_errors_of_the_package_pass_through(tmp_path):
    with pytest.raises(AlignkitError, match="mine"), replacing(str(tmp_path / "a")):
        raise AlignkitError("mine")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    for path in (tmp_path / place for place in ["", "file/below", "nowhere/below", "x" * 300]):
        refuses(WriteError, f"^{path}: ", io.write_corpus, [PAIR], path, format="pharaoh")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
