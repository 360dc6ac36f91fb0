"""The page and the figures of an agreement: complete, safe, small, and true to the data."""

import csv
import re
import struct
import subprocess
import sys
from base64 import b64decode
from dataclasses import replace
from functools import cache
from itertools import pairwise
from math import isnan
from types import SimpleNamespace

import numpy as np
import pytest
from agreement_corpora import make_corpus
from command import write
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree, html
from matplotlib.backends.backend_agg import FigureCanvasAgg
from repetitions import FULL

from alignkit import Alignment, Corpus, SentencePair, agree, write_corpus
from alignkit.agreement.compared_tables import main_table
from alignkit.agreement.disagreements import Outcome, disagreements
from alignkit.agreement.page import SECTIONS, _differences, draw_agreement_page
from alignkit.agreement.plots import model_plot
from alignkit.agreement.published import published
from alignkit.agreement.scale_page import scale_plot
from alignkit.cli.main import main
from alignkit.errors import OptionError
from alignkit.scoring.link_classes import function_words
from alignkit.show.canvas import canvas, ending
from alignkit.show.cells import letters, make_grid
from alignkit.show.dot_plots import DotPanel, DotRow
from alignkit.show.html import draw_figure
from alignkit.show.names import WIDTHS
from alignkit.show.text import draw_text
from alignkit.tables.columns import Value
from alignkit.tables.result import Caution

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


@cache
def many():
    """Six annotators: a row is an annotator, not one of the 15 pairings."""
    return drawn(measure(make_corpus(6, names=[f"annotator-{k}" for k in range(6)]), samples=9))


@pytest.fixture(params=[two, three])
def page(request):
    return request.param().page


def cells(table):
    return [
        [cell.text_content().strip() for cell in row.xpath("th|td")]
        for row in table.xpath(".//tbody/tr")
    ]


def test_it_is_well_formed_complete_and_linked(page):
    parser = etree.HTMLParser()
    etree.fromstring(page, parser)
    unknown = etree.ErrorTypes.HTML_UNKNOWN_TAG  # the parser does not know HTML 5
    assert [str(error) for error in parser.error_log if error.type != unknown] == []
    images = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    tree = html.fromstring(page)
    assert len(tree.xpath("//figure")) == 3
    assert len(images) == 4  # that of published corpora is there for two widths of screens
    for image in images:
        drawn = etree.fromstring(image)
        assert all(drawn.xpath(f"string(*[name()='{name}'])") for name in ("title", "desc"))
        assert not re.search(r"#[0-9a-fA-F]{3,8}\b(?<!\))[;\"]|DejaVu", image)
        assert "var(--ink)" in image  # no colour or font is fixed
    kept = [name for name in SECTIONS if name != "others" or "Other alignments" in page]
    assert tree.xpath("//main/section/@id") == kept
    links = [f"{name}-open" for name in ("cautions", "differences", "tables", "settings")]
    assert [link[1:] for link in tree.xpath("//nav//a/@href")] == links
    assert not tree.xpath("//main/section[not(details)] | //details[@open]")
    names = tree.xpath("//@id")
    assert len(names) == len(set(names))
    meant = [name for said in tree.xpath("//@aria-labelledby") for name in said.split()]
    meant += [link[1:] for link in tree.xpath("//@href[not(starts-with(., 'data:'))]")]
    meant += re.findall(r"url\(#([\w.-]+)\)", page)
    assert set(meant) <= set(names)
    page = re.sub('href="data:text/csv;base64,[^"]*"', "", page)
    assert not re.search(r"https?:|//|url\((?!#)|@import|<script|<link|<img|src=|\son\w+=", page)
    assert all(link.startswith("#") for link in re.findall(r'href="([^"]*)"', page))
    assert tree.xpath("//meta[contains(@content, \"default-src 'none'\")]")


