"""Extract the phrase pairs that are consistent with the alignments.

Each line is one phrase pair: id, source start, source end, target start, target end (0-based, end
exclusive), kind, source words, target words. The words are empty if the text is not known.

With --table, each phrase pair is written once, in tab-separated columns: source, target, count,
p(target | source), p(source | target). Lines are sorted by source, then target, in byte order
(LC_ALL=C sort). Data that does not fit into memory is sorted on disk, next to the output. IN,
--source and --target may then contain a '*' (in quotes), which stands for the same text in all.
Such parts of a corpus are counted one after the other, or in parallel by the workers of a cluster.

For example:
  alignkit phrases corpus.xml --annotator gold --links sure --kind atomic
  alignkit phrases gold.align --source fr.txt --target en.txt --max-length 7 -o phrases.tsv
  zcat giza.align.gz | alignkit phrases - --jsonl | head
  alignkit phrases links.align --source fr.txt --target en.txt --table --max-length 7 -o table.tsv
  alignkit phrases 'out/*.align.gz' --source 'in/*.fr' --target 'in/*.en' --table -o table.tsv.gz
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from alignkit._support.wording import escaped
from alignkit.cli.common import cluster
from alignkit.cli.common.inputs import (
    Input,
    add_input,
    add_reading_arguments,
    detect_format,
    reading_options,
    tell,
)
from alignkit.cli.common.messages import ProgressBar, json_text, say
from alignkit.cli.common.sorting import add_memory, room
from alignkit.cli.parser import Options, Parser, add_options, number, output_file
from alignkit.errors import MissingTextError, OptionError
from alignkit.io.atomic_files import replacing, sorting_folder
from alignkit.io.inputs import Choice, naming
from alignkit.model.alignment import Alignment
from alignkit.model.sentence_pair import SentencePair

if TYPE_CHECKING:
    from alignkit.cluster.parts import Part
    from alignkit.cluster.phrase_tables import AlignedInput
    from alignkit.model.arrays import TokenArrays
    from alignkit.rules.tables.phrase_tables import PhraseTally, TableSettings


_BLOCK = 4096


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit phrases`."""
    add_input(parser)
    add_options(
        parser.add_argument_group("phrase pairs"),
        """
        --annotator A  annotator to use, if there are several
        --links  sure: use sure links, possible: use sure and possible links (default: possible)
        --kind  kind of phrase pairs to extract; composite phrase pairs are made of smaller phrase
            pairs, atomic ones are not (default: all)
        --max-length N  maximum number of words on each side (default: no limit)
        --loose  extend phrases over unaligned words at their ends (default: tight); needs the words
        --ignore-identical  leave out pairs of equal phrases (default: keep them); needs the words
        """,
        links={"choices": ("sure", "possible"), "default": "possible"},
        kind={"choices": ("atomic", "composite", "all"), "default": "all"},
        max_length=number(1),
    )
    group = parser.add_argument_group("phrase table")
    add_options(
        group,
        """
        --table  write a phrase table with counts and probabilities (the columns source, target,
            count, p(target | source), p(source | target))
        --min-count N  leave rarer phrase pairs out of the table (default: 1); probabilities are not
            changed
        """,
        table="counted",
        min_count=number(1),
    )
    add_memory(group, "phrase pairs")
    add_options(
        parser.add_argument_group("output"),
        """
        -o, --output FILE  file to write (default: stdout)
        --jsonl  write one JSON object per line (default: TSV)
        """,
        output={"type": output_file, "default": "-"},
    )
    cluster.add_cluster(parser)
    add_reading_arguments(parser)


def run(options: Options) -> None:
    """Write phrase pairs, or a table of them."""
    if not options.counted and not options.min_count is options.memory is None:
        raise OptionError("--min-count and --memory need --table: add it, or leave them out")
    paths = {"input": options.input, "source": options.source, "target": options.target}
    if cluster.of_parts(options, *paths.values()):
        return _phrases_of_parts(options)
    source = Input.of(options)
    if options.counted:
        return _count_phrases([source], options.input, options)
    lines = _json_lines if options.jsonl else _tab_lines
    chosen = Choice(source.path, options.annotator).annotated(source.pairs())
    with replacing(options.output) as out:
        while block := list(islice(chosen, _BLOCK)):
            for pair, phrases in _extract(block, options):
                out.writelines(lines(pair, phrases))


