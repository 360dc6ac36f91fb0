"""Say what kind of words a link joins: identical, punctuation, function words."""

from __future__ import annotations

from collections.abc import Collection
from unicodedata import category

__all__ = ["FUNCTION_WORDS", "WORD_KINDS", "is_punctuation", "word_kinds"]

WORD_KINDS = ("identical", "punctuation", "function word", "content words")
"""The kinds, in the order in which reports show them."""

_ENGLISH = """
    a an the this that these those such each every either neither some any no all both few many
    much more most several other another own same what which whose whatever whichever
    i me my mine myself you your yours yourself yourselves he him his himself she her hers herself
    it its itself we us our ours ourselves they them their theirs themselves one ones oneself
    who whom whoever someone somebody something anyone anybody anything nobody nothing none
    everyone everybody everything
    be am is are was were been being have has had having do does did doing done
    will would shall should can could may might must ought need dare 'm 's 're 've 'd 'll n't
    cannot ca wo
    and or but nor so yet for if then else because although though while whereas whether unless
    until till since as than
    about above across after against along amid among amongst around at before behind below beneath
    beside besides between beyond by concerning despite down during except from in inside into like
    near of off on onto out outside over past per regarding through throughout to toward towards
    under underneath unlike up upon via with within without
    not n't there here when where why how again also too only just even very still ever never
    """

FUNCTION_WORDS = frozenset(_ENGLISH.split())
"""English determiners, pronouns, auxiliaries, conjunctions, prepositions and particles."""


def is_punctuation(word: str) -> bool:
    """Say whether a word has no letter and no digit, only punctuation and symbols.

    Examples
    --------
    >>> is_punctuation("''"), is_punctuation("%"), is_punctuation("'s"), is_punctuation("")
    (True, True, False, False)
    """
    return bool(word) and all(category(char)[0] in "PS" for char in word)


def word_kinds(
    source: str, target: str, function_words: Collection[str] = FUNCTION_WORDS
) -> tuple[str, ...]:
    """Return the kinds of a link that joins two words; it can be of several.

    It is identical where the words are equal after casefold, and of punctuation or of a function
    word where either word is. Else it joins content words.

    Parameters
    ----------
    source, target
        The two words.
    function_words
        Words in small letters; those of the language at hand.

    Examples
    --------
    >>> word_kinds("The", "the"), word_kinds("of", "'"), word_kinds("issue", "topic")
    (('identical', 'function word'), ('punctuation', 'function word'), ('content words',))
    """
    words = source.casefold(), target.casefold()
    found = {
        "identical": words[0] == words[1],
        "punctuation": any(map(is_punctuation, words)),
        "function word": any(word in function_words for word in words),
    }
    if not (found["punctuation"] or found["function word"]):
        found["content words"] = True
    return tuple(kind for kind in WORD_KINDS if found.get(kind))
