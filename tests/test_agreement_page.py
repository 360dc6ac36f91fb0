"""The page and the figures of an agreement: complete, safe, small, and true to the data."""

import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from agreement_corpora import make_corpus
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree, html
from matplotlib.backends.backend_agg import FigureCanvasAgg

from alignkit import Alignment, Corpus, SentencePair, agree
from alignkit.agreement.disagreements import Outcome, disagreements
from alignkit.agreement.page import SECTIONS, draw_agreement_page
from alignkit.agreement.plots import LEVEL_TITLES
from alignkit.agreement.tables import main_table
from alignkit.errors import OptionError
from alignkit.scoring.link_classes import function_words
from alignkit.show.canvas import Axis, canvas, ending
from alignkit.show.cells import letters, make_grid
from alignkit.show.charts import points
from alignkit.show.dot_plots import WIDTHS, DotPanel, DotRow
from alignkit.show.html import draw_figure
from alignkit.show.text import draw_text
from alignkit.tables.columns import Value
from alignkit.tables.result import Caution

LEVELS = tuple(LEVEL_TITLES)
THREE = ("anna", "ben", "cleo")
QUICK = {"samples": 20, "resamples": 30}
NAN = re.compile(r"(?<![A-Za-z])nan(?![A-Za-z])", re.IGNORECASE)
HOSTILE = ["</b><script>", "a&b", '"', "'", "\x1b[31m", "\u202e", "]]>", "<!--", "$x_1$", "{{ 1 }}"]
ODD = st.sampled_from(HOSTILE) | st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4
)
NAMED = ["B,C", "A,B", "A,C", "B C,A", "coder A,Bab", "X,B", "Y,A X"]
SVG = "{http://www.w3.org/2000/svg}"
STARTS = {"pdf": b"%PDF-", "png": b"\x89PNG", "svg": b"<?xml"}


def measure(corpus, **options):
    return agree(corpus, **{"initial": "initial", **QUICK, **options})


def draw(agreement, **options):
    return "".join(draw_agreement_page(agreement, **options))


def drawn(agreement):
    page = draw(agreement)
    return SimpleNamespace(found=agreement, page=page, tree=html.fromstring(page))


@cache
def two():
    return drawn(measure(make_corpus(40), samples=30, resamples=50))


@cache
def three():
    return drawn(measure(make_corpus(12, names=THREE), by="genre"))


@pytest.fixture(params=[two, three])
def page(request):
    return request.param().page


def cells(table):
    return [[cell.text_content().strip() for cell in row.xpath("th|td")]
            for row in table.xpath(".//tbody/tr")]  # fmt: skip


def numbers(tree, title):
    (figure,) = tree.xpath("//section//figure[normalize-space(figcaption)=$title]", title=title)
    return cells(figure.xpath("details//table")[0])


def test_it_is_well_formed(page):
    parser = etree.HTMLParser()
    etree.fromstring(page, parser)
    unknown = etree.ErrorTypes.HTML_UNKNOWN_TAG  # the parser does not know HTML 5
    assert [str(error) for error in parser.error_log if error.type != unknown] == []
    images = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(images) == len(html.fromstring(page).xpath("//figure")) > 10
    for image in images:
        etree.fromstring(image)


def test_all_sections_are_there_and_linked(page):
    tree = html.fromstring(page)
    kept = [name for name in SECTIONS if name != "others" or "Other alignments" in page]
    assert tree.xpath("//main/section/@id") == kept
    links = [f"{name}-open" for name in ("cautions", "matrices", "tables", "settings")]
    assert [link[1:] for link in tree.xpath("//nav//a/@href")] == links
    assert not tree.xpath("//main/section[not(details)]")
    assert not tree.xpath("//details[@open]")
    names = tree.xpath("//@id")
    assert len(names) == len(set(names))
    meant = [name for said in tree.xpath("//@aria-labelledby") for name in said.split()]
    meant += [link[1:] for link in tree.xpath("//@href")]
    meant += re.findall(r"url\(#([\w.-]+)\)", page)
    assert set(meant) <= set(names)
    for one in tree.xpath("//section//figure"):
        assert one.xpath(".//*[name()='svg']/*[name()='title']/text()")
        assert one.xpath(".//*[name()='svg']/*[name()='desc']/text()")
        assert one.xpath("details//table")


