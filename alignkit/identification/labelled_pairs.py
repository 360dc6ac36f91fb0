"""Pairs with labels and groups to learn from, folds that keep groups whole, and leaks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import chain

import numpy as np

from alignkit._support.arguments import check_known
from alignkit._support.array_types import I8
from alignkit._support.wording import how_many
from alignkit.corpora.labelled import judged_part, judges_of, judgments_of
from alignkit.corpora.leaks import GROUPED, GROUPS, find_leaks
from alignkit.corpora.split import connected_groups
from alignkit.errors import OptionError
from alignkit.identification.options import ALONE, Texts
from alignkit.identification.overlap_features import tokens
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
    view : The labels.
    group : The attribute of groups; None if pairs are independent.
    labels : The place of each label in the view, (P,).
    groups : The number of each pair's group, (P,): the value of an attribute; pairs with equal
        texts are in one group, too.
    notes : What was left out.
    """

    view: View
    group: str | None
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
        wordless = len(texts) - unlabelled - len(kept)
        if unlabelled:
            notes += (f"{how_many(unlabelled, 'pair')} without a label left out",)
        if wordless:
            notes += (f"{how_many(wordless, 'pair')} without words left out",)
        pairs = [corpus[k] for k in kept]
        texts = [texts[k] for k in kept]
        if group is not None:
            alone = sum(not group_values(pair, group, None) for pair in pairs)
            if alone:
                notes += (f"{how_many(alone, 'pair')} without {group}: each is a group of its own",)
        groups = _groups(pairs, texts, group)
        ids = tuple(pair.id for pair in pairs)
        return cls(view, group, ids, texts, labels[kept], groups, notes)


def pairs_to_learn_from(
    corpus: Corpus, view: View, annotator: str | None, group: str | None, *, rewrites: bool
) -> LabelledPairs:
    """Return the pairs of `LabelledPairs.of`; refuse them if there is too little to learn from."""
    attribute = _checked_group(corpus, group)
    pairs = LabelledPairs.of(corpus, view, annotator, attribute, rewrites=rewrites)
    counts = Counter(pairs.labels.tolist())
    if len(counts) < 2:
        raise OptionError("all pairs have one label: there is nothing to learn")
    for k, count in counts.items():
        if count < LEAST:
            raise OptionError(
                f"label {view.labels[k]!r} has {how_many(count, 'pair')}; "
                f"{LEAST} are needed: choose another view"
            )
    check_ids(pairs.ids)
    return pairs


def _groups(pairs: Sequence[SentencePair], texts: Sequence[Texts], group: str | None) -> I8:
    """Return the number of each pair's group, in the order of their names as in other programs.

    The name of a group is the first of its values; without a value, the id of the original.
    """
    names = []
    known = []
    together = [_EQUAL]
    if group is not None:
        together.append(group)
    for pair, pair_texts in zip(pairs, texts, strict=True):
        values = () if group is None else group_values(pair, group, None)
        names.append(min(values, default="") or origin_of(pair) or pair.id)
        attributes = {**pair.attributes, _EQUAL: digest_of(pair_texts)}
        known.append(replace(pair, attributes=attributes))
    firsts = np.array(names, object)
    for part in connected_groups(Corpus(known), together):
        firsts[part] = min(names[k] for k in part)
    _, groups = np.unique(firsts.astype(str), return_inverse=True)
    return groups.astype(np.int64)


def the_judge(corpus: Corpus, annotator: str | None) -> str:
    """Return the annotator, or the only one who judged pairs."""
    if annotator is not None:
        return annotator
    judges = judges_of(corpus)
    if not judges:
        raise OptionError("no pair is judged")
    if len(judges) > 1:
        raise OptionError(f"{', '.join(judges)} judged pairs: choose one with `annotator`")
    return judges[0]


def text_of(pair: SentencePair) -> Texts:
    """Return the two texts of a pair; canonically equivalent ones are equal."""
    source = " ".join(pair.source or ())
    target = " ".join(pair.target or ())
    return compared(source.strip()), compared(target.strip())


