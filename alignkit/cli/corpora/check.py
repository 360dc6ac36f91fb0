"""Check a file: report errors, and which base and direction its links seem to have.

The report lists broken records, control characters, links out of range, duplicate links, links that
are both sure and possible, empty alignments and sentences, repeated ids, byte order marks and
carriage returns. It names the line from which links and texts seem to be shifted. Several files are
also compared: words that differ are reported. With trees, it counts them, and lists those that do
not fit their words and flat ones (fewer than 4 nodes deep over more than 8 words).

alignkit does not guess the base (the number of the first word, 0 or 1) and the direction: for each
combination, a table shows how many links lie outside their sentence pair and how many join equal
words (words with a letter or a digit). --fix leaves out broken pairs, and reports how many, which
ones, and which ids change.

With --leaks, the two files are parts of a split, TRAIN and TEST. The report lists the pairs of TEST
that TRAIN already has: equal pairs, reversed pairs and pairs of the same group. It also lists equal
and reversed pairs in one file that the same annotator judged differently.

With --text, the files are plain texts. The report lists all control characters with their counts
and first lines, and byte order marks, carriage returns, and white space in words at which some
tools divide words. --fix writes a corrected copy and reports the number of changes.

With --consistency, it lists links to look at again: words that the annotator links in most pairs,
but not here, and unusual links of words that have their usual counterpart in the pair.

Exit code 0: clean, 1: findings, 2: the file cannot be read.

For example:
  alignkit check gold.align --format pharaoh --source fr.txt --target en.txt
  alignkit check gold.wa --format naacl --source test.en --target test.fr --fix mended.wa
  alignkit check --leaks corpus-train.jsonl corpus-test.jsonl
  alignkit check --consistency corpus.jsonl
  alignkit check --text fr.txt --fix mended.txt
  alignkit check pairs.json --both-trees parsed.xml.gz
  alignkit check A.align.txt B.align.txt --format rte --json
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from contextvars import Context
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

from alignkit._support.signals import before_stop
from alignkit._support.values import named_json
from alignkit._support.wording import how_many, visible
from alignkit.cli.common import trees
from alignkit.cli.common.inputs import Input, add_reading_arguments, detect_format, reading_options
from alignkit.cli.common.media import add_separator
from alignkit.cli.common.messages import in_words_of, json_text, say, warn
from alignkit.cli.corpora.check_texts import check_texts
from alignkit.cli.corpora.convert import tell_lost
from alignkit.cli.parser import add_options, number, output, output_file
from alignkit.corpora.leaks import GROUPED, GROUPS, KINDS, Leak, find_leaks, shared_texts
from alignkit.errors import AlignkitError, FormatError, JoinError, OptionError
from alignkit.io.atomic_files import identity, standard_stream
from alignkit.io.format import JUDGED, losses, losses_in_words
from alignkit.io.formats import get_format
from alignkit.io.hints import hint_of
from alignkit.io.inputs import sides_hint
from alignkit.io.options import ReadOptions
from alignkit.io.reading import write_corpus
from alignkit.io.text_files import Finding
from alignkit.model.corpus import Corpus
from alignkit.tables.columns import Cell, Column
from alignkit.tables.table import Table

if TYPE_CHECKING:
    from alignkit.corpora.validation import Examination
    from alignkit.io.base_checks import Fit

T = TypeVar("T")

# that are printed
_FINDINGS = 5
_SUGGESTIONS = 50
_MOST = 100  # ranges that are printed in one line; JSON has them all
_NUMBERED = re.compile(r"(.*?)(0|[1-9][0-9]{0,17})", re.DOTALL)


@dataclass
class Mending:
    """What `--fix` wrote and left out."""

    path: str  # the mended file
    format: str
    written: int  # sentence pairs in it
    dropped: int  # records that were left out as broken
    broken: list[Finding]
    renumbered: list[tuple[str, str]] = field(default_factory=list)
    lost: Counter[str] = field(default_factory=Counter)
    left: Counter[str] | None = None  # findings of the mended file; None if it cannot be read again
    read_again: int | None = None  # sentence pairs that are read from it; None likewise

    def to_json(self) -> dict[str, object]:
        """Return the report as JSON values."""
        broken = [named_json(finding, ("path", "line", "message")) for finding in self.broken]
        renumbered = [{"old": old, "new": new} for old, new in self.renumbered]
        record = named_json(self, ("path", "format", "written", "read_again", "dropped"))
        record |= {"broken": broken, "renumbered": renumbered}
        return record | named_json(self, ("lost", "left"))

    def report(self) -> None:
        """Print the report on stderr."""
        tell_lost(self.path, self.format, self.lost)
        parts = []
        if self.dropped:
            total = how_many(self.written + self.dropped, "pair")
            parts.append(f"written without {self.dropped} of {total}, broken in {self._places()}")
        elif self.left is not None:
            parts.append("written")
        if self.read_again not in (None, self.written):
            parts.append(f"reading it gives {self.read_again} pairs, not {self.written}")
        if self.left:
            parts.append(f"left for you to decide: {_listing(self.left)}")
        elif self.left is not None and self.read_again == self.written and not self.dropped:
            parts.append("it is clean")
        if parts:
            say(f"{self.path}: {'; '.join(parts)}")
        if self.renumbered:
            say(f"{self.path}: ids have changed: {_cut(id_ranges(self.renumbered))}")

    def _places(self) -> str:
        """Return the files and lines of broken records: a.txt:3-5, a.txt:9."""
        lines: dict[str, set[int]] = {}
        for finding in self.broken:
            numbers = lines.setdefault(finding.path, set())
            if finding.line:
                numbers.add(finding.line)
        places = []
        for path, numbers in lines.items():
            runs = _runs(sorted(numbers), lambda before, after: after == before + 1)
            places += [f"{path}:{'-'.join(map(str, run))}" for run in runs] or [path]
        listing = _cut(places)
        if len(self.broken) == self.dropped:
            return listing
        return f"{listing}, ..."


def _cut(parts: Iterable[str]) -> str:
    """Return a listing of the first `_MOST` parts, and how many more there are."""
    listed = list(parts)
    listing = ", ".join(listed[:_MOST])
    more = len(listed) - _MOST
    if more > 0:
        return f"{listing} and {more} more (--json has all)"
    return listing


def _listing(counts: Mapping[str, int]) -> str:
    """Return counts as text: 2 x repeated id, 1 x flat tree."""
    return ", ".join(f"{count} x {kind}" for kind, count in counts.items() if count)


def _runs(items: Iterable[T], follows: Callable[[T, T], bool]) -> list[list[T]]:
    """Return the first and last item of each run of consecutive items, or a single item."""
    runs: list[list[T]] = []
    for item in items:
        if runs and follows(runs[-1][-1], item):
            runs[-1][1:] = [item]
        else:
            runs.append([item])
    return runs


def id_ranges(renamed: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield which ids became which, in ranges: 4-5 are now 3-4."""
    for run in _runs(renamed, lambda before, after: all(map(_follows, before, after))):
        old, new = zip(*run, strict=True)
        verb = "is" if len(run) == 1 else "are"
        yield f"{'-'.join(old)} {verb} now {'-'.join(new)}"


