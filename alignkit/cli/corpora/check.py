"""Examine a file: what is odd in it, and which base and direction its links fit.

Told are broken records, control characters, links out of range, duplicate links, links both sure
and possible, empty alignments and sentences, repeated ids, byte order marks and carriage returns;
with several files, also words in which they differ; a line from which links and texts look shifted;
of trees, which there are, those that do not fit their words, and flat ones (fewer than 4 nodes deep
over more than 8 words). Nothing is guessed: the table of fits shows how many links lie outside
their sentence pair, and how many join equal words, under each base and direction. --fix leaves out
pairs that are broken; how many, which, and whose ids change for it is told.

With --leaks, of two parts of a split, TRAIN and TEST, are told the pairs of TEST that TRAIN knows:
equal ones, reversed ones, and pairs of the same group. Told are too equal and reversed pairs of one
file that the same annotator judged differently.

Exit code 0: clean, 1: findings, 2: cannot be read.

For example:
  alignkit check gold.align --format pharaoh --source fr.txt --target en.txt
  alignkit check gold.wa --format naacl --source test.en --target test.fr --fix mended.wa
  alignkit check --leaks corpus-train.jsonl corpus-test.jsonl
  alignkit check pairs.json --trees parsed.xml.gz
  alignkit check A.align.txt B.align.txt --format rte --json
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from contextvars import Context
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from alignkit._support.signals import before_stop
from alignkit._support.wording import visible
from alignkit.cli.common.inputs import Input, add_reading_arguments, detect_format, reading_options
from alignkit.cli.common.media import add_separator
from alignkit.cli.common.messages import in_words_of, json_text, say
from alignkit.cli.common.trees import (
    add_tree_options,
    attached,
    check_tree_options,
    tree_name,
    trees_named,
    trees_told,
)
from alignkit.cli.corpora.convert import tell_lost
from alignkit.cli.parser import add_options, number, output, output_file
from alignkit.corpora.leakage import KINDS, Leak, find_leaks
from alignkit.errors import AlignkitError, FormatError, JoinError, OptionError
from alignkit.io.atomic_files import identity, standard_stream
from alignkit.io.detection import hint_of
from alignkit.io.format import JUDGED, get_format, losses
from alignkit.io.options import ReadOptions
from alignkit.io.reading import write_corpus
from alignkit.io.text_files import Finding
from alignkit.tables.columns import Cell, Column
from alignkit.tables.table import Table

if TYPE_CHECKING:
    from alignkit.corpora.validation import Examination


_BROKEN = "broken record"
_MOST = 100  # ranges that are told in one line; JSON has them all

_Renamed = list[tuple[str, str]]


@dataclass
class Mending:
    """Tell what was written, and what was not."""

    path: str  # the mended file
    format: str
    written: int  # sentence pairs in it
    dropped: int  # records that were left out as broken
    broken: list[Finding]
    renumbered: _Renamed = field(default_factory=list)
    lost: Counter[str] = field(default_factory=Counter)
    left: Counter[str] | None = None
    read_again: int | None = None  # sentence pairs that are read from it; None likewise

    def to_json(self) -> dict[str, object]:
        """Return the same as JSON holds it."""
        return {
            "path": self.path,
            "format": self.format,
            "written": self.written,
            "read_again": self.read_again,
            "dropped": self.dropped,
            "broken": [
                {"path": finding.path, "line": finding.line, "message": finding.message}
                for finding in self.broken
            ],
            "renumbered": [{"old": old, "new": new} for old, new in self.renumbered],
            "lost": dict(self.lost),
            "left": None if self.left is None else dict(self.left),
        }

    def tell(self) -> None:
        """Tell all of it on stderr."""
        tell_lost(self.path, self.format, self.lost)
        parts = ["written"] if self.left is not None or self.dropped else []
        if self.dropped:
            total = self.written + self.dropped
            noun = "pair" if total == 1 else "pairs"
            parts = [
                f"written without {self.dropped} of {total} {noun}, broken in {self._places()}"
            ]
        if self.read_again not in (None, self.written):
            parts.append(f"{self.read_again} pairs are read from it, not {self.written}")
        if self.left:
            listing = ", ".join(f"{n} x {kind}" for kind, n in self.left.items())
            parts.append(f"left for you to decide: {listing}")
        elif self.left is not None and self.read_again == self.written and not self.dropped:
            parts.append("it is clean")
        if parts:
            say(f"{self.path}: {'; '.join(parts)}")
        if self.renumbered:
            say(f"{self.path}: ids have changed: {_listed(id_ranges(self.renumbered))}")

    def _places(self) -> str:
        lines: dict[str, list[int]] = {}
        for finding in self.broken:
            lines.setdefault(finding.path, [])
            lines[finding.path] += [] if finding.line is None else [finding.line]
        listing = _listed(
            f"{path}:{part}" if part else path
            for path, numbers in lines.items()
            for part in _number_ranges(numbers) or [""]
        )
        return listing if len(self.broken) == self.dropped else f"{listing}, ..."


def _listed(parts: Iterable[str]) -> str:
    listed = list(parts)
    listing, more = ", ".join(listed[:_MOST]), len(listed) - _MOST
    return f"{listing} and {more} more (--json has all)" if more > 0 else listing


def mend(report: Examination, options: argparse.Namespace, declared: ReadOptions) -> Mending:
    """Write the pairs that could be read to ``--fix``."""
    _check(report, options, declared)
    path = options.fix
    lost = _losses(report)
    _refuse_loss(report, path, lost)
    rest = _examined_again(report, options, declared)
    _write(report, path, options.fix_source, options.fix_target)
    broken = [finding for finding in report.findings if finding.kind == _BROKEN]
    old, new = report.corpus.ids, rest.corpus.ids
    mending = Mending(path, report.format, len(old), report.refused, broken, lost=lost)
    if standard_stream(path) is None:
        mending.left, mending.read_again = rest.counts, len(new)
    if len(new) == len(old):
        mending.renumbered = [pair for pair in zip(old, new, strict=True) if pair[0] != pair[1]]
    return mending


def _write(report: Examination, path: str, source: str | None, target: str | None) -> None:
    write_corpus(
        report.corpus,
        path,
        format=report.format,
        base=report.base,
        transpose=report.transposed,
        source=source,
        target=target,
        ids=any(pair.id != str(number) for number, pair in enumerate(report.corpus, 1)),
    )


def _check(report: Examination, options: argparse.Namespace, declared: ReadOptions) -> None:
    if not report.refused:
        return
    kind = get_format(report.format)
    if kind.blocks is not None:  # a format in which the number of a line counts
        raise OptionError(
            f"--fix cannot mend {report.refused} broken lines of {report.path}, and leaving "
            "them out would shift all lines after them: mend those by hand"
        )
    if kind.text_beside and declared.source and not options.fix_source:
        raise OptionError(
            f"--fix leaves out {report.refused} broken pairs of {report.path}, but "
            f"{declared.source} would keep their words: write the words too, by "
            "--fix-source and --fix-target"
        )


def _refuse_loss(report: Examination, path: str, lost: Counter[str]) -> None:
    """Refuse to replace a file by one that holds less."""
    if identity(path) is None or identity(path) != identity(report.path):
        return
    missing = [f"{kind} of {count} pairs" for kind, count in lost.items()]
    missing += [f"its {report.refused} broken records"] if report.refused else []
    if missing:
        raise OptionError(
            f"--fix: format {report.format} is written without {', '.join(missing)}, so {path} "
            "cannot be mended in its own place; name another OUT"
        )


def _losses(report: Examination) -> Counter[str]:
    """Count what the file's own format cannot be written with again."""
    holds = get_format(report.format).holds
    lost: Counter[str] = Counter()
    for pair in report.corpus:
        lost.update(losses(pair, holds))
    return lost


