"""Score hypotheses against references: from a corpus, two files, or plain links."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import fields, replace
from logging import getLogger
from typing import TYPE_CHECKING, Any, Literal, TypeGuard, Union, overload

import numpy as np

from alignkit._support.arguments import check_arguments, check_keywords, kind_of
from alignkit._support.keywords import takes_options
from alignkit._support.wording import how_many
from alignkit.errors import ArgumentError, OptionError
from alignkit.io.base_checks import BaseWatch, Misfit
from alignkit.io.inputs import OutOfStepError
from alignkit.io.options import ReadOptions
from alignkit.model.arrays import LinkArrays
from alignkit.model.coercion import LinksOfPair, alignment_of
from alignkit.model.corpus import Corpus, group_text, group_texts, values_of
from alignkit.scoring import measures
from alignkit.scoring.counts import Block, Rows, counted, pair_blocks
from alignkit.scoring.files import (
    NOT_HERE,
    READING,
    FileKeywords,
    FileOptions,
    Path,
    TwoFiles,
    open_two,
)
from alignkit.scoring.records import group_records, pair_records
from alignkit.scoring.result import (
    SCORE_OF_LEVEL,
    Score,
    ScoreOfBoth,
    ScoreOfLinks,
    ScoreOfPhrases,
    digest_of,
)
from alignkit.scoring.settings import (
    CountKeywords,
    LinkKeywords,
    ScoreKeywords,
    ScoreSettings,
    Signature,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

_LOGGER = getLogger("alignkit")


class _Default(str):
    """A default annotator name, used only for corpora."""


Links = Union[Iterable[LinksOfPair], LinkArrays]  # the links of each sentence pair
First = Union[Corpus, Path, Links]
Second = Union[str, Path, Corpus, Links]


class CountFileKeywords(CountKeywords, FileKeywords, total=False):
    """The options of `score` besides the level, as a type checker sees them."""

    ci: bool
    keep_rows: bool
    signature: Signature | None


class AerKeywords(LinkKeywords, FileKeywords, total=False):
    """The options of `aer`."""


_NOT_OF_AER = ("level", "max_length", "loose", "aggregate", "split_identical")
_SYSTEM = _Default("system")
_GOLD = _Default("gold")


@overload
def score(
    corpus: First,
    hypothesis: Second = ...,
    reference: str = ...,
    *,
    level: Literal["links"] = ...,
    **options: Unpack[CountFileKeywords],
) -> ScoreOfLinks: ...
@overload
def score(
    corpus: First,
    hypothesis: Second = ...,
    reference: str = ...,
    *,
    level: Literal["phrases"],
    **options: Unpack[CountFileKeywords],
) -> ScoreOfPhrases: ...
@overload
def score(
    corpus: First,
    hypothesis: Second = ...,
    reference: str = ...,
    *,
    level: Literal["both"],
    **options: Unpack[CountFileKeywords],
) -> ScoreOfBoth: ...
@overload
def score(
    corpus: First,
    hypothesis: Second = ...,
    reference: str = ...,
    *,
    level: Literal["links", "phrases", "both"],
    **options: Unpack[CountFileKeywords],
) -> Score: ...
@takes_options(ScoreSettings, FileOptions, ReadOptions, without=NOT_HERE)
def score(
    corpus: First,
    hypothesis: Second = _SYSTEM,
    reference: str = _GOLD,
    *,
    ci: bool = False,
    keep_rows: bool = True,
    signature: Signature | None = None,
    **options: Any,
) -> Score:
    """Score alignments against a reference.

    Give a corpus and the names of two annotators, ``score(corpus, "system", "gold")``; two files,
    ``score("system.align", "gold.align")``; or the links of each sentence pair, of the system and
    of the reference: ``score([{(0, 0), (1, 1)}], [{(0, 0)}])``.

    Parameters
    ----------
    corpus : The sentence pairs; pairs that one of the two did not annotate are left out and
        counted. Omit it to score two files or plain links.
    hypothesis, reference : The names of the annotations (default: ``"system"`` and ``"gold"``); or
        two paths, read like in ``alignkit score``; or a path and a corpus (``hyp_annotator`` or
        ``ref_annotator`` names its annotator if there are several); or two lists with the links of
        each sentence pair as a set or list of ``(i, j)``, ``(i, j, "S")`` and ``(i, j, "P")``, as a
        string (``"0-0 1?1"``) or as an `Alignment`; or two `LinkArrays`.
    options : The fields of `ScoreSettings`.
    ci : Add bootstrap intervals over sentence pairs; see `Score.with_intervals` for their options.
    keep_rows : Keep the counts of each pair, for intervals, comparisons and tables: 64 bytes a pair
        for links, and 80 for phrase pairs.
    **options : For two files: the options of `read_corpus` (``format``, ``base``, ``transpose``,
        ``source``, ...), and options for one of them: ``hyp_format``, ``hyp_base``,
        ``hyp_transpose``, ``hyp_encoding``, ``hyp_annotator``, and the same with ``ref_``.
        ``in_order`` joins the n-th pairs of both, whatever their ids. The logger ``alignkit``
        reports a detected format, and warns about a base that looks wrong.

    Raises
    ------
    ArgumentError : If the inputs are of different kinds, or of none of these.
    OptionError : If two lists have different lengths, `max_length` is invalid, or reading options
        are given without files.
    UnknownNameError : If an annotator did not annotate the corpus, or an option has an unknown
        value.
    MissingTextError : If words or sentence lengths are needed, but the corpus does not have them.
    FormatError, JoinError : If a file cannot be read, or two do not have the same pairs.

    References
    ----------
    Och & Ney 2003, Computational Linguistics 29(1):19-51, for links; Cohn, Callison-Burch & Lapata
    2008, Computational Linguistics 34(4):597-614, for phrase pairs.

    Examples
    --------
    >>> score([{(0, 0), (1, 1)}], [{(0, 0)}])
    Score(1 pair; links: F1 66.7, AER 33.3)
    >>> from alignkit.model.alignment import Alignment
    >>> from alignkit.model.corpus import SentencePair
    >>> pair = SentencePair("1", ("a", "b"), ("c", "d"), {
    ...     "gold": Alignment.parse("0-0 1-1"), "system": Alignment.parse("0-0 1-0")})
    >>> result = score(Corpus([pair]))
    >>> result.links.precision, result.links.counts["hyp_sure_in_ref_possible"]
    (0.5, 1)
    """
    check_arguments(score, locals(), apart=["corpus", "hypothesis", "reference"])
    if ci:
        rest = {**options, "signature": signature}
        scored: Score = score(corpus, hypothesis, reference, keep_rows=True, **rest)
        return scored.with_intervals()
    settings, reading = _divided(options)
    # a file is scored with a corpus, unless an annotator has its name
    is_file = reference is _GOLD and _is_path(hypothesis) and os.path.exists(hypothesis)
    if isinstance(corpus, Corpus) and not (is_file and hypothesis not in corpus.annotators):
        _refuse(reading, "use read_corpus(path, {name}=...) to read a corpus")
        hyp_name = _name("hypothesis", hypothesis)
        ref_name = _name("reference", reference)
        return _score_corpus(corpus, hyp_name, ref_name, settings, keep_rows, signature)
    hyp_side, ref_side = _two_sides(corpus, hypothesis, reference)
    if _is_path(hyp_side) or _is_path(ref_side):
        check_keywords(score, reading, READING)
        how = FileOptions.of_words(reading)
        files = TwoFiles(lambda: open_two(hyp_side, ref_side, how), how)
        result = score_files(files, settings, keep_rows=keep_rows, signature=signature)
        of_bases = [f"{path}: {text}" for path, text in files.suspicions.items()]
        for suspicion in of_bases or result.suspicions[len(files.cautions) :]:
            _LOGGER.warning("%s", suspicion)
        return result
    _refuse(reading, "it is for reading, but these are links")
    hyp = _pack("hypothesis", hyp_side)
    ref = _pack("reference", ref_side)
    if len(hyp) != len(ref):
        raise OptionError(
            f"hypothesis has {how_many(len(hyp), 'sentence pair')} and reference {len(ref)}; "
            "give the links of the same pairs in the same order, [] if a pair has none"
        )
    blocks = [(hyp, ref, None, None)]
    return _score_watched(blocks, ("hypothesis", "reference"), settings, keep_rows, signature)


def _divided(options: Mapping[str, Any]) -> tuple[ScoreSettings, dict[str, Any]]:
    """Divide the options of `score` into those of counting and those of reading."""
    counting = {field.name for field in fields(ScoreSettings)}.intersection(options)
    settings = ScoreSettings(**{name: options[name] for name in counting})
    return settings, {name: options[name] for name in options if name not in counting}


def _score_corpus(
    corpus: Corpus,
    hypothesis: str,
    reference: str,
    settings: ScoreSettings,
    keep_rows: bool,
    signature: Signature | None,
) -> Score:
    """Score an annotator of a corpus against another."""
    shared = corpus.annotated_by(hypothesis, reference)
    names = (hypothesis, reference)
    blocks = pair_blocks(shared, *names, settings)
    result = _score_watched(blocks, names, settings, keep_rows, signature)
    scored = digest_of(pair.id for pair in shared)
    return replace(result, skipped=len(corpus) - len(shared), scored=scored)


def _score_watched(
    blocks: Iterable[Block],
    names: tuple[str, str],
    settings: ScoreSettings,
    keep_rows: bool,
    signature: Signature | None,
) -> Score:
    """Score blocks, and add what is suspect about the bases of both sides, called by `names`."""
    watches = {name: BaseWatch() for name in names}

    def watched() -> Iterator[Block]:
        for block in blocks:
            for watch, side in zip(watches.values(), block[:2], strict=False):
                watch.add(side)
            yield block

    result = _score(watched(), settings, keep_rows, signature)
    suspicions = []
    for name, watch in watches.items():
        suspicion = watch.suspicion("`base=1` when reading them")
        if suspicion:
            suspicions.append(f"{name}: {suspicion}")
    return replace(result, suspicions=tuple(suspicions) or result.suspicions)


@takes_options(
    ScoreSettings,
    FileOptions,
    ReadOptions,
    without=(*NOT_HERE, *_NOT_OF_AER),
)
def aer(
    corpus: First,
    hypothesis: Second = _SYSTEM,
    reference: str = _GOLD,
    **options: Unpack[AerKeywords],
) -> float:
    """Return the alignment error rate of links, for any input of `score`; NaN for 0/0.

    Parameters
    ----------
    corpus, hypothesis, reference : As in `score`: a corpus and two annotators, or two files, or two
        sequences of alignments.
    **options : The options of `score` for reading and counting.

    Raises
    ------
    UnknownNameError, OptionError, FormatError : As in `score`.

    References
    ----------
    Och & Ney 2003, Computational Linguistics 29(1):19-51, doi:10.1162/089120103321337421.

    Examples
    --------
    >>> aer([[(0, 0), (1, 1)]], ["0-0 1?1"])
    0.0
    """
    known = ("ignore_identical", "exact_case", "links")
    check_keywords(aer, options, (*known, *READING))
    return score(corpus, hypothesis, reference, keep_rows=False, **options).links.aer


def _refuse(reading: Mapping[str, Any], why: str) -> None:
    """Refuse reading options if nothing is read, and unknown options."""
    for name in reading:
        if name not in READING:
            check_keywords(score, [name])
        raise OptionError(f"{name} only applies to two files: {why.format(name=name)}")


def _name(kind: str, name: object) -> str:
    """Return the name of an annotator; raise an error if it is none."""
    if not isinstance(name, str):
        raise ArgumentError(
            f"{kind} is {kind_of(name)}; with a corpus it must be the name of an annotator"
        )
    return name


def _two_sides(first: object, second: object, third: object) -> tuple[Any, Any]:
    """Return hypothesis and reference: the first two arguments of `score`, if without a corpus.

    They must be of the same kind, and the third one is not given.
    """
    if third is not _GOLD or second is _SYSTEM or first is None:
        raise ArgumentError(
            f"corpus is {kind_of(first)}; expected a Corpus and the names of hypothesis and "
            "reference, or only hypothesis and reference: two paths, or two lists with the links "
            "of each sentence pair"
        )
    sides = (first, second)
    paths = sum(map(_is_path, sides))
    corpora = sum(isinstance(side, Corpus) for side in sides)
    if (paths, corpora) not in ((0, 0), (2, 0), (1, 1)):
        hypothesis, reference = ("a path" if _is_path(side) else kind_of(side) for side in sides)
        raise ArgumentError(
            f"hypothesis is {hypothesis} and reference is {reference}, without a corpus; expected "
            "two of the same kind: paths, or lists with the links of each sentence pair"
        )
    return sides


def _pack(name: str, given: Links) -> LinkArrays:
    """Return links as arrays; raise an error if they are none."""
    if isinstance(given, LinkArrays):
        return given
    if isinstance(given, (str, bytes, Set, Mapping)) or not isinstance(given, Iterable):
        raise ArgumentError(
            f"{name} is {kind_of(given)}; give a list with the links of each sentence pair, such "
            "as [{(0, 0), (1, 1)}] or ['0-0 1-1']"
        )
    return LinkArrays.pack(alignment_of(f"{name}[{k}]", links) for k, links in enumerate(given))


def _is_path(side: object) -> TypeGuard[Path]:
    return isinstance(side, (str, os.PathLike))


@takes_options(ScoreSettings)
def score_blocks(
    blocks: Iterable[Block],
    *,
    keep_rows: bool = False,
    signature: Signature | None = None,
    skipped: int = 0,
    **options: Unpack[ScoreKeywords],
) -> Score:
    """Score block after block, in one pass and constant memory.

    Parameters
    ----------
    blocks : Hypothesis, reference, source words and target words of some thousand pairs each. The
        words may be None unless `ignore_identical`, `split_identical` or `loose` needs them.
    skipped : Number of pairs that the caller left out because one side did not annotate them.
    **options : The other options of `score`. `exact_case` only appears in the signature: it records
        whether words were numbered with case.

    Raises
    ------
    OptionError, UnknownNameError, MissingTextError : As in `score`.

    Examples
    --------
    >>> from alignkit import Alignment
    >>> gold = LinkArrays.pack([Alignment.parse("0-0 1-1")])
    >>> system = LinkArrays.pack([Alignment.parse("0-0")])
    >>> score_blocks([(system, gold, None, None)]).links.recall
    0.5
    """
    check_arguments(score_blocks, locals())
    return _score(blocks, ScoreSettings(**options), keep_rows, signature, skipped)


def score_files(
    files: TwoFiles, settings: ScoreSettings, *, keep_rows: bool, signature: Signature | None = None
) -> Score:
    """Score two files, reading only links if they suffice; for errors see `score`."""
    signature = files.signature if signature is None else signature
    try:
        result = _score(files.blocks(settings), settings, keep_rows, signature)
    except OutOfStepError:
        if files.once:
            raise
        blocks = files.blocks(settings, joined=True)
        result = _score(blocks, settings, keep_rows, signature)
    suspicions = files.cautions
    if not files.suspicions:
        suspicions = (*suspicions, *result.suspicions)
    return replace(result, skipped=files.skipped, scored=files.scored, suspicions=suspicions)


def _score(
    blocks: Iterable[Block],
    settings: ScoreSettings,
    keep_rows: bool,
    signature: Signature | None,
    skipped: int = 0,
) -> Score:
    """Count and score block after block; the counts of pairs are kept on request."""
    pairs = 0
    misfit = Misfit()
    kept: dict[str, list[Rows]] = {}
    for level in settings.levels:
        kept[level] = [np.empty((0, len(measures.LEVEL_COLUMNS[level])), np.int64)]
    sums = {level: rows[0].sum(axis=0) for level, rows in kept.items()}
    terms = {level: np.zeros(len(measures.MACRO_COLUMNS)) for level in kept}
    for block, counts in counted(blocks, settings):
        pairs += len(block[0])
        misfit.add(*block[:2])
        for level, rows in counts.items():
            sums[level] += rows.sum(axis=0)
            if settings.aggregate != "micro":
                terms[level] += measures.macro_terms(rows, level).sum(axis=0)
            if keep_rows:
                kept[level].append(rows)
    links = dict[str, measures.LinkScore]()
    phrases = dict[str, measures.PhraseScore]()
    for level, total in sums.items():
        if level.startswith("links"):
            links[level.removeprefix("links-")] = measures.LinkScore.from_counts(total)
        else:
            phrases[level.removeprefix("phrases-")] = measures.PhraseScore.from_counts(total)
    macro = {}
    if settings.aggregate != "micro":
        for level, total in terms.items():
            macro[level] = measures.MacroScore.from_terms(total)
    every_row = {}
    if keep_rows:
        every_row = {level: np.concatenate(parts) for level, parts in kept.items()}
    suspicion = misfit.suspicion()
    return SCORE_OF_LEVEL[settings.level](
        links=links.pop("links", None),
        phrases=phrases or None,
        pairs=pairs,
        skipped=skipped,
        signature=settings.sign(signature),
        rows=every_row,
        macro=macro,
        split=links,
        suspicions=(suspicion,) if suspicion else (),
    )


@takes_options(ScoreSettings)
def score_records(
    corpus: Corpus,
    hypothesis: str = "system",
    reference: str = "gold",
    *,
    by: str | None = None,
    split: str | None = None,
    **options: Unpack[ScoreKeywords],
) -> list[dict[str, object]]:
    """Score each sentence pair of a corpus, or each group of pairs.

    Parameters
    ----------
    by : An attribute of the pairs, such as the document, or ``"day"``, ``"week"``, ``"month"`` (see
        `Corpus.groups`); None returns a record for each pair.
    split : The separator of several values in that attribute, such as ``","``; see `Corpus.groups`.
    **options : The options of `score` for counting, such as ``level``, ``links`` and ``aggregate``;
        for pairs, ``"macro"`` and ``"both"`` add exact matches.

    Returns
    -------
    list of dict
        As in `pair_records` or `group_records`; pairs that one of the two did not annotate are left
        out, and pairs without the attribute are in group ``""``.

    Raises
    ------
    UnknownNameError : If no pair has the attribute, or as in `score`.

    Examples
    --------
    >>> corpus = Corpus.from_texts(["a b"] * 2, ["x y"] * 2, system=["0-0", "0-0 1-1"],
    ...                            gold=["0-0 1-1"] * 2)
    >>> [(record["id"], record["recall"]) for record in score_records(corpus)]
    [('1', 0.5), ('2', 1.0)]
    """
    check_arguments(score_records, locals())
    aggregate = options.get("aggregate", "micro")
    if by is not None:
        group_texts(corpus, by)  # refuses one that no pair has
        values_of("", split)  # refuses a wrong one, of no pair too
    elif split is not None:
        raise OptionError("`split` needs `by`: add it, or leave `split` out")
    shared = corpus.annotated_by(hypothesis, reference)
    rows = score(shared, hypothesis, reference, keep_rows=True, **options).rows
    if by is None:
        return pair_records(rows, shared.ids, aggregate=aggregate)
    names = hypothesis, reference
    groups = [values_of(group_text(pair, by, names) or "", split) for pair in shared]
    return group_records(rows, groups, name=by, aggregate=aggregate)