_Phrases = Iterator[tuple[int, int, int, int, int]]
"""Of each phrase pair: source start and end, target start and end, and 1 if atomic."""


def _extract(
    block: list[tuple[SentencePair, Alignment]], options: Options
) -> Iterator[tuple[SentencePair, _Phrases]]:
    """Yield the phrase pairs of each sentence pair of a block."""
    from alignkit.model.arrays import LinkArrays, Vocabulary
    from alignkit.model.phrases import extract_phrases
    from alignkit.rules.tables.phrase_tables import pack_words

    source: TokenArrays | None = None
    target: TokenArrays | None = None
    if options.loose or options.ignore_identical:
        if not all(pair.has_text for pair, _ in block):
            flag = "--loose" if options.loose else "--ignore-identical"
            message = f"{options.input}: {flag} needs the words; add --source and --target"
            raise MissingTextError(message)
        source, target = pack_words((pair.words for pair, _ in block), Vocabulary())
    links = LinkArrays.pack(alignment for _, alignment in block)
    settings = vars(_settings(options))
    phrases = extract_phrases(links, source=source, target=target, **settings)
    # flat lists: a list for each phrase pair would keep the garbage collector busy
    columns = phrases.spans.T.tolist()
    columns.append(phrases.atomic.tolist())
    bounds = pairwise(phrases.offsets.tolist())
    for (pair, _), (start, end) in zip(block, bounds, strict=True):
        yield pair, zip(*(column[start:end] for column in columns), strict=True)


def _tab_lines(pair: SentencePair, phrases: _Phrases) -> Iterator[str]:
    """Yield a line of tab-separated columns for each phrase pair."""
    id = escaped(pair.id)
    source, before, after = _joined(pair.source)
    target, to_before, to_after = _joined(pair.target)
    kinds = ("composite", "atomic")
    for a, b, c, d, kind in phrases:
        yield (
            f"{id}\t{a}\t{b}\t{c}\t{d}\t{kinds[kind]}\t"
            f"{source[before[a] : after[b]]}\t{target[to_before[c] : to_after[d]]}\n"
        )


def _joined(tokens: tuple[str, ...] | None) -> tuple[str, range | list[int], range | list[int]]:
    """Join tokens by spaces; return also where each word starts, and where the first k words end.

    For ``("the", "cat")``, that is ``"the cat"``, ``[0, 4]`` and ``[0, 3, 7]``: words a to b are
    the letters from the start of word a to the end of the first b words.
    """
    if tokens is None:
        anywhere = range(2**31)  # any place in an empty text cuts out an empty text
        return "", anywhere, anywhere
    parts = [escaped(token) for token in tokens]
    starts = []
    ends = [0]
    at = 0
    for part in parts:
        starts.append(at)
        ends.append(at + len(part))
        at += len(part) + 1
    return " ".join(parts), starts, ends


def _json_lines(pair: SentencePair, phrases: _Phrases) -> Iterator[str]:
    """Yield a JSON object for each phrase pair."""
    for a, b, c, d, kind in phrases:
        record: dict[str, object] = {
            "id": pair.id,
            "source_start": a,
            "source_end": b,
            "target_start": c,
            "target_end": d,
            "kind": "atomic" if kind else "composite",
        }
        if pair.source is not None and pair.target is not None:
            record |= {"source": pair.source[a:b], "target": pair.target[c:d]}
        yield json_text(record, indent=None) + "\n"