def test_nothing_is_fetched_and_nothing_runs(page):
    assert not re.search(r"https?:|//|url\((?!#)|@import|<script|<link|<img|src=|\son\w+=", page)
    assert all(link.startswith("#") for link in re.findall(r'href="([^"]*)"', page))
    assert html.fromstring(page).xpath("//meta[contains(@content, \"default-src 'none'\")]")


def test_no_colour_of_a_figure_is_fixed():
    for image in re.findall(r"<svg.*?</svg>", two().page, re.DOTALL):
        assert not re.search(r"#[0-9a-fA-F]{3,8}\b(?<!\))[;\"]", image)
        assert "DejaVu" not in image
        assert "var(--ink)" in image


def test_all_tables_are_in_it():
    for shown in (two(), three()):
        tables = shown.tree.xpath("//section[@id='tables']//table")
        expected = shown.found.tables()
        assert len(tables) == len(expected)
        for one, table in zip(tables, expected, strict=True):
            assert len(cells(one)) == len(table.rows)
            assert one.xpath("string(caption)").split() == table.title.split()


def test_every_pairing_is_in_every_part():
    names = {one.name for one in three().found.of("annotators")}
    assert names == {"anna ~ ben", "anna ~ cleo", "ben ~ cleo"}
    for part in ("overview", "chance-models", "tables", "sentences", "chance-samples"):
        said = three().tree.xpath("string(//section[@id=$part])", part=part)
        assert all(name in said for name in names), part
    for part in ("disagreements", "matrices"):
        said = three().tree.xpath("//section[@id=$part]/details/h3", part=part)
        shown = {" ~ ".join(one.xpath("bdi/text()")) for one in said}
        assert shown == names
    said = three().tree.xpath("string(//section[@id='edit-models'])")
    assert all(f"{name}: edits, sure links" in said for name in THREE)
    assert "Fleiss" in three().tree.xpath("string(//section[@id='overview'])")


def test_those_who_differ_most_come_first():
    shown = [" ~ ".join(one.xpath("bdi/text()")) for one in
             three().tree.xpath("//section[@id='disagreements']/details/h3")]  # fmt: skip
    likeness = {one.name: one.sections[0].figures["words.possible.f1"]
                for one in three().found.of("annotators")}  # fmt: skip
    assert shown == sorted(shown, key=likeness.__getitem__)


def test_cautions_are_counted_on_top_and_folded_with_all_they_say():
    cautions = (Caution("few", "only <12> pairs", "look at the bracket", "12",
                        ("anna ~ ben", "a & b")),
                Caution("more", "this is of all", "", "1", ()))  # fmt: skip
    tree = html.fromstring(draw(replace(two().found, cautions=cautions)))
    said = [
        " ".join(one.text_content().split()) for one in tree.xpath("//section[@id='cautions']//li")
    ]
    assert said[:2] == ["anna ~ ben; a & b: only <12> pairs: look at the bracket", "this is of all"]
    assert tree.xpath("string(//nav//a[1])") == "2 cautions"


def test_intervals_in_figures_are_those_of_the_agreement():
    pairing = two().found.of("annotators")[0]
    rows = numbers(two().tree, "C, agreement beyond chance (model of chance: edit)")
    for level, row in zip(LEVELS, rows, strict=True):
        one = pairing.main(level)
        bounds = f"[{one.interval.low:.3f}, {one.interval.high:.3f}]"
        assert row == [LEVEL_TITLES[level], "anna ~ ben", f"{one.C:.3f} {bounds}"]
    rows = {(row[0], row[1]): row[2] for row in numbers(three().tree, "F1")}
    for one in three().found.pairings:
        value = one.sections[0].figures["phrases.sure.f1"]
        name = f"{one.first} ~ others" if one.kind == "consensus" else one.name
        assert rows["phrases, sure", name].startswith(f"{value:.3f} [")


def test_models_of_chance_in_figures_are_those_of_the_agreement():
    rows = numbers(two().tree, "C under every model of chance")
    pairing = two().found.of("annotators")[0]
    for level, row in zip(LEVELS, rows, strict=True):
        assert row[2:] == [f"{found[level].C:.3f}" for found in pairing.beyond.values()]


