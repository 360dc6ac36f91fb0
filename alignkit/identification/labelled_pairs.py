"""Pairs with labels and groups to learn from, and folds that keep groups whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from alignkit._support.arguments import check_known
from alignkit._support.array_types import I8
from alignkit._support.wording import how_many
from alignkit.corpora.labelled import judged_part, judges_of, judgments_of
from alignkit.corpora.split import GROUPED, find_leaks
from alignkit.errors import OptionError
from alignkit.identification.features import Texts, tokens
from alignkit.identification.similarity import sklearn
from alignkit.model.corpus import Corpus, group_values
from alignkit.model.labels import View
from alignkit.model.sentence_pair import SentencePair, origin_of
from alignkit.model.texts import compared

GROUPS = ("goeswith", "entity", "original")
"""Attributes of known corpora that name pairs which belong together."""
ALONE = "none"
LEAST = 20
"""The least number of pairs of a label."""


@dataclass(frozen=True, eq=False)
class LabelledPairs:
    """P pairs with labels, and the groups that must not be divided.

    Parameters
    ----------
    labels : The place of each label in the view, (P,).
    groups : The number of each pair's group, (P,): the value of an attribute; pairs with equal
        texts are in one group, too.
    notes : What was left out.
    """

    ids: tuple[str, ...]
    texts: list[Texts]
    labels: I8
    groups: I8
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, corpus: Corpus, view: View, annotator: str | None, group: str | None, *,
        rewrites: bool = False,
    ) -> LabelledPairs:  # fmt: skip
        """Return the judged pairs of a corpus that have words."""
        refuse_directions(view)
        corpus, _, notes = judged_part(corpus, rewrites=rewrites)
        judges = judges_of(corpus)
        if annotator is None and len(judges) != 1:
            who = f"{', '.join(judges)} judged pairs: choose one with `annotator`"
            raise OptionError(who if judges else "no pair is judged")
        labels = judgments_of(corpus, [annotator or judges[0]], view).values[0].astype(np.int64)
        texts = [text_of(pair) for pair in corpus]
        kept = [k for k in np.flatnonzero(labels >= 0).tolist() if any(texts[k])]
        unlabelled = int((labels < 0).sum())
        left = {"without a label": unlabelled, "without words": len(texts) - unlabelled - len(kept)}
        notes += tuple(f"{how_many(n, 'pair')} {what} left out" for what, n in left.items() if n)
        pairs = [corpus[k] for k in kept]
        groups, alone = _groups(pairs, group)
        if alone:
            notes += (f"{how_many(alone, 'pair')} without {group}: each is a group of its own",)
        ids = tuple(pair.id for pair in pairs)
        return cls(ids, [texts[k] for k in kept], labels[kept], groups, notes)

    def check(self, view: View) -> None:
        """Raise an error if there is one label, or a label has too few pairs."""
        counts = Counter(self.labels.tolist())
        if len(counts) < 2:
            raise OptionError("all pairs have one label: there is nothing to learn")
        if few := [k for k, n in counts.items() if n < LEAST]:
            has = f"label {view.labels[few[0]]!r} has {how_many(counts[few[0]], 'pair')}"
            raise OptionError(f"{has}; {LEAST} are needed: choose another view")


def text_of(pair: SentencePair) -> Texts:
    """Return the two texts of a pair; canonically equivalent ones are equal."""
    source, target = (" ".join(words or ()).strip() for words in (pair.source, pair.target))
    return compared(source), compared(target)


def digest_of(texts: Texts) -> str:
    """Return the same text for pairs that differ in case, spaces or sides alone."""
    words = sorted(" ".join(tokens(compared(text, ignore_case=True))) for text in texts)
    return blake2b("\0".join(words).encode("utf-8", "replace"), digest_size=8).hexdigest()


def check_ids(ids: Sequence[str]) -> None:
    """Raise an error if two pairs to judge have the same id."""
    if repeated := [id for id, n in Counter(ids).items() if n > 1]:
        raise OptionError(f"several pairs have the id {repeated[0]!r}: give each its own")


def checked_group(corpus: Corpus, group: str | None) -> str | None:
    """Return the attribute of groups, None for independent pairs; refuse to guess."""
    known = dict.fromkeys(name for pair in corpus for name in pair.attributes)
    if group is None and (usual := [name for name in GROUPS if name in known]):
        raise OptionError(
            f"pairs belong together by {usual[0]}, and must not be divided: set `group` to "
            f"{usual[0]!r}, or to {ALONE!r}"
        )
    if group is not None and group != ALONE:
        check_known("attribute of groups", group, known)
        return group
    return None


def _groups(pairs: Sequence[SentencePair], group: str | None) -> tuple[I8, int]:
    """Return the number of each pair's group, and how many pairs lack the attribute."""
    names = [[] if group is None else sorted(group_values(pair, group, None)) for pair in pairs]
    alone = 0 if group is None else names.count([])
    places: dict[object, int] = {}
    edges: list[tuple[int, int]] = []
    for k, pair in enumerate(pairs):
        origin = origin_of(pair) or pair.id
        names[k] = names[k] or [origin]
        keys = *names[k], (origin,), digest_of(text_of(pair)).encode()
        edges += [(k, places.setdefault(key, len(places) + len(pairs))) for key in keys]
    ends = np.array(edges, int).reshape(-1, 2).T
    size = len(pairs) + len(places)
    graph = sparse.csr_matrix((np.ones(len(edges)), (ends[0], ends[1])), (size, size))
    joined = connected_components(graph, directed=False)[1].tolist()
    first: dict[int, str] = {}  # the numbers follow the names, so folds are those of other programs
    for part, values in zip(joined, names, strict=False):
        first[part] = min(first.get(part, values[0]), values[0])
    named = np.array([first[part] for part in joined[: len(pairs)]])
    return np.unique(named, return_inverse=True)[1].astype(np.int64), alone


