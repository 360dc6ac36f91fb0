"""Where an agreement stands among published corpora: only where it can be said."""

import importlib
import json
import re
import sys
from dataclasses import replace
from functools import cache
from math import isnan
from pathlib import Path

import pytest
from command import PARAPHRASES
from hypothesis import given
from hypothesis import strategies as st

from alignkit import Alignment, Corpus, SentencePair, agree, read_corpus
from alignkit.agreement import published as published_figures
from alignkit.agreement import scale, scale_page
from alignkit.agreement.published import (
    LANGUAGES,
    STARTS,
    PublishedCorpus,
    PublishedFigure,
    ScaleKind,
    published,
)
from alignkit.agreement.scale import CLAUSES, LEAST, REASONS, languages_by, shared_words, stand
from alignkit.cli import main
from alignkit.tables.columns import Value

ROOT = Path(__file__).parents[1]
ALL = "words.possible"


# the choice of the clause, against a plain reference
def plain_choice(own, others):
    """Say the place in the plainest way: from a sorted list, with intervals as pairs."""
    value, low, high = own
    ranked = sorted(others, key=lambda other: other[1])
    below = [other for other in ranked if other[1] <= value][-1:]
    above = [other for other in ranked if other[1] >= value][:1]

    def touches(other):
        return max(low, other[2]) <= min(high, other[3])

    if below and above:
        said = not (touches(below[0]) and touches(above[0]))
        code = "scale-between" if said else "within"
    elif any(touches(other) for other in ranked):
        code = "within"
    else:
        code = "scale-higher" if below else "scale-lower"
    return code, {other[1] for other in below + above}


NUMBERS = st.integers(0, 20).map(lambda k: k / 20)
OTHERS = st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS, st.booleans()), min_size=1, max_size=6)


def as_values(drawn):
    """Return others by name: with an interval around the figure, or without."""
    others = {}
    for k, (value, below, above, bounded) in enumerate(drawn):
        if bounded:
            others[f"c{k}"] = Value(value, value - below / 4, value + above / 4)
        else:
            others[f"c{k}"] = Value(value)
    return others


@given(NUMBERS, NUMBERS, NUMBERS, OTHERS)
def test_the_choice_is_that_of_the_plain_reference(value, below, above, drawn):
    others = as_values(drawn)
    own = Value(value, value - below / 4, value + above / 4)
    plain = []
    for name, other in others.items():
        bounds = (other.value, other.value) if isnan(other.low) else (other.low, other.high)
        plain.append((name, other.value, *bounds))
    code, neighbours = stand(own, others)
    expected, values = plain_choice((own.value, own.low, own.high), plain)
    assert code == expected
    assert {others[name].value for name in neighbours} == values


ORDER = {"scale-lower": 0, "scale-between": 1, "scale-higher": 2}


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS, OTHERS)
def test_a_higher_f1_never_has_a_lower_place(value, more, below, above, drawn):
    others = as_values(drawn)
    places = []
    for figure in (value, value + more):
        own = Value(figure, figure - below / 4, figure + above / 4)
        code, neighbours = stand(own, others)
        if code in ORDER:
            beaten = sum(other.value < figure for other in others.values())
            places.append((ORDER[code], beaten, max(others[name].value for name in neighbours)))
    if len(places) == 2:
        first, second = places
        assert first <= second


@given(NUMBERS, NUMBERS, NUMBERS, OTHERS)
def test_nothing_is_said_if_the_interval_includes_both_neighbours(value, below, above, drawn):
    others = as_values(drawn)
    own = Value(value, value - below / 4, value + above / 4)
    code, neighbours = stand(own, others)
    included = [own.low <= others[name].value <= own.high for name in neighbours]
    if all(included):
        assert code == "within"
    if code == "scale-higher":
        assert all(other.value < own.low for other in others.values())
    if code == "scale-lower":
        assert all(other.value > own.high for other in others.values())


# the answer, with published corpora that are made up
def made_up(*values, languages="same", start="nothing", equal_words="left out"):
    corpora = []
    for k, value in enumerate(values):
        figure = PublishedFigure(ALL, equal_words, *value)
        name = f"corpus {'ABCDEFG'[k]}"
        corpora.append(PublishedCorpus(name, languages, start, "made up", (figure,)))
    return tuple(corpora)


