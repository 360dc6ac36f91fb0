"""What the server asks of its child process, and what that tells."""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct

from alignkit.annotate.log.lessons import Lesson
from alignkit.annotate.log.project_events import Suggestion

Row = tuple[int, list[Suggestion]]
"""The number of a pair, and what is suggested for it."""


class Plan(Struct, frozen=True):
    """Where suggestions come from."""

    kind: str
    name: str = ""  # the annotator, or the file of the model
    pending: bool = True  # they are not there yet
    learning: bool = False  # they are to be learned from what is done


class Job(Struct):
    """What is to be done."""

    project: str  # the project's file; it is made where there is a corpus
    corpus: str = ""  # the corpus, its format, and the fields of ReadOptions
    format: str = ""
    reading: dict[str, Any] = {}
    name: str = ""  # of the new project
    scheme: str = ""
    task: str = ""  # what is done in the project; empty takes what is done already, or align
    documents: tuple[str, ...] = ()
    tokenize: str | None = None
    annotator: str = ""  # who annotates
    plan: Plan | None = None  # the suggestions that are wanted
    figures: str = ""
    learn: bool = False


class Line(Struct, omit_defaults=True):
    """What the process tells: progress, a note, what went wrong, a row; at last `done`.

    With `done` comes the result of a job that has one; a lesson comes behind its rows.
    """

    text: str = ""
    share: float | None = None
    note: str = ""
    error: str = ""
    row: Row | None = None
    lesson: Lesson | None = None
    done: bool = False
    result: Raw = Raw(b"null")