def _examined_again(
    report: Examination, options: argparse.Namespace, declared: ReadOptions
) -> Examination:
    """Examine what is to be written, in a folder of its own: it takes its place only at the end."""
    from alignkit.corpora.validation import examine

    with TemporaryDirectory(prefix="alignkit-") as folder, before_stop(partial(_remove, folder)):
        path, source, target = (
            name and str(Path(folder, str(k), Path(name).name or "mended"))
            for k, name in enumerate((options.fix, options.fix_source, options.fix_target))
        )
        for k in range(3):
            Path(folder, str(k)).mkdir()
        Context().run(_write, report, path, source, target)  # at once, whatever is to come
        # without a target, the source is a bitext
        changed: dict[str, Any] = {"source": source, "target": target} if source else {}
        if target:
            changed["target"] = target
        again = replace(declared, **changed, encoding="utf-8" if changed else declared.encoding)
        return examine(path, format=report.format, options=again)


def _remove(folder: str) -> str:
    rmtree(folder, ignore_errors=True)
    return ""


_NUMBERED = re.compile(r"(.*?)(0|[1-9][0-9]{0,17})", re.DOTALL)


def _number_ranges(numbers: Iterable[int]) -> list[str]:
    """Write numbers as ranges in rising order: 3, 9, 4, 5 become 3-5 and 9."""
    runs: list[list[int]] = []
    for k in sorted(set(numbers)):
        if runs and k == runs[-1][1] + 1:
            runs[-1][1] = k
        else:
            runs.append([k, k])
    return [str(first) if first == last else f"{first}-{last}" for first, last in runs]