FIVE = [(0.55,), (0.61, 0.58, 0.64), (0.7,), (0.8,), (0.9,)]


@pytest.fixture
def with_scale(monkeypatch):
    def use(corpora):
        for module in (scale, scale_page):
            monkeypatch.setattr(module, "published", lambda: corpora)

    return use


@cache
def computed(**options):
    corpus = read_corpus(str(PARAPHRASES), format="alignkit-jsonl")
    return agree(corpus, resamples=20, **options)


def samples(**options):
    """Return the agreement of the samples, without what it has kept of a place."""
    return replace(computed(**options))


def one_pair(source, target, **links):
    annotations = {name: Alignment.parse(text) for name, text in links.items()}
    return SentencePair("1", source.split(), target.split(), annotations)


@pytest.mark.parametrize(
    ("figures", "code", "clause"),
    [
        (FIVE, "scale-higher", "higher than all 5 published of this kind"),
        (
            [*FIVE[:4], (0.97,)],
            "scale-between",
            "between the published corpus D (80.0) and corpus E (97.0)",
        ),
        ([(0.97,), (0.98,), (0.99,)], "scale-lower", "lower than all 3 published of this kind"),
        ([*FIVE[:3], (0.945,), (0.952,)], "within", ""),
        ([*FIVE[:4], (0.9, 0.85, 0.93)], "within", ""),
        (FIVE[:2], "few", ""),
        ([], "few", ""),
    ],
)
def test_the_answer_has_one_clause_or_none(with_scale, figures, code, clause):
    plain = samples().answer  # F1 is 94.9 [92.1, 96.7]
    with_scale(made_up(*figures))
    agreement = samples()
    place = agreement.scale
    assert (place.code, place.clause, place.corpora) == (code, clause, len(figures))
    assert agreement.to_json()["scale"]["code"] == code
    said = agreement.answer
    if clause:
        assert said.sentences[0] == plain.sentences[0].replace(").", f"; {clause}).")
        assert said.sentences[1:] == plain.sentences[1:]
        assert said.codes == (code, *plain.codes)
    else:
        assert said == plain
        assert code in REASONS
    assert not re.search(r"[{}]|nan", place.says)


@pytest.mark.parametrize(
    "other",
    [
        {"languages": "two"},
        {"languages": ""},
        {"start": "corrected"},
        {"start": "given links"},
        {"equal_words": "included"},
    ],
)
def test_only_corpora_of_the_same_kind_are_compared(with_scale, other):
    with_scale(made_up(*FIVE, **other))
    place = samples().scale
    assert (place.code, place.corpora) == ("few", 0)
    assert sum(place.kinds.values()) == 5
    assert place.says.startswith("No published corpus is of this kind (one language, from nothing,")


def test_what_was_measured_otherwise_is_not_compared(with_scale):
    corpora = made_up(*FIVE)
    other = [replace(corpora[0].figures[0], measure="agreement")]
    other.append(replace(corpora[0].figures[0], level="phrases.sure"))
    other.append(replace(corpora[0].figures[0], adjudicated=True))
    with_scale(tuple(replace(each, figures=tuple(other)) for each in corpora))
    assert samples().scale.corpora == 0


def test_why_nothing_is_said(with_scale):
    with_scale(made_up(*FIVE))
    without = agree(samples().corpus, bootstrap="none")
    assert without.scale.code == "no-interval"
    assert samples(exact_case=True).scale.code == "exact-case"
    assert samples(ignore_identical=False).scale.code == "few"
    three = samples().corpus
    apart = [pair.with_annotation("cleo", Alignment([(0, len(pair.target) - 1)])) for pair in three]
    names = ["anna", "ben", "cleo"]
    assert agree(Corpus(apart), names, resamples=20).scale.code == "no-single-figure"
    nothing = Corpus([one_pair("a b", "c d", A="", B="")])
    assert agree(nothing, resamples=20).scale.code == "no-figure"
    unclear = Corpus([one_pair("a b c d", "a x y z", A="0-0 1-1", B="1-1")])
    assert agree(unclear, resamples=20).scale.code == "kind-unknown"


