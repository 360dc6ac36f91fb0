"""Draw an audit of phrase pairs: those of an annotator, or differences of a system and the gold.

As in the phrase scores, a precision error is an atomic phrase pair of the system that is not among
all phrase pairs of the gold standard, atomic and composite; a recall error is the reverse. Judges
see both, mixed, without knowing which is which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from alignkit._support.arguments import check_arguments, check_known, naming_keywords
from alignkit._support.array_types import B1, I8
from alignkit._support.values import FrozenMap
from alignkit.audit.audit import CORRECTNESS, Audit, Item, Origin, Rate, allot, draw, item_ids
from alignkit.audit.sheets import marked_words
from alignkit.errors import MissingTextError, OptionError
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays, TokenArrays, Vocabulary
from alignkit.model.corpus import Corpus, group_text, group_texts
from alignkit.model.phrase_arrays import KINDS, PhraseArrays
from alignkit.model.phrases import extract_phrases
from alignkit.model.sentence_pair import SentencePair
from alignkit.scoring.settings import Signature
from alignkit.stats.defaults import SEED
from alignkit.stats.resampling import check_seed

ORIGINS = {
    "hypothesis": "phrase pairs of the hypothesis that the reference lacks",
    "reference": "phrase pairs of the reference that the hypothesis lacks",
    "both": "phrase pairs of the hypothesis that the reference also has",
}
OWN = {"annotator": "phrase pairs of the annotator"}
"""The origins of items of an audit of differences, and of one of an annotator's phrase pairs."""

_COLUMNS = ("source", "target", "source_sentence", "target_sentence")
_BLOCK = 4096  # sentence pairs

Rows = I8
"""(Q, 5): the place of a sentence pair, and the two spans of a phrase pair in it."""


@dataclass(frozen=True)
class _Options:
    """The choice of phrase pairs; see `draw_phrases`."""

    kind: str
    links: Literal["possible", "sure"]
    ignore_identical: bool
    exact_case: bool
    loose: bool
    max_length: int | None


@naming_keywords
def draw_phrases(
    corpus: Corpus,
    hypothesis: str,
    reference: str | None = None,
    *,
    n: int,
    seed: int = SEED,
    kind: str = "atomic",
    links: Literal["possible", "sure"] = "sure",
    ignore_identical: bool = True,
    exact_case: bool = False,
    loose: bool = False,
    max_length: int | None = None,
    both: float = 0.0,
    by: str | None = None,
) -> Audit:
    """Draw phrase pairs of an annotator, or in which two differ, for blind judging.

    Half of the items are phrase pairs of `kind` that the hypothesis has but that are not among all
    phrase pairs of the reference; the other half is the reverse. If there are too few of one, more
    of the other are drawn. Each sample is spread over single words and longer phrases, and over the
    values of the attribute `by`; every phrase pair of an origin is equally likely.

    Parameters
    ----------
    corpus, hypothesis, reference : The sentence pairs, and two of their annotators; only pairs
        annotated by both count. Without reference, the items are phrase pairs of the first
        annotator, right or not, whose share of correct ones [1]_ report.
    n, seed : The number of items to draw (all, if there are fewer), and the seed of all draws.
    kind : ``"atomic"``, ``"composite"`` or ``"all"``.
    links : Use phrase pairs of the ``"sure"`` links of both, or of all links (``"possible"``).
    ignore_identical, exact_case, loose, max_length : As in `alignkit.score`: leave out phrase pairs
        of equal words, with or without case; extend phrases over unaligned words; the most words of
        each side.
    both : The share of items that both have, to check the judges; 0 to 1.
    by : Also spread the sample over the values of this attribute of the sentence pairs.

    Raises
    ------
    OptionError : If `n`, `seed` or `both` is out of range, nothing differs, or options contradict
        each other.
    UnknownNameError : If nobody with that name aligned the corpus, no pair has the attribute, or an
        option has an unknown value.

    References
    ----------
    .. [1] Cohn, Callison-Burch & Lapata 2008, Constructing corpora for the development and
       evaluation of paraphrase systems, Computational Linguistics 34(4):597-614: of 166 atomic
       phrase pairs of the annotators, judges call 73% correct, 22% uncertain and 5% incorrect.

    Examples
    --------
    >>> from alignkit.model.alignment import Alignment
    >>> pair = SentencePair("1", ("they", "left", "early"), ("he", "went", "soon"), {
    ...     "gold": Alignment.parse("1-1 2-2"), "giza": Alignment.parse("0-0 1-1")})
    >>> audit = draw_phrases(Corpus([pair]), "giza", "gold", n=10, seed=1)
    >>> audit
    Audit(phrases, 2 items: 1 hypothesis, 1 reference, 0 both)
    >>> [item.cells[:2] for item in audit.of("hypothesis")]
    [('they', 'he')]
    >>> audit.of("hypothesis")[0].cells[2]
    '[[they]] left early'
    """
    check_arguments(draw_phrases, locals())
    options = _Options(kind, links, ignore_identical, exact_case, loose, max_length)
    _check(n, seed, both, options)
    alone = reference is None
    if alone and both:
        raise OptionError("`both` needs a reference")
    pairs = tuple(corpus.annotated_by(*filter(None, (hypothesis, reference))))
    _check_pairs(pairs, by)
    rows = _differences(pairs, hypothesis, reference, options)
    if alone:
        rows = {"annotator": rows["hypothesis"]}
    counts = {name: len(phrases) for name, phrases in rows.items()}
    drawn = _drawn(rows, pairs, n=n, both=both, by=by, rng=np.random.default_rng(seed))
    if not drawn:
        none = " has no" if alone else f" and {reference!r} have the same"
        raise OptionError(
            f"{hypothesis!r}{none} {kind} phrase pairs of {links} links; there is nothing to judge"
        )
    signature = _signature(options, seed, both, by)
    if alone:
        signature = f"of:annotator|{signature}"
    facts = [_facts(pairs[place], spans, by) for _, (place, *spans) in drawn]
    ids = item_ids(facts, signature)
    items = []
    for id, (origin, (place, *spans)), fact in zip(ids, drawn, facts, strict=True):
        items.append(Item(id, origin, _cells(pairs[place], spans), FrozenMap(fact)))
    drawn_origins = [origin for origin, _ in drawn]
    origins = {}
    for name, about in (OWN if alone else ORIGINS).items():
        origins[name] = Origin(about, counts[name], drawn_origins.count(name))
    rates = {}
    if not alone:
        rates["precision"] = Rate(
            hits=counts["both"],
            total=counts["hypothesis"] + counts["both"],
            origin="hypothesis",
            strict=("correct",),
            lenient=("correct", "uncertain"),
        )
    return Audit(
        kind="phrases",
        items=tuple(items),
        columns=_COLUMNS,
        marked=_COLUMNS[2:],
        scale=CORRECTNESS,
        origins=FrozenMap(origins),
        rates=FrozenMap(rates),
        seed=seed,
        signature=signature,
        by=by or "",
    )


