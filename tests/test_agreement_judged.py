"""Kappa and AC1 over the cells that both annotators judged, where a corpus records these."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_agreement import cell_table
from strategies_agreement import RULES, corpora

from alignkit.agreement import cell_agreement
from alignkit.agreement.kappa import CELLS
from alignkit.agreement.pairs import CorpusData, PairData, judged_cells
from alignkit.errors import MissingTextError, OptionError, UnknownNameError
from alignkit.model.alignment import NULL, Alignment
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair


def judged(sure, wrong, possible=()):
    return Alignment(sure, possible, labels=dict.fromkeys(wrong, "wrong"))


def corpus_of(a, b, source="x y z", target="x v w"):
    return Corpus([SentencePair("1", source.split(), target.split(), {"A": a, "B": b})])


GIVEN = corpus_of(
    judged([(0, 0), (1, 1)], [(2, 2), (0, 1)]),
    judged([(1, 1)], [(0, 0), (2, 2), (2, 0)], possible=[(1, 2)]),
)


def test_judged_cells_are_links_and_labelled_cells():
    alignment = Alignment(
        [(1, 0)], [(0, 1)], nulls=[(2, NULL)], labels={(2, NULL): "unaligned", (0, 0): "wrong"}
    )
    pair = SentencePair("1", tuple("abc"), tuple("de"), {"A": alignment})
    assert judged_cells(pair, "A").tolist() == [[0, 0], [0, 1], [1, 0]]


def test_cells_that_both_judged_by_hand():
    # both judged 0-0, 1-1 and 2-2: A keeps the first two, B the second
    result = cell_agreement(GIVEN, "A", "B", universe="judged")
    assert result.possible.table == ((1, 0), (1, 1))
    assert result.possible.kappa == pytest.approx(0.4)  # (2/3 - 4/9) / (1 - 4/9)
    # over all cells: B's 1-2 counts too, and five cells that nobody linked
    assert cell_agreement(GIVEN, "A", "B").possible.table == ((6, 1), (1, 1))


def test_what_nobody_recorded_cannot_be_the_universe():
    plain = corpus_of(Alignment([(0, 0)], labels={(0, 0): "sure"}), judged([], [(0, 0)]))
    with pytest.raises(OptionError, match=r"'A' has no labels on cells without a link.*'all'"):
        cell_agreement(plain, "A", "B", universe="judged")
    with pytest.raises(UnknownNameError, match="universe"):
        cell_agreement(plain, "A", "B", universe="some")


def test_judged_cells_need_no_words():
    given_alone = Corpus(SentencePair("1", None, None, dict(pair.annotations)) for pair in GIVEN)
    result = cell_agreement(given_alone, "A", "B", universe="judged")
    assert result.possible.table == ((1, 0), (1, 1))
    with pytest.raises(MissingTextError):
        cell_agreement(given_alone, "A", "B")


def test_a_rule_of_case_that_changes_nothing_is_refused():
    with pytest.raises(OptionError, match="ignore_identical"):
        cell_agreement(GIVEN, "A", "B", exact_case=True)


@settings(max_examples=60)
@given(corpora(("A", "B")), RULES, st.randoms(use_true_random=False))
def test_judged_cells_agree_with_the_definition(corpus, rule, random):
    def label(pair):
        for name in pair.alignments:
            alignment = pair.alignment(name)
            n, m = pair.lengths
            free = [(i, j) for i in range(n) for j in range(m) if (i, j) not in alignment.possible]
            labels = dict.fromkeys((cell for cell in free if random.random() < 0.6), "wrong")
            labelled = Alignment(
                alignment.sure, alignment.possible, nulls=alignment.nulls, labels=labels
            )
            pair = pair.with_annotation(name, labelled)
        return pair

    marked = judged([], [(0, 0)])  # so that both record something
    extra = SentencePair("x", ("p",), ("q",), {"A": marked, "B": marked})
    made = Corpus([*corpus.map(label), extra])
    result = cell_agreement(made, "A", "B", universe="judged", **rule)
    assert result.all.table == cell_table(made, "A", "B", judged=True, **rule)
    words = CorpusData(made, exact_case=rule.get("exact_case", False))
    identical = rule["ignore_identical"]
    data = PairData.of(words, ("A", "B"), universe="judged", ignore_identical=identical)
    rows = CELLS[0].rows(data)
    total = np.asarray(rows.counts).sum(axis=0).reshape(3, 3).astype(int).tolist()
    assert tuple(map(tuple, total)) == result.all.table


@pytest.mark.real_data
def test_annotators_of_given_links_agree_less_over_what_they_judged(data):
    # TransRead, task 1, Spanish and English; the tables were counted cell by cell
    from alignkit.io import read_corpus

    folder = data / "formats" / "transread" / "task_1_es-en"
    corpus = read_corpus(str(folder), format="transread")
    everywhere = cell_agreement(corpus, "1", "2")
    result = cell_agreement(corpus, "1", "2", universe="judged")
    assert result.all.table == cell_table(corpus, "1", "2", False, judged=True)
    assert (everywhere.all.items, result.all.items) == (149810, 783)
    assert (round(everywhere.possible.kappa, 2), round(result.possible.kappa, 2)) == (0.91, 0.74)
