"""Test the drawings for terminals and plain files."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alignkit import Alignment, Annotation, SentencePair
from alignkit._support.wording import visible
from alignkit.show import draw_text
from alignkit.tables.text_width import char_clusters, char_width, cut_text

THEY = SentencePair(
    "p1",
    ("they", "left"),
    ("they", "went", "away"),
    {"anna": Alignment.parse("0-0 1-1 1?2"), "ben": Alignment.parse("0?0 1-1 0?2")},
    {"genre": "news"},
)


def lines(text):
    return text.strip("\n")


def test_one_annotator():
    assert draw_text(THEY, ["anna"]) == lines("""
p1  genre=news  anna: 2 sure, 1 possible

        t w a
        h e w
        e n a
        y t y
  they  ■ · ·
  left  · ■ □

  ■ sure (2)  □ possible (1)
""")


def test_two_annotators_have_a_mark_for_each_difference():
    assert draw_text(THEY) == lines(
        """
p1  genre=news  A anna: 2 sure, 1 possible  B ben: 1 sure, 2 possible

        t w a
        h e w
        e n a
        y t y
  they  ◧ · b
  left  · ■ a

  ■ sure for both (1)  ◧ sure for anna, possible for ben (1)  a only anna, possible (1)"""
        "  b only ben, possible (1)\n"
    )


def test_all_states_of_two_annotators_look_different_without_colour():
    states = [(a, b) for a in "-? " for b in "-? " if (a, b) != (" ", " ")]
    texts = (
        " ".join(f"0{marks[k]}{j}" for j, marks in enumerate(states) if marks[k] != " ")
        for k in (0, 1)
    )
    sides = dict(zip(("anna", "ben"), map(Alignment.parse, texts), strict=True))
    pair = SentencePair("1", ("x",), tuple("abcdefgh"), sides)
    for unicode, dot in ((True, "·"), (False, ".")):
        row = draw_text(pair, ascii=not unicode).splitlines()[3].split()[1:]
        assert len(set(row)) == 8
        assert dot not in row


def test_three_annotators_are_counted():
    drawn = draw_text(THEY.with_annotation("cleo", Alignment.parse("0-0 1-1"))).splitlines()
    assert drawn[-4:-2] == ["  they  3 · 1", "  left  · ■ 1"]
    assert drawn[-1] == "  ■ sure for all 3 (1)  3 sure for some of all 3 (1)  1 1 of 3 have it (2)"


def test_who_did_not_annotate_is_said_and_not_taken_for_empty():
    drawn = draw_text(THEY, ["anna", "zoe"])
    assert "anna: 2 sure, 1 possible  zoe: not annotated" in drawn
    assert "■ sure (2)" in drawn
    empty = draw_text(THEY.with_annotation("zoe", Alignment()), ["anna", "zoe"])
    assert "B zoe: 0 sure, 0 possible" in empty
    assert "A only anna, sure (2)" in empty
    bare = THEY.without_annotations("anna", "ben")
    assert draw_text(bare).splitlines()[0] == "p1  genre=news  no annotations"


def test_nulls_get_a_row_and_a_column():
    pair = SentencePair("1", ("ab", "c"), ("d",), {"anna": Alignment.parse("0?0 1- -0")})
    assert draw_text(pair) == lines("""
1  anna: 0 sure, 1 possible

      d ∅
  ab  □ ·
  c   · ■
  ∅   ■

  ■ sure (2)  □ possible (1)  ∅ aligned to nothing (2 of these)
""")


def test_remarks_stand_below_and_numbers_for_unknown_words():
    alignment = Alignment(sure=[(0, 0)], labels={(0, 0): "EQUI", (1, 2): "NOALI"})
    value = Annotation(alignment, "two\nlines", frozenset({"b", "a"}), "good")
    assert draw_text(THEY.with_annotation("anna", value), ["anna"]).splitlines()[-4:] == [
        "  anna, judgment: good",
        "  anna, flags: a, b",
        "  anna, comment: two lines",
        "  anna, labels: they ~ they EQUI; left ~ away NOALI",
    ]
    pair = SentencePair("1", None, None, {"gold": Alignment.parse("0-0 1?10")})
    assert draw_text(pair).splitlines()[2:6] == [
        "                         1",
        "     0 1 2 3 4 5 6 7 8 9 0",
        "  0  ■ · · · · · · · · · ·",
        "  1  · · · · · · · · · · □",
    ]


@pytest.mark.parametrize("source", [(), ("a",)])
@pytest.mark.parametrize("target", [(), ("b",)])
def test_empty_sentences(source, target):
    drawn = draw_text(SentencePair("1", source, target, {"gold": Alignment()}))
    assert drawn.startswith("1  gold: 0 sure, 0 possible")
    assert all(word in drawn for word in source + target)


def test_wide_and_combining_characters_keep_their_columns():
    links = {"g": Alignment.parse("0-0 1-1 0?2")}
    pair = SentencePair("1", ("漢字", "e\u0301te\u0301"), ("図書", "e\u0301", "x"), links)
    assert draw_text(pair) == lines("""