def _follows(before: str, after: str) -> bool:
    """Return whether an id is the next one: s12 after s11."""
    first = _NUMBERED.fullmatch(before)
    second = _NUMBERED.fullmatch(after)
    if first is None or second is None:
        return False
    return first[1] == second[1] and int(first[2]) + 1 == int(second[2])


def mend(report: Examination, options: argparse.Namespace, declared: ReadOptions) -> Mending:
    """Write the readable pairs to ``--fix``."""
    if report.counts["row shift"]:
        message = "nothing was fixed: links and words look shifted; correct the lines first"
        raise FormatError(message, report.path)
    kind = get_format(report.format)
    corpus = report.corpus
    if kind.text_beside and not options.fix_source:
        corpus = _without_rest_of_texts(corpus)
    lost: Counter[str] = Counter()
    for pair in corpus:
        lost.update(losses(pair, kind.holds))
    if report.refused and kind.blocks is not None:  # the numbers of lines count
        problem = f"--fix cannot correct {report.refused} broken lines of {report.path}"
        why = "and leaving them out would shift all lines after them"
        raise OptionError(f"{problem}, {why}: correct them by hand")
    if report.refused and kind.text_beside and declared.source and not options.fix_source:
        problem = f"--fix leaves out {report.refused} broken pairs of {report.path}"
        why = f"but {declared.source} would keep their words"
        raise OptionError(
            f"{problem}, {why}: write the words too, with --fix-source and --fix-target"
        )
    missing = losses_in_words(lost)
    if report.refused:
        missing += [f"its {report.refused} broken records"]
    place = identity(options.fix)
    if missing and place is not None and place == identity(report.path):
        problem = f"--fix: format {report.format} would lose {', '.join(missing)}"
        raise OptionError(f"{problem}, so {options.fix} cannot be replaced; name another OUT")
    rest = _examined_again(report, corpus, options, declared)
    _write(report, corpus, options.fix, options.fix_source, options.fix_target)
    broken = [finding for finding in report.findings if finding.kind == "broken record"]
    old = report.corpus.ids
    new = rest.corpus.ids
    mending = Mending(options.fix, report.format, len(old), report.refused, broken, lost=lost)
    if standard_stream(options.fix) is None:
        mending.left = rest.counts
        mending.read_again = len(new)
    if len(new) == len(old):
        renamed = zip(old, new, strict=True)
        mending.renumbered = [(before, after) for before, after in renamed if before != after]
    return mending


