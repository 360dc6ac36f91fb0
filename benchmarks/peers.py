"""Define the word aligners that are compared: how each is found, got and run."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from benchmarks.clock import Measured, run

__all__ = ["ALIGNERS", "Aligner", "Job"]


class Job(NamedTuple):
    """Name the files of a bitext and those that an aligner writes, in the aligner's own folder."""

    folder: Path
    source: str
    target: str
    joined: str
    """Both sides in one file, as fast_align reads them."""

    @property
    def directions(self) -> tuple[str, str]:
        """The files of the forward and the reverse links, both as source-target."""
        return str(self.folder / "forward"), str(self.folder / "reverse")

    @property
    def links(self) -> str:
        """The file of the links of an aligner that merges the directions itself."""
        return str(self.folder / "links")


class Step(NamedTuple):
    """Hold a command, and the file to which its output goes."""

    command: Sequence[str]
    output: str = os.devnull


class Aligner(NamedTuple):
    """Say how an aligner is run in both directions with its default settings."""

    present: Callable[[], bool]
    install: str
    """What to tell where it is absent."""
    steps: Callable[[Job], Sequence[Step]]
    """The commands of both directions, one after the other."""
    merges: bool = False
    """Whether it merges the directions itself."""

    def run(self, job: Job) -> Measured:
        """Run it on a bitext; raise CommandError where a command fails."""
        made = [run(step.command, output=step.output) for step in self.steps(job)]
        peaks = [one.peak for one in made if one.peak is not None]
        return Measured(sum(one.seconds for one in made), max(peaks, default=None))


def _alignkit(job: Job) -> list[Step]:
    words = ["align", job.source, job.target, "-o", job.links]
    return [Step([sys.executable, "-m", "alignkit", *words])]


def _fast_align(job: Job) -> list[Step]:
    command = ["fast_align", "-i", job.joined, "-d", "-o", "-v"]
    forward, reverse = job.directions
    return [Step(command, forward), Step([*command, "-r"], reverse)]


def _eflomal_script() -> str | None:
    return shutil.which("eflomal-align") or shutil.which(
        "eflomal-align", path=sysconfig.get_path("scripts")
    )


def _eflomal(job: Job) -> list[Step]:
    files = zip(("-s", "-t", "-f", "-r"), (job.source, job.target, *job.directions), strict=True)
    return [Step([sys.executable, _eflomal_script() or "", "--overwrite", *chain(*files)])]


def _child(job: Job, module: str, *options: str) -> list[Step]:
    """Run a module of this folder that runs or binds the aligner."""
    files = (job.source, job.target, *job.directions)
    return [Step([sys.executable, "-m", f"benchmarks.{module}", *options, *files])]


def _on_path(*names: str) -> bool:
    return all(map(shutil.which, names))


def _thot(model: str) -> Aligner:
    return Aligner(
        lambda: find_spec("thot") is not None,
        "pip install sil-thot",
        lambda job: _child(job, "peer_thot", model),
    )


ALIGNERS = {
    "alignkit": Aligner(lambda: True, "", _alignkit, merges=True),
    "fast_align": Aligner(
        partial(_on_path, "fast_align"),
        "compile github.com/clab/fast_align, with libsparsehash; put it on PATH",
        _fast_align,
    ),
    "eflomal": Aligner(
        lambda: _eflomal_script() is not None, "pip install eflomal (needs a C compiler)", _eflomal
    ),
    "mgiza": Aligner(
        partial(_on_path, "mgiza", "mkcls", "plain2snt", "snt2cooc"),
        "compile github.com/moses-smt/mgiza; put mgiza, mkcls, plain2snt and snt2cooc on PATH",
        lambda job: _child(job, "peer_mgiza"),
    ),
    "thot-fast_align": _thot("fast_align"),
    "thot-hmm": _thot("hmm"),
    "thot-ibm4": _thot("ibm4"),
    "thot-eflomal": _thot("eflomal"),
}
"""All aligners, by name; the thot ones are sil-thot's."""
