"""Options, session and progress of commands that process a corpus in parts."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from alignkit._support.wording import how_many
from alignkit.cli.common.messages import ProgressBar, say
from alignkit.cli.parser import Options, Parser, add_options, number, option_values
from alignkit.errors import OptionError
from alignkit.io.atomic_files import WriteError, refuse_address, together
from alignkit.io.options import ReadOptions

if TYPE_CHECKING:
    from alignkit.cluster.session import Session

_EVERY = 60.0  # seconds between lines, if stderr is no terminal

_OPTIONS = """
    --cluster C  run on Dask workers; C is local:4 (4 processes on this machine), the address
        tcp://HOST:8786 or the FILE.json of a scheduler; the output is the same (default: run in
        this process)
    --work DIR  folder that all workers can access; finished parts are kept in its subfolder
        alignkit-run, and the same command continues after a stop (default: a folder next to the
        output, removed at the end)
    --wait SECONDS  time to wait for workers, at the start and when none are left (default: no
        limit; with --cluster local, 30)
"""
_ESTIMATE = """
    --estimate  only estimate the size of the corpus and the memory and disk space needed, from
        some parts
"""


def add_cluster(parser: Parser, *, estimate: bool = True) -> None:
    parser.set_defaults(stray=_stray)
    group = parser.add_argument_group("more than one machine")
    add_options(group, _OPTIONS + _ESTIMATE * estimate, wait=number(0))


def _stray(_options: Options, words: Sequence[str]) -> str:
    """Return a hint that the shell may have expanded a pattern."""
    if os.path.exists(words[0]):
        return "put a path with a * in quotes"
    return ""


def of_parts(options: Options, *paths: str | None) -> bool:
    """Return whether a command works on parts: a path has a ``*``, or workers are named."""
    if options.wait is not None and options.cluster is None:
        raise OptionError("--wait needs a cluster: add --cluster, or leave --wait out")
    if by_workers(options) or getattr(options, "estimate", False):
        return True
    starred = [path for path in paths if path is not None and "*" in path]
    if not starred:
        return False
    from alignkit.cluster.parts import is_pattern

    return any(map(is_pattern, starred))


def by_workers(options: Options) -> bool:
    """Return whether finished parts are kept in a folder, for workers or a later run."""
    return options.cluster is not None or options.work is not None


def refuse_options(options: Options, names: Iterable[str], why: str) -> None:
    """Refuse options that do not work with parts."""
    for name in names:
        if getattr(options, name) != options.parser.get_default(name):
            flag = name.replace("_", "-")
            raise OptionError(f"--{flag} does not work with parts ('*', --cluster): {why}")


def reading_of(options: Options) -> ReadOptions:
    """Return the options for reading the texts."""
    names = ("text_ids", "token_separators", "encoding", "max_size", "max_words")
    return ReadOptions(**option_values(options, *names))


@contextmanager
def opened_session(options: Options) -> Iterator[Session]:
    """Connect to the workers that the options name; print the address of their dashboard."""
    from alignkit.cluster.connecting import check_address, open_session
    from alignkit.cluster.dask_session import DaskSession

    if options.work is not None:
        refuse_address(options.work)
    if options.cluster is not None:
        check_address(options.cluster)
    with open_session(options.cluster, wait=options.wait) as session, together() as outputs:
        if isinstance(session, DaskSession):
            if session.dashboard:
                link = f"; see {session.dashboard}"
            else:
                link = ""
            say(f"{options.cluster}: {how_many(session.workers, 'worker')}{link}")
        outputs.kept_note = "finished parts are kept; run the same command again to continue"
        yield session


def size(bytes: float) -> str:
    """Return a number of bytes with a unit."""
    for unit in ("bytes", "kB", "MB"):
        if bytes < 1000:
            return f"{bytes:.3g} {unit}"
        bytes /= 1000
    return f"{bytes:,.3g} GB" if bytes < 1000 else f"{bytes:,.0f} GB"


class PartsProgress:
    """Show the progress of work on parts: in one line that changes, or a line each minute."""

    def __init__(self, label: str) -> None:
        self._line = ProgressBar(label)
        self._label = label
        self._begun = self._printed = time.monotonic()
        self.text = ""

    def __enter__(self) -> PartsProgress:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._line.__exit__()
        from alignkit.cluster.session import ClusterError

        if self.text and isinstance(error, (ClusterError, WriteError)):  # not the input failed
            say(f"{self._label}: {self.text}; finished work is kept; run the command again")

    def __call__(self, done: int, total: int, text: str) -> None:
        """Show how much of the total is done."""
        share = done / max(total, 1)
        self.text = text
        self._line.reach(share, text)
        now = time.monotonic()
        if now - self._printed > _EVERY and not self._line.active:
            left = (now - self._begun) * (1 / max(share, 1e-9) - 1)
            say(f"{self._label}: {text}, {share:.0%}, {left:.0f} s left")
            self._printed = now