def test_all_tables_pairings_and_differences_are_in_it(tmp_path):
    for shown in (two(), three()):
        tables = shown.tree.xpath("//section[@id='tables']//table")
        for drawn, table in zip(tables, shown.found.tables(), strict=True):
            assert len(cells(drawn)) == len(table.rows)
            assert drawn.xpath("string(caption)").split() == table.title.split()
    likeness = {
        pairing.name: pairing.sections[0].figures["words.possible.f1"]
        for pairing in three().found.of("annotators")
    }
    for part in ("differences", "kinds"):
        said = three().tree.xpath("//section[@id=$part]/details/h3", part=part)
        names = [" ~ ".join(heading.xpath("bdi/text()")) for heading in said]
        assert names == sorted(likeness, key=likeness.__getitem__)  # the most different first
    counts = [
        tuple(map(int, re.findall(r"(\d+) linked by one only, (\d+) sure", text)[0]))
        for text in two().tree.xpath("//article/p[1]/text()")
    ]
    assert counts == sorted(counts, reverse=True)
    assert len(two().tree.xpath("//table[@class='matrix']")) == len(counts) > 10
    (link,) = two().tree.xpath("//a[@download]/@href")
    rows = list(csv.DictReader(b64decode(link.partition(",")[2]).decode().splitlines()))
    names = ("only first", "only second", "sure for one only")
    first = [tuple(int(row[name]) for name in names) for row in rows]
    assert [(a + b, unsure) for a, b, unsure in first][: len(counts)] == counts
    pair = {pair.id: pair for pair in two().found.corpus}[rows[0]["pair"]]
    assert rows[0]["links of first"] == str(pair.alignment(rows[0]["first"]))
    path = write(tmp_path, "c.jsonl", "")
    write_corpus(two().found.corpus, path, format="alignkit-jsonl")
    given = ["agree", path, "--annotators", "anna", "ben", "--bootstrap", "none"]
    assert main([*given, "--disagreements", str(tmp_path / "d.csv")]) == 0
    assert list(csv.DictReader((tmp_path / "d.csv").read_text("utf-8").splitlines())) == rows


def test_cautions_are_counted_on_top_and_folded_with_all_they_say():
    cautions = (
        Caution("few", "only <12> pairs", "look at the bracket", "12", ("anna ~ ben", "a & b")),
        Caution("more", "this is of all", "", "1", ()),
    )
    tree = html.fromstring(draw(replace(two().found, cautions=cautions)))
    said = [
        " ".join(caution.text_content().split())
        for caution in tree.xpath("//section[@id='cautions']//li")
    ]
    assert said[:2] == ["anna ~ ben; a & b: only <12> pairs: look at the bracket", "this is of all"]
    assert tree.xpath("string(//nav//a[1])") == "2 cautions"


def test_models_of_chance_in_the_figure_are_those_of_the_agreement():
    (pairing,) = two().found.of("annotators")
    for panel, unit in zip(model_plot(two().found).panels, ("words", "phrases"), strict=True):
        assert [row.names[0] for row in panel.rows] == [
            "Cohn et al.",
            "split",
            "strata",
            "Kupper-Hafner",
        ]
        for values, levels in zip(panel.values, pairing.beyond.values(), strict=True):
            for value, links in zip(values, ("possible", "sure"), strict=True):
                part = levels[f"{unit}.{links}"]
                assert value == Value(part.C, part.interval.low, part.interval.high)
    assert len(model_plot(three().found).panels[0].rows) == 3 * 4
    assert not model_plot(many().found).panels


@pytest.mark.slow
def test_a_large_corpus_stays_below_5_mb():
    page = draw(measure(make_corpus(600, longest=50), resamples=5, samples=5))
    assert 1_000_000 < len(page.encode()) < 5_000_000
    tree = html.fromstring(page, parser=html.HTMLParser(huge_tree=True))
    said = tree.xpath("string(//section[@id='differences']/details/p[2])")
    drawn = len(tree.xpath("//article"))
    assert 50 < drawn <= 200
    differ, alike = map(int, re.match(r"(\d+) sentence pairs differ, (\d+) do not", said).groups())
    shown, left = map(int, re.findall(r"(\d+) that differ (?:most|less)", said))
    assert (differ + alike, shown, shown + left) == (600, drawn, differ)