def _check(n: int, seed: int, both: float, options: _Options) -> None:
    """Check the options of `draw_phrases` that do not depend on the corpus."""
    check_seed(seed)
    if n < 1:
        raise OptionError(f"`n` is {n}; it must be at least 1")
    if not 0 <= both <= 1:
        raise OptionError(f"`both` is {both}; give a share between 0 and 1")
    check_known("kind of phrase pair", options.kind, KINDS)
    if options.exact_case and not options.ignore_identical:
        problem = "`exact_case` decides which phrases are identical; leave it out if these are kept"
        raise OptionError(problem)


def _check_pairs(pairs: Sequence[SentencePair], by: str | None) -> None:
    """Check that there are pairs, that all have words, and that some have the attribute."""
    if not pairs:
        raise OptionError("no sentence pair is aligned by all who are named; nothing to judge")
    for pair in pairs:
        if not pair.has_text:
            raise MissingTextError(
                f"pair {pair.id!r}: judges need its words; name the texts with `source` "
                "and `target`"
            )
    if by is not None:
        group_texts(pairs, by)  # refuses one that no pair has


def _facts(pair: SentencePair, spans: Sequence[int], by: str | None) -> dict[str, object]:
    """Return what the key says of a phrase pair: its sentence pair, its spans, its group."""
    source_start, source_end, target_start, target_end = spans
    facts: dict[str, object] = {
        "pair": pair.id,
        "source_start": source_start,
        "source_end": source_end,
        "target_start": target_start,
        "target_end": target_end,
    }
    if by is not None:
        facts[by] = group_text(pair, by) or ""
    return facts


