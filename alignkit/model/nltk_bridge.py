"""Exchange sentence pairs with NLTK's `AlignedSent` and `Alignment`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from alignkit._support.arguments import check_kind, check_known, naming_keywords
from alignkit.model.alignment import NULL, Alignment, Link
from alignkit.model.sentence_pair import SentencePair

if TYPE_CHECKING:
    from nltk.translate import AlignedSent


@naming_keywords
def to_nltk(pair: SentencePair, annotator: str, *, links: str = "possible") -> AlignedSent:
    """Return a sentence pair as an NLTK `AlignedSent`.

    Parameters
    ----------
    pair
        The pair; its words must be known. `AlignedSent.words` are the source,
        `AlignedSent.mots` the target words.
    annotator
        The name of the alignment.
    links
        ``"sure"`` or ``"possible"`` (all): NLTK has only one kind. Nulls are dropped.

    Raises
    ------
    MissingTextError
        If the words are not known.
    UnknownNameError
        If nobody with this name annotated the pair, or `links` has an unknown value.

    Examples
    --------
    >>> pair = SentencePair("1", ("they", "left"), ("both", "went"),
    ...                     {"gold": Alignment.parse("0-0 1?1")})
    >>> to_nltk(pair, "gold", links="sure")
    AlignedSent(['they', 'left'], ['both', 'went'], Alignment([(0, 0)]))
    """
    from nltk.translate import AlignedSent
    from nltk.translate import Alignment as Links

    check_kind("pair", pair, SentencePair)
    for name, value in (("annotator", annotator), ("links", links)):
        check_kind(name, value, str)
    check_known("links", links, ("possible", "sure"))
    source, target = pair.words
    alignment = pair.alignment(annotator)
    chosen = alignment.sure if links == "sure" else alignment.possible
    return AlignedSent(list(source), list(target), Links(map(tuple, chosen)))


@naming_keywords
def from_nltk(sentence: AlignedSent, *, id: str, annotator: str = "alignment") -> SentencePair:
    """Make a sentence pair from an NLTK `AlignedSent`; all links are sure.

    A word that NLTK aligns to None becomes an explicit null.

    Examples
    --------
    >>> from nltk.translate import AlignedSent
    >>> from nltk.translate import Alignment as Links
    >>> from_nltk(AlignedSent(["a", "b"], ["c"], Links([(0, 0)])), id="1").alignment("alignment")
    Alignment('0-0')
    """
    from nltk.translate import AlignedSent

    check_kind("sentence", sentence, AlignedSent)
    check_kind("id", id, str)
    check_kind("annotator", annotator, str)
    ends = [(i, j) for i, j, *_ in sentence.alignment]  # NLTK lets more stand behind
    links = [Link(i, j) for i, j in ends if j is not None]
    nulls = [Link(i, NULL) for i, j in ends if j is None]
    words, mots = tuple(sentence.words), tuple(sentence.mots)
    return SentencePair(id, words, mots, {annotator: Alignment(links, nulls=nulls)})
