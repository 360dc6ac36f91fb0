"""Score the rules that follow from alignments against the rules of a gold standard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import isnan

import numpy as np

from alignkit._support.arguments import check_arguments, check_known, each, naming_keywords
from alignkit._support.array_types import F8
from alignkit._support.jit import all_readonly, readonly
from alignkit._support.values import jsonable
from alignkit._support.wording import how_many
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.trees import Tree
from alignkit.rules.derivation.derivations import Derivations, NameNumbers, TreeArrays, derive
from alignkit.rules.scores_kernel import DerivationNodes, NodeClasses, count_found
from alignkit.scoring.counts import Rows
from alignkit.scoring.settings import Signature
from alignkit.stats import resampling
from alignkit.stats.defaults import CONFIDENCE, RESAMPLES, SEED
from alignkit.stats.resampling import Interval
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.result import TableResult
from alignkit.tables.table import Table

LEVELS = {
    "rules": "rules",
    "rules-changing": "rules, identity left out",
    "nodes": "node pairs",
    "nodes-changing": "node pairs, identity left out",
}
"""The levels of the score, and their names."""

_TOTAL_AND_CONFIRMED = {
    "rules": ("rules", "rules_found"),
    "rules-changing": ("changing", "changing_found"),
    "nodes": ("rules", "nodes_found"),
    "nodes-changing": ("changing", "changing_nodes_found"),
}
"""The counts of each level: all, and those that the other side has too."""

COUNTED = (
    "rules",
    "rules_found",
    "nodes_found",
    "changing",
    "changing_found",
    "changing_nodes_found",
)
COLUMNS = tuple(f"{side}_{name}" for side in ("hyp", "ref") for name in COUNTED)
"""The counts of each sentence pair, for the hypothesis and the reference."""

_MEASURES = {"precision": "precision", "recall": "recall", "f1": "F1"}


def rule_ratios(counts: resampling.Counts) -> dict[str, F8]:
    """Return precision, recall and F1 of the rules and of the node pairs."""
    by_name = dict(zip(COLUMNS, np.asarray(counts).T, strict=True))
    ratios: dict[str, F8] = {}
    for level, (total, confirmed) in _TOTAL_AND_CONFIRMED.items():
        precision = resampling.ratio(by_name[f"hyp_{confirmed}"], by_name[f"hyp_{total}"])
        recall = resampling.ratio(by_name[f"ref_{confirmed}"], by_name[f"ref_{total}"])
        ratios[f"{level}.precision"] = precision
        ratios[f"{level}.recall"] = recall
        ratios[f"{level}.f1"] = resampling.harmonic(precision, recall)
    return ratios


@dataclass(frozen=True, repr=False)
class RuleScore(TableResult):
    """The score of the rules that follow from alignments, against those of a gold standard.

    Returned by `score_rules`.

    Parameters
    ----------
    measures : Precision, recall and F1 of each of `LEVELS`, named ``rules.precision`` and so on;
        NaN if undefined.
    counts : The counts behind the measures, by the names `COLUMNS`.
    pairs : The number of scored sentence pairs.
    skipped : The reasons why pairs were not scored, with their numbers.
    signature : All settings.
    rows : (P, 12) counts of the sentence pairs.
    intervals : The intervals of the measures; empty before `with_intervals`.
    suspicions : Signs of errors in the alignments.

    Examples
    --------
    >>> from alignkit import Alignment, SentencePair, Tree
    >>> from alignkit.rules import score_rules
    >>> trees = {"source": Tree.parse("(NN car)"), "target": Tree.parse("(NN auto)")}
    >>> links = {"gold": Alignment.parse("0-0"), "system": Alignment.parse("0-0")}
    >>> pair = SentencePair("1", ["car"], ["auto"], links).with_trees("gold", **trees)
    >>> score = score_rules([pair], "system")
    >>> score.pairs, score.measures["rules.f1"]
    (1, 1.0)
    """

    measures: Mapping[str, float]
    counts: Mapping[str, int]
    pairs: int
    skipped: Mapping[str, int]
    signature: Signature = field()
    rows: Rows = field(repr=False, compare=False)
    intervals: Mapping[str, Interval] = field(default_factory=dict, repr=False)
    suspicions: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def from_rows(cls, rows: Rows, skipped: Mapping[str, int], signature: Signature) -> RuleScore:
        """Return the measures of the sum of some rows."""
        total = rows.sum(axis=0, keepdims=True)
        counts = dict(zip(COLUMNS, total[0].tolist(), strict=True))
        measures = {name: float(values[0]) for name, values in rule_ratios(total).items()}
        return cls(measures, counts, len(rows), dict(skipped), signature, rows)

    def with_skipped(self, why: str, count: int) -> RuleScore:
        """Return the score with further pairs that were not scored."""
        skipped = dict(self.skipped)
        skipped[why] = skipped.get(why, 0) + count
        return replace(self, skipped=skipped)

    @property
    def cautions(self) -> tuple[str, ...]:
        """Warnings to read before the numbers."""
        return (*self.suspicions, *resampling.few_pairs(self.pairs, drawn=bool(self.intervals)))

    def with_intervals(
        self, *, resamples: int = RESAMPLES, confidence: float = CONFIDENCE, seed: int = SEED
    ) -> RuleScore:
        """Return the score with bootstrap intervals over the sentence pairs.

        Parameters
        ----------
        resamples : Number of resamples of the bootstrap over sentence pairs.
        confidence : Between 0 and 1.
        seed : The seed of the resamples.
        """
        check_arguments(RuleScore.with_intervals, locals())
        intervals = resampling.confidence_interval(
            self.rows, rule_ratios, resamples=resamples, confidence=confidence, seed=seed
        )
        signature = self.signature.drawn(resamples, confidence, seed)
        return replace(self, intervals=intervals, signature=signature)

    def __repr__(self) -> str:
        f1 = Column("", "percent").show(self.measures["rules.f1"]).text
        return f"RuleScore({how_many(self.pairs, 'pair')}; rules F1 {f1})"

    @property
    def settings(self) -> str:
        """The settings behind the numbers, in one line."""
        return str(self.signature)

    def table(self) -> Table:
        """Return the score as a table, a row for each level."""
        columns = [Column("", key="level")]
        columns += [Column(title, "percent", key=name) for name, title in _MEASURES.items()]
        columns += [Column("hypothesis", "count"), Column("reference", "count")]
        rows: list[list[Cell]] = []
        for level, title in LEVELS.items():
            total, _ = _TOTAL_AND_CONFIRMED[level]
            row: list[Cell] = [title]
            row += [self._cell(f"{level}.{name}") for name in _MEASURES]
            row += [self.counts[f"hyp_{total}"], self.counts[f"ref_{total}"]]
            rows.append(row)
        notes = []
        skipped = [f"{how_many(n, 'pair')} {why}" for why, n in self.skipped.items() if n]
        if skipped:
            notes.append(f"not scored: {', '.join(skipped)}")
        notes += [*self.cautions, self.settings]
        return Table(how_many(self.pairs, "sentence pair"), columns, rows, "\n".join(notes))

    def _cell(self, name: str) -> Cell:
        """Return a measure, with its interval if it has one."""
        value = self.measures[name]
        interval = self.intervals.get(name)
        if interval is None or isnan(value):
            return value
        return Value(value, interval.low, interval.high, interval.reason)

    def to_json(self) -> dict[str, object]:
        """Return the score as plain values for JSON; NaN becomes None.

        Examples
        --------
        >>> from alignkit import Alignment, SentencePair, Tree
        >>> from alignkit.rules import score_rules
        >>> trees = {"source": Tree.parse("(NN car)"), "target": Tree.parse("(NN auto)")}
        >>> links = {"gold": Alignment.parse("0-0"), "system": Alignment.parse("0-0")}
        >>> pair = SentencePair("1", ["car"], ["auto"], links).with_trees("gold", **trees)
        >>> score_rules([pair], "system").to_json()["pairs"]
        1
        """
        record: dict[str, object] = {}
        for level in LEVELS:
            record[level] = {name: jsonable(self.measures[f"{level}.{name}"]) for name in _MEASURES}
        record["counts"] = dict(self.counts)
        record["pairs"] = self.pairs
        record["skipped"] = dict(self.skipped)
        record["signature"] = self.settings
        if self.intervals:
            record["intervals"] = jsonable(self.intervals)
        if self.cautions:
            record["cautions"] = list(self.cautions)
        return record


SIZE = 3  # the most minimal rules of one side that can form a rule of the other

_BLOCK = 4096  # sentence pairs at a time
UNANNOTATED = "that one of the two has not annotated"
_WITHOUT = "without trees"


@naming_keywords
def score_rules(
    pairs: Iterable[SentencePair],
    hypothesis: str,
    reference: str = "gold",
    *,
    links: str = "sure",
    source_tree: str | None = None,
    target_tree: str | None = None,
    signature: Signature | None = None,
) -> RuleScore:
    """Score the rules that follow from a system's alignments against those of a gold standard.

    Parameters
    ----------
    pairs : Sentence pairs with trees on both sides. Pairs without trees, and pairs that one of the
        two has not aligned, are left out and counted.
    hypothesis, reference : The annotators of the scored and of the correct alignments.
    links : Use the rules of the ``"sure"`` links, or of the ``"possible"`` (all) links.
    source_tree, target_tree : The names of trees; None if each side has only one.
    signature : The known settings of the files; the other settings are added.

    Raises
    ------
    UnknownNameError : If the name of an annotator or `links` is unknown.

    Notes
    -----
    A rule is identified by its root pair of nodes and those of its variables, over the same trees.
    A are the minimal rules of the hypothesis, B those of the reference; A_3 and B_3 also contain
    the rules made of up to three connected minimal rules. As in eq. 3 of the article (on atomic and
    composite phrase pairs), precision = |A & B_3| / |A| and recall = |A_3 & B| / |B|, summed over
    all sentence pairs. Node pairs: the share of matched pairs that the other's links make
    consistent. Both are also given without the pairs whose minimal rule is an identity.

    References
    ----------
    Cohn, Callison-Burch & Lapata 2008, Computational Linguistics 34(4):597-614, for eq. 3; Galley
    et al. 2004, What's in a translation rule?, HLT-NAACL: 273-280, for the rules.

    Examples
    --------
    >>> from alignkit import Alignment, SentencePair
    >>> from alignkit.model.trees import Tree
    >>> source, target = Tree.parse("(NP (DT a) (NN car))"), Tree.parse("(NP (DT an) (NN auto))")
    >>> links = {"gold": Alignment.parse("0-0 1-1"), "system": Alignment.parse("0-0")}
    >>> pair = SentencePair("1", source.words, target.words, links)
    >>> result = score_rules([pair.with_trees("gold", source=source, target=target)], "system")
    >>> result.measures["rules.precision"], round(result.measures["rules.recall"], 3)
    (1.0, 0.333)
    """
    check_arguments(score_rules, locals(), apart=["pairs"])
    check_known("kind of links", links, ("sure", "possible"))
    skipped: Counter[str] = Counter()
    trees = source_tree, target_tree
    parsed = _parsed(each("pairs", pairs, SentencePair), hypothesis, reference, trees, skipped)
    blocks = [np.zeros((0, 2 * len(COUNTED)), np.int64)]
    while block := list(islice(parsed, _BLOCK)):
        sources, targets, hyp_alignments, ref_alignments = zip(*block, strict=True)
        hyp = LinkArrays.pack(hyp_alignments)
        ref = LinkArrays.pack(ref_alignments)
        if links == "sure":
            hyp = hyp.sure_only()
            ref = ref.sure_only()
        blocks.append(count_rules(sources, targets, hyp, ref))
    settings = replace(signature or Signature(), level="rules", links=links)
    return RuleScore.from_rows(np.concatenate(blocks), skipped, settings)


def _parsed(
    pairs: Iterable[SentencePair],
    hypothesis: str,
    reference: str,
    trees: tuple[str | None, str | None],
    skipped: Counter[str],
) -> Iterator[tuple[Tree, Tree, Alignment, Alignment]]:
    """Yield the trees and both alignments of the pairs that have them; count the others."""
    names: dict[str, None] = {}  # of annotators, in order
    for pair in pairs:
        names.update(dict.fromkeys(pair.alignments))
        if not {hypothesis, reference} <= pair.alignments.keys():
            skipped[UNANNOTATED] += 1
        elif not (pair.source_trees and pair.target_trees):
            skipped[_WITHOUT] += 1
        else:
            yield (
                pair.tree("source", trees[0]),
                pair.tree("target", trees[1]),
                pair.alignment(hypothesis),
                pair.alignment(reference),
            )
    if names:
        check_known("annotator", hypothesis, names)
        check_known("annotator", reference, names)


def count_rules(
    sources: Sequence[Tree], targets: Sequence[Tree], hypothesis: LinkArrays, reference: LinkArrays
) -> Rows:
    """Count the rules and matched nodes of sentence pairs, and those in both alignments."""
    labels = NameNumbers()
    words = NameNumbers()
    source = TreeArrays.pack(sources, _casefolded(sources), labels, words)
    target = TreeArrays.pack(targets, _casefolded(targets), labels, words)
    hyp = derive(source, target, hypothesis)
    ref = derive(source, target, reference)
    return np.concatenate([_confirmed(hyp, ref), _confirmed(ref, hyp)], axis=1)


def _casefolded(trees: Sequence[Tree]) -> list[list[str]]:
    """Return the words of trees, ignoring case."""
    return [[word.casefold() for word in tree.words] for tree in trees]


def _confirmed(mine: Derivations, other: Derivations) -> Rows:
    """Count the rules that the other derivations have too; each pair is a row of `COUNTED`."""
    rules = mine.fragments(mine.minimal())
    classes = other.classes
    assert classes is not None  # both sides are trees
    text = rules.symbols.tobytes()
    ends = (4 * rules.offsets).tolist()
    changing = np.empty(len(mine.matched), np.bool_)
    for rule in range(len(changing)):
        start, middle, end = ends[2 * rule : 2 * rule + 3]
        changing[rule] = text[start:middle] != text[middle:end]
    return count_found(
        _nodes_of(mine),
        readonly(changing),
        _nodes_of(other),
        NodeClasses(
            readonly(classes.of_source),
            other.source.offsets,
            readonly(classes.of_target),
            other.target.offsets,
        ),
        SIZE,
    )


def _nodes_of(derivations: Derivations) -> DerivationNodes:
    """Return the nodes of derivations as the kernel takes them."""
    nodes = DerivationNodes(derivations.matched, derivations.afters, derivations.offsets)
    return all_readonly(nodes)