def _differences(
    pairs: Sequence[SentencePair], hypothesis: str, reference: str | None, options: _Options
) -> dict[str, Rows]:
    """Return the phrase pairs of the wanted kind by origin; without reference, it has none."""
    rows: dict[str, list[Rows]] = {name: [] for name in ORIGINS}
    vocabulary = Vocabulary(casefold=not options.exact_case)
    for start in range(0, len(pairs), _BLOCK):
        block = pairs[start : start + _BLOCK]
        source = TokenArrays.pack((pair.words[0] for pair in block), vocabulary)
        target = TokenArrays.pack((pair.words[1] for pair in block), vocabulary)
        hyp = _phrases(block, hypothesis, source, target, options)
        ref = _phrases(block, reference, source, target, options)
        hyp_rows = _rows(hyp, start)
        ref_rows = _rows(ref, start)
        hyp_shared, ref_shared = _shared(hyp_rows, ref_rows)
        hyp_kind = _are_of(options.kind, hyp)
        rows["hypothesis"].append(hyp_rows[hyp_kind & ~hyp_shared])
        rows["reference"].append(ref_rows[_are_of(options.kind, ref) & ~ref_shared])
        rows["both"].append(hyp_rows[hyp_kind & hyp_shared])
    return {name: np.concatenate(parts) for name, parts in rows.items()}


def _phrases(
    block: Sequence[SentencePair],
    name: str | None,
    source: TokenArrays,
    target: TokenArrays,
    options: _Options,
) -> PhraseArrays:
    """Return the phrase pairs of an annotator; without a name, none."""
    if name:
        alignments = [pair.alignment(name) for pair in block]
    else:
        alignments = [Alignment()] * len(block)
    return extract_phrases(
        LinkArrays.pack(alignments),
        links=options.links,
        loose=options.loose,
        max_length=options.max_length,
        ignore_identical=options.ignore_identical,
        source=source,
        target=target,
    )


def _are_of(kind: str, phrases: PhraseArrays) -> B1:
    """Return whether each phrase pair is of a kind."""
    if kind == "all":
        return np.ones(len(phrases.atomic), bool)
    return np.asarray(phrases.atomic == (kind == "atomic"))


def _rows(phrases: PhraseArrays, start: int) -> Rows:
    """Return the phrase pairs of a block of sentence pairs, which begins at `start`."""
    places = np.repeat(np.arange(len(phrases)) + start, np.diff(phrases.offsets))
    return np.concatenate([places[:, np.newaxis], phrases.spans], axis=1)


def _shared(first: Rows, second: Rows) -> tuple[B1, B1]:
    """Return whether each row of two tables (without repeated rows) is in the other."""
    rows = np.concatenate([first, second])
    order = np.lexsort(rows.T[::-1])
    ranked = rows[order]
    same = (ranked[1:] == ranked[:-1]).all(axis=1)
    shared = np.zeros(len(rows), bool)
    shared[order[1:][same]] = True
    shared[order[:-1][same]] = True
    return shared[: len(first)], shared[len(first) :]


def _drawn(
    rows: dict[str, Rows],
    pairs: Sequence[SentencePair],
    *,
    n: int,
    both: float,
    by: str | None,
    rng: np.random.Generator,
) -> list[tuple[str, list[int]]]:
    """Draw phrase pairs; return the origin and the row of each, in random order."""
    checks = min(round(n * both), len(rows.get("both", ())))
    errors = {name: len(phrases) for name, phrases in rows.items() if name != "both"}
    wanted = allot(n - checks, errors) | {"both": checks}

    def stratum(row: list[int]) -> tuple[str, str]:
        """Return the group of a phrase pair, and whether its phrases are single words."""
        place, source_start, source_end, target_start, target_end = row
        group = "" if by is None else group_text(pairs[place], by) or ""
        single = source_end - source_start == target_end - target_start == 1
        return group, "single words" if single else "longer"

    pools = {name: phrases.tolist() if wanted[name] else [] for name, phrases in rows.items()}
    return draw(pools, wanted, stratum, rng)


def _cells(pair: SentencePair, spans: Sequence[int]) -> tuple[str, ...]:
    """Return the texts that judges see: both phrases, then both sentences with marks."""
    source, target = pair.words
    source_start, source_end, target_start, target_end = spans
    return (
        " ".join(source[source_start:source_end]),
        " ".join(target[target_start:target_end]),
        marked_words(source, source_start, source_end),
        marked_words(target, target_start, target_end),
    )


def _signature(options: _Options, seed: int, both: float, by: str | None) -> str:
    """Return the settings of an audit of phrase pairs in one line."""
    case = None
    if options.ignore_identical:
        case = "exact" if options.exact_case else "folded"
    shared = Signature(
        links=options.links,
        identical="left-out" if options.ignore_identical else "kept",
        case=case,
        phrases="loose" if options.loose else "tight",
        max_length=options.max_length,
        seed=seed,
    )
    groups = "" if by is None else f"|by:{by}"
    return f"audit:phrases|kind:{options.kind}|both:{both:g}{groups}|{shared}"
