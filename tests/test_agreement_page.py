"""The page of an agreement: complete, safe, small, the same each time, and true to the data."""

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from agreement_corpora import make_corpus
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree, html

from alignkit.agreement import agree
from alignkit.agreement.page import SECTIONS, draw_agreement_page
from alignkit.agreement.plots import LEVEL_TITLES
from alignkit.agreement.result import Agreement
from alignkit.model.alignment import Alignment
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair
from alignkit.show.cells import letters, make_grid
from alignkit.show.html import draw_figure
from alignkit.show.text import draw_text
from alignkit.tables.result import Caution

LEVELS = tuple(LEVEL_TITLES)
THREE = ("anna", "ben", "cleo")
QUICK = {"samples": 20, "resamples": 30}


def measure(corpus: Corpus, **options) -> Agreement:
    return agree(corpus, **{"initial": "initial", **QUICK, **options})


def draw(agreement: Agreement, **options) -> str:
    return "".join(draw_agreement_page(agreement, **options))


TWO_FOUND = measure(make_corpus(40), samples=30, resamples=50)
TWO_PAGE = draw(TWO_FOUND)
TWO_TREE = html.fromstring(TWO_PAGE)
THREE_FOUND = measure(make_corpus(12, names=THREE), by="genre")
THREE_PAGE = draw(THREE_FOUND)
THREE_TREE = html.fromstring(THREE_PAGE)
NAN = re.compile(r"(?<![A-Za-z])nan(?![A-Za-z])", re.IGNORECASE)
PAGES = pytest.mark.parametrize("page", [TWO_PAGE, THREE_PAGE], ids=["two", "three"])


def cells(table) -> list[list[str]]:
    return [
        [cell.text_content().strip() for cell in row.xpath("th|td")]
        for row in table.xpath(".//tbody/tr")
    ]


def numbers(tree, title: str) -> list[list[str]]:
    (figure,) = tree.xpath("//figure[normalize-space(figcaption)=$title]", title=title)
    return cells(figure.xpath("details//table")[0])


@PAGES
def test_it_is_well_formed(page):
    parser = etree.HTMLParser()
    etree.fromstring(page, parser)
    unknown = etree.ErrorTypes.HTML_UNKNOWN_TAG  # the parser does not know HTML 5
    assert [str(error) for error in parser.error_log if error.type != unknown] == []
    images = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(images) == len(html.fromstring(page).xpath("//figure")) > 10
    for image in images:
        etree.fromstring(image)


@PAGES
def test_all_sections_are_there_and_linked(page):
    tree = html.fromstring(page)
    assert tree.xpath("//main/section/@id") == list(SECTIONS)
    assert [link[1:] for link in tree.xpath("//nav//a/@href")] == list(SECTIONS)
    names = tree.xpath("//@id")
    assert len(names) == len(set(names))
    meant = [name for said in tree.xpath("//@aria-labelledby") for name in said.split()]
    meant += [link[1:] for link in tree.xpath("//@href")]
    meant += re.findall(r"url\(#([\w.-]+)\)", page)
    assert set(meant) <= set(names)
    for one in tree.xpath("//figure"):
        assert one.xpath(".//*[name()='svg']/*[name()='title']/text()")
        assert one.xpath(".//*[name()='svg']/*[name()='desc']/text()")
        assert one.xpath("details//table")


@PAGES
def test_nothing_is_fetched_and_nothing_runs(page):
    assert not re.search(r"https?:|//|url\((?!#)|@import|<script|<link|<img|src=|\son\w+=", page)
    assert all(link.startswith("#") for link in re.findall(r'href="([^"]*)"', page))
    assert html.fromstring(page).xpath("//meta[contains(@content, \"default-src 'none'\")]")


def test_no_colour_of_a_figure_is_fixed():
    for image in re.findall(r"<svg.*?</svg>", TWO_PAGE, re.DOTALL):
        assert not re.search(r"#[0-9a-fA-F]{3,8}\b(?<!\))[;\"]", image)
        assert "DejaVu" not in image
        assert "var(--ink)" in image


def test_the_same_agreement_gives_the_same_page():
    assert draw(TWO_FOUND) == TWO_PAGE