def test_all_reasons_are_given_not_only_the_first(with_scale):
    corpus = samples().corpus
    apart = [
        pair.with_annotation("cleo", Alignment([(0, len(pair.target) - 1)])) for pair in corpus
    ]
    three = agree(Corpus(apart), ["anna", "ben", "cleo"], resamples=20, exact_case=True)
    reasons = three.scale.reasons
    assert list(reasons) == ["no-single-figure", "exact-case", "few"]
    assert reasons["no-single-figure"].startswith("cleo stands apart from anna and ben, so")
    assert "At least 3 are needed" in reasons["few"]
    assert three.scale.says == " ".join(reasons.values())
    with_scale(made_up(*FIVE))
    assert samples().scale.reasons == {}


def test_what_is_assumed_of_the_kind_is_said():
    start, languages = samples().scale.assumed
    assert "taken to have started from nothing, because no initial alignment was given" in start
    assert languages.startswith("The texts are taken to be of one language, because")
    corrected = agree(samples().corpus, initial="eflomal", samples=5, resamples=20)
    assert corrected.scale.assumed[0].startswith("The annotators are taken to have corrected eflom")


# corpora without a single F1, and the same corpus again
def three_of(name, *values):
    """Return a corpus with three annotators, of one language and from nothing."""
    figures = []
    for between, value in zip(("A ~ B", "A ~ C", "B ~ C"), values, strict=True):
        interval = (value, value - 0.02, value + 0.02)
        figures.append(PublishedFigure(ALL, "left out", *interval, between=between))
    return PublishedCorpus(name, "same", "nothing", "made up", tuple(figures))


def test_a_published_corpus_without_a_single_f1_does_not_count_either(with_scale):
    """One rule for both: a corpus of the user in which an annotator stands apart has no place."""
    assert published()[0].sides("left out") == (["A", "B"], ["C"])
    assert three_of("X", 0.7, 0.71, 0.72).sides("left out") is None
    with_scale((*made_up(*FIVE[:2]), three_of("X", 0.7, 0.71, 0.72)))
    assert (samples().scale.code, samples().scale.corpora) == ("scale-higher", 3)
    with_scale((*made_up(*FIVE[:2]), three_of("X", 0.9, 0.61, 0.62)))
    place = samples().scale
    assert (place.code, place.corpora) == ("few", 2)
    assert "not counting X" in place.says
    assert place.kinds[str(place.kind)] == 2


def test_a_corpus_is_not_compared_with_itself(with_scale):
    own = samples().scale
    (numbers,) = own.pairings.values()
    rounded = tuple(round(number, 4) for number in numbers)
    with_scale(made_up(*FIVE[:3], rounded))
    place = samples().scale
    assert (place.code, place.corpora, place.same_as) == ("scale-higher", 3, "corpus D")
    assert place.says.startswith(
        "This corpus has the same figures as corpus D; if it is that corpus, 3 others are of its "
        "kind."
    )
    with_scale(made_up(rounded, start="corrected"))
    place = samples().scale
    assert "its kind is another" in place.about_same
    assert "0 others are of its kind." in place.about_same
    assert "No other published corpus" in place.says
    names = [row.names[0] for panel in scale_page.scale_plot(place).panels for row in panel.rows]
    assert names == ["this corpus"]
    for other in ((rounded[0] + 0.001,), (rounded[0], rounded[1] - 0.01, rounded[2])):
        with_scale(made_up(other))
        assert samples().scale.same_as == ""


def test_of_many_pairings_the_ends_are_drawn():
    values = {str(k): (k / 20, k / 20, k / 20) for k in range(1, 12)}
    place = replace(samples().scale, pairings=values)
    rows = scale_page.scale_plot(place).panels[0].rows
    assert [row.names[0] for row in rows[:2]] == ["this corpus: highest", "this corpus: lowest"]


def test_what_the_annotators_started_from_is_part_of_the_kind():
    corpus = samples().corpus
    corrected = agree(corpus, initial="eflomal", samples=5, resamples=20)
    assert corrected.scale.kind == ScaleKind("same", "corrected", "left out")
    assert samples().scale.kind.start == "nothing"
    partly = Corpus(
        pair.without_annotations("eflomal") if number % 2 else pair
        for number, pair in enumerate(corpus)
    )
    mixed = agree(partly, initial="eflomal", missing_initial="leave-out", samples=5, resamples=20)
    assert mixed.scale.kind.start == ""
    said = Corpus(  # annotations of projects say what they started from
        pair.with_annotation("anna", replace(pair.annotations["anna"], start="eflomal"))
        for pair in corpus
    )
    assert agree(said, resamples=20).scale.kind.start == ""


