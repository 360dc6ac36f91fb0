"""Systems that judge pairs: logistic regression on features of their texts and alignment."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from alignkit._support.arguments import check_arguments, check_known
from alignkit._support.wording import how_many
from alignkit.align.aligner import Aligner
from alignkit.corpora.labelled import judged_part, judges_of, judgments_of
from alignkit.corpora.split import find_leaks
from alignkit.errors import AlignkitError, FileError, FormatError, MissingTextError, OptionError
from alignkit.identification.features import (
    ALIGN,
    OVERLAP,
    AlignmentFeatures,
    OverlapFeatures,
    Texts,
    Weights,
    bag_features,
    tokens,
    train_aligner,
    vector_features,
)
from alignkit.identification.similarity import Encoder, Matrix, sklearn
from alignkit.io.atomic_files import replacing
from alignkit.model.corpus import Corpus, group_values
from alignkit.model.labels import View, get_view
from alignkit.model.sentence_pair import SentencePair
from alignkit.version import __version__

FEATURES = ("cosine", "overlap", "align", "bow", "vectors")
DECIDE = ("accuracy", "f1")
GROUPS = ("goeswith", "entity", "original")
"""Attributes that name pairs which belong together."""

_FORMAT = "alignkit identifier 1"
_STRENGTHS = (0.01, 0.1, 1.0)
_FOLDS = 5
_LEAST, _FEW = 20, 1000  # pairs of a label; training pairs
_QUANTILES = 401
_AUTO = (("cosine",), ("overlap",), ("overlap", "align"))

F8 = NDArray[np.float64]
I8 = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class IdentifierOptions:
    """How a system is trained.

    Parameters
    ----------
    features : Some of `FEATURES`, or ``("auto",)``: cosine, overlap, or overlap and align, chosen
        by cross-validation; a larger set must gain more than a standard error.
    group : The attribute of pairs that belong together; None: the one of `GROUPS` that the corpus
        has; ``"none"``: pairs are independent.
    encode : For `vectors`: a function that returns a vector for each text, (n, d).
    decide : What the threshold of `cosine` makes as high as possible.
    function_words : Words that are not content words.
    seed : For the folds.
    """

    features: tuple[str, ...] = ("overlap", "align")
    group: str | None = None
    encode: Encoder | None = None
    decide: str = "accuracy"
    function_words: frozenset[str] = frozenset()
    seed: int = 0

    def __post_init__(self) -> None:
        for name in self.features:
            check_known("feature set", name, (*FEATURES, "auto"))
        if "auto" in self.features and len(self.features) > 1:
            raise OptionError("auto chooses the feature set: leave the others out")
        if ("vectors" in self.features) != (self.encode is not None):
            raise OptionError("the feature set `vectors` and `encode` need each other")
        check_known("aim", self.decide, DECIDE)

    def __str__(self) -> str:
        return f"features:{'+'.join(self.features)}|group:{self.group}|seed:{self.seed}"


class LabelledPairs(NamedTuple):
    """Pairs with their texts, labels and groups."""

    ids: tuple[str, ...]
    texts: list[Texts]
    labels: I8  # places in the labels of the view
    groups: list[str]
    left_out: Counter[str]

    def take(self, places: Sequence[int] | I8) -> LabelledPairs:
        """Return some of the pairs."""
        return LabelledPairs(
            tuple(self.ids[k] for k in places), [self.texts[k] for k in places],
            self.labels[list(places)], [self.groups[k] for k in places], self.left_out,
        )  # fmt: skip


def judged_pairs(
    corpus: Corpus, view: View, annotator: str | None, group: str | None, *, rewrites: bool = False
) -> LabelledPairs:
    """Return the judged pairs of a corpus that have words.

    Raises
    ------
    OptionError
        If labels of the view have a direction, several judged, or pairs lack the group.
    """
    _refuse_directions(view)
    corpus, anew, _ = judged_part(corpus, rewrites=rewrites)
    judges = judges_of(corpus)
    if annotator is None and len(judges) != 1:
        who = f"{', '.join(judges)} judged pairs: choose one with `annotator`"
        raise OptionError(who if judges else "no pair is judged")
    values = judgments_of(corpus, [annotator or judges[0]], view).values[0]
    texts = [text_of(pair) for pair in corpus]
    left: Counter[str] = Counter({"rewrites": anew})
    left["without a label"] = int((values < 0).sum())
    kept = [k for k in np.nonzero(values >= 0)[0].tolist() if any(texts[k])]
    left["without words"] = len(corpus) - left["without a label"] - len(kept)
    groups = [_group(corpus[k], group) for k in kept]
    ids = tuple(corpus[k].id for k in kept)
    return LabelledPairs(ids, [texts[k] for k in kept], values[kept].astype(int), groups, +left)


def group_of(corpus: Corpus, group: str | None) -> str | None:
    """Return the attribute of groups; None for independent pairs, if that is asked for."""
    if group is None:
        known = {name for pair in corpus for name in pair.attributes}
        return next((name for name in GROUPS if name in known), None)
    return None if group == "none" else group


def _group(pair: SentencePair, group: str | None) -> str:
    if group is None:
        return pair.id
    values = sorted(group_values(pair, group, None))
    if not values:
        raise OptionError(f"pair {pair.id!r} has no {group}; choose another group, or 'none'")
    return values[0]


def text_of(pair: SentencePair) -> Texts:
    """Return the two texts of a pair."""
    return " ".join(pair.source or ()), " ".join(pair.target or ())


def _refuse_directions(view: View) -> None:
    scheme = view.scheme
    for judgment, label in view.rows.items():
        if label is not None and view.rows.get(scheme.flip(judgment), label) != label:
            raise OptionError(
                f"labels of {scheme.name}, view {view.name}, have a direction ({judgment}); features do not: "
                "choose a view without"
            )


@dataclass
class _Model:
    """A fitted system: what makes features, a scaler, and a linear model or a threshold."""

    features: tuple[str, ...]
    weights: Weights
    overlap: OverlapFeatures | None
    aligner: Aligner | None
    vocabulary: dict[str, int]
    encode: Encoder | None
    center: F8 = field(default_factory=lambda: np.zeros(0))
    scale: F8 = field(default_factory=lambda: np.ones(0))
    coefficients: F8 = field(default_factory=lambda: np.zeros((0, 0)))
    intercepts: F8 = field(default_factory=lambda: np.zeros(0))
    threshold: float | None = None  # of the cosine, for two labels
    strength: float = 0.0

    def matrix(self, texts: Sequence[Texts]) -> Matrix:
        """Return the features of pairs, (P, F)."""
        parts: list[Matrix] = []
        for name in self.features:
            if name == "cosine" and self.overlap is not None:
                column = OVERLAP.index("cosine of letters")
                parts.append(self.overlap(texts)[:, [column]])
            elif name == "overlap" and self.overlap is not None:
                parts.append(self.overlap(texts))
            elif name == "align" and self.aligner is not None:
                parts.append(AlignmentFeatures(self.weights, self.aligner)(texts))
            elif name == "bow":
                parts.append(bag_features(texts, self.vocabulary))
            elif self.encode is not None:
                parts.append(vector_features(texts, self.encode))
        if any(map(sparse.issparse, parts)):
            return sparse.hstack(parts, format="csr")
        return np.hstack(parts)

    def names(self) -> list[str]:
        """Return the names of the features that have one."""
        named = {"cosine": ("cosine of letters",), "overlap": OVERLAP, "align": ALIGN}
        return [name for part in self.features for name in named.get(part, ())]

    def probabilities(self, matrix: Matrix) -> F8:
        """Return the probability of each label, (P, K)."""
        scaled = self._scaled(matrix)
        scores = np.asarray(scaled @ self.coefficients.T) + self.intercepts
        if len(self.intercepts) == 1:
            scores = np.column_stack((np.zeros(len(scores)), scores))
        scores = np.exp(scores - scores.max(1, keepdims=True))
        return scores / scores.sum(1, keepdims=True)

    def predict(self, matrix: Matrix) -> I8:
        """Return the label of each pair, as places."""
        if self.threshold is not None:
            return (np.asarray(matrix)[:, 0] >= self.threshold).astype(int)
        return self.probabilities(matrix).argmax(1)

    def _scaled(self, matrix: Matrix) -> Matrix:
        if sparse.issparse(matrix):
            return matrix.multiply(1 / self.scale).tocsr()
        return (matrix - self.center) / self.scale


def _prepared(texts: Sequence[Texts], features: tuple[str, ...], options: IdentifierOptions,
              aligner: Aligner | None) -> _Model:  # fmt: skip
    """Return a model whose frequencies come from training texts."""
    flat = [text for pair in texts for text in pair]
    weights = Weights.of(flat, options.function_words)
    overlap = OverlapFeatures.fit(flat, weights) if {"cosine", "overlap"} & set(features) else None
    every = sorted({word for text in flat for word in tokens(text)})
    vocabulary = {word: k for k, word in enumerate(every)} if "bow" in features else {}
    return _Model(features, weights, overlap, aligner, vocabulary, options.encode)


def _fit(
    model: _Model, matrix: Matrix, labels: I8, classes: int, strength: float, decide: str
) -> _Model:
    """Fit the linear model to features (P, F); one feature of two labels gets a threshold too."""
    scaler = sklearn("preprocessing").StandardScaler(with_mean=not sparse.issparse(matrix))
    scaler.fit(matrix)
    center = np.zeros(matrix.shape[1]) if scaler.mean_ is None else scaler.mean_
    fitted = replace(model, center=center, scale=scaler.scale_, strength=strength)
    linear = sklearn("linear_model").LogisticRegression(C=strength, max_iter=5000)
    linear.fit(fitted._scaled(matrix), labels)
    present = linear.classes_
    if classes == 2:
        coefficients, intercepts = linear.coef_, linear.intercept_
    else:  # a label that no pair has is never predicted
        coefficients = np.zeros((classes, matrix.shape[1]))
        intercepts = np.full(classes, -1e9)
        two = len(present) == 2
        rows = np.vstack((np.zeros_like(linear.coef_), linear.coef_)) if two else linear.coef_
        coefficients[present] = rows
        intercepts[present] = np.r_[0, linear.intercept_] if two else linear.intercept_
    threshold = None
    if model.features == ("cosine",) and classes == 2:
        threshold = _threshold(np.asarray(matrix)[:, 0], labels, decide)
    return replace(fitted, coefficients=coefficients, intercepts=intercepts, threshold=threshold)


def _threshold(values: F8, labels: I8, decide: str) -> float:
    """Return the best of 401 quantiles of the values; a pair at or above it has the label 1."""
    best, chosen = -1.0, 0.0
    for threshold in np.quantile(values, np.linspace(0, 1, _QUANTILES)):
        predicted = values >= threshold
        hits = (predicted & (labels == 1)).sum()
        score = (
            (predicted == labels).mean() if decide == "accuracy"
            else 2 * hits / max(1, predicted.sum() + (labels == 1).sum())
        )  # fmt: skip
        if score > best:
            best, chosen = float(score), float(threshold)
    return chosen


def folds(labels: I8, groups: Sequence[str], count: int, seed: int) -> list[tuple[I8, I8]]:
    """Return training and test places; groups stay whole, labels are stratified."""
    if len(set(groups)) < count:
        raise OptionError(f"{len(set(groups))} groups cannot be divided into {count} folds")
    names = ("StratifiedKFold", "StratifiedGroupKFold")
    kind = getattr(sklearn("model_selection"), names[len(set(groups)) < len(groups)])
    divided = kind(count, shuffle=True, random_state=seed).split(
        np.zeros(len(labels)), labels, groups
    )
    return list(divided)


def _log_losses(probabilities: F8, labels: I8) -> F8:
    return -np.log(np.maximum(probabilities[np.arange(len(labels)), labels], 1e-12))


def _selected(
    pairs: LabelledPairs, classes: int, options: IdentifierOptions, aligner: Aligner | None
) -> tuple[tuple[str, ...], float]:
    """Return the feature set and the strength C with the least log-loss in inner folds."""
    sets = _AUTO if options.features == ("auto",) else (options.features,)
    inner = folds(pairs.labels, pairs.groups, _FOLDS, options.seed)
    chosen: tuple[tuple[str, ...], float] | None = None
    least = np.empty(0)
    for features in sets:
        losses = {c: np.zeros(len(pairs.labels)) for c in _STRENGTHS}
        for train, test in inner:
            model = _prepared([pairs.texts[k] for k in train], features, options, aligner)
            matrix = model.matrix(pairs.texts)
            for c, loss in losses.items():
                fitted = _fit(model, matrix[train], pairs.labels[train], classes, c, options.decide)
                loss[test] = _log_losses(fitted.probabilities(matrix[test]), pairs.labels[test])
        c = min(losses, key=lambda each: losses[each].mean())
        gain = least - losses[c] if chosen else np.full(1, np.inf)
        if gain.mean() > (gain.std() / np.sqrt(len(gain)) if chosen else 0):
            chosen, least = (features, c), losses[c]
    assert chosen is not None
    return chosen


def check_labels(pairs: LabelledPairs, view: View) -> None:
    """Raise an error if there is one label, or a label has too few pairs."""
    counts = Counter(pairs.labels.tolist())
    if len(counts) < 2:
        raise OptionError("all pairs have one label: there is nothing to learn")
    for k, n in counts.items():
        if n < _LEAST:
            raise OptionError(
                f"label {view.labels[k]!r} has {how_many(n, 'pair')}; {_LEAST} are needed: choose a "
                "view that merges labels"
            )


@dataclass(frozen=True, eq=False)
class Identifier:
    """A trained system that judges pairs.

    Examples
    --------
    See docs/candidates.md.
    """

    view: View
    model: _Model
    options: IdentifierOptions
    trained: int  # pairs
    transductive: bool
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
        test : The corpus to judge later. Its texts, never its labels, also train the aligner of the
            feature set `align`, unless `inductive` is set.
        leaks : ``refuse`` or ``report`` pairs and groups that `test` shares with the training
            pairs.
        **options : See `IdentifierOptions`.

        Raises
        ------
        OptionError
            If a label has fewer than 20 pairs, or there are fewer groups than folds.
        """
        check_arguments(Identifier.train, locals(), apart=("view", "options", "test"))
        how = IdentifierOptions(**options)
        group = group_of(corpus, how.group)
        pairs = judged_pairs(corpus, view, annotator, group, rewrites=rewrites)
        check_labels(pairs, view)
        notes = tuple(cautions(pairs, group, how))
        if test is not None:
            notes += tuple(_leaking(corpus, test, group, leaks))
        aligner = None
        if {"align", "auto"} & set(how.features):
            more = [] if test is None or inductive else [text_of(pair) for pair in test]
            aligner = train_aligner([*pairs.texts, *more])
        model = fitted_model(pairs, view, how, aligner)
        return cls(view, model, how, len(pairs.ids), test is not None and not inductive, notes)

    def _matrix(self, corpus: Iterable[SentencePair]) -> tuple[list[str], Matrix]:
        pairs = list(corpus)
        texts = [text_of(pair) for pair in pairs]
        if not any(map(any, texts)):
            raise MissingTextError("no pair has words; add the texts")
        return [pair.id for pair in pairs], self.model.matrix(texts)

    def predict(self, corpus: Iterable[SentencePair]) -> dict[str, str]:
        """Return the label of each pair, by id."""
        ids, matrix = self._matrix(corpus)
        return {
            id: self.view.labels[k]
            for id, k in zip(ids, self.model.predict(matrix).tolist(), strict=True)
        }

    def probabilities(self, corpus: Iterable[SentencePair]) -> dict[str, dict[str, float]]:
        """Return the probability of each label, by id."""
        ids, matrix = self._matrix(corpus)
        return {
            id: dict(zip(self.view.labels, row, strict=True))
            for id, row in zip(ids, self.model.probabilities(matrix).tolist(), strict=True)
        }

    @property
    def weights(self) -> list[tuple[str, float]]:
        """The features and their weights for standardized values, the largest first.

        With more than two labels, those of the last label.
        """
        names = self.model.names()
        row = self.model.coefficients[-1].tolist()
        named = zip(names, row[: len(names)], strict=True)
        return sorted(named, key=lambda each: -abs(each[1]))

    @property
    def settings(self) -> str:
        """The settings, in one line."""
        model = self.model
        aligner = (
            "none"
            if model.aligner is None
            else "transductive"
            if self.transductive
            else "inductive"
        )
        return (
            f"features:{'+'.join(model.features)}|C:{model.strength:g}|group:{self.options.group or 'auto'}"
            f"|aligner:{aligner}|scheme:{self.view.scheme.name}|view:{self.view.name}"
            f"|seed:{self.options.seed}|version:{__version__}"
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the system as JSON."""
        model = self.model
        if model.encode is not None:
            raise OptionError("a system with a function of yours cannot be saved")
        record: dict[str, Any] = {
            "format": _FORMAT, "version": __version__, "scheme": self.view.scheme.name,
            "view": self.view.name, "labels": list(self.view.labels), "features": list(model.features),
            "names": model.names(), "decide": self.options.decide, "seed": self.options.seed,
            "group": self.options.group, "function_words": sorted(self.options.function_words),
            "trained": self.trained, "transductive": self.transductive, "C": model.strength,
            "threshold": model.threshold, "idf": model.weights.idf, "unseen": model.weights.unseen,
            "vocabulary": list(model.vocabulary), "letters": _letters(model.overlap),
            **{name: getattr(model, name).tolist()
               for name in ("center", "scale", "coefficients", "intercepts")},
        }  # fmt: skip
        if model.aligner is not None:
            with TemporaryDirectory() as folder:
                model.aligner.save(file := Path(folder, "aligner"))
                record["aligner"] = base64.b64encode(file.read_bytes()).decode("ascii")
        with replacing(str(path)) as stream:
            json.dump(record, stream, ensure_ascii=False)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Identifier:
        """Read a system that `save` wrote.

        Raises
        ------
        FormatError
            If the file is no such system, or of another version of the features.
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
        except (KeyError, TypeError, ValueError, IndexError) as problem:
            if isinstance(problem, AlignkitError):
                raise
            raise FormatError(f"is damaged: {problem}", str(path)) from None

    @classmethod
    def _of(cls, record: Mapping[str, Any]) -> Identifier:
        view = get_view(record["scheme"], record["view"])
        words = frozenset(record["function_words"])
        weights = Weights(record["idf"], record["unseen"], words)
        aligner = None
        if "aligner" in record:
            with TemporaryDirectory() as folder:
                file = Path(folder, "aligner")
                file.write_bytes(base64.b64decode(record["aligner"]))
                aligner = Aligner.load(file)
        vocabulary = {word: k for k, word in enumerate(record["vocabulary"])}
        arrays = {
            name: np.array(record[name], float)
            for name in ("center", "scale", "coefficients", "intercepts")
        }
        model = _Model(
            tuple(record["features"]), weights, _overlap(record["letters"], weights), aligner,
            vocabulary, None, **arrays, threshold=record["threshold"], strength=record["C"],
        )  # fmt: skip
        if model.names() != record["names"] or list(view.labels) != record["labels"]:
            raise ValueError("its features or labels are those of another version of alignkit")
        if arrays["coefficients"].shape[1] != len(arrays["scale"]):
            raise ValueError("weights and features differ in number")
        options = IdentifierOptions(
            features=model.features, group=record["group"], decide=record["decide"],
            function_words=words, seed=record["seed"],
        )  # fmt: skip
        return cls(view, model, options, record["trained"], record["transductive"])


def fitted_model(
    pairs: LabelledPairs, view: View, options: IdentifierOptions, aligner: Aligner | None
) -> _Model:
    """Choose feature set and strength in inner folds, and fit the model to all pairs."""
    features, strength = _selected(pairs, len(view.labels), options, aligner)
    model = _prepared(pairs.texts, features, options, aligner if "align" in features else None)
    matrix = model.matrix(pairs.texts)
    return _fit(model, matrix, pairs.labels, len(view.labels), strength, options.decide)


def cautions(pairs: LabelledPairs, group: str | None, options: IdentifierOptions) -> Iterable[str]:
    """Yield what to know before the numbers are believed."""
    if group is None:
        yield "pairs count as independent: no attribute names pairs that belong together"
    if len(pairs.ids) < _FEW:
        yield f"{len(pairs.ids)} training pairs are few: features of the aligner can do harm below {_FEW}"
    if pairs.left_out:
        yield "left out: " + ", ".join(f"{n} {what}" for what, n in pairs.left_out.items())


def _leaking(train: Corpus, test: Corpus, group: str | None, leaks: str) -> Iterable[str]:
    check_known("way with leaks", leaks, ("refuse", "report"))
    listed = find_leaks(train, test, () if group is None else (group,))
    if listed:
        kinds = Counter(leak.kind for leak in listed)
        said = ", ".join(f"{n} {kind}" for kind, n in kinds.items())
        message = f"test pairs are in the training part ({said}; the first is {listed[0].test!r})"
        if leaks == "refuse":
            raise OptionError(f"{message}: divide the corpus anew, or report leaks only")
        yield message
    known = {text for pair in train for text in text_of(pair)}
    shared = sum(text in known for pair in test for text in text_of(pair))
    if shared:
        yield f"{how_many(shared, 'text')} of the test part are texts of the training part"


def _letters(overlap: OverlapFeatures | None) -> dict[str, float] | None:
    if overlap is None:
        return None
    names = overlap.letters.get_feature_names_out()
    return dict(zip(names.tolist(), overlap.letters.idf_.tolist(), strict=True))


def _overlap(letters: Mapping[str, float] | None, weights: Weights) -> OverlapFeatures | None:
    if letters is None:
        return None
    places = {gram: k for k, gram in enumerate(letters)}
    vectorizer = sklearn("feature_extraction.text").TfidfVectorizer
    made = vectorizer(analyzer="char_wb", ngram_range=(2, 4), vocabulary=places)
    made.idf_ = np.array(list(letters.values()), float)
    return OverlapFeatures(weights, made)
