"""Define what the server asks of its child process, and what that tells."""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct

from alignkit.annotate.log.lessons import Lesson
from alignkit.annotate.log.project_events import Suggestion

__all__ = ["Job", "Line", "Plan", "Row"]

Row = tuple[int, list[Suggestion]]
"""The number of a pair, and what is suggested for it."""


class Plan(Struct, frozen=True):
    """Say where suggestions come from.

    Parameters
    ----------
    kind
        ``none``; ``initial``, an annotator of the project; ``model``, a saved aligner; or
        ``trained``, an aligner that learns from the project itself.
    name
        The annotator, or the file of the model.
    pending
        They are not there yet.
    learning
        They are to be learned from what is done.
    """

    kind: str
    name: str = ""
    pending: bool = True
    learning: bool = False


class Job(Struct):
    """Say what is to be done.

    Parameters
    ----------
    project
        The project's file; it is made where there is a `corpus`.
    corpus, format, reading
        The corpus, its format, and the fields of `ReadOptions`.
    name, scheme
        Of the new project.
    task
        What is done in the project; empty takes what is done already, or ``align``.
    documents, tokenize
        In place of a corpus: documents to extract pairs from, and how they are divided into words.
    annotator
        Who annotates.
    plan
        The suggestions that are wanted.
    figures
        ``all`` or ``times`` alone: the figures of the dashboard that take a while are wanted; see
        `slow_figures`.
    learn
        Suggestions are to be learned, each time that a line comes behind the job; see `Course`.
    """

    project: str
    corpus: str = ""
    format: str = ""
    reading: dict[str, Any] = {}
    name: str = ""
    scheme: str = ""
    task: str = ""
    documents: tuple[str, ...] = ()
    tokenize: str | None = None
    annotator: str = ""
    plan: Plan | None = None
    figures: str = ""
    learn: bool = False


class Line(Struct, omit_defaults=True):
    """Hold what the process tells: progress, a note, what went wrong, a row; at last `done`.

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
