"""Errors by kind of link: where a system errs: what it gets right, draws wrongly, and misses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from alignkit.alignment import Alignment, Link
from alignkit.arguments import check_arguments
from alignkit.brief import overlapping
from alignkit.corpus import Corpus, values_of
from alignkit.errors import MissingTextError, OptionError, UnknownNameError
from alignkit.profiles import link_classes
from alignkit.profiles.error_counts import ErrorCounts, count_nulls, count_pair, count_statuses
from alignkit.profiles.error_report import NO_LINKS, ClassErrors, LinkErrors, Shown
from alignkit.profiles.link_classes import NULL_KIND, Frequencies
from alignkit.report.word_kinds import FunctionWords
from alignkit.scoring.bootstrap import SEED, check_drawing
from alignkit.sentence_pair import SentencePair
from alignkit.version import __version__

BY_LINK = {
    "kind": "the connected component: 1-1, 1-n, n-1, block, discontinuous, null; sure or possible",
    "word": "the words: identical, punctuation, function words, content words",
    "frequency": "how often the rarer of the two words occurs in the reference",
    "distance": "how far the link lies from the diagonal, abs(i/N - j/M)",
    "tag": "the tags of the two words",
    "phenomenon": "what the attribute of the pair names",
}
"""What links can be told apart by."""

_ORDERS: Mapping[str, Sequence[str]] = {
    "kind": (*link_classes.KINDS[:-1], *link_classes.STATUSES, NULL_KIND),
    "word": link_classes.WORDS,
    "frequency": link_classes.FREQUENCIES,
    "distance": link_classes.DISTANCES,
}
_ALL = "all links"
_TAGS = ("source_tags", "target_tags")


@dataclass(frozen=True)
class _Ways:
    """How links are told apart."""

    by: tuple[str, ...]
    known: FunctionWords | None
    frequencies: Frequencies
    tags: tuple[str, ...]
    attribute: str
    split: str | None

    def classes(self, way: str, pair: SentencePair, alignment: Alignment) -> Mapping[Link, str]:
        """Return the class of each link by one way; phenomena are not of links."""
        if way == "kind":
            return link_classes.component_kinds(alignment)
        source, target = pair.source, pair.target
        if source is None or target is None:
            raise MissingTextError(
                f"pair {pair.id!r} has no words, which links by {way} need; give the texts"
            )
        if way == "word":
            known = self.known
            return {x: link_classes.word_class(source[x.i], target[x.j], known) for x in alignment}
        if way == "frequency":
            band, count = link_classes.frequency_band, self.frequencies.rarer
            return {link: band(count(source[link.i], target[link.j])) for link in alignment}
        if way == "distance":
            lengths = len(source), len(target)
            return {link: link_classes.distance_band(link, lengths) for link in alignment}
        tags = {name: _tags(pair, name) for name in self.tags}
        both = {
            link: [tags[name][k] for name, k in zip(_TAGS, link, strict=True) if name in tags]
            for link in alignment
        }
        return {link: " - ".join(dict.fromkeys(parts)) for link, parts in both.items()}


def _tags(pair: SentencePair, name: str) -> list[str]:
    side = pair.source if name == _TAGS[0] else pair.target
    tags = [word.rpartition("/")[2] for word in pair.attributes.get(name, "").split()]
    if side is None or len(tags) != len(side):
        raise OptionError(
            f"pair {pair.id!r} has {len(tags)} tags in {name!r} for {len(side or ())} words; give "
            "one a word, as word/TAG"
        )
    return tags


def link_errors(
    corpus: Corpus,
    hypothesis: str,
    reference: str,
    *,
    by: Iterable[str] = ("kind", "word", "frequency", "distance"),
    function_words: FunctionWords | None = None,
    frequencies: Frequencies | None = None,
    attribute: str = "phenomena",
    split: str | None = ",",
    examples: int = 0,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = SEED,
) -> LinkErrors:
    """Count right, wrong and missed links by kinds of links, with precision and recall of each.

    A link counts as in `alignkit.score`: precision is the share of the hypothesis' sure links that
    the reference has, sure or possible, by the class of the hypothesis' link; recall the share of
    the reference's sure links that the hypothesis has, by the class of the reference's link.

    Parameters
    ----------
    by
        Of `BY_LINK`: what to tell links apart by.
    function_words
        Those of the languages; without them, function and content words are not told apart.
    frequencies
        Of the words of the reference; None counts those of the pairs.
    attribute, split
        The attribute that names phenomena, and what stands between several in it.
    examples
        How many errors of each class to show, spread over the corpus.

    Raises
    ------
    UnknownNameError
        If nobody of that name annotated the corpus, no pair has the attribute, or `by` names
        nothing.

    Examples
    --------
    >>> pair = SentencePair("1", ("a", "b"), ("a", "c"), {
    ...     "gold": Alignment.parse("0-0 1-1"), "system": Alignment.parse("0-0 1-0")})
    >>> found = link_errors(Corpus([pair]), "system", "gold", by=["word"])
    >>> [(one.name, one.right, one.wrong, one.missed) for one in found.classes]
    [('all links', 1, 1, 1), ('identical', 1, 0, 0), ('words', 0, 1, 1)]
    """
    check_arguments(link_errors, locals())
    check_drawing(resamples, confidence, seed)
    ways = tuple(dict.fromkeys(by))
    _check(ways, examples)
    shared = corpus.annotated_by(hypothesis, reference)
    counted = frequencies or Frequencies()
    if frequencies is None:
        for pair in shared:
            counted.add(pair)
    tags = tuple(name for name in _TAGS if name in shared.attributes)
    if "tag" in ways and not tags and len(shared):
        raise OptionError(
            f"no pair has tags; give them as attributes, {' and '.join(_TAGS)}, a tag a word"
        )
    told = _Ways(ways, function_words, counted, tags, attribute, split)
    if "phenomenon" in ways and len(shared) and attribute not in shared.attributes:
        raise UnknownNameError("attribute", attribute, shared.attributes)
    counts, several = _counts(shared, hypothesis, reference, told, keep=examples > 0)
    drawn = {"resamples": resamples, "confidence": confidence, "seed": seed}
    whole = counts[""][_ALL].array(len(shared))
    classes = [
        ClassErrors.of(way, name, errors.array(len(shared)), drawn,
                       whole if way and name not in NO_LINKS else None)
        for way, name, errors in _ordered(counts)
    ]  # fmt: skip
    shown = [
        shown for way, name, errors in _ordered(counts) if name != _ALL
        for shown in _examples(shared, way, name, errors, examples)
    ]  # fmt: skip
    notes = ["nulls: the words without a link, whether said or not"] if "kind" in ways else []
    if several:
        notes.append(overlapping(several, len(shared), attribute))
    if "word" in ways and function_words is None:
        notes.append("no function words were named, so other words are not told apart")
    return LinkErrors(
        tuple(classes),
        tuple(shown),
        pairs=len(shared),
        skipped=len(corpus) - len(shared),
        notes=tuple(notes),
        signature=f"links:given|by:{','.join(ways)}|interval:bootstrap|confidence:{confidence}|"
        f"resamples:{resamples}|seed:{seed}|version:{__version__}",
        system=hypothesis,
    )


def _check(by: Sequence[str], examples: int) -> None:
    for name in by:
        if name not in BY_LINK:
            raise UnknownNameError("way to tell links apart:", name, BY_LINK)
    if not by:
        raise OptionError(f"nothing to tell links apart by; name some of {', '.join(BY_LINK)}")
    if examples < 0:
        raise OptionError(f"examples are {examples}; give 0 or more")


Collected = Mapping[str, dict[str, ErrorCounts]]


def _counts(
    corpus: Corpus, hypothesis: str, reference: str, ways: _Ways, *, keep: bool
) -> tuple[Collected, int]:
    counts: Collected = {way: defaultdict(ErrorCounts) for way in ("", *ways.by)}
    several = 0
    for place, pair in enumerate(corpus):
        hyp, ref = pair.alignment(hypothesis), pair.alignment(reference)
        every = (lambda _: (_ALL,),) * 2
        count_pair(place, hyp, ref, every, counts[""], keep=False)
        for way in ways.by:
            if way == "phenomenon":
                text = pair.attributes.get(ways.attribute, "")
                values = tuple(value or "(none)" for value in values_of(text, ways.split))
                several += len(values) > 1
                same = (lambda _, values=values: values,) * 2
                count_pair(place, hyp, ref, same, counts[way], keep=keep)
                continue
            mine, gold = ways.classes(way, pair, hyp), ways.classes(way, pair, ref)
            told = (lambda x, mine=mine: (mine[x],), lambda x, gold=gold: (gold[x],))
            count_pair(place, hyp, ref, told, counts[way], keep=keep)
            if way == "kind":
                count_statuses(place, hyp, ref, counts[way])
                if pair.has_text:
                    count_nulls(place, pair, hyp, ref, counts[way][NULL_KIND])
    return counts, several


def _ordered(counts: Collected) -> Iterator[tuple[str, str, ErrorCounts]]:
    for way, classes in counts.items():
        order = _ORDERS.get(way)
        names = [name for name in order or () if name in classes]
        if order is None:
            errors = {
                name: sum(row[0] - row[1] + row[2] - row[3] for row in counts.rows.values())
                for name, counts in classes.items()
            }
            names = sorted(classes, key=lambda name: (-errors[name], name))
        for name in names:
            yield way, name, classes[name]


def _examples(
    corpus: Corpus, way: str, name: str, counts: ErrorCounts, most: int
) -> Iterator[Shown]:
    for error in ("wrong", "missed"):
        errors = sorted((one for one in counts.errors if one.error == error), key=lambda x: x[1:])
        chosen = np.unique(np.linspace(0, len(errors) - 1, min(most, len(errors))).round())
        for k in chosen.astype(int):
            pair, link = corpus[errors[k].pair], errors[k].link
            words = [
                str(position) if side is None else side[position]
                for side, position in ((pair.source, link.i), (pair.target, link.j))
            ]
            yield Shown(way, name, error, pair.id, f"{link.i}-{link.j}", *words)
