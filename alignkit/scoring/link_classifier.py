"""Classify the links of a corpus by kind, words, frequency, distance, tags or phenomena."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from alignkit.errors import MissingTextError, OptionError
from alignkit.model.alignment import Alignment, Link
from alignkit.model.corpus import values_of
from alignkit.model.sentence_pair import SentencePair
from alignkit.scoring import link_classes
from alignkit.scoring.link_classes import NULL_KIND, Frequencies, FunctionWords

BY_LINK = {
    "kind": "the connected component: 1-1, 1-n, n-1, block, discontinuous, null; sure or possible",
    "word": "the words: identical, punctuation, function words, content words",
    "frequency": "how often the rarer of the two words occurs in the reference",
    "distance": "the distance of the link from the diagonal, abs(i/N - j/M)",
    "tag": "the tags of the two words",
    "phenomenon": "the values of the attribute of the pair",
}
"""The ways to classify links."""

WHOLE = ""
"""The way that puts all links into one class, `ALL_LINKS`."""

ALL_LINKS = "all links"

ORDERS: Mapping[str, Sequence[str]] = {
    "kind": (*link_classes.KINDS[:-1], *link_classes.STATUSES, NULL_KIND),
    "word": link_classes.WORDS,
    "frequency": link_classes.FREQUENCIES,
    "distance": link_classes.DISTANCES,
}
"""The classes of a way in the order of reports; the ways that are not here have no order."""

TAGS = ("source_tags", "target_tags")
"""The attributes with the tags of the words."""

Classes = Mapping[Link, tuple[str, ...]]  # the classes of each link


@dataclass(frozen=True)
class LinkClassifier:
    """Classify the links of a corpus in some ways."""

    ways: tuple[str, ...]  # some of BY_LINK
    function_words: FunctionWords | None
    frequencies: Frequencies
    tags: tuple[str, ...]  # those of TAGS that the pairs have
    attribute: str  # the attribute with the phenomena
    split: str | None  # what separates several phenomena

    def phenomena(self, pair: SentencePair) -> tuple[str, ...]:
        """Return the phenomena of a pair."""
        values = values_of(pair.attributes.get(self.attribute, ""), self.split)
        return tuple(value or "(none)" for value in values)

    def classes(self, way: str, pair: SentencePair, alignment: Alignment) -> Classes:
        """Return the classes of each link by one way."""
        if way == WHOLE:
            return dict.fromkeys(alignment, (ALL_LINKS,))
        if way == "phenomenon":
            return dict.fromkeys(alignment, self.phenomena(pair))
        if way == "kind":
            kinds = link_classes.component_kinds(alignment)
            return {link: (kind,) for link, kind in kinds.items()}
        if not pair.has_text:
            raise MissingTextError(
                f"pair {pair.id!r} has no words, but links by {way} need them; give the texts"
            )
        if way == "tag":
            return self._link_tags(pair, alignment)
        return {link: (self._class(way, pair, link),) for link in alignment}

    def _class(self, way: str, pair: SentencePair, link: Link) -> str:
        """Return the class of a link by its words or its distance from the diagonal."""
        if way == "distance":
            return link_classes.distance_band(link, pair.lengths)
        source, target = pair.words
        source_word = source[link.i]
        target_word = target[link.j]
        if way == "word":
            return link_classes.word_class(source_word, target_word, self.function_words)
        return self.frequencies.band(source_word, target_word)

    def _link_tags(self, pair: SentencePair, alignment: Alignment) -> Classes:
        """Return the tags of both words of each link as its class, one if they are the same."""
        tags = {name: _tags(pair, name) for name in self.tags}
        classes = {}
        for link in alignment:
            both = [tags[name][k] for name, k in zip(TAGS, link, strict=True) if name in tags]
            classes[link] = (" - ".join(dict.fromkeys(both)),)
        return classes


def _tags(pair: SentencePair, name: str) -> list[str]:
    """Return the tags of one side of a pair."""
    side = pair.source if name == TAGS[0] else pair.target
    tags = [word.rpartition("/")[2] for word in pair.attributes.get(name, "").split()]
    if side is None or len(tags) != len(side):
        raise OptionError(
            f"pair {pair.id!r} has {len(tags)} tags in {name!r} for {len(side or ())} words; "
            "expected one for each word, as word/TAG"
        )
    return tags