def test_the_points_are_the_data():
    pairing = two().found.of("annotators")[0]
    for links in ("sure", "possible"):
        for k, name in enumerate(("anna", "ben")):
            data = pairing.main(f"words.{links}").models[name]["edit"].data
            (image,) = two().tree.xpath("//*[starts-with(@aria-labelledby, $name)]",
                                        name=f"edits-{links}-edit-{k}-title")  # fmt: skip
            said = Counter()
            for text in image.xpath(".//*[name()='use' or name()='path']/*[name()='title']/text()"):
                place, number = text.split(": ")
                said[place] = int(number.split()[0])
            pairs = zip(data.words.tolist(), data.edits.tolist(), strict=True)
            assert said == Counter(f"{words:g}, {edits:.4g}" for words, edits in pairs)


@pytest.mark.parametrize("level", LEVELS)
def test_the_bars_hold_every_sentence_pair_and_every_sample(level):
    one = two().found.of("annotators")[0].main(level)
    for kind, total in (("sentences", one.used), ("chance", one.samples)):
        name = f"{kind}-0-{level.replace('.', '-')}-title"
        (image,) = two().tree.xpath("//*[starts-with(@aria-labelledby, $name)]", name=name)
        counts = image.xpath(".//*[name()='path']/*[name()='title']/text()")
        assert sum(int(text.rsplit(": ", 1)[1]) for text in counts) == total
        assert f"pi0 {one.pi0:.3f}" in image.text_content()


def test_the_pairs_are_sorted_by_disagreement():
    counts = [tuple(map(int, re.findall(r"(\d+) linked by one only, (\d+) sure", text)[0]))
              for text in two().tree.xpath("//article/p[1]/text()")]  # fmt: skip
    assert counts == sorted(counts, reverse=True)
    assert len(two().tree.xpath("//table[@class='matrix']")) == len(counts) > 10


@pytest.mark.slow
def test_a_large_corpus_stays_below_5_mb():
    page = draw(measure(make_corpus(600, longest=50), resamples=5, samples=5))
    assert 1_000_000 < len(page.encode()) < 5_000_000
    tree = html.fromstring(page, parser=html.HTMLParser(huge_tree=True))
    said = tree.xpath("string(//section[@id='matrices']/details/p[2])")
    drawn = len(tree.xpath("//article"))
    assert 50 < drawn <= 200
    differ, alike = map(int, re.match(r"(\d+) sentence pairs differ, (\d+) do not", said).groups())
    shown, left = map(int, re.findall(r"(\d+) that differ (?:most|less)", said))
    assert (differ + alike, shown, shown + left) == (600, drawn, differ)


def test_pairs_too_long_to_draw_are_counted():
    words = [f"w{k}" for k in range(300)]
    pair = SentencePair("1", words, words,
                        {"initial": Alignment.parse("0-1"), "anna": Alignment.parse("0-1 1-2"),
                         "ben": Alignment.parse("0-1")})  # fmt: skip
    page = draw(measure(Corpus([pair, *make_corpus(3)]), samples=5))
    assert "1 are left out because they are too long to draw" in page


def one_pair(**annotations):
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


@pytest.mark.parametrize(("options", "figures"),
                         [({"chance": "kupper-hafner", "resamples": 30}, 4 + 1 + 4 + 1),
                          ({"chance": "edit-split", **QUICK}, 4 + 1 + 4 + 8 + 4 + 1),
                          ({"reading": "probability", **QUICK}, 4 + 1 + 4 + 4 + 4 + 1),
                          ({"bootstrap": "none", "samples": 20}, 4 + 1 + 4 + 4 + 4 + 1),
                          ({"aggregate": "micro", "normalizer": "max", **QUICK},
                           4 + 1 + 4 + 4 + 4 + 1)], ids=str)  # fmt: skip
def test_every_kind_of_agreement_is_drawn(options, figures):
    found = agree(make_corpus(10), initial="initial", **options)
    assert len(html.fromstring(draw(found)).xpath("//section//figure")) == figures


