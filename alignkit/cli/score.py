"""Score alignments against a gold standard.

Precision, recall and F1 of the links and of the phrase pairs, and the alignment error rate (AER)
of the links. Sure and possible links count as Och & Ney (2003) and Cohn, Callison-Burch & Lapata
(2008) define; phrase pairs are scored atomic against all. Words are needed for --ignore-identical
and --loose alone.

For example:
  alignkit score giza.align gold.align
  alignkit score rev.align gold.wa --hyp-transpose --ref-format naacl --level links --json
  alignkit score a.align gold.align --compare b.align c.align --ci
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from alignkit.cli.blocks import have_blocks, link_blocks
from alignkit.cli.inputs import Input, add_reading_arguments, reading_options, the_annotation
from alignkit.cli.kernels import announce
from alignkit.corpus import SentencePair
from alignkit.errors import AlignkitError, OptionError
from alignkit.formats import FORMATS
from alignkit.join import Differences, join_pairs

if TYPE_CHECKING:
    from alignkit.scoring import Score

_BLOCK = 8192


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("hypothesis", metavar="HYP", help="the alignments to score; - is stdin")
    parser.add_argument("reference", metavar="REF", help="the gold standard")
    for side, long in (("hyp", "hypothesis"), ("ref", "reference")):
        group = parser.add_argument_group(f"what the {long} is (default: the common options)")
        group.add_argument(f"--{side}-format", choices=FORMATS, metavar="F")
        group.add_argument(f"--{side}-base", type=int, choices=(0, 1))
        group.add_argument(f"--{side}-transpose", action="store_true")
        group.add_argument(
            f"--{side}-annotator", metavar="A", help="whose alignments, if it holds several"
        )
    group = parser.add_argument_group("what is scored")
    group.add_argument(
        "--level", choices=("links", "phrases", "both"), default="both", help="default: both"
    )
    group.add_argument(
        "--ignore-identical", action="store_true", help="leave out links and phrases of equal words"
    )
    group.add_argument(
        "--exact-case", action="store_true", help="words that differ in case are not equal"
    )
    group.add_argument("--max-length", type=int, metavar="N", help="longest phrase on either side")
    group.add_argument("--loose", action="store_true", help="phrases with unaligned words at ends")
    group.add_argument(
        "--possible",
        choices=("given", "sure-only", "all-sure"),
        default="given",
        help="possible links of both sides: as given (default), dropped, or taken as sure",
    )
    group = parser.add_argument_group("how sure one can be")
    group.add_argument("--ci", action="store_true", help="bootstrap intervals over sentence pairs")
    group.add_argument("--compare", nargs="+", default=[], metavar="HYP2", help="other systems")
    group.add_argument("--samples", type=int, default=1000, metavar="N", help="default: 1000")
    group.add_argument("--confidence", type=float, default=0.95, metavar="P", help="default: 0.95")
    group.add_argument("--seed", type=int, default=12345, metavar="N", help="default: 12345")
    group = parser.add_argument_group("what is printed")
    group.add_argument("--by", metavar="GROUP", help="a row for each value of this attribute too")
    group.add_argument("--per-pair", action="store_true", help="a row for each sentence pair too")
    group.add_argument("--json", action="store_true", help="print JSON")
    add_reading_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    announce()
    systems = [options.hypothesis, *options.compare]
    if len(set(systems)) < len(systems):
        raise OptionError("the same system is named twice; name different files to compare")
    from alignkit.cli.score_output import breakdown, score_json, score_text

    scored = {path: _Scored(path, options) for path in systems}
    scores = {path: one.score for path, one in scored.items()}
    breakdowns = {
        path: breakdown(one.score, one.ids if options.per_pair else (), one.groups, options.by)
        for path, one in scored.items()
    }
    comparisons = _compare(scores, options) if options.compare else []
    if options.json:
        found = score_json(scores, breakdowns, comparisons)
        print(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        print(score_text(scores, breakdowns, comparisons))
    return 0


class _Scored:
    """Score one system; keep beside the score what its tables need."""

    def __init__(self, path: str, options: argparse.Namespace) -> None:
        self.skipped = 0
        self.ids: list[str] = []
        self.groups: list[str] = []
        self.differences = Differences()
        self._options = options
        self._hyp = self._input(path, "hyp")
        self._ref = self._input(options.reference, "ref")
        self.score = self._run()

    def _input(self, path: str, side: str) -> Input:
        options = self._options
        get = vars(options).get
        base = get(f"{side}_base")
        format = get(f"{side}_format") or options.format
        declared = reading_options(
            options,
            base=options.base if base is None else base,
            transpose=options.transpose != get(f"{side}_transpose"),
        )
        try:
            return Input(path, format, declared)
        except OptionError:  # a format with words of its own takes none from beside
            return Input(path, format, reading_options(options, source=None, target=None))

    def _run(self) -> Score:
        from alignkit.scoring import Signature, score_blocks

        options, hyp, ref = self._options, self._hyp, self._ref

        keep = bool(options.ci or options.compare or options.by or options.per_pair)
        wordless = not (options.ignore_identical or options.loose or options.by)
        score = score_blocks(
            self._plain() if wordless and self._simple() else self._with_pairs(not wordless),
            level=options.level,
            ignore_identical=options.ignore_identical,
            exact_case=options.exact_case,
            loose=options.loose,
            max_length=options.max_length,
            links=options.possible,
            keep_rows=keep,
            signature=Signature(
                format=f"{hyp.format}/{ref.format}", base=f"{hyp.reading.base}/{ref.reading.base}"
            ),
        )
        if options.ci:
            score = score.with_intervals(
                samples=options.samples, confidence=options.confidence, rng=options.seed
            )
        return score

    def _simple(self) -> bool:
        return have_blocks(self._hyp, self._ref) and not self._options.per_pair

    def _plain(self) -> Iterator[Any]:
        for _, hyp, ref in link_blocks(self._hyp, self._ref):
            yield hyp, ref, None, None

    def _with_pairs(self, words: bool) -> Iterator[Any]:
        from alignkit.arrays import LinkArrays, TokenArrays, Vocabulary

        vocabulary = Vocabulary(casefold=not self._options.exact_case)
        pairs = self._annotated()
        while block := list(islice(pairs, _BLOCK)):
            tokens: list[TokenArrays | None] = [None, None]
            if words:
                texts = [pair.words for pair in block]
                tokens = [
                    TokenArrays.pack((text[side] for text in texts), vocabulary) for side in (0, 1)
                ]
            hyp, ref = (
                LinkArrays.pack(pair.alignment(name) for pair in block) for name in ("hyp", "ref")
            )
            yield hyp, ref, *tokens

    def _annotated(self) -> Iterator[SentencePair]:
        """Yield the pairs that both sides have annotated, with the words of either."""
        options = self._options
        both = join_pairs(
            self._ref.pairs(),
            self._hyp.pairs(),
            partial=options.partial,
            differences=self.differences,
        )
        for ref, hyp in both:
            hypothesis = the_annotation(hyp, options.hyp_annotator, "--hyp-annotator")
            reference = the_annotation(ref, options.ref_annotator, "--ref-annotator")
            if hypothesis is None or reference is None:
                self.skipped += 1
                continue
            self.ids.append(ref.id)
            if options.by:
                self.groups.append(_group(ref, hyp, options.by))
            known = ref if ref.has_text else hyp
            annotations = {"hyp": hypothesis, "ref": reference}
            try:
                yield SentencePair(ref.id, known.source, known.target, annotations)
            except AlignkitError as error:
                raise OptionError(
                    f"{error}; check the base and direction of 'hyp' {self._hyp.path} and "
                    f"'ref' {self._ref.path}"
                ) from None


def _group(ref: SentencePair, hyp: SentencePair, name: str) -> str:
    for pair in (ref, hyp):
        if name in pair.attributes:
            return pair.attributes[name]
    raise OptionError(f"pair {ref.id!r} has no attribute {name!r} to group by")


def _compare(scores: dict[str, Score], options: argparse.Namespace) -> list[Any]:
    from alignkit.scoring import LEVELS, compare

    found: list[Any] = []
    for level in next(iter(scores.values())).rows:
        rows = {path: score.rows[level] for path, score in scores.items()}
        comparisons = compare(
            rows,
            LEVELS[level],
            baseline=options.hypothesis,
            samples=options.samples,
            confidence=options.confidence,
            rng=options.seed,
        )
        found.extend((level, comparison) for comparison in comparisons)
    return found
