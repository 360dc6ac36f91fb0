"""`check --fix`: write what can be read of a file, and report what was left out or has changed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextvars import Context
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

from alignkit._support.signals import before_stop
from alignkit._support.values import named_json
from alignkit._support.wording import how_many
from alignkit.cli.common.losses import tell_lost
from alignkit.cli.common.messages import say
from alignkit.cli.corpora.check_findings import listing
from alignkit.cli.parser import Options
from alignkit.errors import FormatError, OptionError
from alignkit.io.atomic_files import identity, standard_stream
from alignkit.io.format import losses, losses_in_words
from alignkit.io.formats import get_format
from alignkit.io.options import ReadOptions
from alignkit.io.reading import write_corpus
from alignkit.io.text_files import Finding
from alignkit.model.corpus import Corpus

if TYPE_CHECKING:
    from alignkit.corpora.validation import Examination

T = TypeVar("T")

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
            parts.append(f"left for you to decide: {listing(self.left)}")
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


def mend(report: Examination, options: Options, declared: ReadOptions) -> Mending:
    """Write the readable pairs to ``--fix``; refuse what would make the file worse."""
    corpus = report.corpus
    kind = get_format(report.format)
    if kind.text_beside and not options.fix_source:
        corpus = _without_rest_of_texts(corpus)
    lost: Counter[str] = Counter()
    for pair in corpus:
        lost.update(losses(pair, kind.holds))
    _check_mendable(report, lost, options, declared)
    mended = _examined_again(report, corpus, options, declared)
    _write(report, corpus, options.fix, options.fix_source, options.fix_target)
    broken = [finding for finding in report.findings if finding.kind == "broken record"]
    old = report.corpus.ids
    new = mended.corpus.ids
    mending = Mending(options.fix, report.format, len(old), report.refused, broken, lost=lost)
    if standard_stream(options.fix) is None:
        mending.left = mended.counts
        mending.read_again = len(new)
    if len(new) == len(old):
        renamed = zip(old, new, strict=True)
        mending.renumbered = [(before, after) for before, after in renamed if before != after]
    return mending


def _check_mendable(
    report: Examination, lost: Counter[str], options: Options, declared: ReadOptions
) -> None:
    """Refuse to leave out what others rest on, and to replace a file that would lose something."""
    kind = get_format(report.format)
    if report.counts["row shift"]:
        message = "nothing was fixed: links and words look shifted; correct the lines first"
        raise FormatError(message, report.path)
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
    report: Examination, corpus: Corpus, options: Options, declared: ReadOptions
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
        # in a context of its own, so that the files are there at once: what the command writes is
        # put in place at its end
        Context().run(_write, report, corpus, path, source, target)
        again = declared
        if source:
            # without a target, the source is a bitext
            again = replace(declared, source=source, target=target, encoding="utf-8")
        elif target:
            again = replace(declared, target=target, encoding="utf-8")
        return examine(path, format=report.format, options=again)