def test_without_an_initial_alignment_it_says_what_there_is_not():
    tree = html.fromstring(draw(agree(make_corpus(10), ["anna", "ben"], resamples=30)))
    assert tree.xpath("//main/section/@id") == [name for name in SECTIONS if name != "others"]
    assert len(tree.xpath("//section[@id='edit-models']//figure")) == 0
    assert "closed form" in tree.xpath("string(//section[@id='edit-models'])")
    assert len(tree.xpath("//section[@id='sentences']//figure")) == 4


def test_without_words_it_says_what_there_is_not():
    pair = SentencePair(
        "1", None, None, {"anna": Alignment.parse("0-0"), "ben": Alignment.parse("0-0 1-1")}
    )
    tree = html.fromstring(draw(agree(Corpus([pair]), resamples=5, ignore_identical=False)))
    assert tree.xpath("//main/section/@id") == [name for name in SECTIONS if name != "others"]
    assert "words of these sentence pairs are not known" in tree.xpath("string(//main)")


def test_those_who_share_no_sentence_pair_are_drawn_too():
    pairs = [SentencePair(name, ("a",), ("b",), {name: Alignment.parse("0-0")})
             for name in ("anna", "ben")]  # fmt: skip
    tree = html.fromstring(draw(agree(Corpus(pairs), resamples=5)))
    assert "No two annotators have a sentence pair in common" in tree.xpath("string(//main)")


def test_settings_that_do_nothing_are_not_listed():
    found = agree(make_corpus(3), ["anna", "ben"], bootstrap="none")
    names = html.fromstring(draw(found)).xpath("//section[@id='settings']//dt/text()")
    assert {"annotators", "chance", "normalizer", "signature"} <= set(names)
    assert not {"reading", "samples", "resamples", "confidence", "groups"} & set(names)


@settings(max_examples=6, deadline=None)
@given(st.lists(ODD, min_size=7, max_size=7), st.lists(ODD, min_size=2, max_size=2, unique=True))
def test_text_stays_text(words, names):
    identity, title, value, *tokens = words
    first, second = (f"{name}{k}" for k, name in enumerate(names))
    annotations = {"start": Alignment.parse("0-0"), first: Alignment.parse("0-0 1?1"),
                   second: Alignment.parse("0?0 1-0")}  # fmt: skip
    pair = SentencePair(identity, tokens[:2], tokens[2:], annotations, {"kind": value})
    found = agree(Corpus([pair, pair]), [first, second], initial="start", by="kind", samples=5,
                  resamples=5)  # fmt: skip
    page = draw(found, title=title)
    page.encode()
    tree = html.fromstring(page)
    assert not tree.xpath("//script")
    assert "{{ 1 }}" in page or "{{" not in page
    assert tree.xpath("//main/section/@id") == list(SECTIONS)
    for image in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        etree.fromstring(image)


@pytest.mark.parametrize("named", NAMED)
def test_letters_stand_for_the_same_annotator_in_every_medium(named):
    names, more = named.split(","), Alignment.from_matrix(np.full((3, 3), 2))
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


# figures for papers
@pytest.mark.parametrize("kind", STARTS)
def test_a_figure_is_drawn_by_its_ending_and_the_same_each_time(kind, tmp_path):
    paths = [tmp_path / f"{name}.{kind}" for name in "ab"]
    for path in paths:
        figure = two().found.plot(str(path), "full")
    first, second = (path.read_bytes() for path in paths)
    assert first.startswith(STARTS[kind])
    assert first == second
    assert b"matplotlib v" not in first.lower()
    assert not re.search(rb"CreationDate|<dc:date|Software|/Type3", first)
    if kind == "svg":  # text is text
        said = ["".join(part.itertext()) for part in etree.parse(path).iter(f"{SVG}text")]
        assert {"words", "phrase pairs", "F1 (%)", "C (strata)", "all links"} <= set(said)
    assert "C (strata; model of chance: edit-strata)" in figure.caption
    pairing = two().found.of("annotators")[0]
    f1, c = (panel.values[0][0] for panel in figure.panels)
    assert f1.value == pairing.sections[0].figures["words.possible.f1"]
    main = pairing.part("words.possible", "all", "edit-strata")
    assert c == Value(main.C, main.interval.low, main.interval.high)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("count", "long"), [(2, 5), (3, 40), (5, 4), (10, 40)])
