"""Score judgments of sentence pairs against a reference.

The command prints precision, recall and F1 of each label and flag, accuracy, macro and weighted F1,
and the confusion of labels. Every two systems are compared with McNemar's exact test. --predictions
reads the output of any program: lines with an id, a tab and a label, or one label a line in the
order of REF. --wrong writes the wrong predictions with both texts, for tagging in a spreadsheet.

For example:
  alignkit score-labels system.tsv gold.tsv --compare other.tsv --scheme turku --view binary
  alignkit score-labels corpus.jsonl --hyp-annotator a b --ref-annotator gold --scheme turku
  alignkit score-labels gold.jsonl --predictions bert.tsv --scheme binary --wrong wrong.tsv
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from alignkit._support.arguments import check_known
from alignkit._support.wording import how_many
from alignkit.cli.common import inputs, schemes, sides
from alignkit.cli.common.media import add_forms, print_findings
from alignkit.cli.common.messages import say, warn
from alignkit.cli.common.named_files import short_names
from alignkit.cli.corpora.convert_rows import row_writer
from alignkit.cli.evaluate.score import systems_of
from alignkit.cli.parser import Group, Options, Parser, add_options, option_values, saved_file
from alignkit.corpora.join import Differences, join_pairs
from alignkit.errors import JoinError, OptionError
from alignkit.io.atomic_files import replacing
from alignkit.io.inputs import hinting, in_order, naming
from alignkit.model.annotation import Annotation
from alignkit.model.corpus import Corpus
from alignkit.model.labels import View, get_view
from alignkit.model.sentence_pair import SentencePair


@dataclass(frozen=True)
class Judged:
    """Pairs with judgments, and the names of the systems and the reference."""

    corpus: Corpus
    systems: tuple[str, ...]
    reference: str
    unflagged: tuple[str, ...] = ()
    """The systems with labels of a view, which have no flags."""

    def sides(self, options: Options) -> dict[str, Any]:
        """Return the systems, the reference and the reading options as keyword arguments."""
        who = {"corpus": self.corpus, "systems": self.systems, "reference": self.reference}
        return who | option_values(options, "scheme", "view", "rewrites", "lenient_labels")


def add_judged(group: Group, about: str = schemes.OF_FORMAT) -> None:
    """Add the options of scoring judgments."""
    schemes.add_scheme_argument(group, about)
    schemes.add_view_argument(group)
    add_options(
        group,
        """
        --predictions FILE...  files of predicted labels, one for each system; lines with id and
            label, or only labels in order
        --predicted  whether these files have labels of the scheme or of the view (default: scheme,
            unless a label is only in the view)
        """,
        predictions={"default": []},
        predicted=("scheme", "view"),
    )
    schemes.add_rewrites_argument(group)


def judged_sides(options: Options) -> Judged:
    """Read the judgments of the systems and the reference that the options name."""
    if options.predicted is not None and not options.predictions:
        raise OptionError("--predicted needs --predictions FILE: add it, or leave it out")
    if options.reference is None:
        judged = _of_one(options)
    else:
        judged = _of_files(options)
    return _with_files(judged, options, get_view(options.scheme, options.view))


def _of_one(options: Options) -> Judged:
    """Read one corpus with the reference and the annotators to score."""
    if options.compare:
        raise OptionError("--compare needs HYP and REF: name both")
    names = tuple(options.hyp_annotator or ())
    if not names and not options.predictions:
        raise OptionError(
            "nothing to score; name HYP and REF, annotators of one corpus with --hyp-annotator, "
            "or files with --predictions"
        )
    path = options.hypothesis
    read = sides.open_sides(path, None, sides.declared_sides(options, None))[0]
    schemes.settle_scheme(options, read)
    corpus = read.corpus(needed=True)
    reference = _judge(corpus, options.ref_annotator, path, "--ref-annotator", apart=names)
    return Judged(corpus, names, reference)


def _of_files(options: Options) -> Judged:
    """Read the reference, and join the files of the systems with it."""
    systems = systems_of(options)
    paths = list(dict.fromkeys(system.path for system in systems))
    if [*paths, options.reference].count("-") > 1 or (options.compare and options.reference == "-"):
        raise OptionError("standard input (-) can be read once only; name a file")
    declared = sides.declared_sides(options, None)
    hyp, ref = sides.open_sides(paths[0], options.reference, declared)
    schemes.settle_scheme(options, hyp, ref)
    gold = ref.corpus(needed=True)
    judge = _judge(gold, options.ref_annotator, ref.path, "--ref-annotator")
    names = tuple(system.name for system in systems)
    reference = f"{judge} of {ref.path}" if judge in names else judge
    joined = Corpus(_only(pair, {judge: reference}) for pair in gold)
    for path in paths:
        file = hyp
        if path != paths[0]:
            file, _ = sides.open_sides(path, options.reference, declared)
        other = file.corpus(needed=True)
        kept = {}
        for system in systems:
            if system.path == path:
                hyp_judge = _judge(other, system.annotator, path, "--hyp-annotator")
                kept[hyp_judge] = system.name
        joined = Corpus(_joined(joined, other, kept, file, ref, options))
    return Judged(joined, names, reference)


def _judge(
    corpus: Corpus, name: str | None, path: str, option: str, *, apart: Sequence[str] = ()
) -> str:
    """Return the named judge, or the only one apart from some."""
    from alignkit.corpora.labelled import pair_judgments

    known: dict[str, None] = {}
    for pair in corpus:
        known.update(dict.fromkeys(pair_judgments(pair)))
    for other in apart if name is None else (name,):
        check_known(f"annotator of {path} who judged pairs:", other, known)
    if name is not None:
        return name
    rest = [judge for judge in known if judge not in apart]
    if not rest:
        raise OptionError(f"{path}: pairs are judged by nobody")
    if len(rest) > 1:
        judges = ", ".join(rest)
        raise OptionError(f"{path}: pairs are judged by {judges}: choose with {option}")
    return rest[0]


def _only(pair: SentencePair, names: dict[str, str]) -> SentencePair:
    """Return a pair with only some annotators, renamed."""
    annotations = {}
    for name, annotation in pair.annotations.items():
        if name in names:
            annotations[names[name]] = annotation
    return replace(pair, annotations=annotations)


def _joined(
    refs: Corpus,
    hyps: Corpus,
    names: dict[str, str],
    hyp: inputs.Input,
    ref: inputs.Input,
    options: Options,
) -> Iterator[SentencePair]:
    """Yield the pairs of the reference with the judgments of a system's file."""
    differences = Differences()
    left = iter(refs)
    right = iter([_only(pair, names) for pair in hyps])
    if options.in_order:
        left, right = in_order(left, right)
    try:
        with naming(ref.path, hyp.path):
            pairs = join_pairs(left, right, partial=options.partial, differences=differences)
            others = {id(pair): other for pair, other in pairs}
    except JoinError as error:
        raise hinting(error) from None
    if text := str(differences):
        warn(f"{ref.path} and {hyp.path}: {text}")
    for pair in refs:
        other = others.get(id(pair))
        if other is None:
            yield pair
            continue
        attributes = {**other.attributes, **pair.attributes}
        annotations: dict[str, Annotation] = {**pair.annotations, **other.annotations}
        yield replace(pair, attributes=attributes, annotations=annotations)


