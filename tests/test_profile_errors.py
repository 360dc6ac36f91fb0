"""Errors by kind of link: against a plain recount, the scores, and worked cases."""

import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import isnan

import pytest
from command import PARAPHRASES, run, write
from hypothesis import given, settings
from hypothesis import strategies as st
from repetitions import FULL

from alignkit import Alignment, Corpus, Link, SentencePair, read_corpus
from alignkit.errors import MissingTextError, OptionError, UnknownNameError
from alignkit.scoring import BY_LINK, link_errors
from alignkit.scoring.link_classes import component_kinds, distance_band, function_words, word_class

SAMPLES = read_corpus(PARAPHRASES, format="alignkit-jsonl")
QUICK = {"resamples": 20}


@pytest.mark.parametrize(
    ("links", "kind"),
    [
        ("3-5", "1-1"),
        ("3-5 3-6 3?7", "1-n"),
        ("3-5 4-5", "n-1"),
        ("3-5 3-6 4-5 4-6", "block"),
        ("3-5 3-6 4-6", "n-m, not full"),
        ("3-5 3-7", "discontinuous"),
        ("3-5 5-5", "discontinuous"),
        ("3-5 3-7 5-5 5-7", "discontinuous"),
    ],
)
def test_the_kind_of_a_component(links, kind):
    alignment = Alignment.parse(links)
    assert set(component_kinds(alignment).values()) == {kind}
    other = {"1-n": "n-1", "n-1": "1-n"}.get(kind, kind)
    assert set(component_kinds(alignment.transpose()).values()) == {other}


def test_classes_of_words_and_bands_of_distance():
    english, french = function_words("english"), function_words("fr", "en")
    assert word_class("!", "!", english) == "identical"
    assert word_class("!", ".", english) == "punctuation"
    assert word_class("la", "the", french) == "function words"
    assert word_class("la", "house", french) == "mixed"
    assert word_class(".", "the", english) == "mixed"
    assert word_class("dog", "hound", english) == "content words"
    for j, band in enumerate(["below 0.05", "0.05 to 0.15", "0.05 to 0.15"], 0):
        assert distance_band(Link(0, j), (1, 20)) == band
    assert distance_band(Link(0, 3), (1, 20)) == "0.15 to 0.3"
    assert distance_band(Link(0, 6), (1, 20)) == "0.3 or more"
    assert distance_band(Link(3, 0), (10, 3)) == "0.3 or more"


def test_the_samples_have_known_totals_and_each_way_divides_the_same_links():
    every = link_errors(SAMPLES, "eflomal", "gold", by_link=list(BY_LINK)[:4], **QUICK).classes[0]
    assert (every.hypothesis, every.reference) == (696, 1001)
    assert (round(100 * every.precision, 1), round(100 * every.recall, 1)) == (85.3, 55.9)
    ways = ["word", "frequency", "distance"]
    found = link_errors(SAMPLES, "eflomal", "gold", by_link=ways, **QUICK)
    for way in ways:
        parts = [one for one in found.classes if one.by == way]
        for name in ("hypothesis", "right", "reference", "recalled", "sure_as_possible"):
            assert sum(getattr(one, name) for one in parts) == getattr(found.classes[0], name)


def kind_of(pair, alignment, link):
    """Return the kind of a link's component by walking from link to link."""
    part, grown = set(), {link}
    while grown - part:
        part |= grown
        grown = {x for x in alignment for y in part if x.i == y.i or x.j == y.j}
    rows, columns = sorted({x.i for x in part}), sorted({x.j for x in part})
    if [*range(rows[0], rows[-1] + 1)] != rows or [*range(columns[0], columns[-1] + 1)] != columns:
        return "discontinuous"
    if len(part) == 1:
        return "1-1"
    if len(rows) == 1 or len(columns) == 1:
        return "1-n" if len(rows) == 1 else "n-1"
    return "block" if len(part) == len(rows) * len(columns) else "n-m, not full"


PUNCTUATED = st.sampled_from(["the", "The", "a", "dog", "cat", ".", "!", "of", "Café"])


@st.composite
def worded(draw):
    """Return pairs of few words with two alignments and phenomena."""
    pairs = []
    for k in range(draw(st.integers(1, 4))):
        sides = [draw(st.lists(PUNCTUATED, min_size=1, max_size=5)) for _ in "st"]
        cells = [Link(i, j) for i in range(len(sides[0])) for j in range(len(sides[1]))]
        made = {}
        for name in ("hyp", "ref"):
            sure = draw(st.sets(st.sampled_from(cells)))
            made[name] = Alignment(sure, sure | draw(st.sets(st.sampled_from(cells))))
        values = draw(st.sets(st.sampled_from(["idiom", "number"])))
        tags = {
            f"{side}_tags": " ".join(f"{word}/{'F' if len(word) < 3 else 'C'}" for word in words)
            for side, words in zip(("source", "target"), sides, strict=True)
        }
        attributes = {"phenomena": ",".join(sorted(values)), **tags}
        pairs.append(SentencePair(str(k), *sides, made, attributes))
    return Corpus(pairs)


