"""A child process that runs `server.worker` or another module: its job, and the lines it writes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from msgspec import Raw, Struct, json, structs

from alignkit.annotate.project.events import Lesson
from alignkit.annotate.project.names import VOTE, ProjectError, vote_name, vote_of
from alignkit.annotate.project.project_events import Suggestion
from alignkit.errors import OptionError, UnknownNameError

Row = tuple[int, list[Suggestion]]  # the number of a pair, and its suggestions
Report = Callable[[str, "float | None"], None]
"""Takes the step that a child has reached, and the share of it if known."""
Note = Callable[[str], None]
"""Takes what users should know."""


class LabEncoder(Struct, frozen=True):
    """The encoder that a lab's server was started with."""

    folder: str
    layer: int

    @property
    def name(self) -> str:
        """The name that people see."""
        return Path(self.folder).name

    def trained(self, *, learning: bool) -> SuggestionPlan:
        """Return the plan of an aligner that is trained on the pairs with this encoder."""
        plan = SuggestionPlan("trained", learning=learning)
        return plan.with_encoder(self.folder, self.layer)


class SuggestionPlan(Struct, frozen=True):
    """The source of suggestions."""

    kind: str
    name: str = ""  # the annotator, the file of the model, or the set of a vote
    pending: bool = True  # they are not there yet
    learning: bool = False  # they are to be learned from what is done
    encoder: str = ""  # the folder of the encoder that the aligner uses
    encoder_layer: int | None = None

    @property
    def systems(self) -> dict[str, list[str]]:
        """The systems that vote, each with its annotators."""
        return vote_of(self.name) if self.kind == VOTE else {}

    def with_encoder(self, folder: str, layer: int) -> SuggestionPlan:
        """Return the plan whose aligner uses an encoder."""
        return structs.replace(self, encoder=folder, encoder_layer=layer)

    def checked(self, annotators: Collection[str], annotator: str) -> SuggestionPlan:
        """Return the plan with the annotators of its systems, if it can suggest to an annotator."""
        option = "--initial"
        plan = self
        systems = {self.name: [self.name]}
        if self.kind == VOTE:
            from alignkit.align.evidence import channels_of
            from alignkit.align.supervised.gold import checked_annotators

            option = "--evidence"
            what = "annotator (--evidence)"
            systems = {name: channels_of(name, annotators, what) for name in self.systems}
            plan = structs.replace(self, name=vote_name(checked_annotators(systems, "")))
        elif self.kind != "initial":
            return self
        elif self.name not in annotators:
            raise UnknownNameError("annotator (--initial)", self.name, annotators)
        for name, own in systems.items():
            if annotator in (name, *own):
                raise OptionError(
                    f"{option} {name} and --annotator {annotator} are the same; annotate "
                    "under another name"
                )
        return plan


class Job(Struct):
    """The task of the child."""

    project: str  # the project's file; it is made from the corpus, if that is given
    corpus: str = ""  # the corpus, its format (empty: plain texts), and the fields of ReadOptions
    format: str = ""
    reading: dict[str, Any] = {}
    name: str = ""  # of the new project; for figures, what the commands call the project
    scheme: str = ""
    task: str = ""  # what is done in the project; empty: what is done already, or align
    doubt: float | None = None  # from which doubt on words are looked at; None: as before
    documents: tuple[str, ...] = ()
    tokenize: str | None = None
    annotator: str = ""  # who annotates
    plan: SuggestionPlan | None = None  # the suggestions that are wanted
    figures: str = ""  # of the dashboard: all, or times
    learn: bool = False
    accept_copy: bool = False  # open a plain copy of a file in use
    turn: str = ""  # the file that the child locks while it trains: one at a time


class Line(Struct, omit_defaults=True):
    """A line of the child: progress, a note, an error, or a row; at last `done` and a result."""

    text: str = ""
    share: float | None = None
    note: str = ""
    error: str = ""
    row: Row | None = None
    lesson: Lesson | None = None
    done: bool = False
    result: Raw = Raw(b"null")


_CODE = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "  # the parent ends it
    "module, *sys.path[:] = sys.argv[1:]; from importlib import import_module; "
    "import_module(module).main()"
)


class ChildKilledError(ProjectError):
    """A child process that ended before its job was done, without a word."""


class ChildProcess:
    """A job in a child process, with callbacks for its progress, notes and lessons."""

    def __init__(
        self,
        job: Struct,
        report: Report,
        note: Note,
        take: Callable[[Lesson, Iterator[Row]], None] | None = None,
        module: str = "alignkit.annotate.server.worker",
    ) -> None:
        self._report = report
        self._note = note
        self._rows: IO[bytes] = TemporaryFile()  # noqa: SIM115 - in memory they may be too many
        self._job = job
        self._take = take
        self._module = module
        self._hears = False
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False
        self.result = b""

    def run(self) -> None:
        """Wait until it is done."""
        command = [sys.executable, "-c", _CODE, self._module, *filter(None, sys.path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            self._process = process
            assert process.stdin is not None
            assert process.stdout is not None
            if self._stopped:
                process.kill()
            try:
                with suppress(BrokenPipeError):
                    process.stdin.write(json.encode(self._job) + b"\n")
                    process.stdin.flush()
                self._hears = True
                done = self._listen(process.stdout)
            finally:
                with suppress(
                    BrokenPipeError
                ):  # closing writes what a child that ended left unread
                    process.stdin.close()
        if not done:
            again = "" if self._take else " Start again to continue"
            raise ChildKilledError(f"the child process was killed; is there enough memory?{again}")

    def _listen(self, lines: IO[bytes]) -> bool:
        """Pass on the lines of the child; return whether it has done its job."""
        for text in lines:
            line = json.decode(text, type=Line)
            if line.row is not None:
                self._rows.write(text)
            elif line.lesson is not None and self._take is not None:
                self._take(line.lesson, self.rows())
                self._rows.seek(0)
                self._rows.truncate()
            elif line.error:
                raise ProjectError(line.error)
            elif line.note:
                self._note(line.note)
            elif line.done:
                self.result = bytes(line.result)
                return True
            else:
                self._report(line.text, line.share)
        return False

    def ring(self) -> None:
        """Wake up a child that waits; a child that has not begun needs no call."""
        if self._hears and self._process is not None and self._process.stdin is not None:
            with suppress(OSError, ValueError):  # it has ended
                self._process.stdin.write(b"\n")
                self._process.stdin.flush()

    def rows(self) -> Iterator[Row]:
        """Yield the suggestions that the child sent."""
        self._rows.seek(0)
        for text in self._rows:
            row = json.decode(text, type=Line).row
            if row is not None:
                yield row

    def close(self) -> None:
        """Delete the suggestions."""
        self._rows.close()

    def stop(self) -> None:
        """End the process, even if it is working."""
        self._stopped = True
        if self._process is not None:
            with suppress(OSError):
                self._process.kill()