def digest_of(texts: Texts) -> str:
    """Return the same text for pairs that differ in case, spaces or sides alone."""
    words = sorted(" ".join(tokens(compared(text, ignore_case=True))) for text in texts)
    return blake2b("\0".join(words).encode("utf-8", "replace"), digest_size=8).hexdigest()


def check_ids(ids: Sequence[str]) -> None:
    """Raise an error if two pairs to judge have the same id."""
    for id, times in Counter(ids).items():
        if times > 1:
            raise OptionError(f"several pairs have the id {id!r}: give each its own")


def _checked_group(corpus: Corpus, group: str | None) -> str | None:
    """Return the attribute of groups, None for independent pairs; refuse to guess."""
    if group is None:
        for usual in GROUPS:
            if usual in corpus.attributes:
                raise OptionError(
                    f"pairs belong together by {usual}, and must not be divided: set `group` to "
                    f"{usual!r}, or to {ALONE!r}"
                )
        return None
    if group == ALONE:
        return None
    check_known("attribute of groups", group, corpus.attributes)
    return group


def folds(pairs: LabelledPairs, places: I8, count: int, seed: int) -> Iterator[tuple[I8, I8]]:
    """Yield training and test places among some; groups stay whole, labels are stratified."""
    labels = pairs.labels[places]
    groups = pairs.groups[places]
    number = len(np.unique(groups))
    _, sizes = np.unique(labels, return_counts=True)
    rarest = int(sizes.min())
    if not 2 <= count <= number:
        raise OptionError(f"{how_many(number, 'group')} cannot be divided into {count} folds")
    if count > rarest:
        pairs_of_label = f"{how_many(rarest, 'pair')} of the rarest label"
        raise OptionError(f"{pairs_of_label} cannot be divided into {count} folds")
    selection = sklearn("model_selection")
    if number < len(groups):
        divider = selection.StratifiedGroupKFold(count, shuffle=True, random_state=seed)
        divided = divider.split(labels, labels, groups)
    else:
        divider = selection.StratifiedKFold(count, shuffle=True, random_state=seed)
        divided = divider.split(labels, labels)
    for train, test in divided:
        if len(np.unique(labels[train])) < len(sizes):
            raise OptionError("a fold has all pairs of a label: its groups are too large")
        yield places[train], places[test]


def leak_notes(pairs: LabelledPairs, train: Corpus, test: Corpus, leaks: str) -> Iterator[str]:
    """Yield what the test part shares with the training part, or refuse it."""
    check_known("way with leaks", leaks, ("refuse", "report"))
    group = pairs.group
    known = set(map(digest_of, pairs.texts))
    equal = [pair.id for pair in test if digest_of(text_of(pair)) in known]
    checked = []
    if group is not None:
        others = set(train.attributes).intersection(GROUPS) - {group}
        checked = [group, *sorted(others)]
    grouped = [leak for leak in find_leaks(train, test, checked) if leak.kind == GROUPED]
    leaking = equal + [f"{leak.test} ({leak.group})" for leak in grouped]
    if leaking:
        message = (
            f"test pairs are in the training part ({len(equal)} equal, {len(grouped)} "
            f"grouped; the first is {leaking[0]!r})"
        )
        if leaks == "refuse":
            raise OptionError(
                f"{message}: 'alignkit check --leaks' lists them, and 'alignkit select --split' "
                "with --keep-together divides a corpus without them; `leaks='report'` goes on"
            )
        yield message
    if group is not None:
        alone = sum(not group_values(pair, group, None) for pair in test)
        if alone:
            count = how_many(alone, "test pair")
            yield f"{count} without {group}: they may share groups with training"
    known_texts = set(chain.from_iterable(pairs.texts)) - {""}
    shared = sum(text in known_texts for text in chain.from_iterable(map(text_of, test)))
    if shared:
        yield f"the training part has {how_many(shared, 'text')} of the test part"