def test_pairs_too_long_to_draw_are_counted():
    words = [f"w{k}" for k in range(300)]
    long = one_pair((words, words), initial="0-1", anna="0-1 1-2", ben="0-1")
    page = draw(measure(Corpus([*long, *make_corpus(3)]), samples=5))
    assert "1 are left out" in page


def one_pair(words=(("a", "b"), ("c", "d")), **annotations):
    links = {name: Alignment.parse(text) for name, text in annotations.items()}
    return Corpus([SentencePair("1", *words, links)])


def test_what_is_not_defined_or_not_there_is_said():
    same = dict.fromkeys(("initial", "anna", "ben"), "0-0 1-1")
    reason = measure(one_pair(**same)).of("annotators")[0].main("words.sure").undefined
    for annotations in (same, dict.fromkeys(same, ""), same | {"anna": "", "initial": ""}):
        said = html.fromstring(draw(measure(one_pair(**annotations)))).text_content()
        assert not NAN.search(said)
        assert annotations is not same or reason in said
    apart = Corpus(
        SentencePair(name, ("a",), ("b",), {name: Alignment.parse("0-0")})
        for name in ("anna", "ben")
    )
    for corpus in (one_pair((None, None), anna="0-0", ben="0-0 1-1"), apart):
        tree = html.fromstring(draw(agree(corpus, resamples=5, ignore_identical=False)))
        names = tree.xpath("//main/section/@id")
        scale = ["scale"] if corpus is not apart else []  # without an F1, nothing is compared
        assert names == ["cautions", "differences", *scale, "tables", "reading", "settings"]
        assert "nothing to draw" in tree.xpath("string(//section[@id='differences'])")


@pytest.mark.parametrize(
    "options",
    [
        {"chance": "kupper-hafner", "bootstrap": "none"},
        {"chance": "edit-split", **QUICK},
        {"reading": "probability", "aggregate": "micro", "normalizer": "max", **QUICK},
    ],
    ids=str,
)
def test_every_kind_of_agreement_is_drawn(options):
    page = draw(agree(make_corpus(10), initial="initial", **options))
    assert len(html.fromstring(page).xpath("//figure")) == 3
    assert ("An interval shows" in page) == (options.get("bootstrap") != "none")


@settings(max_examples=6 if FULL else 3)
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
    left_out = {"scale"} if isnan(found.scale.f1) else set()
    assert tree.xpath("//main/section/@id") == [name for name in SECTIONS if name not in left_out]
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
    (table,) = page.xpath("//section[@id='kinds']//table[contains(., 'only')]")[:1]
    heads = [head.text_content() for head in table.xpath(".//th[@scope='col']")]
    assert heads[-3:-1] == [f"only {first}", f"only {second}"]
    assert cells(table)[2] == ["block", "9", "1", "0", "0", "8", "88.9"]
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
    assert "chance: edit-strata" in figure.caption
    pairing = two().found.of("annotators")[0]
    f1, c = (panel.values[0][0] for panel in figure.panels)
    assert f1.value == pairing.sections[0].figures["words.possible.f1"]
    main = pairing.part("words.possible", "all", "edit-strata")
    assert c == Value(main.C, main.interval.low, main.interval.high)


@pytest.mark.parametrize(("count", "long"), [(2, 5), (3, 40), (5, 4), (6, 40)])
def test_a_figure_has_room_for_all_its_text_and_values(count, long):
    names = [f"{'annotator'[: long - 1]}{k}{'x' * (long - 11)}s"[:long] for k in range(count)]
    plot = agree(make_corpus(6, names=names), names, resamples=20).plot()
    who = names if count > 5 else [(a, b) for k, a in enumerate(names) for b in names[:k]]
    assert {len(panel.rows) for panel in plot.panels} == {2 * len(who)}
    for width in WIDTHS:
        labels = check_room(plot, width) - {"words", "phrases", "phrase pairs", *plot.series}
        assert len(labels - {panel.label for panel in plot.panels}) == len(who) - (count == 2)