def test_all_tables_are_in_it():
    for found, tree in ((TWO_FOUND, TWO_TREE), (THREE_FOUND, THREE_TREE)):
        tables = tree.xpath("//section[@id='tables']//table")
        expected = found.tables()
        assert len(tables) == len(expected)
        for one, table in zip(tables, expected, strict=True):
            assert len(cells(one)) == len(table.rows)
            assert one.xpath("string(caption)").split() == table.title.split()


def test_every_pairing_is_in_every_part():
    names = {one.name for one in THREE_FOUND.of("annotators")}
    assert names == {"anna ~ ben", "anna ~ cleo", "ben ~ cleo"}
    for part in ("overview", "chance-models", "tables", "sentences", "chance-samples", "more"):
        said = THREE_TREE.xpath("string(//section[@id=$part])", part=part)
        assert all(name in said for name in names), part
    for part in ("disagreements", "matrices"):
        said = THREE_TREE.xpath("//section[@id=$part]/h3", part=part)
        shown = {" ~ ".join(one.xpath("bdi/text()")) for one in said}
        assert shown == names
    said = THREE_TREE.xpath("string(//section[@id='edit-models'])")
    assert all(f"{name}: edits, sure links" in said for name in THREE)
    assert "Fleiss" in THREE_TREE.xpath("string(//section[@id='overview'])")


def test_those_who_differ_most_come_first():
    shown = [" ~ ".join(one.xpath("bdi/text()")) for one in
             THREE_TREE.xpath("//section[@id='disagreements']/h3")]  # fmt: skip
    likeness = {one.name: one.sections[0].figures["words.possible.f1"]
                for one in THREE_FOUND.of("annotators")}  # fmt: skip
    assert shown == sorted(shown, key=likeness.__getitem__)


def test_cautions_stand_on_top_with_all_they_say():
    cautions = (
        Caution("few", "only <12> pairs", "look at the bracket", "12", ("anna ~ ben", "a & b")),
        Caution("more", "this is of all", "", "1", ()),
    )
    tree = html.fromstring(draw(replace(TWO_FOUND, cautions=cautions)))
    said = [" ".join(one.text_content().split()) for one in tree.xpath("//header//li")]
    assert said[:2] == ["anna ~ ben; a & b: only <12> pairs: look at the bracket", "this is of all"]
    assert not html.fromstring(draw(replace(TWO_FOUND, cautions=()))).xpath("//*[@id='cautions']")


def test_intervals_in_figures_are_those_of_the_agreement():
    pairing = TWO_FOUND.of("annotators")[0]
    rows = numbers(TWO_TREE, "C, agreement beyond chance (model of chance: edit)")
    for level, row in zip(LEVELS, rows, strict=True):
        one = pairing.main(level)
        bounds = f"[{one.interval.low:.3f}, {one.interval.high:.3f}]"
        assert row == [LEVEL_TITLES[level], "anna ~ ben", f"{one.C:.3f} {bounds}"]
    rows = {(row[0], row[1]): row[2] for row in numbers(THREE_TREE, "F1")}
    for one in THREE_FOUND.pairings:
        value = one.sections[0].figures["phrases.sure.f1"]
        name = f"{one.first} ~ others" if one.kind == "consensus" else one.name
        assert rows["phrases, sure", name].startswith(f"{value:.3f} [")


def test_models_of_chance_in_figures_are_those_of_the_agreement():
    rows = numbers(TWO_TREE, "C under every model of chance")
    pairing = TWO_FOUND.of("annotators")[0]
    for level, row in zip(LEVELS, rows, strict=True):
        assert row[2:] == [f"{found[level].C:.3f}" for found in pairing.beyond.values()]


def test_the_points_are_the_data():
    pairing = TWO_FOUND.of("annotators")[0]
    for links in ("sure", "possible"):
        for k, name in enumerate(("anna", "ben")):
            data = pairing.main(f"words.{links}").models[name]["edit"].data
            (image,) = TWO_TREE.xpath(
                "//*[starts-with(@aria-labelledby, $name)]", name=f"edits-{links}-edit-{k}-title"
            )
            said = Counter()
            for text in image.xpath(".//*[name()='use' or name()='path']/*[name()='title']/text()"):
                place, number = text.split(": ")
                said[place] = int(number.split()[0])
            pairs = zip(data.words.tolist(), data.edits.tolist(), strict=True)
            assert said == Counter(f"{words:g}, {edits:.4g}" for words, edits in pairs)


