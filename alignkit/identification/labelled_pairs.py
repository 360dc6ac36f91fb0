"""Pairs with labels and groups to learn from, folds that keep groups whole, and leaks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np

from alignkit._support.arguments import check_known
from alignkit._support.array_types import I8
from alignkit._support.wording import how_many
from alignkit.corpora.labelled import judged_part, judges_of, judgments_of
from alignkit.corpora.split import GROUPED, GROUPS, connected_groups, find_leaks
from alignkit.errors import OptionError
from alignkit.identification.features import tokens
from alignkit.identification.options import ALONE, Texts
from alignkit.identification.similarity import sklearn
from alignkit.model.corpus import Corpus, group_values
from alignkit.model.labels import View
from alignkit.model.sentence_pair import SentencePair, origin_of
from alignkit.model.texts import compared

LEAST = 20
"""The least number of pairs of a label."""
_EQUAL = "equal texts"  # attribute of pairs that have the same texts


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
        cls,
        corpus: Corpus,
        view: View,
        annotator: str | None,
        group: str | None,
        *,
        rewrites: bool = False,
    ) -> LabelledPairs:
        """Return the judged pairs of a corpus that have words; labels must have no direction."""
        flip = view.scheme.flip
        for judgment, label in view.rows.items():
            if label is not None and view.rows.get(flip(judgment), label) != label:
                raise OptionError(
                    f"{judgment!r} of {view.scheme.name}, view {view.name}, has a direction; "
                    "features have none: choose another view"
                )
        corpus, _, notes = judged_part(corpus, rewrites=rewrites)
        judge = the_judge(corpus, annotator)
        labels = judgments_of(corpus, [judge], view).values[0].astype(np.int64)
        texts = [text_of(pair) for pair in corpus]
        kept = [k for k in np.flatnonzero(labels >= 0).tolist() if any(texts[k])]
        unlabelled = int((labels < 0).sum())
        left = {"without a label": unlabelled, "without words": len(texts) - unlabelled - len(kept)}
        notes += tuple(f"{how_many(n, 'pair')} {what} left out" for what, n in left.items() if n)
        pairs = [corpus[k] for k in kept]
        texts = [texts[k] for k in kept]
        together = [_EQUAL]
        names = [origin_of(pair) or pair.id for pair in pairs]
        if group is not None:
            own = [min(group_values(pair, group, None), default="") for pair in pairs]
            names = [value or name for value, name in zip(own, names, strict=True)]
            together.append(group)
            if alone := own.count(""):
                notes += (f"{how_many(alone, 'pair')} without {group}: each is a group of its own",)
        known = (
            replace(pair, attributes={**pair.attributes, _EQUAL: digest_of(text)})
            for pair, text in zip(pairs, texts, strict=True)
        )
        firsts = np.array(names, object)  # groups in the order of their names, as in other programs
        for part in connected_groups(Corpus(known), together):
            firsts[part] = min(names[k] for k in part)
        groups = np.unique(firsts.astype(str), return_inverse=True)[1].astype(np.int64)
        return cls(tuple(pair.id for pair in pairs), texts, labels[kept], groups, notes)

    def check(self, view: View) -> None:
        """Raise an error if there is one label, a label has too few pairs, or ids are repeated."""
        counts = Counter(self.labels.tolist())
        if len(counts) < 2:
            raise OptionError("all pairs have one label: there is nothing to learn")
        if few := [k for k, n in counts.items() if n < LEAST]:
            raise OptionError(
                f"label {view.labels[few[0]]!r} has {how_many(counts[few[0]], 'pair')}; "
                f"{LEAST} are needed: choose another view"
            )
        check_ids(self.ids)


def the_judge(corpus: Corpus, annotator: str | None) -> str:
    """Return the annotator, or the only one who judged pairs."""
    judges = judges_of(corpus) if annotator is None else (annotator,)
    if len(judges) != 1:
        who = f"{', '.join(judges)} judged pairs: choose one with `annotator`"
        raise OptionError(who if judges else "no pair is judged")
    return judges[0]


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
    if group in (None, ALONE):
        return None
    check_known("attribute of groups", str(group), known)
    return group


def folds(pairs: LabelledPairs, places: I8, count: int, seed: int) -> Iterator[tuple[I8, I8]]:
    """Yield training and test places among some; groups stay whole, labels are stratified."""
    labels = pairs.labels[places]
    groups = pairs.groups[places]
    number = len(np.unique(groups))
    each = np.unique(labels, return_counts=True)[1]
    for n, what, of in ((number, "group", ""), (int(each.min()), "pair", " of the rarest label")):
        if not 2 <= count <= n:
            raise OptionError(f"{how_many(n, what)}{of} cannot be divided into {count} folds")
    kind, given = (
        ("StratifiedGroupKFold", groups) if number < len(groups) else ("StratifiedKFold", None)
    )
    divider = getattr(sklearn("model_selection"), kind)(count, shuffle=True, random_state=seed)
    for train, test in divider.split(labels, labels, given):
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
    names = {name for pair in train for name in pair.attributes}.intersection(GROUPS)
    checked = () if group is None else dict.fromkeys((group, *sorted(names)))
    grouped = [leak for leak in find_leaks(train, test, [*checked]) if leak.kind == GROUPED]
    if first := [*equal, *(f"{leak.test} ({leak.group})" for leak in grouped)][:1]:
        said = (
            f"test pairs are in the training part ({len(equal)} equal, {len(grouped)} "
            f"grouped; the first is {first[0]!r})"
        )
        if leaks == "refuse":
            raise OptionError(
                f"{said}: 'alignkit check --leaks' lists them, and 'alignkit select --split' with "
                "--keep-together divides a corpus without them; `leaks='report'` goes on"
            )
        yield said
    if group is not None and (alone := sum(not group_values(pair, group, None) for pair in test)):
        yield f"{how_many(alone, 'test pair')} without {group}: they may share groups with training"
    texts = set()
    for pair in pairs.texts:
        for text in pair:
            if text:
                texts.add(text)
    if shared := sum(text in texts for pair in test for text in text_of(pair)):
        yield f"the training part has {how_many(shared, 'text')} of the test part"