def check_room(plot, width):
    """Check that all text of a figure has its size and room, and its axes hold all; return it."""
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
        return {text.get_text() for text in figure.texts}


@pytest.mark.parametrize("agreement", [two, three, many])
def test_published_corpora_are_drawn_with_this_one_among_them(agreement):
    place = agreement().found.scale
    plot = scale_plot(place)
    f1, otherwise = plot.panels
    assert (f1.label, otherwise.label) == ("F1 (%)", "%, measured otherwise")
    names = [" ~ ".join(row.names) for panel in plot.panels for row in panel.rows]
    own = [values[0] for values in f1.values if not isnan(values[0].value)]
    assert {name.partition(":")[0] for name in names[len(own) :]} == {
        corpus.name for corpus in published()
    }
    shown = [Value(*numbers) for numbers in place.pairings.values()]
    if len(shown) == 1:
        assert names[0] == "this corpus"
    elif len(shown) <= 10:
        assert set(names[: len(own)]) == set(place.pairings)
    else:
        assert names[:2] == ["this corpus: highest", "this corpus: lowest"]
        ordered = sorted(shown, key=lambda value: value.value)
        shown = [ordered[-1], ordered[0]]
    assert sorted(own, key=str) == sorted(shown, key=str)
    assert [value.value for value in own] == sorted((each.value for each in shown), reverse=True)
    assert all(not isnan(values[0].value) for values in f1.values[: len(own)])  # always first
    for panel in plot.panels:
        for values in panel.values:
            assert sum(not isnan(value.value) for value in values) == 1
    # three annotators of RTE-2 are three points, not one mean
    assert [name for name in names if "RTE-2" in name] == [
        "RTE-2: A ~ B",
        "RTE-2: A ~ C",
        "RTE-2: B ~ C",
    ]
    for width in WIDTHS:
        texts = check_room(plot, width)
        assert set(names) <= texts  # no name is cut
        assert "Lines: 95% intervals. Compare F1 within a group only." in texts
        assert "agreement, not F1, equal words included" in texts
    said = agreement().tree.xpath("string(//section[@id='scale'])")
    assert all(reason in said for reason in place.reasons.values())
    assert all(sentence in said for sentence in place.assumed)
    assert all(corpus.source in said for corpus in published())
    assert f"{place.kind} (this corpus)" in said


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


def test_endings_are_known_in_capitals_and_others_refused(tmp_path, monkeypatch):
    assert [ending(path) for path in ("a.PDF", "b.Png", "c.d/e.svg")] == ["pdf", "png", "svg"]
    monkeypatch.chdir(tmp_path)
    for path in ("fig.jpg", "fig", "fig.svg.gz", "-"):
        with pytest.raises(OptionError, match=r"\.pdf, \.png, \.svg"):
            two().found.plot(path)
    assert not list(tmp_path.iterdir())


def png_size(data):
    """Return the width and the height of a PNG file, from its first chunk."""
    assert data.startswith(b"\x89PNG")
    return struct.unpack(">II", data[16:24])


@pytest.mark.parametrize("width", [50, 237.6, 496.8, 720, 2000])
def test_png_files_are_wide_enough_for_a_slide(width):
    """A column of 3.3 inches was 660 pixels wide."""
    with canvas(width, 100) as figure:
        wide, high = png_size(figure.file("png"))
    assert wide == pytest.approx(max(2000, 200 * width / 72), abs=1)
    assert high / wide == pytest.approx(100 / width, rel=0.02)


def test_a_high_png_file_has_a_bounded_size():
    with canvas(100, 4000) as figure:
        wide, high = png_size(figure.file("png"))
    assert high == pytest.approx(16_000, abs=1)
    assert wide == pytest.approx(400, abs=1)


@pytest.mark.parametrize("width", ["column", "full"])
def test_the_plot_of_an_agreement_is_wide_enough_for_a_slide(tmp_path, width):
    path = tmp_path / "figure.png"
    two().found.plot(str(path), width)
    assert png_size(path.read_bytes())[0] >= 2000