def test_several_annotators_have_the_mean_from_the_lowest_to_the_highest_bound():
    agreement = samples(annotators=("anna", "ben", "gold"), adjudicated="")
    lows = []
    highs = []
    for two in agreement.of("annotators"):
        interval = two.sections[0].intervals[f"{ALL}.f1"]
        lows.append(interval.low)
        highs.append(interval.high)
    place = agreement.scale
    assert place.f1 == pytest.approx(agreement.together[0].mean[f"{ALL}.f1"])
    assert (place.low, place.high) == (min(lows), max(highs))


# the file
def test_every_published_figure_says_where_it_comes_from():
    names = [corpus.name for corpus in published()]
    assert len(names) == len(set(names)) >= 5
    for corpus in published():
        assert corpus.languages in LANGUAGES
        assert corpus.start in STARTS
        assert re.search(r"\d{4}|project", corpus.source)
        assert corpus.figures
        for figure in corpus.figures:
            assert figure.equal_words in ("left out", "included")
            assert 0 < figure.value <= 1
            assert corpus.computed != bool(figure.place)
            if corpus.computed:
                assert figure.low <= figure.value <= figure.high


def test_printed_figures_follow_from_what_is_printed():
    """The counts and ratios stand in the cited places."""
    of = {
        corpus.name: {each.level: each.value for each in corpus.figures} for corpus in published()
    }
    latin = 2 * 1378 / (1487 + 1486)
    assert of["DFHG grc-lat"][ALL] == round(latin, 4)
    # the printed agreement of .905 also counts words that both left without a link
    alone = 1487 + 1486 + 451 + 421 + 240 + 191
    both = 2 * (1378 + 394 + 163) / alone
    assert of["DFHG grc-lat"]["links and words without a link"] == round(both, 3)
    english = 2 * 3440 / (2 * 3440 + 669 + 719)
    assert of["Ugarit grc-eng"]["translation pairs"] == round(english, 4)
    assert of["Cohn 2008"]["phrases.sure"] == round(2 * 0.67 * 0.66 / (0.67 + 0.66), 3)


def test_the_summary_of_pairings():
    two = [Value(0.6, 0.5, 0.7), Value(0.8, 0.75, 0.85)]
    mean = published_figures.summary(two)
    assert (mean.value, mean.low, mean.high) == (pytest.approx(0.7), 0.5, 0.85)
    assert published_figures.summary(two[:1]) == two[0]
    assert isnan(published_figures.summary([]).value)
    assert isnan(published_figures.summary([*two, Value(0.7)]).low)


@pytest.mark.parametrize("samples_of", ["paraphrases", "french-english"])
def test_languages_of_the_samples(samples_of):
    if samples_of == "paraphrases":
        assert languages_by(shared_words(samples().corpus)) == "same"
        return
    folder = ROOT / "samples" / samples_of
    french = (folder / "fr.txt").read_text("utf-8").splitlines()
    english = (folder / "en.txt").read_text("utf-8").splitlines()
    pairs = zip(french, english, strict=True)
    assert languages_by(shared_words(Corpus(one_pair(*texts) for texts in pairs))) == "two"


def test_languages_are_unknown_without_words_or_between_the_limits():
    links = {"A": Alignment.parse("0-0")}
    assert languages_by(shared_words(Corpus([SentencePair("1", None, None, links)]))) == ""
    assert languages_by(shared_words(Corpus([one_pair("1 2 ,", "1 2 ,")]))) == ""
    assert languages_by(shared_words(Corpus([one_pair("a b c d", "a x y z")]))) == ""


@pytest.mark.real_data
def test_languages_of_public_corpora_are_recognized_with_a_wide_margin(data):
    records = benchmark().languages_table(data).to_records()
    shares = {"same": [], "two": []}
    for record in records:
        assert record["taken for"] == record["languages"]
        shares[record["languages"]].append(record["shared words"])
    assert [len(each) for each in shares.values()] == [8, 16]
    assert min(shares["same"]) > 0.44
    assert max(shares["two"]) < 0.12


# the command that computes the figures
def benchmark():
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    return importlib.import_module("benchmarks.scale")