@pytest.mark.parametrize("level", LEVELS)
def test_the_bars_hold_every_sentence_pair_and_every_sample(level):
    one = TWO_FOUND.of("annotators")[0].main(level)
    for kind, total in (("sentences", one.used), ("chance", one.samples)):
        name = f"{kind}-0-{level.replace('.', '-')}-title"
        (image,) = TWO_TREE.xpath("//*[starts-with(@aria-labelledby, $name)]", name=name)
        counts = image.xpath(".//*[name()='path']/*[name()='title']/text()")
        assert sum(int(text.rsplit(": ", 1)[1]) for text in counts) == total
        assert f"pi0 {one.pi0:.3f}" in image.text_content()


def test_the_pairs_are_sorted_by_disagreement():
    counts = [
        tuple(map(int, re.findall(r"(\d+) linked by one only, (\d+) sure", text)[0]))
        for text in TWO_TREE.xpath("//article/p[1]/text()")
    ]
    assert counts == sorted(counts, reverse=True)
    assert len(TWO_TREE.xpath("//table[@class='matrix']")) == len(counts) > 10


@pytest.mark.slow
def test_a_large_corpus_stays_below_5_mb():
    page = draw(measure(make_corpus(600, longest=50), resamples=5, samples=5))
    assert 1_000_000 < len(page.encode()) < 5_000_000
    tree = html.fromstring(page, parser=html.HTMLParser(huge_tree=True))
    said = tree.xpath("string(//section[@id='matrices']/p[2])")
    drawn = len(tree.xpath("//article"))
    assert 50 < drawn <= 200
    differ, alike = map(int, re.match(r"(\d+) sentence pairs differ, (\d+) do not", said).groups())
    shown, left = map(int, re.findall(r"(\d+) that differ (?:most|less)", said))
    assert (differ + alike, shown, shown + left) == (600, drawn, differ)


def test_pairs_too_long_to_draw_are_counted():
    words = [f"w{k}" for k in range(300)]
    pair = SentencePair(
        "1", words, words,
        {"initial": Alignment.parse("0-1"), "anna": Alignment.parse("0-1 1-2"),
         "ben": Alignment.parse("0-1")},
    )  # fmt: skip
    page = draw(measure(Corpus([pair, *make_corpus(3)]), samples=5))
    assert "1 are left out because they are too long to draw" in page


def one_pair(**annotations: str) -> Corpus:
    found = {name: Alignment.parse(links) for name, links in annotations.items()}
    return Corpus([SentencePair("1", ("a", "b"), ("c", "d"), found)])


def test_what_is_not_defined_is_a_dash_with_its_reason():
    found = measure(one_pair(initial="0-0 1-1", anna="0-0 1-1", ben="0-0 1-1"))
    tree = html.fromstring(draw(found))
    reason = found.of("annotators")[0].main("words.sure").undefined
    assert reason
    assert reason in tree.text_content()
    assert not NAN.search(tree.text_content())


@pytest.mark.parametrize("links", ["", "0-0"])
def test_nothing_to_compare_is_drawn_too(links):
    tree = html.fromstring(draw(measure(one_pair(initial="", anna="", ben=links))))
    assert tree.xpath("//main/section/@id") == list(SECTIONS)
    assert not NAN.search(tree.text_content())


@pytest.mark.parametrize(
    ("options", "figures"),
    [
        ({"chance": "kupper-hafner", "resamples": 30}, 4 + 1 + 4 + 1),
        ({"chance": "edit-split", **QUICK}, 4 + 1 + 4 + 8 + 4 + 1),
        ({"reading": "probability", **QUICK}, 4 + 1 + 4 + 4 + 4 + 1),
        ({"bootstrap": "none", "samples": 20}, 4 + 1 + 4 + 4 + 4 + 1),
        ({"aggregate": "micro", "normalizer": "max", **QUICK}, 4 + 1 + 4 + 4 + 4 + 1),
    ],
    ids=str,
)
def test_every_kind_of_agreement_is_drawn(options, figures):
    found = agree(make_corpus(10), initial="initial", **options)
    assert len(html.fromstring(draw(found)).xpath("//figure")) == figures


