"""Candidate pairs from groups of texts, such as the definitions of a term: clusters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from importlib import import_module
from itertools import chain, combinations
from math import comb

from alignkit._support.options import takes
from alignkit._support.wording import how_many
from alignkit.errors import OptionError
from alignkit.identification.candidates import Candidates, TextPair, TextRecord, with_matches
from alignkit.identification.options import GroupOptions
from alignkit.identification.similarity import dense, fit, sklearn

_DIMENSIONS = 100
_RESTARTS = 10


@takes(GroupOptions)
def candidate_groups(texts: Iterable[TextRecord], chosen: GroupOptions) -> Candidates:
    """Pair the texts of a group that are in the same cluster of k-means.

    Equal texts of a group (ignoring case and white space) count once. Pairs are dropped if one
    text contains the other, or they hardly differ in more than punctuation. Vectors of n-grams and
    words are reduced to 100 dimensions.

    Parameters
    ----------
    texts : The texts, with their groups.
    **options : The fields of `GroupOptions`.

    Raises
    ------
    OptionError : If an option is out of range, or no group is large enough.
    FormatError : If a record has no such group or text.

    References
    ----------
    He et al. 2020, PARADE, EMNLP, section 3.

    Examples
    --------
    >>> texts = ["a list of items", "items in a list", "a kind of tree"]
    >>> records = [TextRecord(str(k), {"group": "g", "text": t}) for k, t in enumerate(texts)]
    >>> [pair.id for pair in candidate_groups(records, min_group=3, all_pairs=True).pairs]
    ['0~1', '0~2', '1~2']
    """
    counts: Counter[str] = Counter()
    groups = _different(texts, chosen, counts)
    least = max(2, chosen.min_group)
    whole = {name: members for name, members in groups.items() if len(members) >= least}
    counts[f"groups of fewer than {least} different texts"] = len(groups) - len(whole)
    if not whole:
        raise OptionError(f"no group has {least} different texts; see `min_group`")
    sizes = list(map(len, whole.values()))
    if chosen.all_pairs:
        labels = [[0] * size for size in sizes]
    else:
        texts_of = [[record[chosen.text] for record in members] for members in whole.values()]
        labels = _clusters(texts_of, chosen)
    pairs = with_matches(list(_pairs(whole, labels, chosen, counts)), chosen)
    number = sum(comb(size, 2) for size in sizes)
    groups_of = f"{how_many(len(whole), 'group')} of {sum(sizes)} different texts"
    return Candidates(pairs, f"{groups_of}, {number} pairs in all", +counts, chosen.settings())


def _different(
    texts: Iterable[TextRecord], chosen: GroupOptions, counts: Counter[str]
) -> dict[str, list[TextRecord]]:
    """Return the different texts of each group."""
    groups: dict[str, dict[str, TextRecord]] = {}
    for record in texts:
        members = groups.setdefault(record[chosen.group], {})
        key = " ".join(record[chosen.text].casefold().split())
        if not key:
            counts["texts without words"] += 1
        elif key in members:
            counts["texts equal to another of their group"] += 1
        else:
            members[key] = record
    return {name: list(members.values()) for name, members in groups.items()}


def _clusters(groups: Sequence[Sequence[str]], chosen: GroupOptions) -> list[list[int]]:
    """Return the cluster of each text in its group."""
    labels = []
    start = 0
    texts = list(chain.from_iterable(groups))
    with import_module("threadpoolctl").threadpool_limits(1):  # sums do not depend on threads
        vectors = fit(texts, chosen)(texts)
        if chosen.text_vectors is None:
            width = max(1, min(_DIMENSIONS, min(vectors.shape) - 1))
            make = sklearn("decomposition").TruncatedSVD
            vectors = make(width, random_state=chosen.seed).fit_transform(vectors)
        vectors = dense(vectors)
        for size in map(len, groups):
            k = min(size, chosen.clusters or max(1, size // 2))
            means = sklearn("cluster").KMeans(k, n_init=_RESTARTS, random_state=chosen.seed)
            labels.append(means.fit_predict(vectors[start : start + size]).tolist())
            start += size
    return labels


def _pairs(
    groups: Mapping[str, Sequence[TextRecord]],
    labels: Sequence[Sequence[int]],
    chosen: GroupOptions,
    counts: Counter[str],
) -> Iterator[TextPair]:
    """Yield the pairs of each cluster, without those that are too alike."""
    for (name, members), clusters in zip(groups.items(), labels, strict=True):
        sizes = Counter(clusters)
        counts["texts alone in their cluster"] += list(sizes.values()).count(1)
        labelled = zip(members, clusters, strict=True)
        for (first, cluster), (other, other_cluster) in combinations(labelled, 2):
            if cluster != other_cluster:
                continue
            source = first[chosen.text]
            target = other[chosen.text]
            reason = _too_alike(source, target, chosen.max_alike)
            if reason:
                counts[reason] += 1
                continue
            attributes = {
                "group": name,
                "cluster": str(cluster),
                "source_id": first.id,
                "target_id": other.id,
            }
            yield TextPair(f"{first.id}~{other.id}", source, target, attributes)


def _too_alike(first: str, second: str, most: float) -> str:
    """Return why two texts hardly differ; empty if they do."""
    left, right = (re.sub(r"\W+", " ", text.lower()).strip() for text in (first, second))
    if left == right:
        return "pairs that differ in case or punctuation only"
    if left in right or right in left:
        return "pairs in which a text contains the other"
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    bounds = (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)  # the fastest first
    if all(bound() >= most for bound in bounds):
        return "pairs that are too alike letter by letter"
    return ""