def test_a_figure_has_room_for_all_its_text_and_values(count, long, width):
    names = [f"{k:x<{long - 1}}{k}" for k in range(count)]
    plot = agree(make_corpus(6, names=names), names, resamples=20).plot()
    who = names if count > 5 else [(a, b) for k, a in enumerate(names) for b in names[:k]]
    assert {len(panel.rows) for panel in plot.panels} == {2 * len(who)}
    check_room(plot, width)


def check_room(plot, width):
    with plot.drawn(width) as canvas:
        figure = canvas.figure
        renderer = FigureCanvasAgg(figure).get_renderer()
        (x0, y0), (x1, y1) = figure.get_tightbbox(renderer).get_points()
        assert min(x0, y0) >= 0
        assert x1 <= WIDTHS[width] == figure.get_figwidth()
        assert y1 <= figure.get_figheight()
        texts = [*figure.texts, *(x for axes in figure.axes for x in axes.get_xticklabels())]
        assert {text.get_fontsize() for text in texts} == {8}
        boxes = [text.get_window_extent(renderer) for text in texts]
        assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])
        for axes, panel in zip(figure.axes, plot.panels, strict=True):
            assert axes.get_position().x0 <= 0.46 or axes is not figure.axes[0]
            ticks = axes.get_xticks()
            assert 2 <= len(ticks) <= 7
            assert ticks[0] <= min(panel.ends) <= max(panel.ends) <= ticks[-1] <= 100


@given(st.lists(st.floats(-30, 1), min_size=1, max_size=5), st.booleans(), st.floats(40, 400))
def test_an_axis_holds_all_with_few_ticks(values, percent, width):
    panel = DotPanel("", [DotRow(("a",))], [[Value(value) for value in values]], percent)
    ticks = panel.ticks(width)
    assert 2 <= len(ticks) <= 7
    assert ticks[0] <= min(panel.ends) + 1e-4
    assert max(panel.ends) - 1e-4 <= ticks[-1] <= 100
    assert len({b - a for a, b in pairwise(ticks)}) == 1
    shown = panel.shown(ticks)
    assert [float(text) * (1 if percent else 100) for text in shown] == pytest.approx(ticks)


@pytest.mark.parametrize("path", ["fig.jpg", "fig", "fig.svg.gz", "-"])
def test_other_endings_are_refused_with_those_that_are_known(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OptionError, match=r"\.pdf, \.png, \.svg"):
        two().found.plot(path)
    assert not list(tmp_path.iterdir())


def test_endings_are_known_in_capitals_too():
    assert [ending(path) for path in ("a.PDF", "b.Png", "c.d/e.svg")] == ["pdf", "png", "svg"]


def test_many_points_are_put_together_and_none_is_lost():
    data = {(x, y): 1 for x in range(100) for y in range(100)}
    axes = Axis(0, 100, "x"), Axis(0, 100, "y")
    image = points("n", "t", data, [], second=True, across=axes[0], up=axes[1])
    notes = re.findall(r"<title>about [^<]*: (\d+) pairs?</title>", image)
    assert sum(map(int, notes)) == 10_000
    assert len(notes) < 2500


def test_names_that_no_font_knows_and_formulas_are_text():
    with canvas(100, 100) as figure:
        figure.text(5, 50, "$x_1$ \u6f22\u5b57 \U0001f600 \u0627\u0644 <b>")
        image = figure.image("n", "t", "s", {})
    said = "".join(etree.fromstring(image).itertext())
    assert "$x_1$ \u6f22\u5b57 \U0001f600 \u0627\u0644 <b>" in said


