"""What was learned from gold, as the tables of a model file, and read from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.fields import Field
from alignkit.aligner.refine.features import names_of
from alignkit.aligner.refine.fitting import KINDS
from alignkit.aligner.refine.learned import UNSUPERVISED, Learned, Lessons
from alignkit.aligner.refine.lexicon import GoldLexicon
from alignkit.aligner.refine.measures import OBJECTIVES
from alignkit.aligner.refine.rounds import Layers, Round, StackedModel
from alignkit.errors import AlignerError

Arrays = Mapping[str, NDArray[Any]]

WORDS = ("learned_source", "learned_target")  # the lists of words

_ENTRIES = {"kind", "objective", "threshold", "pairs", "vectors", "features", "lexicon"}
_COUNTS = ("pair_counts", "source_counts", "target_counts")
_MOST_PAIRS = 2**31
_LARGEST = 1e9


def record_of(learned: Learned) -> dict[str, object]:
    """Return what the header says of it."""
    lessons = learned.lessons
    return {
        "kind": lessons.kind,
        "objective": lessons.objective,
        "threshold": lessons.threshold,
        "pairs": lessons.pairs,
        "vectors": lessons.vectors,
        "features": list(names_of(vectors=lessons.vectors, second=True)) if learned.used else [],
        "lexicon": learned.lexicon is not None,
    }


def _lessons_of(record: object) -> tuple[Lessons, bool, bool]:
    if not isinstance(record, dict) or set(record) != _ENTRIES:
        raise AlignerError("learned has not just the entries " + ", ".join(sorted(_ENTRIES)))
    kind, objective, threshold = record["kind"], record["objective"], record["threshold"]
    if kind not in (*KINDS, "prior", UNSUPERVISED):
        raise AlignerError(f"learned: kind is {str(kind)[:40]!r}; it is one of {', '.join(KINDS)}")
    if objective not in OBJECTIVES:
        raise AlignerError(f"learned: objective is {str(objective)[:40]!r}")
    if type(threshold) is not float or not 0 <= threshold <= 1:
        raise AlignerError(f"learned: threshold is {str(threshold)[:40]}; it is a probability")
    pairs = record["pairs"]
    if type(pairs) is not int or not 0 <= pairs < _MOST_PAIRS:
        raise AlignerError(f"learned: pairs is {str(pairs)[:40]}; it is a number of pairs")
    if type(record["vectors"]) is not bool or type(record["lexicon"]) is not bool:
        raise AlignerError("learned: vectors and lexicon are true or false")
    lessons = Lessons(kind, objective, threshold, pairs, record["vectors"])
    used = kind != UNSUPERVISED
    if record["features"] != (list(names_of(vectors=lessons.vectors, second=True)) if used else []):
        raise AlignerError("learned: its features are not those that this version knows")
    if record["lexicon"] and not used:
        raise AlignerError("learned: a lexicon, but nothing that uses it")
    return lessons, used, record["lexicon"]


def arrays_of(learned: Learned) -> dict[str, NDArray[Any]]:
    """Return its tables, by name."""
    arrays: dict[str, NDArray[Any]] = {}
    if learned.rounds is not None:
        for name in ("first", "second"):
            fitted: Round = getattr(learned.rounds, name)
            width, count = len(fitted.weights), len(fitted.networks)
            hidden = fitted.networks[0].first.shape[1] if count else 0
            layers = np.zeros((count, width + 1, hidden), np.float32)
            outputs = np.zeros((count, hidden + 1), np.float32)
            for k, network in enumerate(fitted.networks):
                layers[k], outputs[k] = network.first, network.second
            arrays[f"learned_{name}_weights"] = np.append(fitted.weights, fitted.bias)
            arrays[f"learned_{name}_layers"] = layers
            arrays[f"learned_{name}_outputs"] = outputs
    if learned.lexicon is not None:
        arrays["learned_pairs"] = learned.lexicon.pairs
        arrays |= {f"learned_{name}": getattr(learned.lexicon, name) for name in _COUNTS}
    return arrays


def words_of(learned: Learned) -> dict[str, Sequence[str]]:
    """Return its lists of words, by name."""
    if learned.lexicon is None:
        return {}
    return dict(zip(WORDS, (learned.lexicon.source, learned.lexicon.target), strict=True))


def fields_of_learned(record: object, sources: int = 0, targets: int = 0) -> dict[str, Field]:
    """Declare its tables, as the header says and for so many words."""
    lessons, used, with_lexicon = _lessons_of(record)
    fields: dict[str, Field] = {}
    width = len(names_of(vectors=lessons.vectors, second=True)) + 1
    for name in ("first", "second") if used else ():
        networks, hidden = f"networks {name}", f"hidden {name}"
        for table, kind, shape in (
            ("weights", "float64", (width,)),
            ("layers", "float32", (networks, width, hidden)),
            ("outputs", "float32", (networks, f"{hidden}+1")),
        ):
            fields[f"learned_{name}_{table}"] = Field(kind, shape, -_LARGEST, _LARGEST)
    if with_lexicon:
        fields |= {
            "learned_pairs": Field("int32", ("gold pairs", 2), 0, max(sources, targets) - 1),
            "learned_pair_counts": Field("float64", ("gold pairs", 3), 0, _LARGEST),
            "learned_source_counts": Field("float64", (sources, 3), 0, _LARGEST),
            "learned_target_counts": Field("float64", (targets, 3), 0, _LARGEST),
        }
    return fields


def learned_of(record: object, arrays: Arrays, words: Mapping[str, Sequence[str]]) -> Learned:
    """Return what was learned, from tables whose forms and ranges were checked."""
    lessons, _, with_lexicon = _lessons_of(record)
    if set(WORDS) & words.keys() != (set(WORDS) if with_lexicon else set()):
        raise AlignerError("learned: the words of its lexicon are missing, or are not to be there")
    rounds = lexicon = None
    if "learned_first_weights" in arrays:
        rounds = StackedModel(_round("first", arrays), _round("second", arrays))
    if "learned_pairs" in arrays:
        lexicon = GoldLexicon(
            tuple(words[WORDS[0]]),
            tuple(words[WORDS[1]]),
            arrays["learned_pairs"].copy(),
            *(arrays[f"learned_{name}"].copy() for name in _COUNTS),
        )
        lexicon.check()
    return Learned(lessons, rounds, lexicon)


def _round(name: str, arrays: Arrays) -> Round:
    weights = arrays[f"learned_{name}_weights"]
    layers, outputs = arrays[f"learned_{name}_layers"], arrays[f"learned_{name}_outputs"]
    networks = tuple(
        Layers(first.copy(), second.copy()) for first, second in zip(layers, outputs, strict=True)
    )
    return Round(weights[:-1].copy(), float(weights[-1]), networks)
