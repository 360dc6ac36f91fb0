"""Count the errors of a system by kind of link: wrong links and missing links.

Precision is the share of the system's sure links in a class that the gold standard has. Recall is
the share of the gold standard's links in a class that the system has.

For example:
  alignkit errors corpus.jsonl --hyp-annotator initial --ref-annotator gold
  alignkit errors giza.align gold.align --source fr.txt --target en.txt --function-words fr en
  alignkit errors a.xml gold.xml --by-link kind,phenomenon --split , --examples 5 --html errors.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from alignkit.cli.common import inputs, sides
from alignkit.cli.common.media import add_forms, drawing_of, print_findings
from alignkit.cli.common.messages import warn
from alignkit.cli.common.named_files import short_names
from alignkit.cli.evaluate.score import add_draws, require_reference, settle_draws
from alignkit.cli.parser import Options, Parser, add_options, number, option_values
from alignkit.errors import FormatError, OptionError
from alignkit.io.inputs import LinkInput, naming
from alignkit.io.options import ReadOptions
from alignkit.io.records import Reading
from alignkit.io.text_files import TextFile
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair
from alignkit.scoring.link_classes import Frequencies, function_words
from alignkit.show.names import LANGUAGES


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit errors`."""
    sides.add_sides(parser, "alignments of the system; - is stdin")
    group = parser.add_argument_group("classes of links")
    add_options(
        group,
        f"""
        --by-link WAYS  classify links by kind, word, frequency, distance, tag or phenomenon;
            several, separated by commas (default: kind,word,frequency,distance)
        --function-words L...  separate the function words of these languages from content words;
            source and target, or one for both ({", ".join(LANGUAGES.values())}), or files of words
            (default: not separated)
        --attribute NAME  attribute with the phenomena of a pair (default: phenomena)
        --split TEXT  separator, if an attribute holds several phenomena (default: a comma)
        --source-tags FILE  tags of the source words as word/TAG, one line for each pair in REF
            (default: the attribute source_tags)
        --target-tags FILE  tags of the target words as word/TAG, one line for each pair in REF
            (default: the attribute target_tags)
        """,
        by_link={"default": "kind,word,frequency,distance"},
        attribute={"default": "phenomena"},
        split={"default": ","},
    )
    inputs.add_order_argument(group)
    group = parser.add_argument_group("output")
    add_options(
        group,
        "--examples N  number of errors to show for each class (default: none)",
        examples={"type": number(0), "default": 0},
    )
    add_draws(group, "for the intervals")
    add_forms(group)
    inputs.add_reading_arguments(parser, of="all files")


def _with_tags(
    pairs: Iterable[SentencePair], files: Mapping[str, str], reading: Reading
) -> Iterator[SentencePair]:
    """Yield the pairs of an input, with the tags of the named files as attributes."""
    options = ReadOptions(encoding=reading.options.encoding)
    lines = {name: TextFile(path, options).lines() for name, path in files.items()}
    for line, pair in enumerate(pairs, 1):
        tags = {}
        for name, texts in lines.items():
            _, text = next(texts, (line, ""))
            tags[name] = text
        for name, text in tags.items():
            if not text.strip():
                message = f"no tags; expected a line for each pair of {reading.path}"
                raise FormatError(message, files[name], line)
            words = pair.source if name == "source_tags" else pair.target
            if words is not None and len(text.split()) != len(words):
                raise FormatError(
                    f"{len(text.split())} tags for {len(words)} words of pair "
                    f"{pair.id[:40]!r}; expected one for each word, as word/TAG",
                    files[name],
                    line,
                )
        yield replace(pair, attributes={**pair.attributes, **tags}) if tags else pair
    for name, texts in lines.items():
        if next(texts, None) is not None:
            raise OptionError(f"{files[name]}: more lines than {reading.path} has pairs")


def run(options: Options) -> None:
    """Print the errors of a system by kind of link."""
    settle_draws(options)
    require_reference(options)
    from alignkit.scoring.errors_by_kind import link_errors

    words = options.function_words
    if words is not None and len(words) > 2:
        raise OptionError("--function-words takes one language, or those of source and target")
    known = None if words is None else function_words(*words)
    frequencies = Frequencies()
    corpus, skipped, cautions = _read(options, frequencies)
    classes = map(str.strip, options.by_link.split(","))
    errors = link_errors(
        corpus,
        sides.HYPOTHESIS,
        sides.REFERENCE,
        by_link=list(filter(None, classes)),
        function_words=known,
        frequencies=frequencies if frequencies else None,
        **option_values(options, "attribute", "split", "examples"),
        **drawing_of(options),
    )
    name = options.hyp_annotator or short_names([options.hypothesis])[options.hypothesis]
    errors = replace(errors, skipped=skipped, system=name, notes=(*cautions, *errors.notes))
    print_findings(errors, options, title="Errors by kind of link")


def _read(options: Options, frequencies: Frequencies) -> tuple[Corpus, int, tuple[str, ...]]:
    """Return the pairs that both annotated, the number of others, and suspicions."""
    from alignkit.scoring.files import TwoFiles

    declared = sides.declared_sides(options, options.hyp_annotator)
    tags = {}
    if options.source_tags is not None:
        tags["source_tags"] = options.source_tags
    if options.target_tags is not None:
        tags["target_tags"] = options.target_tags

    def opened() -> tuple[LinkInput, LinkInput]:
        """Open both files; words are counted, and tags added, as the reference is read."""
        hyp, ref = sides.open_sides(options.hypothesis, options.reference, declared)

        def tagged(pairs: Iterator[SentencePair]) -> Iterator[SentencePair]:
            return _with_tags(map(frequencies.seen, pairs), tags, ref.reading)

        ref.way = tagged
        return hyp, ref

    both = TwoFiles(opened, declared, tell=warn)
    with naming(both.ref.path, both.hyp.path):
        corpus = Corpus(both.annotated())
        if not len(corpus):
            raise OptionError("no sentence pair is aligned in both; there are no links to compare")
    return corpus, both.skipped, both.cautions