def plain_classes(way, corpus, pair, alignment, link):
    if way == "kind":
        return [kind_of(pair, alignment, link)]
    words = pair.source[link.i], pair.target[link.j]
    if way == "phenomenon":
        return [name or "(none)" for name in pair.attributes["phenomena"].split(",")]
    if way == "tag":
        tags = ["F" if len(word) < 3 else "C" for word in words]
        return [tags[0] if tags[0] == tags[1] else " - ".join(tags)]
    if way == "word":
        function = [word.lower() in ("the", "a", "of") for word in words]
        kinds = [
            "punctuation" if word in ".!" else "function words" if one else "content words"
            for word, one in zip(words, function, strict=True)
        ]
        same = words[0].casefold() == words[1].casefold()
        return ["identical" if same else kinds[0] if kinds[0] == kinds[1] else "mixed"]
    if way == "frequency":
        sides = ([word.casefold() for one in corpus for word in one.words[k]] for k in (0, 1))
        rarer = min(side.count(one.casefold()) for side, one in zip(sides, words, strict=True))
        return ["1" if rarer == 1 else "2 to 5" if rarer < 6 else "6 to 50"]
    gap = abs(Fraction(link.i, len(pair.source)) - Fraction(link.j, len(pair.target)))
    edges = {
        "below 0.05": Fraction(1, 20),
        "0.05 to 0.15": Fraction(3, 20),
        "0.15 to 0.3": Fraction(3, 10),
    }
    return [next((name for name, edge in edges.items() if gap < edge), "0.3 or more")]


@pytest.mark.parametrize("way", ["kind", "word", "frequency", "distance", "tag", "phenomenon"])
@settings(max_examples=100 if FULL else 6)
@given(worded())
def test_all_ways_agree_with_a_plain_recount(way, corpus):
    half = replace(corpus[0], id="x", annotations={"hyp": corpus[0].annotations["hyp"]})
    found = link_errors(
        corpus + Corpus([half]),
        "hyp",
        "ref",
        by_link=[way],
        resamples=5,
        function_words=function_words("english"),
    )
    assert found.skipped == 1
    expected, every = Counter(), Counter()
    for pair in corpus:
        a, b = pair.alignment("hyp"), pair.alignment("ref")
        for mine, other, good, bad in ((a, b, "right", "wrong"), (b, a, "recalled", "missed")):
            for link in mine.sure:
                fate = good if link in set(other) else bad
                every[fate] += 1
                for name in plain_classes(way, corpus, pair, mine, link):
                    expected[name, fate] += 1
    told = Counter()
    for one in found.classes[1:]:
        if one.name in ("sure", "possible", "null"):
            continue
        for fate in ("right", "wrong", "recalled", "missed"):
            told[one.name, fate] += getattr(one, fate)
        others = {fate: every[fate] - expected[one.name, fate] for fate in every}
        kept = others.get("recalled", 0), others.get("missed", 0)
        recall = kept[0] / sum(kept) if sum(kept) else float("nan")
        assert one.gaps["recall"].others == pytest.approx(recall, nan_ok=True)
        assert one.gaps["recall"].value == pytest.approx(one.recall - recall, nan_ok=True)
    assert +told == +expected


def test_statuses_and_nulls_by_hand():
    pair = SentencePair(
        "1",
        ["a", "b", "c", "d"],
        ["a", "b", "c"],
        {"x": Alignment.parse("0-0 1-1 2?2"), "g": Alignment.parse("0-0 1?1 3-2")},
        {"phenomena": "idiom, number", "source_tags": "a/D b/N c/V d/V", "target_tags": "D N N"},
    )
    found = link_errors(Corpus([pair]), "x", "g", by_link=BY_LINK, examples=3, **QUICK)
    one = {(part.by, part.name): part for part in found.classes}
    sure, possible, null = (one["kind", name] for name in ("sure", "possible", "null"))
    assert (sure.hypothesis, sure.right, sure.sure_as_possible) == (2, 2, 1)
    assert (sure.reference, sure.recalled, sure.missed) == (2, 1, 1)
    assert (possible.hypothesis, possible.right) == (1, 0)
    assert (possible.reference, possible.recalled) == (1, 1)
    assert (null.hypothesis, null.right, null.reference) == (1, 0, 1)
    assert one["phenomenon", "idiom"].missed == one["phenomenon", "number"].missed == 1
    assert one["tag", "V - N"].missed == one["tag", "D"].right == 1
    assert ("kind", "1-1", "missed", "1", "3-2", "d", "c") in found.examples
    assert isnan(one["tag", "V - N"].precision)
    assert "groups overlap" in str(found)