def test_nothing_loads_matplotlib_or_jinja_before_it_draws():
    code = (
        "import sys, alignkit, alignkit.agreement, alignkit.cli.main, alignkit.agreement.plots, "
        "alignkit.agreement.page, alignkit.agreement.result; "
        "print(sorted({'matplotlib', 'jinja2'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


# where two differ
def test_disagreements_are_counted():
    pair = SentencePair("1", ("The", "men", "left", "."), ("the", "man", "went", "away", "."),
                        {"anna": Alignment.parse("0-0 1-1 2-2 2?3 3-4"),
                         "ben": Alignment.parse("0?0 1-1 1-0 2-2 2-3")})  # fmt: skip
    english = function_words("english")
    found = disagreements(Corpus([pair, pair]), "anna", "ben", function_words=english)
    assert found.total == Outcome(both=4, unsure=4, first=2, second=2)
    assert found.kinds["punctuation"] == Outcome(first=2)
    assert found.kinds["identical"] == Outcome(unsure=2, first=2)
    assert found.kinds["function word"] == Outcome(unsure=2, second=2)
    assert found.kinds["content words"] == Outcome(both=4, unsure=2)
    assert found.kinds["1-1"] == Outcome(first=2)  # 0-0 and 1-1 are in a block of ben's
    assert found.kinds["block"].links == 6
    assert found.kinds["1-n"] == Outcome(both=2, unsure=2)
    assert [(one.source, one.target, one.outcome.alone)
            for one in found.words] == [(".", ".", 2), ("men", "the", 2)]  # fmt: skip


def test_case_matters_where_it_is_asked_for():
    pair = SentencePair("1", ("The",), ("the",),
                        {"anna": Alignment.parse("0-0"), "ben": Alignment()})  # fmt: skip
    found = disagreements(Corpus([pair]), "anna", "ben", exact_case=True)
    assert found.kinds["identical"] == Outcome()
    assert [(one.source, one.target) for one in found.words] == [("The", "the")]
    folded = disagreements(Corpus([pair]), "anna", "ben")
    assert folded.kinds["identical"] == Outcome(first=1)
    assert [(one.source, one.target) for one in folded.words] == [("the", "the")]


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


def test_the_answer_and_the_main_tables_stand_first():
    for shown in (two(), three(), ten()):
        said = " ".join(shown.tree.xpath("string(//div[@class='answer'])").split())
        answer = shown.found.answer
        assert said == " ".join([*answer.sentences, "Report:", answer.report])
        mains = [main_table(shown.found, unit, narrow=False) for unit in ("words", "phrases")]
        rows = (row for table in shown.tree.xpath("//table[@class='main']") for row in cells(table))
        keys = [column.key for column in mains[0].columns]
        for table in mains:
            assert next(rows) == [table.title]
            for row in table.rows:
                shows = {column.key: column.show(cell).text.strip()
                         for column, cell in zip(table.columns, row, strict=True)}  # fmt: skip
                assert next(rows) == [shows.get(key, "") for key in keys]
    articles = two().tree.xpath("//section[@id='matrices']/details/article")
    assert len(articles) == min(20, len(two().tree.xpath("//section[@id='matrices']//article")))


@cache
def ten():
    return drawn(measure(make_corpus(6, names=[f"annotator-{k}" for k in range(10)]), samples=9))


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 400])
def test_the_first_screen_holds_what_it_comes_to(width, tmp_path):
    from annotate_browser import browser  # skips where there is no browser

    path = tmp_path / "page.html"
    with browser(viewport={"width": width, "height": 800}) as context:
        page = context.new_page()
        for shown, columns in ((two, {"F1", "C (Cohn et al.)", "C (strata)"}), (three, {"F1"}),
                               (ten, {"mean", "lowest", "highest"})):  # fmt: skip
            path.write_text(shown().page, encoding="utf-8")
            page.goto(path.as_uri())
            for place in (".answer", "nav", "table.main tbody tr >> nth=2"):
                assert page.locator(place).bounding_box()["y"] < 800, place
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            if width == 1280:
                assert page.evaluate("document.documentElement.scrollHeight") <= 1500
            heads = " ".join(page.locator("table.main thead th:visible").all_text_contents())
            assert all(name in heads for name in columns)
            assert heads.startswith("P ") == (width == 1280 and shown is not ten)
        page.click("nav >> text=Settings")
        assert page.locator("#settings dl").is_visible()  # a link opens what it leads to
        assert not page.locator("#tables table >> nth=0").is_visible()
        page.emulate_media(media="print")
        assert page.locator("#tables table >> nth=0").bounding_box()["height"] > 0
        page.emulate_media(media="screen")
        path.write_text(two().page, encoding="utf-8")
        page.goto(path.as_uri())
        page.click("nav >> text=Differences")
        drawn, more = page.locator("#matrices article:visible"), page.locator("#matrices .more")
        assert drawn.count() == 20
        more.first.locator("> summary").press("Enter")
        assert 20 < drawn.count() <= 40
