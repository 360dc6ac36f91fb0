"""What was learned from gold links, in a model file: an entry of the header, tables, and words.

The entry (`LearnedEntry`) says how the refinement was learned and which of its parts the file has:
two rounds (weights and networks) and a lexicon of gold links. If other systems gave evidence, the
file has the same once more without evidence, for pairs that lack a system: the names of its tables
and lists of words begin with `WITHOUT`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alignkit.align.evidence import EvidenceSystem
from alignkit.align.model_files import Arrays, StoredModel
from alignkit.align.model_tables import Form, Size, check_forms, require
from alignkit.align.supervised import learned as refinement
from alignkit.align.supervised.cells import GoldLexicon, names_of
from alignkit.errors import AlignerError

WORDS = ("learned_source", "learned_target")  # the lists of words of the lexicon
WITHOUT = "without_"

_ENTRIES = {"kind", "objective", "threshold", "pairs", "vectors", "features", "lexicon"}
_OF_EVIDENCE = {"evidence", "measures", "without"}  # entries if there was evidence
_OF_WEIGHTED = {"weight", "base"}  # entries if the rounds have a weight below 1
_OF_GOLD = {"annotators", "digests"}  # entries if it is known which gold pairs taught it
_LEXICON = ("pairs", "pair_counts", "source_counts", "target_counts")

_DIGEST = re.compile("[0-9a-f]{16}")

_LARGEST = 1e9
_MOST_PAIRS = 2**31
_MOST_CHANNELS = 1000


@dataclass(frozen=True)
class LearnedEntry:
    """The entry `learned` of a header."""

    lessons: refinement.Lessons  # how it was learned
    has_rounds: bool
    has_lexicon: bool
    without: LearnedEntry | None = None  # of what was learned without evidence

    @classmethod
    def of(cls, learned: refinement.Learned) -> LearnedEntry:
        """Return the entry of a refinement."""
        without = None
        if learned.without is not None:
            without = cls.of(learned.without)
        has_lexicon = learned.lexicon is not None
        return cls(learned.lessons, learned.rounds is not None, has_lexicon, without)

    @property
    def features(self) -> list[str]:
        """The features that the rounds look at."""
        if not self.has_rounds:
            return []
        return [*names_of(vectors=self.lessons.vectors, evidence=self.lessons.evidence)]

    @property
    def words(self) -> tuple[str, ...]:
        """The names of its lists of words."""
        return WORDS if self.has_lexicon else ()

    def to_json(self) -> dict[str, object]:
        """Return the entry as JSON values."""
        entries = asdict(self.lessons)
        source = entries.pop("taught_by")
        if source is not None:
            entries |= source
        entries["features"] = self.features
        entries["lexicon"] = self.has_lexicon
        entries["without"] = self.without and self.without.to_json()
        unused: set[str] = set()
        if self.lessons.weight == 1:
            unused |= _OF_WEIGHTED
        if not self.lessons.evidence:
            unused |= _OF_EVIDENCE
        return {name: entry for name, entry in entries.items() if name not in unused}

    @classmethod
    def read(cls, content: object) -> LearnedEntry:
        """Read the entry of a header.

        Raises
        ------
        AlignerError : If it is not an entry of this version.
        """
        more = _OF_EVIDENCE | _OF_WEIGHTED | _OF_GOLD
        if not isinstance(content, dict) or set(content) - more != _ENTRIES:
            raise AlignerError("learned must have the entries " + ", ".join(sorted(_ENTRIES)))
        evidence: tuple[EvidenceSystem, ...] = ()
        measures = None
        unfitted = [refinement.UNSUPERVISED]  # the kinds without rounds
        without = None
        if _OF_EVIDENCE & content.keys():
            evidence, measures = _evidence(content)
            unfitted += [refinement.VOTE]
            unfitted += [refinement.SYSTEM + system.name for system in evidence]
            if content["without"] is not None:
                without = cls.read(content["without"])
                _check(not without.lessons.evidence, "evidence is where none was used")
        _check_lessons(content, unfitted)
        weight, base = 1.0, refinement.ALIGNER
        if _OF_WEIGHTED & content.keys():
            bases = [refinement.ALIGNER]
            if evidence:
                bases += [refinement.WITHOUT, *unfitted[1:]]
            weight, base = _weight(content, bases)
            _check(content["kind"] not in unfitted, "it has a weight, but no rounds")
        lessons = refinement.Lessons(
            kind=content["kind"],
            objective=content["objective"],
            threshold=content["threshold"],
            pairs=content["pairs"],
            vectors=content["vectors"],
            evidence=evidence,
            weight=weight,
            base=base,
            measures=measures,
            taught_by=_gold_source(content) if _OF_GOLD & content.keys() else None,
        )
        entry = cls(lessons, lessons.kind not in unfitted, content["lexicon"], without)
        known = content["features"] == entry.features
        _check(known, "its features are not those of this version")
        used = entry.has_rounds or not entry.has_lexicon
        _check(used, "it has a lexicon, but nothing that uses it")
        return entry

    def forms(self, words: Mapping[str, Sequence[str]]) -> dict[str, Form]:
        """Return the forms of its tables; `words` are the lists of words that a file has."""
        forms: dict[str, Form] = {}
        limits = (-_LARGEST, _LARGEST)
        if self.has_rounds:
            width = len(self.features) + 1
            for name in ("first", "second"):
                start = f"learned_{name}_"
                networks = Size(f"networks {name}")
                hidden = Size(f"hidden {name}")
                forms[f"{start}weights"] = Form("float64", (width,), *limits)
                forms[f"{start}layers"] = Form("float32", (networks, width, hidden), *limits)
                forms[f"{start}outputs"] = Form("float32", (networks, hidden + 1), *limits)
        if self.has_lexicon:
            pairs = Size("gold pairs")
            sources, targets = (len(words[name]) for name in WORDS)
            last = max(sources, targets) - 1
            forms |= {
                "learned_pairs": Form("int32", (pairs, 2), 0, last),
                "learned_pair_counts": Form("float64", (pairs, 3), 0, _LARGEST),
                "learned_source_counts": Form("float64", (sources, 3), 0, _LARGEST),
                "learned_target_counts": Form("float64", (targets, 3), 0, _LARGEST),
            }
        return forms


def _check(fine: bool, problem: str) -> None:
    """Raise an error about the entry unless all is fine."""
    require(fine, f"learned: {problem}")


def _check_lessons(content: Mapping[str, Any], unfitted: list[str]) -> None:
    """Check the values that say how a refinement was learned."""
    kind = content["kind"]
    objective = content["objective"]
    threshold = content["threshold"]
    pairs = content["pairs"]
    known = kind in [*refinement.KINDS, "prior", *unfitted]
    kinds = ", ".join(refinement.KINDS)
    _check(known, f"kind is {str(kind)[:40]!r}; expected one of {kinds}")
    known = objective in list(refinement.OBJECTIVES)
    _check(known, f"objective is {str(objective)[:40]!r}")
    is_share = type(threshold) is float and 0 <= threshold <= 1
    _check(is_share, f"threshold is {str(threshold)[:40]}; expected a probability")
    is_count = type(pairs) is int and 0 <= pairs < _MOST_PAIRS
    _check(is_count, f"pairs is {str(pairs)[:40]}; expected a number of pairs")
    are_flags = type(content["vectors"]) is type(content["lexicon"]) is bool
    _check(are_flags, "vectors and lexicon must be true or false")


def _weight(content: Mapping[str, Any], bases: list[str]) -> tuple[float, str]:
    """Return the weight and the base of an entry, after a check."""
    weight = content.get("weight")
    base = content.get("base")
    is_share = type(weight) is float and 0 < weight < 1
    _check(is_share, f"weight is {str(weight)[:40]}; expected a number between 0 and 1")
    known = ", ".join(bases)
    _check(base in bases, f"base is {str(base)[:40]!r}; expected one of {known}")
    return float(content["weight"]), str(base)


def _evidence(content: Mapping[str, Any]) -> tuple[tuple[EvidenceSystem, ...], Any]:
    """Return the systems of evidence and the measures of an entry, after a check."""
    try:
        systems = tuple(EvidenceSystem(*system) for system in content["evidence"])
        measures = content["measures"] and tuple(content["measures"])
        complete = bool(content["without"] or content["kind"] == refinement.VOTE)
        fine = _are_systems(systems) and _are_measures(measures) and complete
    except (KeyError, TypeError):
        fine = False
    _check(fine, "evidence is not a list of different systems, with two measures")
    return systems, measures


def _gold_source(content: Mapping[str, Any]) -> refinement.GoldSource:
    """Return the gold pairs that taught a refinement, after a check."""
    annotators = _texts(content.get("annotators"))
    digests = _texts(content.get("digests"))
    fine = bool(annotators) and bool(digests) and all(map(_DIGEST.fullmatch, digests))
    _check(fine, "annotators and digests are not lists of names, and of digests of pairs")
    increasing = digests == tuple(sorted(set(digests)))
    _check(increasing, "digests of pairs are not in increasing order")
    return refinement.GoldSource(annotators, digests)


def _texts(content: object) -> tuple[str, ...]:
    """Return a list of texts; nothing for anything else."""
    if not isinstance(content, list) or {type(text) for text in content} != {str}:
        return ()
    return tuple(content)


def _are_systems(systems: Sequence[EvidenceSystem]) -> bool:
    """Return whether these are different systems, with a number of channels that can be."""
    types = {tuple(map(type, system)) for system in systems}
    if types != {(str, int, bool)}:
        return False
    if len({system.name for system in systems}) < len(systems):
        return False
    return all(0 < system.channels <= _MOST_CHANNELS for system in systems)


def _are_measures(measures: Sequence[object] | None) -> bool:
    """Return whether these are two shares, or nothing."""
    if not measures:
        return True
    shares = [type(measure) is float and 0 <= measure <= 1 for measure in measures]
    return shares == [True, True]


# tables and words
def arrays_of(learned: refinement.Learned) -> dict[str, NDArray[Any]]:
    """Return the tables of a refinement by name, but for those of what it is without evidence."""
    arrays: dict[str, NDArray[Any]] = {}
    if learned.rounds is not None:
        arrays |= _arrays_of_round("first", learned.rounds.first)
        arrays |= _arrays_of_round("second", learned.rounds.second)
    if learned.lexicon is not None:
        for name in _LEXICON:
            arrays[f"learned_{name}"] = getattr(learned.lexicon, name)
    return arrays


def words_of(learned: refinement.Learned) -> dict[str, Sequence[str]]:
    """Return the lists of words of a refinement, likewise."""
    lexicon = learned.lexicon
    if lexicon is None:
        return {}
    return dict(zip(WORDS, (lexicon.source, lexicon.target), strict=True))


def without_of(entry: LearnedEntry | None, stored: StoredModel) -> refinement.Learned | None:
    """Check and return what was learned without evidence; None, and nothing stored, if it was not.

    `stored` has the tables and words whose names begin with `WITHOUT`, without that beginning.
    """
    words: tuple[str, ...] = ()
    if entry is not None:
        words = entry.words
    fits = stored.words.keys() == set(words)
    _check(fits, "the words of its lexicon are missing or not allowed")
    if entry is None:
        check_forms({}, stored.arrays, {})
        return None
    check_forms(entry.forms(stored.words), stored.arrays, {})
    return learned_of(entry, stored)


def learned_of(entry: LearnedEntry, stored: StoredModel) -> refinement.Learned:
    """Return a refinement, from tables and words with checked forms."""
    rounds = None
    lexicon = None
    if entry.has_rounds:
        first = _round_of("first", stored.arrays)
        rounds = refinement.StackedModel(first, _round_of("second", stored.arrays))
    if entry.has_lexicon:
        source, target = (stored.words[name] for name in WORDS)
        tables = (stored.arrays[f"learned_{name}"].copy() for name in _LEXICON)
        lexicon = GoldLexicon(source, target, *tables)
        lexicon.check()
    return refinement.Learned(entry.lessons, rounds, lexicon)


def _arrays_of_round(name: str, fitted: refinement.SupervisedRound) -> dict[str, NDArray[Any]]:
    """Return the weights with the bias, and the layers of all networks, of a round."""
    networks = fitted.networks
    hidden = 0
    if networks:
        hidden = networks[0].first.shape[1]
    layers = np.zeros((len(networks), len(fitted.weights) + 1, hidden), np.float32)
    outputs = np.zeros((len(networks), hidden + 1), np.float32)
    for k, network in enumerate(networks):
        layers[k] = network.first
        outputs[k] = network.second
    return {
        f"learned_{name}_weights": np.append(fitted.weights, fitted.bias),
        f"learned_{name}_layers": layers,
        f"learned_{name}_outputs": outputs,
    }


def _round_of(name: str, arrays: Arrays) -> refinement.SupervisedRound:
    """Return the first or the second round."""
    weights = arrays[f"learned_{name}_weights"]
    layers = arrays[f"learned_{name}_layers"]
    outputs = arrays[f"learned_{name}_outputs"]
    networks = []
    for first, second in zip(layers, outputs, strict=True):
        networks.append(refinement.Layers(first.copy(), second.copy()))
    return refinement.SupervisedRound(weights[:-1].copy(), float(weights[-1]), tuple(networks))