def test_what_is_asked_for_must_be_there():
    bare = Corpus([SentencePair("1", None, None, {"a": Alignment.parse("0-0"), "b": Alignment()})])
    found = link_errors(bare, "a", "b", by_link=["kind"], **QUICK)
    assert "null" not in [one.name for one in found.classes]
    with pytest.raises(MissingTextError, match="by word need them"):
        link_errors(bare, "a", "b", by_link=["word"])
    for options in (
        {"by_link": ["kinds"]},
        {"by_link": ["phenomenon"], "attribute": "gener"},
        {"by_link": ["tag"]},
        {"by_link": []},
        {"examples": -1},
    ):
        with pytest.raises((OptionError, UnknownNameError)):
            link_errors(SAMPLES, "anna", "gold", **options)


def test_the_command_says_where_a_system_fails(capsys, tmp_path):
    page = tmp_path / "e.html"
    given = ["errors", PARAPHRASES, "--hyp-annotator", "eflomal", "--ref-annotator", "gold"]
    by = ["--by-link", "kind,word,phenomenon", "--function-words", "en", "--resamples", "20"]
    ran = run(capsys, *given, *by, "--examples", "2", "--html", page)
    assert ran.code == 0, ran.err
    head = ran.out.partition("\nLinks by kind")[0].splitlines()
    misses = "eflomal misses 441 of the 1001 links of the reference: recall 55.9 ["
    assert head[1].startswith(misses)
    assert head[2].startswith("102 of the 696 links of eflomal are wrong: precision 85.3 [")
    bounds = r"\[-?\d+\.\d, -?\d+\.\d\]"
    for told in (
        rf"largest share of missed links by kind: 'block' \(several words with several, "
        rf"each linked with each\): 122 of 133, recall 8\.3 {bounds}, "
        rf"55\.0 {bounds} points below all other links \(63\.2\)",
        r"largest share of missed links by word: 'mixed' .*; largest number: "
        r"'content words': 140 of 195",
        rf"largest share of missed links by phenomenon: 'approximate': 120 of 179, recall 33\.0 "
        rf"{bounds}, 28\.0 {bounds} points below the links of all other pairs \(60\.9\).*; "
        r"largest number: 'synonym': 145 of 298",
    ):
        assert any(re.fullmatch(told, line) for line in head), told
    text = page.read_text("utf-8")
    assert "Errors by kind" in text
    assert text.index("eflomal misses 441") < text.index("Read with care") < text.index("<table>")
    assert "|<wbr>by:" in text
    (row,) = (x for x in run(capsys, *given, "--json").json["by-kind"] if x["class"] == "block")
    assert (row["reference"], row["found"]) == (133, 11)
    run(capsys, *given, "--by-link", "none").failed("'none'", "kind")
    run(capsys, "errors", PARAPHRASES).failed("--hyp-annotator")


def test_tags_come_from_files(capsys, tmp_path):
    hyp, ref = write(tmp_path, "h", "0-0\n1-1\n"), write(tmp_path, "r", "0-0 1-1\n1-0\n")
    texts = [
        "--source",
        write(tmp_path, "s", "a b\nc d\n"),
        "--target",
        write(tmp_path, "t", "x y\nz w\n"),
    ]
    given = ["errors", hyp, ref, *texts, "--format", "pharaoh", "--by-link", "tag", "--csv"]
    out = run(capsys, *given, "--source-tags", write(tmp_path, "tags", "a/D b/N\nc/D d/V\n")).out
    classes = [line.split(",")[1] for line in out.splitlines()]
    assert classes == ["class", "all links", "V", "N", "D"]
    for text, told in (
        ("a/D\nc/D d/V\n", "tags:1: 1 tags for 2 words of pair '1'"),
        ("a/D b/N\n", "tags:2: no tags"),
        ("a/D b/N\nc/D d/V\nx\n", "more lines"),
        (b"a/D b/N\n\xff c\n", "tags:2"),
    ):
        run(capsys, *given, "--source-tags", write(tmp_path, "tags", text)).failed(told)