def _count_phrases(sources: Iterable[Input], name: str, options: Options) -> None:
    """Write the phrase table of some inputs; `name` is used in messages."""
    from alignkit.rules.tables.phrase_tables import PhraseCounts

    settings = _settings(options)
    least = options.min_count or 1
    with (
        replacing(options.output) as out,
        PhraseCounts(settings, folder=sorting_folder(options.output), room=room(options)) as counts,
    ):
        for source in sources:
            with naming(source.path):
                counts.add(Choice(source.path, options.annotator).annotated(source.pairs()))
        lines: Iterable[str] = counts.lines(min_count=least)
        if options.jsonl:
            entries = counts.entries(min_count=least)
            lines = (json_text(asdict(entry), indent=None) + "\n" for entry in entries)
        with ProgressBar(name, None, "entries") as progress:
            for text in lines:
                out.write(text)
                progress.step(text.count("\n"))
    _report(name, counts.occurrences, counts.tally, least)


def _report(path: str, occurrences: int, tally: PhraseTally, least: int) -> None:
    """Report how many phrase pairs were counted."""
    left_out = ""
    if least > 1:
        left_out = f"; {tally.left_out:,} seen less than {least} times left out"
    say(f"{path}: {occurrences:,} phrase pairs, {tally.different:,} different{left_out}")


def _settings(options: Options) -> TableSettings:
    """Return which phrase pairs to extract."""
    from alignkit.rules.tables.phrase_tables import TableSettings

    return TableSettings(
        options.links, options.kind, options.loose, options.max_length, options.ignore_identical
    )


def _given(parts: Sequence[Part], sides: Iterable[str], options: Options) -> AlignedInput:
    """Return the reading options of parts; all have the format of the largest."""
    from alignkit.cluster.parts import largest_of
    from alignkit.cluster.phrase_tables import AlignedInput

    reading = reading_options(options, source=None, target=None)
    format = detect_format(largest_of(parts).paths[0], options.format, reading)
    return AlignedInput(tuple(sides), format, options.annotator, reading)


def _estimate(parts: Sequence[Part], sides: Iterable[str], options: Options) -> None:
    """Print estimates of the number of phrase pairs and of the resources."""
    from alignkit.cluster.estimate import estimate_phrases
    from alignkit.cluster.phrase_exchange import memory_of

    given = _given(parts, sides, options)
    pairs, occurrences, disk = estimate_phrases(parts, _settings(options), given)
    memory = cluster.size(memory_of(2 * room(options)))
    print(
        f"about {pairs:,} pairs in {len(parts):,} parts; {occurrences:,} phrase "
        f"pairs\ncounting needs about {memory} of memory a worker (--memory), and at most "
        f"{cluster.size(disk)} of disk"
    )


def _phrases_of_parts(options: Options) -> None:
    """Write the phrase table of parts."""
    from alignkit.cluster.part_outputs import one_file
    from alignkit.cluster.parts import find_parts

    if not options.counted:
        raise OptionError("parts ('*', --cluster) only work with --table: add it")
    sides = {}
    if options.source is not None:
        sides["source"] = options.source
    if options.target is not None:
        sides["target"] = options.target
    parts = find_parts(options.input, *sides.values())
    if options.estimate:
        return _estimate(parts, sides, options)
    one_file(options.output)
    if not cluster.by_workers(options):
        inputs = (_input_of_part(part, sides, options) for part in parts)
        return _count_phrases(inputs, options.input, options)
    cluster.refuse_options(options, ("jsonl",), "leave it out")
    if options.output == "-":
        raise OptionError("the table goes to a file: name it with -o")
    from alignkit.cluster.phrase_exchange import ExchangeOptions
    from alignkit.cluster.phrase_tables import count_parts

    least = options.min_count or 1
    given = _given(parts, sides, options)
    settings = _settings(options)
    with cluster.opened_session(options) as session, cluster.PartsProgress("phrases") as progress:
        exchange = ExchangeOptions(room(options), work=options.work, progress=progress)
        result = count_parts(
            session, parts, options.output, settings, given, min_count=least, options=exchange
        )
    tell(options.input, result.counts)
    _report(options.input, result.occurrences, result.tally, least)


def _input_of_part(part: Part, sides: Iterable[str], options: Options) -> Input:
    """Return the input of a part; its files are the alignments, and the words of the sides."""
    path, *words = part.paths
    paths = dict(zip(sides, words, strict=True))
    return Input.of(options, path, **paths)