def id_ranges(renamed: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Write which ids became which, those that count up together as one.

    Examples
    --------
    >>> list(id_ranges([("4", "3"), ("5", "4"), ("8", "5"), ("a:9", "b:1"), ("a:10", "b:2")]))
    ['4-5 are now 3-4', '8 is now 5', 'a:9-a:10 are now b:1-b:2']
    """
    run: list[tuple[str, str]] = []
    for pair in renamed:
        if run and not all(map(_follows, run[-1], pair)):
            yield _told(run)
            run = []
        run = [run[0], pair] if run else [pair]
    if run:
        yield _told(run)


def _follows(before: str, after: str) -> bool:
    one, other = _NUMBERED.fullmatch(before), _NUMBERED.fullmatch(after)
    return bool(one and other and one[1] == other[1] and int(one[2]) + 1 == int(other[2]))


def _told(run: list[tuple[str, str]]) -> str:
    old, new = zip(*run, strict=True)
    return f"{'-'.join(old)} {'is' if len(run) == 1 else 'are'} now {'-'.join(new)}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_options(
        parser,
        """
        IN...  file or folder; or several of the same pairs, one an annotator; - is stdin
        --fix OUT  write what could be read: each link once and within its sentences, no byte order
            marks or carriage returns, U+FFFD for control characters; OUT may be IN
        --fix-source FILE  write the source words mended too
        --fix-target FILE  write the target words mended too
        --leaks  tell which pairs of the second of two files the first holds: equal, reversed, or
            of the same group
        --group ATTRIBUTE  what names the groups of --leaks; repeatable (default: goeswith)
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
        --ignore-case  for --leaks, words that differ in case alone are equal (default: they
            differ; white space and the Unicode form of characters never count)
        --show N  findings of each kind (default: 5)
        --json  print all findings as JSON (default: text)
        """,
        show={"type": number(0), "default": 5},
    )
    add_reading_arguments(parser)
    add_tree_options(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    for name in ("group", "separator", "ignore_case"):
        if getattr(options, name) and not options.leaks:
            flag = f"--{name.replace('_', '-')}"
            raise OptionError(f"{flag} is for --leaks: add it, or leave {flag} out")
    return check_leaks(options) if options.leaks else _check_check(options)


def _check_check(options: argparse.Namespace) -> int:
    from alignkit.corpora.validation import compare_texts

    if options.fix and len(options.inputs) > 1:
        raise OptionError("--fix mends one file; give one IN")
    check_tree_options(options)
    if trees_named(options) and (options.fix or len(options.inputs) > 1):
        raise OptionError("files of trees go with one IN, and without --fix")
    if (options.fix_source or options.fix_target) and not options.fix:
        raise OptionError("--fix-source and --fix-target go with --fix")
    declared = reading_options(options)
    examined = [_examined(path, options, declared) for path in options.inputs]
    for other in examined[1:]:
        compare_texts(examined[0], other)
    problem, mending = _unreadable(examined, declared), None
    if options.fix and problem is None:
        try:
            _refuse_shifted(examined[0])
            mending = mend(examined[0], options, declared)
        except AlignkitError as error:
            problem = error  # first tell what was found
    with redirect_stdout(sys.stderr if options.fix == "-" else sys.stdout):
        if options.json:
            records = [_record(report, options) for report in examined]
            if mending is not None:
                records[0]["fix"] = mending.to_json()
            print(json_text(records))
        else:
            for number, report in enumerate(examined):
                print(end="\n" if number else "")
                _print(report, options)
    if problem is not None:
        raise problem
    if mending is not None:
        mending.tell()
    return 0 if all(report.clean for report in examined) else 1


def _refuse_shifted(report: Examination) -> None:
    if report.counts["row shift"]:
        message = "nothing was mended: links and words look shifted; mend the lines first"
        raise FormatError(message, report.path)


def _examined(path: str, options: argparse.Namespace, declared: ReadOptions) -> Examination:
    from alignkit.corpora.validation import examine

    format = detect_format(path, options.format, declared)
    trees = trees_named(options)
    keep = bool(options.fix) or len(options.inputs) > 1 or trees
    report = examine(path, format=format, options=declared, keep=keep)
    if trees:
        _examine_trees(report, options)
    return report


def _examine_trees(report: Examination, options: argparse.Namespace) -> None:
    """Tell of the trees of files: those that do not fit, or are flat; more or fewer than pairs."""
    name = tree_name(options) or ""
    counts: Counter[str] = Counter()
    try:
        for pair in attached(options, report.corpus, counts, report.observe):
            for side, trees in (("source", pair.source_trees), ("target", pair.target_trees)):
                if name in trees:
                    report.add_tree(pair.id, side, name, trees[name], *report.lines[pair.id])
    except JoinError as problem:
        report.observe(Finding("wrong number of trees", str(problem), report.path))
    report.tree_counts = counts


def _unreadable(examined: list[Examination], declared: ReadOptions) -> AlignkitError | None:
    for report in examined:
        judged = JUDGED in get_format(report.format).holds and report.refused < report.records
        if report.refused and not report.links and not judged:
            hint = hint_of(report.path, report.format, declared) or (
                "name another format by --format, or the encoding by --encoding"
            )
            return FormatError(
                f"{report.refused} of {report.records} records cannot be read as {report.format}, "
                f"and no link was found; {hint}",
                report.path,
            )
    return None


def _print(report: Examination, options: argparse.Namespace) -> None:
    most = options.show
    refused = f" and {report.refused} broken records" if report.refused else ""
    print(
        f"{visible(report.path)}: {report.format}, "
        f"{report.records - report.refused} sentence pairs{refused}, {report.links} links, "
        f"counted from {report.base}{', written target first' if report.transposed else ''}"
    )
    if report.trees:
        named = (f"{n} {side} {name}" for (side, name), n in report.trees.items())
        print(f"trees: {visible(', '.join(named))}")
    told = Counter({kind: n for kind, n in report.tree_counts.items() if kind != "trees"})
    if told:
        print(f"of the files of trees: {trees_told(told)}")
    if report.links:
        print()
        print(_fits(report), end="\n\n")
    shown: Counter[str] = Counter()
    for finding in report.findings:
        shown[finding.kind] += 1
        if shown[finding.kind] <= most:
            print(visible(in_words_of(options.parser, str(finding))))
    for kind, count in report.counts.items():
        if count > most:
            print(f"... {kind}: {count} in all; --show {count} shows them")
    if report.clean:
        print("clean: nothing odd was found")
    else:
        print("findings: " + ", ".join(f"{n} x {kind}" for kind, n in report.counts.items()))


def _fits(report: Examination) -> Table:
    declared = (report.base, report.transposed)
    columns = [
        *(Column("base", "count"), Column("direction"), Column("links outside", "count")),
        *(Column("join equal words", "count"), Column("", key="declared")),
    ]
    rows: list[list[Cell]] = [
        [
            fit.base,
            "target first" if fit.transposed else "source first",
            fit.outside if report.has_text or fit.base else "?",
            fit.equal if report.has_text else "?",
            "<- as declared" if declared == (fit.base, fit.transposed) else None,
        ]
        for fit in report.fits
    ]
    return Table("", columns, rows)


def _record(report: Examination, options: argparse.Namespace) -> dict[str, object]:
    return {
        **{name: getattr(report, name) for name in ("path", "format", "base", "transposed")},
        "records": report.records,
        "read": report.records - report.refused,
        **{name: getattr(report, name) for name in ("refused", "links", "sure")},
        "trees": [
            {"side": side, "name": name, "pairs": n} for (side, name), n in report.trees.items()
        ],
        "tree_counts": dict(report.tree_counts),
        "clean": report.clean,
        "counts": dict(report.counts),
        "fits": [
            {
                "base": fit.base,
                "transposed": fit.transposed,
                "outside": fit.outside if report.has_text or fit.base else None,
                "equal": fit.equal if report.has_text else None,
            }
            for fit in report.fits
        ],
        "findings": [
            {
                "kind": finding.kind,
                "path": finding.path,
                "line": finding.line,
                "times": finding.times,
                "message": in_words_of(options.parser, finding.message),
            }
            for finding in report.findings
        ],
    }


def check_leaks(options: argparse.Namespace) -> int:
    """Run `check --leaks`; return 1 where there are leaks."""
    if len(options.inputs) != 2:
        raise OptionError("--leaks compares two files: TRAIN and TEST")
    if options.fix:
        raise OptionError("--fix mends one file; leave it or --leaks out")
    declared = reading_options(options)
    train, test = (Input(path, options.format, declared).corpus() for path in options.inputs)
    leaks = find_leaks(
        train, test, options.group, separator=options.separator, ignore_case=options.ignore_case
    )
    counts = Counter(leak.kind for leak in leaks)
    pairs = len({leak.test for leak in leaks})
    if options.json:
        record = {
            "train": {"path": options.inputs[0], "pairs": len(train)},
            "test": {"path": options.inputs[1], "pairs": len(test), "known": pairs},
            "counts": {kind: counts[kind] for kind in KINDS},
            "leaks": [asdict(leak) for leak in leaks],
        }
        print(json_text(record))
        return int(bool(leaks))
    shown: Counter[str] = Counter()
    for leak in leaks:
        shown[leak.kind] += 1
        if shown[leak.kind] <= options.show:
            print(visible(_line(leak)))
    for kind, count in counts.items():
        if count > options.show:
            print(f"... {kind}: {count} in all; --show {count} shows them")
    if leaks:
        listing = ", ".join(f"{counts[kind]} x {kind}" for kind in KINDS if counts[kind])
        print(f"{pairs} of {len(test)} pairs are known to the first file: {listing}")
    else:
        print(f"clean: none of {len(test)} pairs is known to the first file")
    return int(bool(leaks))


def _line(leak: Leak) -> str:
    about = f" by {leak.group}" if leak.group else ""
    also = f"; the first file has {', '.join(leak.also)} too" if leak.also else ""
    return f"{leak.kind}: pair {leak.test!r} and {leak.train!r} of the first file{about}{also}"