def test_terms_are_explained_where_they_stand():
    pair = SentencePair(
        "1",
        ("a", "dog", ".", "ran"),
        ("a", "cat", "!", "far", "off"),
        {
            "gold": Alignment.parse("0-0 1-1 2-1 3-3 3-4"),
            "system": Alignment.parse("0-0 1-2 3-3"),
        },
    )
    found = {
        way: link_errors(Corpus([pair]), "system", "gold", by_link=[way], resamples=10)
        for way in ("kind", "word", "frequency", "distance")
    }
    notes = {way: one.tables()[0].note for way, one in found.items()}
    assert all("as possible: right links" in x for x in notes.values())
    assert "1-n: one source word" in notes["kind"]
    assert "block:" not in notes["kind"]
    assert "mixed: a function word" in notes["word"]
    assert "words: other words" in notes["word"]
    assert "rarer of the two" in notes["frequency"]
    assert "from the diagonal" in notes["distance"]


def test_a_share_that_is_not_clearly_larger_may_be_chance():
    words = tuple("abcdefghijkl")
    other = tuple(word.upper() if k % 2 else f"{word}x" for k, word in enumerate(words))
    gold = Alignment.parse(" ".join(f"{k}-{k}" for k in range(12)))
    systems = [" ".join(f"{k}-{k}" for k in range(12) if (k + n) % 4 > 1) for n in range(12)]
    corpus = Corpus(
        SentencePair(str(n), words, other, {"gold": gold, "system": Alignment.parse(text)})
        for n, text in enumerate(systems)
    )
    head = link_errors(corpus, "system", "gold", by_link=["word"], resamples=200).head
    (missed,) = (line for line in head if "missed links by word" in line)
    assert "it may be chance" in missed


def test_a_class_whose_links_are_in_few_pairs_is_not_named_however_many_links_it_has():
    """One pair has 40 wrong links of equal words; no other pair has any such link."""
    words = tuple(f"w{k}" for k in range(41))
    one = SentencePair(
        "one",
        words,
        words,
        {
            "gold": Alignment.parse(" ".join(f"{k}-{k}" for k in range(41))),
            "system": Alignment.parse(" ".join(f"{k + 1}-{k}" for k in range(40))),
        },
    )
    others = [
        SentencePair(
            str(n),
            ("a", "b"),
            ("c", "d"),
            {
                "gold": Alignment.parse("0-0 1-1"),
                "system": Alignment.parse("0-0 1-1" if n % 3 else "0-0 1-0"),
            },
        )
        for n in range(40)
    ]
    found = link_errors(Corpus([one, *others]), "system", "gold", by_link=["word", "distance"])
    identical = next(x for x in found.classes if x.name == "identical")
    assert (identical.reference, identical.missed) == (41, 41)
    assert (identical.pairs, dict(identical.units)) == (1, {"precision": 0, "recall": 1})
    assert not any("'identical'" in line.partition("; largest number")[0] for line in found.head)
    assert any("fewer than 30 sentence" in text for text in found.cautions)
    records = {row["class"]: row for row in found.tables()[0].to_records()}
    assert records["identical"]["pairs"] == 1
    assert records["all links"]["pairs"] == 41


def test_phenomena_with_the_names_of_other_rows_are_classes_like_others():
    """A phenomenon `null` or `sure` is compared; one called `all links` has its examples."""
    words = tuple("abcd"), tuple("wxyz")
    names = ("null", "sure", "all links")
    links = {"null": "0-0", "sure": "0-0 1-1 2-2", "all links": "0-0 1-1"}
    pairs = []
    for k in range(90):
        name = names[k % 3]
        gold = Alignment.parse("0-0 1-1 2-2 3-3")
        annotations = {"gold": gold, "system": Alignment.parse(links[name])}
        pairs.append(SentencePair(str(k), *words, annotations, {"phenomena": name}))
    errors = link_errors(
        Corpus(pairs), "system", "gold", by_link=["kind", "phenomenon"], examples=1, resamples=20
    )
    of_way = {part.name: part for part in errors.classes if part.by == "phenomenon"}
    assert {name: part.recall for name, part in of_way.items()} == {
        "null": 0.25,
        "sure": 0.75,
        "all links": 0.5,
    }
    assert of_way["null"].gaps["recall"].others == (90 + 60) / 240
    assert any("missed links by phenomenon: 'null': 90 of 120" in line for line in errors.head)
    shown = {example.name for example in errors.examples if example.by == "phenomenon"}
    assert shown == set(names)
    by_kind, by_phenomenon = errors.tables()[:2]
    assert by_phenomenon.apart == {1}
    named = [row[0] for row in by_kind.rows]
    assert by_kind.apart == {1, named.index("sure"), named.index("null")}
    statuses = [part for part in errors.classes if part.by == "kind" and part.name == "null"]
    assert not statuses[0].gaps