def test_names_that_no_font_knows_and_formulas_are_text():
    with canvas(100, 100) as figure:
        figure.text(5, 50, "$x_1$ \u6f22\u5b57 \U0001f600 \u0627\u0644 <b>")
        said = "".join(etree.fromstring(figure.image("n", "t", "s")).itertext())
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
def test_those_who_differ_most_come_first_and_those_without_links_last():
    links = {"anna": "", "ben": "", "cy": "0-0 1-1", "dee": "0-0"}
    corpus = one_pair((("a", "b"), ("x", "y")), **links)
    differences = list(_differences(agree(corpus, resamples=30), None))
    order = ["-".join(name[0] for name in each.counts.annotators) for each in differences]
    assert order[-2:] == ["c-d", "a-b"]  # F1 is .67, and not defined
    assert set(order[:-2]) == {"a-c", "a-d", "b-c", "b-d"}  # F1 is 0


def test_disagreements_are_counted():
    words = ("The", "men", "left", "."), ("the", "man", "went", "away", ".")
    corpus = one_pair(words, anna="0-0 1-1 2-2 2?3 3-4", ben="0?0 1-1 1-0 2-2 2-3")
    english = function_words("english")
    found = disagreements(Corpus([*corpus, *corpus]), "anna", "ben", function_words=english)
    assert found.total == Outcome(both=4, unsure=4, first=2, second=2)
    assert found.kinds["punctuation"] == Outcome(first=2)
    assert found.kinds["identical"] == Outcome(unsure=2, first=2)
    assert found.kinds["function word"] == Outcome(unsure=2, second=2)
    assert found.kinds["content words"] == Outcome(both=4, unsure=2)
    assert found.kinds["1-1"] == Outcome(first=2)  # 0-0 and 1-1 are in a block of ben's
    assert (found.kinds["block"].links, found.kinds["1-n"]) == (6, Outcome(both=2, unsure=2))
    assert [(one.source, one.target, one.outcome.alone) for one in found.words] == [
        (".", ".", 2),
        ("men", "the", 2),
    ]


@pytest.mark.parametrize("exact", [True, False])
def test_case_matters_where_it_is_asked_for(exact):
    corpus = one_pair((("The",), ("the",)), anna="0-0", ben="")
    found = disagreements(corpus, "anna", "ben", exact_case=exact)
    assert found.kinds["identical"] == (Outcome() if exact else Outcome(first=1))
    (words,) = found.words
    assert (words.source, words.target) == ("The" if exact else "the", "the")


@pytest.mark.parametrize(
    ("links", "shape"),
    [
        ("0-0", "1-1"),
        ("0-0 0-1", "1-n"),
        ("0-0 1-0", "1-n"),
        ("0-0 0-1 1-0", "block"),
    ],
)
def test_a_link_has_the_shape_of_its_part(links, shape):
    corpus = one_pair((("a", "b"), ("x", "y")), anna=links, ben="")
    counts = disagreements(corpus, "anna", "ben").kinds
    shapes = {kind for kind in ("1-1", "1-n", "block") if counts[kind].links}
    assert shapes == {shape}


def test_a_link_of_two_shapes_counts_with_the_larger():
    corpus = one_pair((("a", "b"), ("x", "y")), anna="0-0 0-1 1-1", ben="0-0 0-1")
    counts = disagreements(corpus, "anna", "ben").kinds
    assert (counts["block"].links, counts["1-n"].links) == (3, 0)


@given(st.integers(0, 10**6))
def test_kinds_and_pairs_add_up(seed):
    corpus = make_corpus(3, longest=6, seed=seed)
    found = disagreements(corpus, "anna", "ben")
    shapes = sum((found.kinds[shape] for shape in ("1-1", "1-n", "block")), Outcome())
    assert found.total == sum((one.outcome for one in found.pairs), Outcome()) == shapes
    alone = sum(len(set(pair.alignment("anna")) ^ set(pair.alignment("ben"))) for pair in corpus)
    assert found.total.alone == alone == sum(one.outcome.alone for one in found.words)


