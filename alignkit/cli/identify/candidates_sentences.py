"""Find similar windows of lines in pairs of documents.

IN has a pair of documents on each line, as 'alignkit candidates documents' writes them; with
TARGET, both are text files. Candidates are chosen by their letters, so pairs that are worded
differently are missed: --recall shows how many of known pairs are found.

For example:
  alignkit candidates sentences docs.jsonl -o candidates.jsonl
  alignkit candidates sentences docs.jsonl --recall gold.jsonl
  alignkit candidates sentences monday.txt tuesday.txt --sample 200 -o candidates.jsonl
"""

from __future__ import annotations

from pathlib import Path

from alignkit.cli.common.inputs import Input
from alignkit.cli.common.messages import warn
from alignkit.cli.identify import candidates
from alignkit.cli.parser import Options, Parser
from alignkit.errors import OptionError
from alignkit.identification.options import SentenceOptions
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import TextFile

_BELOW = 0.1 - 1e-9  # the band of candidates begins at 0.1


def add_arguments(parser: Parser) -> None:
    candidates.add_search(
        parser,
        SentenceOptions,
        """
        IN  JSON lines with source and target, or the source text; - is stdin
        TARGET  the target text, if IN is a text
        """,
        """
        --negatives  pairs that are less similar than 0.1 instead, as examples of no paraphrases
        --recall GOLD  report how many pairs of a corpus with places are found
        """,
    )


def run(options: Options) -> None:
    """Find pairs of sentences that may be paraphrases."""
    chosen = SentenceOptions(**candidates.fields_of(options, SentenceOptions) | {"encoder": None})
    if options.negatives:
        if chosen.band != SentenceOptions().band:
            raise OptionError("--negatives sets the band of similarity: leave the others out")
        options.min_similarity = None
        options.max_similarity = _BELOW
    candidates.prepare(options)
    from alignkit.identification.candidates import TextPair, read_texts
    from alignkit.identification.sentences import candidate_sentences

    reading = ReadOptions(encoding=options.encoding)
    if options.second is None:
        rows = read_texts(options.input, encoding=options.encoding)
        pairs = [TextPair(row.id, row["source"], row["target"], row.values) for row in rows]
    else:
        source, target = (TextFile(x, reading).text() for x in (options.input, options.second))
        pairs = [TextPair(Path(options.input).stem, source, target, {})]
    gold = () if options.recall is None else Input(options.recall, None, ReadOptions()).pairs()
    if options.encoder is None:
        warn("chosen by letters: pairs worded differently are missed; see --recall")
    candidates.search(options, SentenceOptions, candidate_sentences, pairs, gold)