@pytest.mark.real_data
def test_f1_and_kappa_of_public_corpora_are_as_published(data):
    for name, read in benchmark().CORPORA.items():
        (known,) = [corpus for corpus in published() if corpus.name == name]
        corpus = read(data)
        assert len(corpus) == known.pairs
        for equal_words in ("left out", "included"):
            left_out = equal_words == "left out"
            agreement = agree(
                corpus, initial="", systems=(), ignore_identical=left_out, bootstrap="none"
            )
            figures = [each for each in known.figures if each.equal_words == equal_words]
            assert len(figures) == 4 * len(agreement.of("annotators") + agreement.of("adjudicated"))
            for figure in figures:
                first, second = figure.between.split(" ~ ")
                computed = agreement.pairing(first, second).sections[0].figures
                assert computed[f"{figure.level}.f1"] == pytest.approx(figure.value, abs=5.1e-5)
                if not isnan(figure.kappa):
                    links = figure.level.partition(".")[2]
                    cells = f"{'different.' * left_out}cells.{links}.kappa"
                    assert computed[cells] == pytest.approx(figure.kappa, abs=5.1e-5)


def test_annotators_who_judged_given_links_have_neither_c_nor_kappa():
    """Cells that nobody judged would make both far too high: .90 for TransRead instead of .74."""
    judged = [corpus for corpus in published() if corpus.start == "given links"]
    assert judged
    for corpus in judged:
        assert all(figure.C is None and isnan(figure.kappa) for figure in corpus.figures)
        for equal_words in ("left out", "included"):
            rows = scale_page.scale_table(equal_words).to_records()
            (row,) = [each for each in rows if each["corpus"] == corpus.name]
            assert (row["C"], row["kappa"]) == (None, None)


def test_adjudicated_versions_are_not_among_the_annotators():
    for equal_words in ("left out", "included"):
        among = scale_page.scale_table(equal_words).to_records()
        assert not any("arbit" in record["annotators"] for record in among)
        apart = scale_page.adjudicated_table(equal_words).to_records()
        assert [record["corpus"] for record in apart] == ["GoldAlign", "GoldAlign"]


@pytest.mark.slow
@pytest.mark.real_data
def test_the_command_computes_all_figures_anew(data, capsys):
    assert benchmark().main(["--data", str(data)]) == 0
    assert capsys.readouterr().out.endswith("56 records computed, 0 values differ\n")


def test_the_command_reports_what_differs():
    record = {"between": "A ~ B", "level": ALL, "equal_words": "included", "value": 0.5}
    known = {"X": [record, {**record, "between": "A ~ C"}]}
    computed = {"X": [{**record, "value": 0.5001}, {**record, "between": "B ~ C"}]}
    where = f"{ALL}, equal words included"
    assert list(benchmark().differences(computed, known)) == [
        f"X: B ~ C, {where}: not in the file",
        f"X: A ~ C, {where}: in the file, but not computed",
    ]
    computed["X"][0]["value"] = 0.502
    assert next(iter(benchmark().differences(computed, known))) == (
        f"X: A ~ B, {where}: value is 0.502, was 0.5"
    )


def test_json_has_the_place_or_why_there_is_none(capsys):
    assert main(["agree", str(PARAPHRASES), "--resamples", "20", "--json"]) == 0
    place = json.loads(capsys.readouterr().out)["scale"]
    assert place["code"] == "few"
    assert place["corpora"] < LEAST
    assert place["kind"] == {"languages": "same", "start": "nothing", "equal_words": "left out"}
    assert place["says"].startswith("No published corpus")
    assert "not counting RTE-2" in place["says"]
    assert place["reasons"] == {"few": place["says"]}
    assert list(place["pairings"]) == ["anna ~ ben"]
    assert place["clause"] == ""
    assert set(CLAUSES).isdisjoint(REASONS)


def test_the_page_of_the_docs_has_the_figures_of_the_package():
    text = (ROOT / "docs" / "agree" / "scale.md").read_text("utf-8")
    tables = []
    for make in (scale_page.scale_table, scale_page.adjudicated_table):
        tables += [make("left out"), make("included")]
    for table in (*tables, scale_page.printed_table(), scale_page.kinds_table()):
        assert table.show("markdown").strip() in text
    for source in scale_page.sources():
        assert f"- {source}\n" in text
    for code in REASONS:
        assert f"`{code}`" in text
