"""Systems that judge pairs: logistic regression on features of their texts and alignment."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from alignkit._support.arguments import check_arguments
from alignkit._support.array_types import F8, I8
from alignkit._support.wording import how_many
from alignkit.align.aligner import Aligner
from alignkit.align.settings import LONGEST_PIECE
from alignkit.errors import FileError, FormatError, MissingTextError, OptionError
from alignkit.identification.features import TextFrequencies, Texts, tokens, train_aligner
from alignkit.identification.labelled_pairs import (
    ALONE,
    LabelledPairs,
    check_ids,
    checked_group,
    digest_of,
    leak_notes,
    text_of,
)
from alignkit.identification.pair_model import IdentifierOptions, PairModel, fit_model
from alignkit.io.atomic_files import apart, replacing
from alignkit.model.corpus import Corpus
from alignkit.model.labels import View, get_view
from alignkit.model.sentence_pair import SentencePair
from alignkit.version import __version__

FEW = 1000
"""With fewer training pairs, features of the aligner can do harm."""

_FORMAT = "alignkit identifier 1"
_OPTIONS = ("features", "group", "decide", "strengths", "seed")
_VALUES = ("features", "strength", "threshold")
_ARRAYS = ("center", "scale", "coefficients", "intercepts")


@dataclass(frozen=True, eq=False)
class Identifier:
    """A trained system that judges pairs.

    Parameters
    ----------
    aligned : The texts that trained the aligner of `align`: ``"transductive"`` (with those of the
        test part), ``"inductive"`` (of the training part alone), or ``"none"``.
    trained : Digests of the training pairs, which tell them again.
    notes : What to know before the numbers are believed.

    Examples
    --------
    See docs/paraphrase_corpora.md.
    """

    view: View
    model: PairModel
    options: IdentifierOptions
    aligner: Aligner | None
    aligned: str
    trained: frozenset[str]
    notes: tuple[str, ...] = ()

    @classmethod
    def train(
        cls,
        corpus: Corpus,
        view: View,
        *,
        annotator: str | None = None,
        test: Corpus | None = None,
        inductive: bool = False,
        leaks: str = "refuse",
        rewrites: bool = False,
        **options: Any,
    ) -> Identifier:
        """Train a system on the judged pairs of a corpus.

        Parameters
        ----------
        view : The labels; they must not have a direction.
        annotator : The judge; needed if several judged pairs.
        test : The corpus to judge later. Its texts, never its labels, also train the aligner of the
            feature set `align`, unless `inductive` is set.
        leaks : ``refuse`` or ``report`` pairs and groups that `test` shares with the training
            pairs.
        rewrites : Include rewrites, with the labels that their writers intended.
        **options : See `IdentifierOptions`.

        Raises
        ------
        OptionError : If a label has fewer than 20 pairs, there are fewer groups than folds, labels
            have a direction, or pairs of `test` are in the training part.
        """
        check_arguments(Identifier.train, locals(), apart=("view", "options", "test"))
        how = IdentifierOptions(**options)
        group = checked_group(corpus, how.group)
        pairs = LabelledPairs.of(corpus, view, annotator, group, rewrites=rewrites)
        pairs.check(view)
        notes = [*pairs.notes, *cautions(pairs, view, group, aligns=how.aligns)]
        if test is not None:
            notes += leak_notes(pairs, corpus, test, group, leaks)
        more = [] if test is None or inductive else [text_of(pair) for pair in test]
        aligner = train_aligner([*pairs.texts, *more]) if how.aligns else None
        places = np.arange(len(pairs.ids))
        texts = how.pair_texts(pairs.texts, aligner)
        model = fit_model(texts, pairs, places, len(view.labels), how)
        if "align" not in model.features:
            aligner = None
        aligned = "none" if aligner is None else "transductive" if more else "inductive"
        trained = frozenset(map(digest_of, pairs.texts))
        notes += constant_notes(model)
        return cls(view, model, how, aligner, aligned, trained, tuple(notes))

    def judge(self, corpus: Iterable[SentencePair]) -> tuple[tuple[str, ...], I8, F8]:
        """Return the ids, the places of the labels, (P,), and the probabilities, (P, K)."""
        pairs = list(corpus)
        ids = tuple(pair.id for pair in pairs)
        check_ids(ids)
        texts = [text_of(pair) for pair in pairs]
        if not any(map(any, texts)):
            raise MissingTextError("no pair has words; add the texts")
        return ids, *self.model.judge(self.options.pair_texts(texts, self.aligner))

    def known(self, corpus: Iterable[SentencePair]) -> int:
        """Return how many pairs of a corpus are training pairs, which are judged too well."""
        return sum(digest_of(text_of(pair)) in self.trained for pair in corpus)

    def predict(self, corpus: Iterable[SentencePair]) -> dict[str, str]:
        """Return the label of each pair, by id."""
        ids, labels, _ = self.judge(corpus)
        return {id: self.view.labels[k] for id, k in zip(ids, labels.tolist(), strict=True)}

    def probabilities(self, corpus: Iterable[SentencePair]) -> dict[str, dict[str, float]]:
        """Return the probability of each label, by id."""
        ids, _, values = self.judge(corpus)
        rows = (dict(zip(self.view.labels, row, strict=True)) for row in values.tolist())
        return dict(zip(ids, rows, strict=True))

    @property
    def weights(self) -> list[tuple[str, float]]:
        """The named features and their weights for standardized values, the largest first.

        With more than two labels, those of the last label.
        """
        row = self.model.coefficients[-1].tolist()
        return sorted(zip(self.model.names, row, strict=False), key=lambda each: -abs(each[1]))

    @property
    def signature(self) -> str:
        """The settings, in one line."""
        return f"chosen C:{self.model.strength:g}|" + signature(
            self.options, self.view, self.aligned, self.model.features
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the system as JSON; one with a function of yours or a forest cannot be written."""
        model, options = self.model, self.options
        if options.encode or options.encode_pairs or model.forest is not None:
            raise OptionError("a forest, or a system with given vectors, cannot be saved")
        held = None
        if self.aligner is not None:
            with TemporaryDirectory() as folder, apart():
                self.aligner.save(file := Path(folder, "aligner"))
                held = base64.b64encode(file.read_bytes()).decode("ascii")
        record: dict[str, Any] = {
            "format": _FORMAT, "version": __version__, "scheme": self.view.scheme.name,
            "view": self.view.name, "labels": self.view.labels, "names": model.names,
            "options": {name: getattr(options, name) for name in _OPTIONS},
            "function_words": sorted(options.function_words),
            "model": {name: getattr(model, name) for name in _VALUES},
            "arrays": {name: getattr(model, name).tolist() for name in _ARRAYS},
            "frequencies": asdict(model.frequencies), "aligner": held, "aligned": self.aligned,
            "trained": sorted(self.trained), "notes": self.notes,
        }  # fmt: skip
        with replacing(str(path)) as stream:
            json.dump(record | {"checksum": _checksum(record)}, stream, ensure_ascii=False)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Identifier:
        """Read a system that `save` wrote.

        Raises
        ------
        FormatError : If the file is no such system, damaged, or of another version of the features.
        """
        try:
            record = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as problem:
            raise FileError.of(problem, str(path)) from None
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict) or record.get("format") != _FORMAT:
            raise FormatError("is not a system saved by `alignkit identify --save`", str(path))
        if record.pop("checksum", None) != _checksum(record):
            raise FormatError("is damaged or was edited: train the system anew", str(path))
        view = get_view(record["scheme"], record["view"])
        words = frozenset(record["function_words"])
        options = IdentifierOptions(**record["options"], function_words=words)
        arrays: dict[str, Any] = {
            name: np.array(values, float) for name, values in record["arrays"].items()
        }
        frequencies = TextFrequencies(**record["frequencies"])
        model = PairModel(frequencies=frequencies, **record["model"], **arrays)
        if model.names != record["names"] or list(view.labels) != record["labels"]:
            raise FormatError("has features or labels of another version of alignkit", str(path))
        aligner = None
        if record["aligner"] is not None:
            with TemporaryDirectory() as folder:
                file = Path(folder, "aligner")
                file.write_bytes(base64.b64decode(record["aligner"]))
                aligner = Aligner.load(file)
        trained, notes = frozenset(record["trained"]), tuple(record["notes"])
        return cls(view, model, options, aligner, record["aligned"], trained, notes)