1  g: 2 sure, 1 possible

        図
        書 e\u0301 x
  漢字  ■  · □
  e\u0301te\u0301   ·  ■ ·

  ■ sure (2)  □ possible (1)
""")


def test_right_to_left_words_are_read_downwards_and_kept_in_place():
    pair = SentencePair("1", ("ספר", "book"), ("גדול", "קטן"), {"g": Alignment.parse("0-0 1-1")})
    drawn = draw_text(pair)
    assert drawn.replace("\u200e", "") == lines("""
1  g: 2 sure, 0 possible

        ג
        ד ק
        ו ט
        ל ן
  ספר   ■ ·
  book  · ■

  ■ sure (2)
""")
    for line in drawn.splitlines():
        # no two right-to-left runs meet without a left-to-right mark between them: nothing moves
        assert not re.search(r"[א-ת][^\u200eא-ת]+[א-ת]", line)
        assert not re.search(r"[א-ת](?!\u200e|[א-ת])", line)


def test_wide_matrices_are_split_long_tokens_cut_and_colour_changes_nothing_else():
    words = tuple(f"w{k}" for k in range(30))
    pair = SentencePair("1", words, words, {"gold": Alignment((k, k) for k in range(30))})
    drawn = draw_text(pair, width=40)
    assert max(map(len, drawn.splitlines())) <= 40
    assert drawn.count("■") == 31  # each link once, and the legend
    assert re.findall(r"target words (\d+ to \d+) of 30", drawn) == ["0 to 16", "17 to 29"]
    coloured = draw_text(THEY, colour=True)
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == draw_text(THEY)
    assert "\x1b[38;5;33ma\x1b[0m" in coloured
    assert "\x1b[38;5;208mb\x1b[0m" in coloured
    pair = SentencePair("1", ("x" * 1000,), ("y" * 1000,), {"g": Alignment.parse("0-0")})
    drawn = draw_text(pair).splitlines()
    assert len(drawn) < 50
    assert max(map(len, drawn)) < 50


ODD_CHARACTERS = "ab<&\"' \x00\x07\n\x1b\x7f\x85\x9b\u200b\u200e\u202e\u2028\ufeff\udc80\u0301"
ODD = st.text(st.sampled_from(ODD_CHARACTERS) | st.characters(), max_size=6)
LINKS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), max_size=4)


@given(
    words=st.lists(ODD, min_size=8, max_size=8), links=LINKS, width=st.none() | st.integers(1, 60)
)
def test_nothing_in_a_pair_reaches_the_terminal_unchecked(words, links, width):
    identity, name, value, comment, *tokens = words
    annotation = Annotation(Alignment(links, labels={(0, 1): value}), comment, frozenset({name}))
    pair = SentencePair(identity, tokens[:2], tokens[2:], {name: annotation}, {name: value})
    for unicode in (True, False):
        drawn = draw_text(pair, width=width, ascii=not unicode)
        for char in drawn.replace("\n", ""):
            joins = "\u200c\u200d\u200e"
            assert char in joins or unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        assert all(line == line.rstrip() for line in drawn.splitlines())
        if not unicode:
            assert drawn.isascii()
        drawn.encode()


@given(ODD)
def test_clusters_are_the_text(text):
    assert "".join(char_clusters(text)) == text
    assert 0 <= char_width(text) <= 2 * len(text)


@given(ODD, st.integers(1, 8))
def test_cut_text_fits(text, width):
    shown = visible(text)
    assert char_width(cut_text(shown, width)) <= width
    assert (cut_text(shown, width) == shown) == (char_width(shown) <= width)