def test_the_answer_and_the_main_tables_stand_first():
    for shown in (two(), three(), many()):
        said = " ".join(shown.tree.xpath("string(//div[@class='answer'])").split())
        answer = shown.found.answer
        assert said == " ".join(answer.sentences)
        mains = [main_table(shown.found, unit, narrow=False) for unit in ("words", "phrases")]
        rows = (row for table in shown.tree.xpath("//table[@class='main']") for row in cells(table))
        keys = [column.key for column in mains[0].columns]
        for table in mains:
            assert next(rows) == [table.title]
            for row in table.rows:
                shows = {
                    column.key: column.show(cell).text.strip()
                    for column, cell in zip(table.columns, row, strict=True)
                }
                assert next(rows) == [shows.get(key, "") for key in keys]
    articles = two().tree.xpath("//section[@id='differences']/details/article")
    assert len(articles) == min(20, len(two().tree.xpath("//section[@id='differences']//article")))


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 400])
def test_the_first_screen_holds_what_it_comes_to(width, tmp_path):
    from annotate_browser import browser  # skips where there is no browser
    from playwright.sync_api import expect

    path = tmp_path / "page.html"
    with browser(viewport={"width": width, "height": 800}) as context:
        page = context.new_page()
        for shown, columns in (
            (two, {"F1", "C (Cohn et al.)", "C (strata)"}),
            (three, {"F1"}),
            (many, {"mean", "lowest", "highest"}),
        ):
            path.write_text(shown().page, encoding="utf-8")
            page.goto(path.as_uri())
            for place in (".answer", "nav", "table.main tbody tr >> nth=2"):
                assert page.locator(place).bounding_box()["y"] < 800, place
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            if width == 1280:
                assert page.evaluate("document.documentElement.scrollHeight") <= 1500
            heads = " ".join(page.locator("table.main thead th:visible").all_text_contents())
            assert all(name in heads for name in columns)
            assert heads.startswith("P ") == (width == 1280 and shown is not many)
        page.click("nav >> text=Settings")
        expect(page.locator("#settings dl")).to_be_visible()  # a link opens what it leads to
        expect(page.locator("#tables table >> nth=0")).to_be_hidden()
        page.emulate_media(media="print")
        assert page.locator("#tables table >> nth=0").bounding_box()["height"] > 0
        page.emulate_media(media="screen")
        path.write_text(two().page, encoding="utf-8")
        page.goto(path.as_uri())
        assert page.locator(".first figure").bounding_box()["y"] < 800
        page.click("nav >> text=Differences")
        drawn = page.locator("#differences article:visible")
        expect(drawn).to_have_count(20)
        page.locator("#differences .more").first.locator("> summary").press("Enter")
        assert 20 < drawn.count() <= 40


# a line of text is higher than its letters, by about a fifth: 1 px on each side is let through
_OVERLAPS = """() => {
  const boxes = [...document.querySelectorAll('#scale figure text')].map((text) => {
    const {left, right, top, bottom} = text.getBoundingClientRect();
    return [left + 1, right - 1, top + 1, bottom - 1];
  });
  const overlap = ([left, right, top, bottom], [l, r, t, b]) =>
    left < r && l < right && top < b && t < bottom;
  return {
    texts: boxes.length,
    overlaps: boxes.filter((one, k) => boxes.slice(0, k).some((two) => overlap(one, two))).length,
    right: Math.max(...boxes.map((box) => box[1])),
  };
}"""


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 390])
def test_published_corpora_fit_the_screen_and_no_text_overlaps(width, tmp_path):
    from annotate_browser import browser  # skips where there is no browser

    path = tmp_path / "page.html"
    with browser(viewport={"width": width, "height": 800}) as context:
        page = context.new_page()
        path.write_text(two().page, encoding="utf-8")
        page.goto(path.as_uri())
        page.locator("#scale summary").first.click()
        drawn = page.evaluate(_OVERLAPS)
        assert drawn["texts"] > 15
        assert drawn["overlaps"] == 0
        assert drawn["right"] <= width
        assert page.evaluate("document.documentElement.scrollWidth") <= width
