"""Write what could be read of a file, and tell what became of the rest and of the ids."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextvars import Context
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from alignkit.cli.convert import tell_lost
from alignkit.cli.messages import say
from alignkit.errors import OptionError
from alignkit.formats import Finding, ReadOptions, get_format, write_corpus
from alignkit.formats.format import losses
from alignkit.output import identity, standard_stream
from alignkit.signals import before_stop

if TYPE_CHECKING:
    from alignkit.doctor import Examination

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
    from alignkit.doctor import examine

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
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
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