def _checksum(record: Mapping[str, Any]) -> str:
    return blake2b(json.dumps(record).encode(), digest_size=8).hexdigest()


def signature(options: IdentifierOptions, view: View, aligned: str, features: Iterable[str]) -> str:
    """Return the settings of a system, in one line."""
    strengths = " ".join(f"{x:g}" for x in options.strengths)
    return (
        f"features:{'+'.join(features)}|classifier:{options.classifier}|C:{strengths}"
        f"|group:{options.group or ALONE}|aligner:{aligned}|decide:{options.decide}"
        f"|function words:{len(options.function_words)}|scheme:{view.scheme.name}|view:{view.name}"
        f"|seed:{options.seed}|version:{__version__}"
    )


def cautions(pairs: LabelledPairs, view: View, group: str | None, *, aligns: bool) -> Iterator[str]:
    """Yield what to know before the numbers are believed."""
    if group is None:
        yield "pairs count as independent, apart from equal ones: no group was chosen"
    if (n := len(pairs.ids)) < FEW:
        harm = f"; features of the aligner can do harm below {FEW}" if aligns else ""
        yield f"few: {n} training pairs{harm}"
    known = set(pairs.labels.tolist())
    if never := [repr(label) for k, label in enumerate(view.labels) if k not in known]:
        yield f"no training pair has the label {', '.join(never)}: it is never predicted"
    yield from text_notes(pairs.texts, aligns=aligns)


def text_notes(texts: Sequence[Texts], *, aligns: bool) -> Iterator[str]:
    """Yield how many pairs have no words, or more than are aligned."""
    if bare := sum(not any(pair) for pair in texts):
        yield f"{how_many(bare, 'pair')} without words: their predictions mean nothing"
    long = sum(len(tokens(max(pair, key=len))) > LONGEST_PIECE for pair in texts)
    if long and aligns:
        yield f"{how_many(long, 'pair')}: only the first {LONGEST_PIECE} words are aligned"


def constant_notes(model: PairModel) -> Iterator[str]:
    """Yield a note if features are constant; their weights are 0."""
    same = (model.coefficients == 0).all(0).tolist()
    names = [name for name, zero in zip(model.names, same, strict=False) if zero]
    if names:
        yield f"constant features, with weight 0: {', '.join(names)}"