def _without_rest_of_texts(corpus: Corpus) -> Corpus:
    """Return the pairs up to the last annotated one: a short file of links stays short."""
    pairs = list(corpus)
    while pairs and not pairs[-1].annotations:
        pairs.pop()
    return Corpus(pairs)


def _write(
    report: Examination, corpus: Corpus, path: str, source: str | None, target: str | None
) -> None:
    """Write a corpus in the format of the examined file, with ids unless they are 1, 2, ..."""
    write_corpus(
        corpus,
        path,
        format=report.format,
        base=report.base,
        transpose=report.transposed,
        source=source,
        target=target,
        ids=any(pair.id != str(number) for number, pair in enumerate(corpus, 1)),
    )


def _examined_again(
    report: Examination, corpus: Corpus, options: argparse.Namespace, declared: ReadOptions
) -> Examination:
    """Write to a temporary folder and examine the result, before anything is replaced."""
    from alignkit.corpora.validation import examine

    def remove() -> str:
        """Remove the folder if the command is stopped."""
        rmtree(folder, ignore_errors=True)
        return ""

    def copy_of(path: str, place: str) -> str:
        """Return a path with the same name in a folder of its own."""
        Path(folder, place).mkdir()
        return str(Path(folder, place, Path(path).name or "mended"))

    with TemporaryDirectory(prefix="alignkit-") as folder, before_stop(remove):
        path = copy_of(options.fix, "links")
        source = copy_of(options.fix_source, "source") if options.fix_source else None
        target = copy_of(options.fix_target, "target") if options.fix_target else None
        Context().run(_write, report, corpus, path, source, target)  # at once, whatever is to come
        again = declared
        if source:
            # without a target, the source is a bitext
            again = replace(declared, source=source, target=target, encoding="utf-8")
        elif target:
            again = replace(declared, target=target, encoding="utf-8")
        return examine(path, format=report.format, options=again)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `alignkit check`."""
    add_options(
        parser,
        """
        IN...  file or folder; or one file for each annotator, with the same pairs; - is stdin
        --fix OUT  write a corrected file; each link once and inside its sentences, no byte order
            marks or carriage returns, U+FFFD for control characters; OUT may be IN
        --text  the files are texts, not alignments: list their control characters; with --fix,
            write a copy of the text, not over IN, with the same lines
        --fix-source FILE  write the corrected source words
        --fix-target FILE  write the corrected target words
        --leaks  report pairs of the second file that are also in the first file; equal, reversed,
            or of the same group
        --group ATTRIBUTE  with --leaks, also report pairs of the second file that have the same
            value of this attribute as some pair of the first file; repeatable (default: goeswith,
            document, entity and original)
        """,
        IN={"dest": "inputs"},
        fix={"type": output},
        fix_source={"type": output_file},
        fix_target={"type": output_file},
        group={"action": "append"},
    )
    add_separator(parser)
    add_options(
        parser,
        """
        --ignore-case  with --leaks, ignore differences of case (default: they count; differences of
            white space and of the Unicode form of characters are always ignored)
        --consistency  list links that are inconsistent with the annotator's other links, and links
            that seem to be missing; the strongest evidence first
        --show N  print at most N findings of each kind (default: 5; with --consistency, 50 of each
            annotator)
        --json  print all findings as JSON (default: text)
        """,
        show={"type": number(0)},
    )
    add_reading_arguments(parser)
    trees.add_tree_options(parser)


def run(options: argparse.Namespace) -> int:
    """Check files in the way that the options choose; return 1 if there are findings."""
    for name in ("group", "separator", "ignore_case"):
        if getattr(options, name) and not options.leaks:
            flag = f"--{name.replace('_', '-')}"
            raise OptionError(f"{flag} needs --leaks: add it, or leave {flag} out")
    if options.text:
        return check_texts(options)
    if options.consistency and (options.leaks or options.fix or trees.trees_named(options)):
        raise OptionError("--consistency works alone; leave out --leaks, --fix and trees")
    if options.show is None:
        options.show = _SUGGESTIONS if options.consistency else _FINDINGS
    if options.consistency:
        return _check_consistency(options)
    if options.leaks:
        return check_leaks(options)
    return _check_files(options)


def _check_consistency(options: argparse.Namespace) -> int:
    """Run `check --consistency`; return 1 if there are suggestions."""
    from alignkit.corpora.consistency import consistency

    declared = reading_options(options)
    results = {}
    for path in options.inputs:
        corpus = Input(path, options.format, declared).corpus(needed=True)
        results[path] = replace(consistency(corpus), most=options.show)
    if options.json:
        print(json_text([{"path": path} | result.to_json() for path, result in results.items()]))
    else:
        for path, result in results.items():
            print(f"{path}\n\n{result}\n" if len(results) > 1 else result)
    return int(any(result.suggestions for result in results.values()))


def _check_files(options: argparse.Namespace) -> int:
    """Run `check` on files with alignments; return 1 if there are findings."""
    from alignkit.corpora.validation import compare_texts

    several = len(options.inputs) > 1
    if options.fix and several:
        raise OptionError("--fix corrects one file; give one IN")
    trees.check_tree_options(options)
    if trees.trees_named(options) and (options.fix or several):
        raise OptionError("files of trees need a single IN, and do not work with --fix")
    if (options.fix_source or options.fix_target) and not options.fix:
        raise OptionError("--fix-source and --fix-target need --fix: add it, or leave them out")
    declared = reading_options(options)
    examined = [_examined(path, options, declared) for path in options.inputs]
    if hint := sides_hint(*examined):
        warn(in_words_of(options.parser, f"{examined[-1].path}: {hint}"))
    for other in examined[1:]:
        compare_texts(examined[0], other)
    problem = _unreadable(examined, declared)
    mending = None
    if options.fix and problem is None:
        try:
            mending = mend(examined[0], options, declared)
        except AlignkitError as error:
            problem = error  # first print the findings
    with redirect_stdout(sys.stderr if options.fix == "-" else sys.stdout):
        _print_all(examined, mending, options)
    if problem is not None:
        raise problem
    if mending is not None:
        mending.report()
    return 0 if all(report.clean for report in examined) else 1


def _print_all(
    examined: list[Examination], mending: Mending | None, options: argparse.Namespace
) -> None:
    """Print the findings of all files, as text or as JSON."""
    if options.json:
        records = [_record(report, options) for report in examined]
        if mending is not None:
            records[0]["fix"] = mending.to_json()
        print(json_text(records))
        return
    for place, report in enumerate(examined):
        if place:
            print()
        _print(report, options)


def _examined(path: str, options: argparse.Namespace, declared: ReadOptions) -> Examination:
    """Examine a file, and the files of trees if they are named."""
    from alignkit.corpora.validation import examine

    format = detect_format(path, options.format, declared)
    with_trees = trees.trees_named(options)
    keep = bool(options.fix) or len(options.inputs) > 1 or with_trees
    report = examine(path, format=format, options=declared, keep=keep)
    if not with_trees:
        return report
    name = trees.tree_name(options) or ""
    try:  # trees of files that do not fit, or are flat; more or fewer than pairs
        for pair in trees.attached(options, report.corpus, report.tree_counts, report.observe):
            place = report.lines[pair.id]
            if name in pair.source_trees:
                report.add_tree(pair.id, "source", name, pair.source_trees[name], *place)
            if name in pair.target_trees:
                report.add_tree(pair.id, "target", name, pair.target_trees[name], *place)
    except JoinError as problem:
        report.observe(Finding("wrong number of trees", str(problem), report.path))
    return report


def _unreadable(examined: list[Examination], declared: ReadOptions) -> AlignkitError | None:
    """Return an error for the first file that seems to have another format."""
    for report in examined:
        judged = JUDGED in get_format(report.format).holds and report.refused < report.records
        if report.refused and not report.links and not judged:
            hint = hint_of(report.path, report.format, declared) or (
                "name the right format with --format, or the encoding with --encoding"
            )
            return FormatError(
                f"{report.refused} of {report.records} records cannot be read as {report.format}, "
                f"and no link was found; {hint}",
                report.path,
            )
    return None


def _summary(report: Examination) -> str:
    """Return what a file contains, in one line."""
    text = f"{visible(report.path)}: {report.format}, "
    text += how_many(report.records - report.refused, "sentence pair")
    if report.refused:
        text += f" and {how_many(report.refused, 'broken record')}"
    text += f", {how_many(report.links, 'link')}"
    if report.nulls:
        text += f", {how_many(report.nulls, 'null')}"
    if not get_format(report.format).by_id:
        text += f", counted from {report.base}"
    if report.transposed:
        text += ", written target first"
    return text


def _print(report: Examination, options: argparse.Namespace) -> None:
    """Print what a file contains, and its findings."""
    by_id = get_format(report.format).by_id  # links name words: no base, no direction
    print(_summary(report))
    if report.trees:
        named = (f"{n} {side} {name}" for (side, name), n in report.trees.items())
        print(f"trees: {visible(', '.join(named))}")
    notes = Counter({kind: n for kind, n in report.tree_counts.items() if kind != "trees"})
    if notes:
        print(f"in the files of trees: {trees.trees_told(notes)}")
    if report.links and not by_id:
        print(f"\n{_fits(report)}\n")
    if report.spaces:
        spaces = in_words_of(options.parser, report.spaces_in_words)
        print(visible(f"white space in words: {spaces}"))
    lines = ((item.kind, in_words_of(options.parser, str(item))) for item in report.findings)
    _print_some(lines, report.counts, options.show)
    clean = "clean: no problems found"
    if not (report.links or report.nulls or get_format(report.format).scheme):
        clean += ", but nobody linked any words"
    if report.links and not report.has_text and get_format(report.format).text_beside:
        clean += "; without --source and --target, base and direction are only partly checked"
    print(f"findings: {_listing(report.counts)}" if report.counts else clean)


def _print_some(lines: Iterable[tuple[str, str]], counts: Mapping[str, int], most: int) -> None:
    """Print the first lines of each kind, and the number of all."""
    shown: Counter[str] = Counter()
    for kind, line in lines:
        shown[kind] += 1
        if shown[kind] <= most:
            print(visible(line))
    for kind, count in counts.items():
        if count > most:
            print(f"... {kind}: {count} in all; --show {count} shows them")


def _fits(report: Examination) -> Table:
    """Return a table with the bases and directions that the links may have."""
    columns = [
        Column("base", "count"),
        Column("direction"),
        Column("links outside", "count"),
        Column("join equal words", "count"),
        Column("", key="declared"),
    ]
    rows: list[list[Cell]] = []
    for fit in report.fits:
        direction = "target first" if fit.transposed else "source first"
        known = ["?" if count is None else count for count in _known(report, fit)]
        is_declared = (fit.base, fit.transposed) == report.declared
        mark = "<- as declared" if is_declared else None
        rows.append([fit.base, direction, *known, mark])
    return Table("", columns, rows)


def _known(report: Examination, fit: Fit) -> tuple[int | None, int | None]:
    """Return the numbers of links outside and of links that join equal words, if known."""
    outside = fit.outside if report.has_text or fit.base else None
    return outside, fit.equal if report.has_text else None


def _record(report: Examination, options: argparse.Namespace) -> dict[str, object]:
    """Return what `--json` prints about a file."""
    trees_read = []
    for (side, name), count in report.trees.items():
        trees_read.append({"side": side, "name": name, "pairs": count})
    fits = []
    for fit in report.fits:
        outside, equal = _known(report, fit)
        record = named_json(fit, ("base", "transposed"))
        fits.append(record | {"outside": outside, "equal": equal})
    findings = []
    for finding in report.findings:
        record = named_json(finding, ("kind", "path", "line", "times"))
        findings.append(record | {"message": in_words_of(options.parser, finding.message)})
    return {
        **named_json(report, ("path", "format", "base", "transposed", "records")),
        "read": report.records - report.refused,
        **named_json(report, ("refused", "links", "sure", "nulls")),
        "trees": trees_read,
        **named_json(report, ("tree_counts", "clean", "counts", "spaces")),
        "fits": fits,
        "findings": findings,
    }


def check_leaks(options: argparse.Namespace) -> int:
    """Run `check --leaks`; return 1 if there are leaks."""
    if len(options.inputs) != 2:
        raise OptionError("--leaks compares two files: TRAIN and TEST")
    if options.fix:
        raise OptionError("--fix does not work with --leaks; leave one of them out")
    declared = reading_options(options)
    train, test = (Input(path, options.format, declared).corpus() for path in options.inputs)
    for path, part in zip(options.inputs, (train, test), strict=True):
        without = sum(None in (pair.source, pair.target) for pair in part)
        if without and without == len(part) and not options.group:
            raise OptionError(
                f"{path}: no pair has words to compare; first convert each file, with its "
                "--source and --target, to alignkit-jsonl"
            )
        if without:
            warn(f"{path}: {without} of {len(part)} pairs have no words: they are not compared")
    leaks = find_leaks(
        train, test, options.group, separator=options.separator, ignore_case=options.ignore_case
    )
    counts = Counter(leak.kind for leak in leaks)
    pairs = len({leak.test for leak in leaks})
    whole = {leak.test for leak in leaks if leak.kind != GROUPED}
    shared = len(shared_texts(train, test, ignore_case=options.ignore_case) - whole)
    if options.json:
        record = {
            "train": {"path": options.inputs[0], "pairs": len(train)},
            "test": {
                "path": options.inputs[1],
                "pairs": len(test),
                "known": pairs,
                "shared_texts": shared,
            },
            "counts": {kind: counts[kind] for kind in KINDS},
            "leaks": [asdict(leak) for leak in leaks],
        }
        print(json_text(record))
        return int(bool(leaks))

    lines = ((leak.kind, _leak_line(leak)) for leak in leaks)
    _print_some(lines, counts, options.show)
    if leaks:
        listing = _listing({kind: counts[kind] for kind in KINDS})
        print(f"{pairs} of {len(test)} pairs match the first file: {listing}")
    else:
        groups = ", ".join(GROUPS if options.group is None else options.group)
        print(
            f"clean: none of {len(test)} pairs matches the first file (compared: both texts of "
            f"pairs with words, in either order, and {groups})"
        )
    if shared:
        print(
            f"{shared} of {len(test)} pairs share a single text with the first file (no finding; "
            "'alignkit select --keep-texts' prevents it)"
        )
    return int(bool(leaks))


def _leak_line(leak: Leak) -> str:
    """Return a leak as it is printed."""
    text = f"{leak.kind}: pair {leak.test!r} and {leak.train!r} of the first file"
    if leak.group:
        text += f" by {leak.group}"
    if leak.also:
        text += f"; the first file also has {', '.join(leak.also)}"
    return text
