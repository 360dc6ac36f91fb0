"""Tell pairs that annotators wrote anew of another pair, so that it became a paraphrase."""

from __future__ import annotations

from alignkit.sentence_pair import SentencePair

REWRITE_OF = "rewrite_of"
"""The attribute that holds the id of the other pair."""


def origin_of(pair: SentencePair) -> str | None:
    """Return the id of the pair that one was written anew of; None where it is no rewrite."""
    return pair.attributes.get(REWRITE_OF) or None