def _with_files(judged: Judged, options: Options, view: View) -> Judged:
    """Add the labels in files of predictions."""
    from alignkit.scoring.predictions import read_predictions

    paths = list(options.predictions)
    if len(set(paths)) < len(paths):
        raise OptionError("the same file of predictions is given twice; name each file once")
    corpus = judged.corpus
    names = list(judged.systems)
    unflagged = list[str]()
    for path, short in short_names(paths).items():
        taken = short in names or short in corpus.annotators
        name = path if taken else short
        read = read_predictions(
            corpus,
            path,
            view,
            **option_values(options, "predicted", "lenient_labels", "encoding"),
        )
        corpus = read.added(corpus, name)
        names.append(name)
        if read.of_view:
            unflagged.append(name)
    return Judged(corpus, tuple(names), judged.reference, tuple(unflagged))


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit score-labels`."""
    gold = (
        "judgments to score against. Without REF, name the judgments to score by --hyp-annotator "
        "or --predictions"
    )
    judged = "judgments to score, or the file with all judgments if no REF follows; - is stdin"
    sides.add_sides(parser, judged, gold, several=True)
    group = parser.add_argument_group("scoring")
    compare = "--compare HYP2...  other systems, read with the same --hyp options"
    add_options(group, compare, compare={"default": []})
    add_judged(group)
    inputs.add_order_argument(group)
    group = parser.add_argument_group("output")
    add_options(
        group,
        """
        --wrong FILE  also write the wrong predictions as a table with a column for your own tags:
            id, system, reference, predicted, source, target and an empty column tag, for a
            spreadsheet (separated by tabs; as CSV or JSON lines if FILE ends in .csv or .jsonl)
        """,
        wrong=saved_file,
    )
    add_forms(group)
    inputs.add_reading_arguments(parser, of="all files")


def run(options: Options) -> None:
    from alignkit.scoring.label_scores import WrongLabel, score_labels

    judged = judged_sides(options)
    scores = score_labels(**judged.sides(options), unflagged=judged.unflagged)
    if options.wrong is not None:
        with replacing(options.wrong) as out:
            write = row_writer(options.wrong, out, (*WrongLabel._fields, "tag"))
            for each in scores.wrong:
                write((*each, ""))
        say(f"{options.wrong}: {how_many(len(scores.wrong), 'wrong prediction')}")
    print_findings(scores, options, title="Scores of labels")
