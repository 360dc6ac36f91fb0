"""Compile all kernels now, so that no later command has to.

Kernels are the loops that numba compiles to machine code. Without this command, each command
compiles the kernels that it needs when they are first called (2 to 30 seconds).

Compiled kernels are kept for this user, this installation of alignkit and this kind of processor,
in the user's cache folder, or in the one that XDG_CACHE_HOME names. If they are used on other kinds
of processors, set NUMBA_CPU_NAME=generic for this command and for all others. Containers, clusters
and shared homes: https://alignkit.github.io/alignkit/latest/start/install.html

For example:
  alignkit compile
  XDG_CACHE_HOME=/var/cache/alignkit alignkit compile --quiet
  NUMBA_CPU_NAME=generic alignkit compile
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import NamedTuple

from alignkit._support.parallel import available_cores
from alignkit._support.signals import before_stop
from alignkit.cli.common.messages import ProgressBar, say, warn
from alignkit.cli.parser import Options, Parser
from alignkit.errors import AlignkitError

_MOST = 4
"""Processes at a time; each has up to 500 MB."""
_CODE = (
    "import sys; name, *sys.path[:] = sys.argv[1:]; from alignkit.cli.main import main; "
    "from alignkit.cli.kernels.rehearsal import rehearse; sys.exit(rehearse(name, main))"
)


def add_arguments(_: Parser) -> None:
    """There are no options but the common ones."""


def run(_: Options) -> None:
    """Compile all kernels, by rehearsing commands on a small corpus."""
    from alignkit._support import kernel_cache, kernel_files

    if obstacle := kernel_cache.obstacle():
        raise AlignkitError(f"compiled kernels cannot be kept: {obstacle}")
    before = set(kernel_files.kept())
    if not before:
        say("compiling all kernels takes 1 to 4 minutes")
    start = time.monotonic()
    _rehearse_all(lambda: len(set(kernel_files.kept()) - before))
    after = set(kernel_files.kept())
    new = len(after - before)
    megabytes = sum(path.stat().st_size for path in after) / 1e6
    folders = sorted({str(path.parent) for path in after})
    print(
        f"{new} kernels compiled in {time.monotonic() - start:.0f} s ({len(before)} were there); "
        f"{len(after)} are kept, {megabytes:.0f} MB, in {' and '.join(folders)}"
    )


class _Rehearsal(NamedTuple):
    """The process that runs the commands of a rehearsal, and the file with its messages."""

    name: str
    process: subprocess.Popen[bytes]
    messages: Path

    def check(self) -> None:
        """Raise an error if a command failed, or if the kernels could not be kept."""
        code = self.process.returncode
        if code == 0:
            return
        lines = self.messages.read_text("utf-8", errors="replace").splitlines()
        for line in lines[:-1]:
            warn(line.removeprefix("alignkit: "))
        if lines:
            last = lines[-1].removeprefix("alignkit: ")
        else:
            last = "is there enough memory?"
        raise AlignkitError(f"compiling the kernels of {self.name} failed ({code}): {last}")


def _rehearse_all(count: Callable[[], int]) -> None:
    """Run all rehearsals, some at a time; `count` returns how many kernels were compiled so far."""
    from alignkit.cli.kernels.rehearsal import REHEARSALS

    waiting = list(REHEARSALS)
    running: list[_Rehearsal] = []
    folder = Path(mkdtemp(prefix="alignkit-"))

    def stop() -> str:
        for rehearsal in running:
            rehearsal.process.kill()
            rehearsal.process.wait()
        rmtree(folder, ignore_errors=True)
        return "the kernels compiled so far are kept"

    most = min(_MOST, available_cores())
    try:
        with before_stop(stop), ProgressBar("compiling", None, "kernels") as progress:
            shown = 0
            while waiting or running:
                while waiting and len(running) < most:
                    running.append(_start(waiting.pop(0), folder))
                for rehearsal in [each for each in running if each.process.poll() is not None]:
                    running.remove(rehearsal)
                    rehearsal.check()
                compiled = count()
                progress.step(compiled - shown)
                shown = compiled
                time.sleep(0.1)
    finally:
        stop()


def _start(name: str, folder: Path) -> _Rehearsal:
    """Start a rehearsal in a folder of its own."""
    own = folder / name
    own.mkdir()
    paths = [os.path.abspath(path) for path in sys.path if path]
    messages = own / "messages"
    with messages.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-c", _CODE, name, *paths],
            cwd=own,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=file,
        )
    return _Rehearsal(name, process, messages)
