"""Systems that judge pairs: logistic regression on features of their texts and alignment."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from alignkit._support.arguments import check_arguments
from alignkit._support.array_types import F8, I8
from alignkit.align.aligner import Aligner
from alignkit.errors import AlignkitError, FileError, FormatError, MissingTextError, OptionError
from alignkit.identification.features import (
    TextFrequencies,
    train_aligner,
)
from alignkit.identification.labelled_pairs import (
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
        notes = (*pairs.notes, *cautions(pairs, group))
        if test is not None:
            notes += tuple(leak_notes(pairs, corpus, test, group, leaks))
        more = [] if test is None or inductive else [text_of(pair) for pair in test]
        aligner = train_aligner([*pairs.texts, *more]) if how.aligns else None
        places = np.arange(len(pairs.ids))
        texts = how.pair_texts(pairs.texts, aligner)
        model = fit_model(texts, pairs, places, len(view.labels), how)
        if "align" not in model.features:
            aligner = None
        aligned = "none" if aligner is None else "transductive" if more else "inductive"
        trained = frozenset(map(digest_of, pairs.texts))
        return cls(view, model, how, aligner, aligned, trained, notes + constant_notes(model))

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
        row = np.atleast_2d(self.model.coefficients)[-1].tolist()
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
        record: dict[str, Any] = {
            "format": _FORMAT, "version": __version__, "scheme": self.view.scheme.name,
            "view": self.view.name, "labels": list(self.view.labels), "features": model.features,
            "names": model.names, "group": options.group, "decide": options.decide,
            "seed": options.seed, "function_words": sorted(options.function_words),
            "strength": model.strength, "threshold": model.threshold, "aligned": self.aligned,
            "frequencies": asdict(model.frequencies), "aligner": None, "notes": self.notes,
            "trained": sorted(self.trained),
            **{name: getattr(model, name).tolist() for name in _ARRAYS},
        }  # fmt: skip
        if self.aligner is not None:
            with TemporaryDirectory() as folder, apart():
                self.aligner.save(file := Path(folder, "aligner"))
                record["aligner"] = base64.b64encode(file.read_bytes()).decode("ascii")
        with replacing(str(path)) as stream:
            json.dump(record, stream, ensure_ascii=False)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Identifier:
        """Read a system that `save` wrote.

        Raises
        ------
        FormatError : If the file is no such system, or of another version of the features.
        """
        try:
            record = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as problem:
            raise FileError.of(problem, str(path)) from None
        except ValueError:
            record = None
        if not isinstance(record, dict) or record.get("format") != _FORMAT:
            raise FormatError("is not a system saved by `alignkit identify --save`", str(path))
        try:
            return cls._of(record)
        except (LookupError, TypeError, ValueError, AttributeError, AlignkitError) as problem:
            raise FormatError(f"is damaged: {problem}", str(path)) from None

    @classmethod
    def _of(cls, record: Mapping[str, Any]) -> Identifier:
        view = get_view(record["scheme"], record["view"])
        options = IdentifierOptions(
            features=tuple(record["features"]), group=record["group"], decide=record["decide"],
            function_words=frozenset(record["function_words"]), seed=int(record["seed"]),
        )  # fmt: skip
        model = PairModel(
            features=options.features, frequencies=TextFrequencies(**record["frequencies"]),
            strength=float(record["strength"]), threshold=record["threshold"],
            **{name: np.array(record[name], float) for name in _ARRAYS},
        )  # fmt: skip
        if model.names != record["names"] or list(view.labels) != record["labels"]:
            raise ValueError("its features or labels are those of another version of alignkit")
        width = len(model.names) + 2 * len(model.frequencies.words) * ("bow" in model.features)
        if {model.coefficients.shape[1], model.scale.size, model.center.size} != {width}:
            raise ValueError("weights and features differ in number")
        if len(model.intercepts) != max(1, len(view.labels) * (len(view.labels) > 2)):
            raise ValueError("weights and labels differ in number")
        aligner = None
        if record["aligner"] is not None:
            with TemporaryDirectory() as folder:
                file = Path(folder, "aligner")
                file.write_bytes(base64.b64decode(record["aligner"]))
                aligner = Aligner.load(file)
        trained = frozenset(record["trained"])
        return cls(
            view, model, options, aligner, str(record["aligned"]), trained, tuple(record["notes"])
        )


def signature(
    options: IdentifierOptions, view: View, aligned: str, features: tuple[str, ...]
) -> str:
    """Return the settings of a system, in one line."""
    strengths = " ".join(f"{x:g}" for x in options.strengths)
    return (
        f"features:{'+'.join(features)}|classifier:{options.classifier}|C:{strengths}"
        f"|group:{options.group}|aligner:{aligned}|decide:{options.decide}"
        f"|scheme:{view.scheme.name}|view:{view.name}|seed:{options.seed}|version:{__version__}"
    )


def cautions(pairs: LabelledPairs, group: str | None) -> Iterable[str]:
    """Yield what to know before the numbers are believed."""
    if group is None:
        yield "pairs count as independent, apart from equal ones: no group was chosen"
    if (n := len(pairs.ids)) < FEW:
        yield f"few: {n} training pairs; features of the aligner can do harm below {FEW}"


def constant_notes(model: PairModel) -> tuple[str, ...]:
    """Return a note if features are constant; their weights are 0."""
    same = (np.atleast_2d(model.coefficients) == 0).all(0).tolist()
    names = [name for name, zero in zip(model.names, same, strict=False) if zero]
    return (f"constant features, with weight 0: {', '.join(names)}",) if names else ()