def refuse_directions(view: View) -> None:
    """Refuse labels that change when the sides do: features do not."""
    flip = view.scheme.flip
    for judgment, label in view.rows.items():
        if label is not None and view.rows.get(flip(judgment), label) != label:
            raise OptionError(
                f"{judgment!r} of {view.scheme.name}, view {view.name}, has a direction; features "
                "have none: choose another view"
            )


def folds(pairs: LabelledPairs, places: I8, count: int, seed: int) -> Iterator[tuple[I8, I8]]:
    """Yield training and test places among some; groups stay whole, labels are stratified."""
    labels, groups = pairs.labels[places], pairs.groups[places]
    number, each = len(np.unique(groups)), np.unique(labels, return_counts=True)[1]
    for n, what, of in ((number, "group", ""), (int(each.min()), "pair", " of the rarest label")):
        if not 2 <= count <= n:
            raise OptionError(f"{how_many(n, what)}{of} cannot be divided into {count} folds")
    grouped = number < len(groups)
    kind = "StratifiedGroupKFold" if grouped else "StratifiedKFold"
    divider = getattr(sklearn("model_selection"), kind)(count, shuffle=True, random_state=seed)
    for train, test in divider.split(labels, labels, groups if grouped else None):
        if len(np.unique(labels[train])) < len(each):
            raise OptionError("a fold has all pairs of a label: its groups are too large")
        yield places[train], places[test]


def leak_notes(
    pairs: LabelledPairs, train: Corpus, test: Corpus, group: str | None, leaks: str
) -> Iterator[str]:
    """Yield what the test part shares with the training part, or refuse it."""
    check_known("way with leaks", leaks, ("refuse", "report"))
    known = set(map(digest_of, pairs.texts))
    equal = [pair.id for pair in test if digest_of(text_of(pair)) in known]
    listed = find_leaks(train, test, () if group is None else (group,))
    grouped = [leak.test for leak in listed if leak.kind == GROUPED]
    if both := equal + grouped:
        kinds = f"{len(equal)} equal, {len(grouped)} grouped; the first is {both[0]!r}"
        said = f"test pairs are in the training part ({kinds})"
        if leaks == "refuse":
            raise OptionError(f"{said}: divide the corpus anew, or only report leaks")
        yield said
    if group is not None and (alone := sum(not group_values(pair, group, None) for pair in test)):
        yield f"{how_many(alone, 'test pair')} without {group}: they may share groups with training"
    texts = {text for pair in pairs.texts for text in pair if text}
    if shared := sum(text in texts for pair in test for text in text_of(pair)):
        yield f"the training part has {how_many(shared, 'text')} of the test part"
