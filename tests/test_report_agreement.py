"""Test the page of agreement: complete, safe, small, the same each time, and true to the data."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree, html

from alignkit.agreement import agreement, agreement_report
from alignkit.alignment import Alignment
from alignkit.corpus import Corpus, SentencePair
from alignkit.errors import OptionError, UnknownNameError
from alignkit.report.agreement_page import draw_agreement
from alignkit.report.agreement_tables import LABELS
from alignkit.report.axes import Axis
from alignkit.report.charts import points
from alignkit.report.disagreements import Outcome, disagreements
from alignkit.report.more_pairs import further_pairs

SECTIONS = (
    *("numbers", "reading", "sentences", "edits", "chance"),
    *("disagreements", "more", "pairs", "settings"),
)


def make_corpus(pairs: int, *, longest: int = 12, seed: int = 0) -> Corpus:
    """Return sentence pairs whose annotators changed an initial alignment at random."""
    rng = np.random.default_rng(seed)
    return Corpus(_pair(k, longest, rng) for k in range(pairs))


def _pair(k: int, longest: int, rng: np.random.Generator) -> SentencePair:
    n, m = rng.integers(3, longest + 1, 2)
    words = [f"w{number}" for number in rng.integers(0, 60, n + m)]
    initial = np.zeros((n, m), np.int64)
    initial[np.arange(min(n, m)), np.arange(min(n, m))] = 2
    names = {"initial": Alignment.from_matrix(initial)}
    for name in ("anna", "ben"):
        mine = initial.copy()
        changed = rng.random((n, m)) < 2 / (n + m)
        mine[changed] = rng.integers(0, 3, changed.sum())
        names[name] = Alignment.from_matrix(mine)
    return SentencePair(f"p{k}", words[:n], words[n:], names, {"genre": "ab"[k % 2]})


def measure(corpus: Corpus, **options):
    options = {"initial": "initial", "samples": 30, "resamples": 50, "rng": 1, **options}
    return {
        f"{unit}-{links}": agreement(corpus, "anna", "ben", unit=unit, links=links, **options)
        for unit in ("phrases", "links")
        for links in ("sure", "possible")
    }


def draw(corpus: Corpus, results=None, *, title="Agreement", by=None, initial="initial", **more):
    results = measure(corpus, by=by) if results is None else results
    report = agreement_report(corpus, ["anna", "ben"], by=by)
    return "".join(
        draw_agreement(corpus, results, title=title, initial=initial, report=report, **more)
    )


CORPUS = make_corpus(40)
RESULTS = measure(CORPUS)
PAGE = draw(CORPUS, RESULTS)
TREE = html.fromstring(PAGE)


def rows_of(tree, label: str) -> list[list[str]]:
    rows = tree.xpath("//table[@aria-label=$label]/tbody/tr", label=label)
    return [[cell.text_content().strip() for cell in row] for row in rows]


def test_the_page_is_well_formed():
    parser = etree.HTMLParser()
    etree.fromstring(PAGE, parser)
    unknown = etree.ErrorTypes.HTML_UNKNOWN_TAG  # the parser does not know HTML 5
    assert [str(error) for error in parser.error_log if error.type != unknown] == []
    images = re.findall(r"<svg.*?</svg>", PAGE, re.DOTALL)
    assert len(images) == len(TREE.xpath("//figure")) == 1 + 4 + 4 + 4 + 1
    for image in images:
        etree.fromstring(image)


def test_all_sections_are_there_and_linked():
    assert tuple(TREE.xpath("//main/section/@id")) == SECTIONS
    assert [link[1:] for link in TREE.xpath("//nav//a/@href")] == list(SECTIONS)
    names = TREE.xpath("//@id")
    assert len(names) == len(set(names))
    meant = [name for said in TREE.xpath("//@aria-labelledby") for name in said.split()]
    assert set(meant) <= set(names)
    for one in TREE.xpath("//figure"):
        assert one.xpath(".//*[name()='svg']/*[name()='title']/text()")
        assert one.xpath(".//*[name()='svg']/*[name()='desc']/text()")
        assert one.xpath("details//table")


def test_nothing_is_fetched_and_nothing_runs():
    assert not re.search(r"https?:|//|url\(|@import|<script|<link|<img|src=|\son\w+=", PAGE)
    assert all(link.startswith("#") for link in re.findall(r'href="([^"]*)"', PAGE))


def test_the_same_results_give_the_same_page():
    assert draw(CORPUS, RESULTS) == PAGE


def test_the_tables_hold_the_results():
    one = RESULTS["links-possible"]
    row = rows_of(TREE, "Words: links")[0]
    assert row[:2] == ["all", "possible"]
    assert row[5:9] == [str(one.used), *(f"{v:.3f}" for v in (one.pi, one.pi0, one.C))]
    assert row[9] == f"[{one.interval.low:.3f}, {one.interval.high:.3f}]"
    found = agreement_report(CORPUS, ["anna", "ben"]).overall.comparisons[0].overlap
    ratios = found.words_possible.precision, found.words_possible.recall, found.words_possible.f1
    assert row[2:5] == [f"{100 * value:.1f}" for value in ratios]
    for result in RESULTS.values():
        assert result.signature in TREE.xpath("string(//section[@id='settings'])")


def test_groups_have_rows_of_their_own():
    results = measure(CORPUS, by="genre")
    tree = html.fromstring(draw(CORPUS, results, by="genre"))
    rows = rows_of(tree, "Phrases: atomic phrase pairs")
    assert [row[:2] for row in rows] == [
        [name, kind] for name in ("all", "a", "b") for kind in ("possible", "sure")
    ]
    group = results["phrases-sure"].groups[1]
    assert rows[5][5:9] == [str(group.used), *(f"{v:.3f}" for v in (group.pi, group.pi0, group.C))]


def test_the_points_are_the_data():
    for links in ("sure", "possible"):
        for k, name in enumerate(("anna", "ben")):
            data = RESULTS[f"phrases-{links}"].models[name]["edit"].data
            image = TREE.xpath(
                f"//*[@aria-labelledby='edits-{links}-edit-{k}-title edits-{links}-edit-{k}-said']"
            )[0]
            marks = image.xpath(".//*[@data-n]")
            said = Counter(
                {mark.xpath("string(*)").split(":")[0]: int(mark.get("data-n")) for mark in marks}
            )
            pairs = zip(data.words.tolist(), data.edits.tolist(), strict=True)
            assert said == Counter(f"{words:g}, {edits:.4g}" for words, edits in pairs)


@pytest.mark.parametrize("name", LABELS)
def test_the_bars_hold_every_sentence_pair_and_every_sample(name):
    for kind, total in (("sentences", RESULTS[name].used), ("chance", RESULTS[name].samples)):
        image = TREE.xpath(f"//*[@aria-labelledby='{kind}-{name}-title {kind}-{name}-said']")[0]
        counts = [text.rsplit(": ", 1)[1] for text in image.xpath(".//*[name()='rect']/*/text()")]
        assert sum(map(int, counts)) == total
        assert "pi0 " in image.text_content()


def test_many_points_are_put_together_and_none_is_lost():
    data = {(x, y): 1 for x in range(100) for y in range(100)}
    axes = Axis(0, 100, "x"), Axis(0, 100, "y")
    image = etree.fromstring(points("n", "t", data, [], second=True, across=axes[0], up=axes[1]))
    marks = [int(mark.get("data-n")) for mark in image.iter("circle")]
    assert sum(marks) == 10_000
    assert len(marks) < 2500


def test_disagreements_are_counted():
    pair = SentencePair(
        "1", ("The", "men", "left", "."), ("the", "man", "went", "away", "."),
        {"anna": Alignment.parse("0-0 1-1 2-2 2?3 3-4"),
         "ben": Alignment.parse("0?0 1-1 1-0 2-2 2-3")},
    )  # fmt: skip
    found = disagreements(Corpus([pair, pair]), "anna", "ben")
    assert found.total == Outcome(both=4, unsure=4, first=2, second=2)
    assert found.kinds["punctuation"] == Outcome(first=2)
    assert found.kinds["identical"] == Outcome(unsure=2, first=2)
    assert found.kinds["function word"] == Outcome(unsure=2, second=2)
    assert found.kinds["content words"] == Outcome(both=4, unsure=2)
    assert found.kinds["1-1"] == Outcome(first=2)  # 0-0 and 1-1 are in a block of ben's
    assert found.kinds["block"].links == 6
    assert found.kinds["1-n"] == Outcome(both=2, unsure=2)
    assert [(one.source, one.target, one.outcome.alone) for one in found.words] == [
        (".", ".", 2),
        ("men", "the", 2),
    ]


@settings(max_examples=50)
@given(st.integers(0, 10**6))
def test_kinds_and_pairs_add_up(seed):
    corpus = make_corpus(3, longest=6, seed=seed)
    found = disagreements(corpus, "anna", "ben")
    every = sum((one.outcome for one in found.pairs), Outcome())
    shapes = sum((found.kinds[shape] for shape in ("1-1", "1-n", "block")), Outcome())
    assert found.total == every == shapes
    alone = sum(len(set(pair.alignment("anna")) ^ set(pair.alignment("ben"))) for pair in corpus)
    assert found.total.alone == alone == sum(one.outcome.alone for one in found.words)


def test_the_pairs_are_sorted_by_disagreement():
    counts = [
        tuple(map(int, re.findall(r"(\d+) linked by one only, (\d+) sure", text)[0]))
        for text in TREE.xpath("//article/p[1]/text()")
    ]
    assert counts == sorted(counts, reverse=True)
    differing = [one for one in disagreements(CORPUS, "anna", "ben").pairs if one.outcome.alone]
    assert sum(alone > 0 for alone, _ in counts) == len(differing)
    assert len(TREE.xpath("//table[@class='matrix']")) == len(counts)


def test_a_large_corpus_stays_below_5_mb():
    corpus = make_corpus(600, longest=50)
    page = draw(corpus)
    assert 1_000_000 < len(page.encode()) < 5_000_000
    tree = html.fromstring(page, parser=html.HTMLParser(huge_tree=True))
    said = tree.xpath("string(//section[@id='pairs']/p)")
    drawn = len(tree.xpath("//article"))
    assert 50 < drawn <= 200
    left = sum(map(int, re.findall(r"(\d+)(?: in which they do not| that differ less)", said)))
    assert said.startswith(f"{drawn} sentence pairs")
    assert drawn + left == 600


def test_pairs_too_long_to_draw_are_counted():
    words = [f"w{k}" for k in range(300)]
    pair = SentencePair(
        "1", words, words,
        {"initial": Alignment.parse("0-1"), "anna": Alignment.parse("0-1 1-2"),
         "ben": Alignment.parse("0-1")},
    )  # fmt: skip
    page = draw(Corpus([pair, *make_corpus(3)]))
    assert "1 are left out because they are too long to draw" in page


def test_an_undefined_result_is_a_dash_with_its_reason():
    same = {name: Alignment.parse("0-0 1-1") for name in ("initial", "anna", "ben")}
    corpus = Corpus([SentencePair("1", ("a", "b"), ("c", "d"), same)])
    results = measure(corpus)
    assert results["links-sure"].undefined
    tree = html.fromstring(draw(corpus, results))
    assert rows_of(tree, "Words: links")[1][8:] == ["-", "-"]
    said = tree.xpath("//section[@id='numbers']/ul[@class='notes']/li/text()")
    assert results["links-sure"].undefined in " ".join(said)
    assert "nan" not in tree.text_content().lower()


def test_nothing_to_compare_is_drawn_too():
    nothing = {name: Alignment() for name in ("initial", "anna", "ben")}
    corpus = Corpus([SentencePair("1", ("a", "b"), ("c", "d"), nothing)])
    tree = html.fromstring(draw(corpus))
    assert tuple(tree.xpath("//main/section/@id")) == SECTIONS
    assert "both sets empty" in tree.text_content()


@pytest.mark.parametrize(
    ("options", "figures"),
    [
        ({"chance": "kupper-hafner"}, 1 + 4 + 1),
        ({"chance": "edit-split"}, 1 + 4 + 8 + 4 + 1),
        ({"reading": "probability"}, 14),
        ({"bootstrap": "none"}, 14),
        ({"aggregate": "micro", "normalizer": "max"}, 14),
    ],
    ids=str,
)
def test_every_kind_of_result_is_drawn(options, figures):
    tree = html.fromstring(draw(CORPUS, measure(CORPUS, **options)))
    assert len(tree.xpath("//figure")) == figures


def test_some_results_are_enough_and_no_initial_is_needed():
    results = {"phrases-sure": measure(CORPUS, chance="kupper-hafner")["phrases-sure"]}
    tree = html.fromstring(draw(CORPUS, results, initial=None))
    assert not rows_of(tree, "Human ~ automatic: initial with each annotator as its reference (%)")
    assert len(rows_of(tree, "C")) == 1


def test_warnings_are_shown_once():
    page = draw(CORPUS, RESULTS, warnings=["beware of <this>", "beware of <this>"])
    assert page.count("beware of &lt;this&gt;") == 1


def test_results_that_do_not_belong_together_are_refused():
    with pytest.raises(OptionError, match="at least one result"):
        draw(CORPUS, {})
    with pytest.raises(UnknownNameError, match="phrases-sure"):
        draw(CORPUS, {"phrases": RESULTS["phrases-sure"]})
    other = replace(RESULTS["links-sure"], annotators=("anna", "cleo"))
    with pytest.raises(OptionError, match="anna and ben; anna and cleo"):
        draw(CORPUS, {**RESULTS, "links-sure": other})


def test_further_pairs_follow_the_square_root():
    one = RESULTS["links-possible"]
    width = one.interval.high - one.interval.low
    assert further_pairs(one, width) == 0
    assert further_pairs(one, width / 2) == 3 * len(one.sentences)
    assert further_pairs(one, width / 10) == pytest.approx(99 * len(one.sentences), abs=1)
    assert further_pairs(replace(one, interval=None), width) is None


ODD = st.one_of(
    st.sampled_from(["</b><script>", "a&b", '"', "'", "\x1b[31m", "\u202e", "]]>", "]", "<!--"]),
    st.text(st.characters(), min_size=1, max_size=4),
)


@settings(max_examples=40)
@given(st.lists(ODD, min_size=7, max_size=7), st.lists(ODD, min_size=2, max_size=2, unique=True))
def test_text_stays_text(words, names):
    identity, title, value, *tokens = words
    first, second = (f"{name}{k}" for k, name in enumerate(names))
    annotations = {
        "start": Alignment.parse("0-0"),
        first: Alignment.parse("0-0 1?1"),
        second: Alignment.parse("0?0 1-0"),
    }
    pair = SentencePair(identity, tokens[:2], tokens[2:], annotations, {"kind": value})
    corpus = Corpus([pair, pair])
    results = {
        "links-sure": agreement(
            corpus, first, second, initial="start", unit="links",
            samples=5, resamples=5, by="kind", rng=1,
        )
    }  # fmt: skip
    report = agreement_report(corpus, [first, second], by="kind")
    page = "".join(
        draw_agreement(
            corpus, results, title=title, initial="start", report=report, warnings=[value]
        )
    )
    page.encode()
    tree = html.fromstring(page)
    assert not tree.xpath("//script")
    assert tuple(tree.xpath("//main/section/@id")) == SECTIONS
    for image in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        etree.fromstring(image)