def test_without_an_initial_alignment_it_says_what_there_is_not():
    found = agree(make_corpus(10), ["anna", "ben"], resamples=30)
    tree = html.fromstring(draw(found))
    assert tree.xpath("//main/section/@id") == list(SECTIONS)
    assert len(tree.xpath("//section[@id='edit-models']//figure")) == 0
    assert "closed form" in tree.xpath("string(//section[@id='edit-models'])")
    assert len(tree.xpath("//section[@id='sentences']//figure")) == 4


def test_without_words_it_says_what_there_is_not():
    pair = SentencePair(
        "1", None, None, {"anna": Alignment.parse("0-0"), "ben": Alignment.parse("0-0 1-1")}
    )
    tree = html.fromstring(draw(agree(Corpus([pair]), resamples=5, ignore_identical=False)))
    assert tree.xpath("//main/section/@id") == list(SECTIONS)
    assert "words of these sentence pairs are not known" in tree.xpath("string(//main)")


def test_those_who_share_no_sentence_pair_are_drawn_too():
    pairs = [
        SentencePair(name, ("a",), ("b",), {name: Alignment.parse("0-0")})
        for name in ("anna", "ben")
    ]
    tree = html.fromstring(draw(agree(Corpus(pairs), resamples=5)))
    assert "No two annotators have a sentence pair in common" in tree.xpath("string(//main)")


def test_settings_that_do_nothing_are_not_listed():
    found = agree(make_corpus(3), ["anna", "ben"], bootstrap="none")
    names = html.fromstring(draw(found)).xpath("//section[@id='settings']//dt/text()")
    assert {"annotators", "chance", "normalizer", "signature"} <= set(names)
    assert not {"reading", "samples", "resamples", "confidence", "groups"} & set(names)


HOSTILE = ["</b><script>", "a&b", '"', "'", "\x1b[31m", "\u202e", "]]>", "<!--", "$x_1$", "{{ 1 }}"]
ODD = st.sampled_from(HOSTILE) | st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4
)


@settings(max_examples=6, deadline=None)
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
    found = agree(
        Corpus([pair, pair]), [first, second], initial="start", by="kind", samples=5, resamples=5
    )
    page = draw(found, title=title)
    page.encode()
    tree = html.fromstring(page)
    assert not tree.xpath("//script")
    assert "{{ 1 }}" in page or "{{" not in page
    assert tree.xpath("//main/section/@id") == list(SECTIONS)
    for image in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        etree.fromstring(image)


NAMED = ["B,C", "A,B", "A,C", "B C,A", "coder A,Bab", "X,B", "Y,A X"]


@pytest.mark.parametrize("named", NAMED)
def test_letters_stand_for_the_same_annotator_in_every_medium(named):
    names = named.split(",")
    more = Alignment.from_matrix(np.full((3, 3), 2))
    two = dict(zip(names, (Alignment.parse("0-0"), more), strict=True))
    pair = SentencePair("1", ["a", "b", "c"], ["x", "y", "z"], two)
    first, second = letters(*names)
    lone = [set(re.findall(r"\b[A-Z]\b", name)) for name in names]
    assert {first, second}.isdisjoint(lone[0] | lone[1]) or lone == [{first}, {second}]
    page = html.fromstring(draw(agree(Corpus([pair]), resamples=30)))
    (image,) = page.xpath("//*[name()='svg'][contains(@aria-labelledby, 'kinds')]")
    written = [text.text for text in image.iter("text")]
    assert f"only {first} {names[0]}" in written
    assert f"only {second} {names[1]}" in written
    assert second in written  # on the bars, where first has nothing alone
    assert first not in written
    (table,) = page.xpath("//section[@id='disagreements']//table[contains(., 'only')]")[:1]
    assert f"only {second}" in table.text_content()
    text = draw_text(pair, colour=False)
    assert f"{second} {names[1]}: 9 sure" in text
    matrix = text.partition("\n")[2].rpartition("\n")[0].split()
    assert (matrix.count(second), matrix.count(first)) == (8, 0)
    signs = html.fromstring(draw_figure(make_grid(pair))).xpath("//td/b/text()")
    assert (signs.count(second), signs.count(first)) == (8, 0)
