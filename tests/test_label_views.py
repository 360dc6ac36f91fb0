"""Views map the judgments of a scheme to fewer labels, and source and target change places."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from alignkit import Annotation, Corpus, FormatError, SentencePair
from alignkit.corpora.label_counts import count_labels
from alignkit.corpora.labelled import judges_of, judgments_of
from alignkit.errors import UnknownNameError
from alignkit.model.labels import SCHEMES, get_scheme, get_view

EVERY = [(name, view) for name, scheme in SCHEMES.items() for view in scheme.views]
TURKU = get_scheme("turku")


@pytest.mark.parametrize(("scheme", "name"), EVERY)
def test_a_view_is_whole(scheme, name):
    view = get_view(scheme, name)
    assert view.name == name
    found = [view.of(judgment) for judgment in get_scheme(scheme).judgments]
    assert set(found) - {None} == set(view.labels)
    assert view.order is None or view.order == view.labels
    assert len(set(view.labels)) == len(view.labels)


@pytest.mark.parametrize("name", SCHEMES)
def test_judgments_are_all_that_the_scheme_takes(name):
    scheme = get_scheme(name)
    assert len(set(scheme.judgments)) == len(scheme.judgments)
    for judgment in scheme.judgments:
        assert scheme.canonical(*scheme.parse(judgment)) == judgment
        assert scheme.flip(scheme.flip(judgment)) == judgment


def test_the_table_of_turku():
    """Written out from the definitions: i as 2, arrows and style as 3, of two the lower."""
    rows = {
        "1": ("1", "1", "0", "1", "1"),
        "2": ("2", "2", "0", "2", "2"),
        "3": ("3", "3", "1", "3", "3"),
        "4": ("4", "4", "1", "4", "4"),
        "4<": ("4<", "4", "1", "3", "4<>"),
        "4>s": ("4>", "4", "1", "3", "4<>"),
        "4>is": ("4>", "4", "1", "2", "4<>"),
        "4i": ("4", "4", "1", "2", "4"),
        "4s": ("4", "4", "1", "3", "4"),
        "4is": ("4", "4", "1", "2", "4"),
        "x": (None,) * 5,
    }
    names = ("base+subsumption", "base", "binary", "strict", "retrieval")
    for judgment, expected in rows.items():
        assert tuple(get_view("turku", name).of(judgment) for name in names) == expected
    unordered = [name for name in TURKU.views if get_view("turku", name).order is None]
    assert unordered == list(TURKU.views[:2])


def test_labels_of_views_and_their_mirrors():
    for name in ("parade", "parade-votes"):
        assert [get_view(name, "binary").of(label) for label in "0123"] == ["0", "0", "1", "1"]
    assert get_view("binary", "binary").labels == ("0", "1")
    assert get_view("paraphrase").order == ("none", "partial", "paraphrase")
    assert get_view("entailment").order is None
    assert [TURKU.flip(text) for text in ("4>is", "4<", "3", "x")] == ["4<is", "4>", "3", "x"]
    entailment = get_scheme("entailment")
    assert [entailment.flip(text) for text in ("forward", "reverse")] == ["reverse", "forward"]
    refuses(FormatError, "not a judgment", TURKU.flip, "4<>")
    refuses(UnknownNameError, "of turku 'bianry'", get_view, "turku", "bianry")
    refuses(UnknownNameError, None, get_view, "entailment", "binary")


def test_transposing_flips_where_a_scheme_is_named():
    corpus = corpus_of([["4<i", "4>"], ["mine", ""]])
    plain = [annotation.judgment for annotation in corpus.transpose()[0].annotations.values()]
    assert plain == ["4<i", "4>"]
    (first, second) = corpus.transpose("turku", lenient_labels=True)
    assert [annotation.judgment for annotation in first.annotations.values()] == ["4>i", "4<"]
    assert second.annotation("a0").judgment == "mine"
    assert corpus[:1].transpose(TURKU).transpose("turku") == corpus[:1]
    with pytest.raises(FormatError, match="pair '1', annotator 'a0': 'mine'"):
        corpus.transpose("turku")


def corpus_of(rows):
    """Make a corpus of P rows of judgments, one an annotator; empty is not judged."""
    return Corpus(
        SentencePair(
            str(k),
            ["a"],
            ["b"],
            {f"a{n}": Annotation(None, judgment=text) for n, text in enumerate(row) if text},
        )
        for k, row in enumerate(rows)
    )


def test_annotators_have_the_order_of_a_pair_that_all_judged():
    def order(*rows):
        return judges_of(
            SentencePair(
                str(k), ["a"], ["b"], {name: Annotation(None, judgment="1") for name in row.split()}
            )
            for k, row in enumerate(rows)
        )

    assert order("v1 v3", "v2", "v10 v3") == ("v1", "v2", "v3", "v10")
    assert order("zoe", "zoe anna", "anna") == ("zoe", "anna")
    assert (order("anna", "zoe anna"), order()) == (("zoe", "anna"), ())


def test_labels_that_nobody_gave_are_named_below_the_table():
    found = count_labels(corpus_of([["4", "4"], ["3", "4<"]]), get_view("turku", "full"))
    said = found.show("markdown")
    assert said.count("| a0 |") == 3
    assert "nobody gave the labels 1, 2, 4" in said.replace("\\", "")
    assert len(found.table().rows) == 2 * len(found.view.labels)
    assert "nobody gave" not in count_labels(corpus_of([["x"]]), found.view).show()
    one = count_labels(corpus_of([["0"]]), get_view("binary", "full"))
    assert "nobody gave the label 1" in one.show()


@given(
    st.lists(st.lists(st.sampled_from(["", *TURKU.judgments]), min_size=3, max_size=3), min_size=1),
    st.sampled_from(TURKU.views),
)
def test_the_matrix_is_what_the_view_says(rows, name):
    corpus, view = corpus_of(rows), get_view("turku", name)
    matrix = judgments_of(corpus, None, view)
    assert (matrix.annotators, matrix.labels) == (judges_of(corpus), view.labels)
    left_out = 0
    for a, annotator in enumerate(matrix.annotators):
        for p, row in enumerate(rows):
            judgment = row[int(annotator[1:])]
            label = view.of(judgment) if judgment else None
            value = matrix.values[a, p]
            assert (None if value < 0 else view.labels[value]) == label
            left_out += label is None
    assert sum(matrix.left_out.values()) == left_out == np.count_nonzero(matrix.values < 0)


def test_a_bad_judgment_is_refused_or_counted():
    corpus, view = corpus_of([["4"], ["4si"]]), get_view("turku", "base")
    with pytest.raises(FormatError, match="pair '1', annotator 'a0': '4si'"):
        judgments_of(corpus, None, view)
    matrix = judgments_of(corpus, ["a0"], view, lenient_labels=True)
    assert (matrix.values.tolist(), matrix.left_out["not of the scheme"]) == ([[3, -1]], 1)
    with pytest.raises(UnknownNameError, match="judged pairs 'zoe'"):
        judgments_of(corpus, ["zoe"], view)


@pytest.mark.real_data
def test_the_swedish_set_in_two_views(data):
    """Counts that were made apart from the published file."""
    records = json.loads((data / "turku" / "sv-test.json").read_text("utf-8"))
    for name, counts in (("base", (3, 295, 783)), ("strict", (87, 682, 312))):
        views = Counter(get_view("turku", name).of(record["label"]) for record in records)
        assert (tuple(views[label] for label in "234"), sum(views.values())) == (counts, 1081)
