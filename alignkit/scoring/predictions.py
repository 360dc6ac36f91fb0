"""Read the labels that a program predicted for pairs, by id or in order."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Union

from alignkit._support.arguments import check_arguments
from alignkit.errors import FormatError, JoinError, OptionError, UnknownNameError
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import TextFile
from alignkit.model.annotation import Annotation
from alignkit.model.corpus import Corpus
from alignkit.model.labels import View

PREDICTED = ("scheme", "view")  # the kinds of labels in a file

_Lines = Sequence[tuple[int, str]]  # the number of each line, from 1, and its text
_Labels = dict[int, tuple[int, str]]  # by the place of a pair: the number of the line, its label
_HEADING = ["id", "label"]


@dataclass(frozen=True)
class Predictions:
    """The predictions of a program."""

    judgments: Mapping[int, str]  # by the place of a pair in the corpus
    # whether they were labels of a view, each now the first judgment with that label: what else a
    # judgment says, such as its flags, was not predicted
    of_view: bool = False

    def added(self, corpus: Corpus, name: str) -> Corpus:
        """Return the corpus with the predictions as judgments of an annotator."""
        if name in corpus.annotators:
            raise JoinError(f"{name!r} has already annotated the pairs: choose a new name")
        pairs = list(corpus)
        for place, judgment in self.judgments.items():
            added = {name: Annotation(alignment=None, judgment=judgment)}
            pairs[place] = replace(pairs[place], annotations={**pairs[place].annotations, **added})
        return Corpus(pairs)


def with_predictions(
    corpus: Corpus,
    path: Union[str, os.PathLike[str]],
    name: str,
    view: View | None = None,
    *,
    predicted: str | None = None,
    lenient_labels: bool = False,
    encoding: str = "utf-8",
) -> Corpus:
    r"""Return the corpus with the labels of a file as the judgments of an annotator.

    Parameters
    ----------
    corpus : The pairs.
    path : Lines with an id, a tab and a label, for some or all pairs, with or without the heading
        ``id<TAB>label``; or only a label for each pair, in the order of the pairs. The first form
        is assumed if at least half of the lines have a tab.
    name : The annotator to add.
    view : Labels must be in this view or its scheme; None accepts any text.
    predicted : Whether they are labels of the ``"scheme"`` or the ``"view"``; None means the
        scheme, unless a label is only in the view. A label of a view becomes the first judgment
        that the view maps to it.
    lenient_labels : Keep labels that are in neither, instead of raising an error.
    encoding : The encoding of the file.

    Raises
    ------
    FormatError : If a line does not match the pairs, or a label is in neither the scheme nor the
        view.
    OptionError : If the labels are in both, with different meanings.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> corpus = Corpus.from_texts(["he left", "rain"], ["he went", "sun"])
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "labels.tsv")
    ...     _ = path.write_text("id\tlabel\n1\tyes\n2\tno\n", "utf-8")
    ...     labelled = with_predictions(corpus, path, "system")
    >>> [pair.annotations["system"].judgment for pair in labelled]
    ['yes', 'no']
    """
    check_arguments(with_predictions, locals())
    predictions = read_predictions(
        corpus, path, view, predicted=predicted, lenient_labels=lenient_labels, encoding=encoding
    )
    return predictions.added(corpus, name)


def read_predictions(
    corpus: Corpus,
    path: Union[str, os.PathLike[str]],
    view: View | None = None,
    *,
    predicted: str | None = None,
    lenient_labels: bool = False,
    encoding: str = "utf-8",
) -> Predictions:
    """Return the labels of a file for the pairs of a corpus; see `with_predictions`."""
    if predicted is not None and predicted not in PREDICTED:
        raise UnknownNameError("kind of predicted labels", predicted, PREDICTED)
    file = os.fspath(path)
    lines = list(TextFile(file, ReadOptions(encoding=encoding)).lines())
    while lines and not lines[-1][1].strip():
        lines.pop()
    for number, text in lines:
        if not text.strip():
            raise FormatError("empty line; expected a label for each pair", file, number)
    tabs = sum("\t" in text for _, text in lines)
    if lines and 2 * tabs >= len(lines):
        labels = _by_id(corpus, file, lines)
    else:
        labels = _ordered(corpus, file, lines)
    judgments = {place: label for place, (_, label) in labels.items()}
    if view is None:
        return Predictions(judgments)
    if predicted is None:
        predicted = _kind_of(set(judgments.values()), view, file)
    if not lenient_labels:
        _check_labels(labels, view, predicted, file)
    if predicted == "scheme":
        return Predictions(judgments)
    judgment_of_label: dict[str | None, str] = {}  # the first that the view maps to the label
    for judgment, label in view.rows.items():  # a judgment without a label has None
        judgment_of_label.setdefault(label, judgment)
    mapped = {}
    for place, label in judgments.items():
        mapped[place] = judgment_of_label.get(label, label)
    return Predictions(mapped, of_view=True)


def _kind_of(labels: set[str], view: View, path: str) -> str:
    """Return whether labels are of the ``"scheme"`` or the ``"view"``; raise an error if unclear.

    It is unclear if scheme and view have the same of these labels, but the view gives one of them
    another label when it is read as a judgment.
    """
    of_scheme = labels & set(view.rows)
    of_view = labels & set(view.labels)
    changed = sorted(label for label in of_scheme & of_view if view.rows[label] != label)
    if changed and of_scheme == of_view:
        raise OptionError(
            f"{path}: its labels, such as {changed[0]!r}, could be judgments of "
            f"{view.scheme.name} or labels of the view {view.name}; "
            'choose with `predicted="scheme"` or `predicted="view"`'
        )
    only_in_view = of_view - of_scheme
    only_in_scheme = of_scheme - of_view
    return "view" if only_in_view and not only_in_scheme else "scheme"


def _check_labels(labels: _Labels, view: View, predicted: str, path: str) -> None:
    """Raise an error for a label that is not in the scheme, or not in the view."""
    scheme = view.scheme
    for number, label in labels.values():
        if predicted == "scheme":
            scheme.parse(label, path, number)
        elif label not in view.labels:
            what = f"{label[:40]!r} is not in the view {view.name} of {scheme.name}"
            expected = ", ".join(view.labels)
            raise FormatError(f"{what}; expected one of {expected}", path, number)


def _ordered(corpus: Corpus, path: str, lines: _Lines) -> _Labels:
    """Return the labels by place, from lines that have a label for each pair."""
    for number, text in lines:
        if "\t" in text:
            what = "this line has a tab, but most lines do not; expected an id, a tab and a label"
            raise FormatError(f"{what} in all lines, or only labels", path, number)
    if len(lines) != len(corpus):
        what = f"{len(lines)} labels for {len(corpus)} pairs; expected one for each"
        raise FormatError(f"{what}, or an id, a tab and a label in each line", path)
    return {place: (number, text.strip()) for place, (number, text) in enumerate(lines)}


def _by_id(corpus: Corpus, path: str, lines: _Lines) -> _Labels:
    """Return the labels by place, from lines with the id of a pair, a tab and a label."""
    places: dict[str, list[int]] = {}
    for place, id in enumerate(corpus.ids):
        places.setdefault(id, []).append(place)
    labels: _Labels = {}
    heading = lines[0][1].split("\t")
    if [name.casefold() for name in heading] == _HEADING and heading[0] not in places:
        lines = lines[1:]
    for number, text in lines:
        id, tab, label = text.partition("\t")
        known = places.get(id, [])
        why = ""
        if not tab:
            why = "no tab, but most lines have one"
        elif not label.strip():
            why = f"no label for the id {id[:40]!r}"
        elif not known:
            why = f"no pair has the id {id[:40]!r}"
        elif len(known) > 1:
            why = f"{len(known)} pairs have the id {id[:40]!r}"
        elif known[0] in labels:
            why = f"line {labels[known[0]][0]} also has the id {id[:40]!r}"
        if why:
            message = f"{why}; expected the id of a pair (each once), a tab and a label"
            raise FormatError(message, path, number)
        labels[known[0]] = number, label.strip()
    return labels
