"""Candidate pairs from groups of texts, such as definitions of a term: clusters by likeness."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations

import numpy as np

from alignkit._support.arguments import check_arguments
from alignkit.errors import OptionError
from alignkit.identification.candidates import Candidates, candidate_pair
from alignkit.identification.similarity import Encoder, Similarity, encoded, sklearn, unit_rows
from alignkit.model.sentence_pair import SentencePair
from alignkit.version import __version__

_DIMENSIONS = 100
_RESTARTS = 10


@dataclass(frozen=True)
class GroupedText:
    """A text of a group."""

    group: str
    text: str
    id: str


def candidate_groups(
    texts: Iterable[GroupedText],
    *,
    clusters: int | None = None,
    least_group: int = 5,
    most_alike: float = 0.9,
    every: bool = False,
    encode: Encoder | None = None,
    seed: int = 0,
) -> Candidates:
    """Return the pairs of texts of a group that fall in one cluster.

    Equal texts of a group (ignoring case and white space) count once. Pairs are dropped if one
    text contains the other, or they differ in hardly more than punctuation.

    Parameters
    ----------
    clusters : How many clusters k-means makes of a group; None: half as many as texts.
    least_group : Groups with fewer different texts are dropped.
    most_alike : Pairs with a `difflib` ratio of at least this are dropped.
    every : Pair all texts of a group, without clusters.
    encode : Vectors of texts; by default tf-idf of all texts, reduced to 100 dimensions.

    References
    ----------
    He et al. 2020, PARADE, EMNLP, section 3.
    """
    check_arguments(candidate_groups, locals(), apart=("texts", "encode"))
    if clusters is not None and clusters < 1:
        raise OptionError(f"{clusters} clusters: expected 1 or more")
    counts: Counter[str] = Counter()
    groups = _different(texts, counts)
    whole = {name: each for name, each in groups.items() if len(each) >= max(2, least_group)}
    small = len(groups) - len(whole)
    counts[f"groups of fewer than {max(2, least_group)} different texts"] = small
    listed = [text for each in whole.values() for text in each]
    if not listed:
        raise OptionError("no group has enough different texts")
    vectors = None if every else _vectors([text.text for text in listed], encode, seed)
    pairs = list(_pairs(whole, vectors, clusters, most_alike, seed, counts))
    size = "all pairs" if every else clusters or "half"
    settings = (
        f"clusters:{size}|min-group:{least_group}|max-alike:{most_alike}|seed:{seed}"
        f"|version:{__version__}"
    )
    compared = sum(len(each) * (len(each) - 1) // 2 for each in whole.values())
    title = f"{len(whole)} groups, {len(listed)} different texts, {compared} pairs in all"
    return Candidates(tuple(pairs), (title,), +counts, None, settings)


def _different(texts: Iterable[GroupedText], counts: Counter[str]) -> dict[str, list[GroupedText]]:
    groups: dict[str, dict[str, GroupedText]] = {}
    for text in texts:
        if not (key := " ".join(text.text.casefold().split())):
            counts["texts without words"] += 1
        elif key in (group := groups.setdefault(text.group, {})):
            counts["texts equal to one before"] += 1
        else:
            group[key] = text
    return {name: list(group.values()) for name, group in groups.items()}


def _vectors(texts: Sequence[str], encode: Encoder | None, seed: int) -> np.ndarray:
    if encode is not None:
        made = unit_rows(encoded(encode, texts))
        return made.toarray() if hasattr(made, "toarray") else made
    sparse = Similarity().vectors(texts)
    size = min(_DIMENSIONS, len(texts) - 1, sparse.shape[1] - 1)
    svd = sklearn("decomposition").TruncatedSVD(max(1, size), random_state=seed)
    return svd.fit_transform(sparse)


def _pairs(
    groups: dict[str, list[GroupedText]], vectors: np.ndarray | None, clusters: int | None,
    most_alike: float, seed: int, counts: Counter[str],
) -> Iterator[SentencePair]:  # fmt: skip
    start = 0
    for name, group in groups.items():
        n = len(group)
        if vectors is None:
            labels = [0] * n
        else:
            k = min(n, max(1, n // 2) if clusters is None else clusters)
            means = sklearn("cluster").KMeans(k, n_init=_RESTARTS, random_state=seed)
            labels = means.fit_predict(vectors[start : start + n]).tolist()
        start += n
        sizes = Counter(labels)
        counts["texts alone in their cluster"] += sum(size == 1 for size in sizes.values())
        for (i, first), (j, other) in combinations(enumerate(group), 2):
            if labels[i] != labels[j]:
                continue
            if reason := too_alike(first.text, other.text, most_alike):
                counts[f"pairs dropped: {reason}"] += 1
                continue
            yield candidate_pair(
                f"{first.id}~{other.id}", first.text, other.text,
                group=name, cluster=str(labels[i]), source_id=first.id, target_id=other.id,
            )  # fmt: skip


def too_alike(first: str, second: str, most: float) -> str:
    """Return why two texts are hardly different; empty if they are."""
    left, right = (re.sub(r"\W+", " ", text.lower()).strip() for text in (first, second))
    if left == right:
        return "equal but for case and punctuation"
    if left in right or right in left:
        return "one text contains the other"
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    ratio: Callable[[], float]
    for ratio in (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio):
        if ratio() < most:
            return ""
    return "too alike letter by letter"
