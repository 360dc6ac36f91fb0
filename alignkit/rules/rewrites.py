"""Rewrite parsed sentences with learned rules: the most probable wordings, and what changed.

`alignkit.rules.readings` finds the wordings, `alignkit.rules.capitals` their first letters.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from math import prod

from alignkit._support.arguments import check_arguments
from alignkit.errors import OptionError
from alignkit.model.trees import Tree
from alignkit.rules.capitals import Capitals
from alignkit.rules.grammar import RuleType
from alignkit.rules.readings import KeptWords, RuleReading, RuleWords, best_readings
from alignkit.rules.rule_index import Match, RuleIndex


@dataclass(frozen=True)
class Replacement:
    """A place where a rule was applied.

    Part of `Rewrite.replacements`.

    Parameters
    ----------
    rule : The rule with its weights.
    node : The node of the tree that its source side matched.
    start, end : The span of words below that node.

    Examples
    --------
    >>> from alignkit import Tree
    >>> from alignkit.rules import RuleIndex, RuleType, paraphrase, parse_rule
    >>> rule = RuleType(parse_rule('NN("car") ||| NN("auto")'), count=2, p_target=0.5)
    >>> tree = Tree.parse("(S (NP (DT The) (NN car)) (VP (VBD stopped)))")
    >>> rewrite = next(iter(paraphrase(tree, RuleIndex.build([rule]))))
    >>> [(each.start, each.end) for each in rewrite.replacements]
    [(1, 2)]
    """

    rule: RuleType
    node: int
    start: int
    end: int


@dataclass(frozen=True)
class Rewrite:
    """A rewritten sentence.

    Returned by `paraphrase`.

    Parameters
    ----------
    words : The words.
    probability : The product of p(target side | source side) of the applied rules.
    replacements : The applied rules and their places, from the root down, left to right.
    minor : Whether only punctuation or determiners changed.
    origins : The position of each word in the original sentence; -1 for a new word.

    Examples
    --------
    >>> from alignkit import Tree
    >>> from alignkit.rules import RuleIndex, RuleType, paraphrase, parse_rule
    >>> rule = RuleType(parse_rule('NN("car") ||| NN("auto")'), count=2, p_target=0.5)
    >>> tree = Tree.parse("(S (NP (DT The) (NN car)) (VP (VBD stopped)))")
    >>> rewrite = next(iter(paraphrase(tree, RuleIndex.build([rule]))))
    >>> rewrite.words, rewrite.probability, rewrite.marked(tree.words)
    (('The', 'auto', 'stopped'), 0.5, 'The [car → auto] stopped')
    """

    words: tuple[str, ...]
    probability: float
    replacements: tuple[Replacement, ...]
    minor: bool
    origins: tuple[int, ...]

    def marked(self, words: tuple[str, ...], mark: str = "[{} → {}]") -> str:
        """Return the sentence as text, with the changes from `words` marked as in `mark`.

        Examples
        --------
        >>> Rewrite(("He", "stood", "up"), 0.5, (), False, (0, -1, -1)).marked(("He", "rose"))
        'He [rose → stood up]'
        """
        old = [word.casefold() for word in words]
        new = [word.casefold() for word in self.words]
        parts: list[str] = []
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        for kind, old_start, old_end, start, end in matcher.get_opcodes():
            if kind == "equal":
                parts += self.words[start:end]
                continue
            before = " ".join(words[old_start:old_end])
            after = " ".join(self.words[start:end])
            change = mark.format(before, after)
            parts.append(change.replace("[ ", "[").replace(" ]", "]"))
        return " ".join(parts)


def paraphrase(tree: Tree, rules: RuleIndex, *, nbest: int = 10) -> list[Rewrite]:
    """Rewrite a parsed sentence: match source sides, insert target sides, and read the words.

    Several rules can apply at once, at nodes outside each other's fragments; a node may be below a
    variable of another rule.

    Parameters
    ----------
    tree, rules, nbest : The parsed sentence, the rules to apply, and the most rewrites to return.

    Returns
    -------
    list
        Different rewrites, none equal to the sentence (ignoring case): the most probable ones,
        then, if there is room, those that change only punctuation or determiners. For equal words,
        the most probable derivation is returned.

    Raises
    ------
    OptionError : If `nbest` is less than 1.

    Notes
    -----
    The n best are exact. Unchanged words keep their case, except the first word of the sentence:
    the new first word gets its capital, and if it moves, it loses it, unless it is a proper noun.

    References
    ----------
    Cohn & Lapata 2007, Large margin synchronous generation and its application to sentence
    compression, EMNLP-CoNLL: 73-82, for the grammar; Huang & Chiang 2005, Better k-best parsing,
    IWPT: 53-64.

    Examples
    --------
    >>> from alignkit.rules import RuleType, parse_rule
    >>> rule = RuleType(parse_rule('NN("car") ||| NN("auto")'), count=2, p_target=0.5)
    >>> tree = Tree.parse("(S (NP (DT The) (NN car)) (VP (VBD stopped)))")
    >>> [rewrite] = paraphrase(tree, RuleIndex.build([rule]))
    >>> rewrite.words, rewrite.probability
    (('The', 'auto', 'stopped'), 0.5)
    """
    check_arguments(paraphrase, locals())
    if nbest < 1:
        raise OptionError(f"`nbest` is {nbest}; it must be 1 or more")
    # one more, as the sentence itself may be among them
    readings, unchanged = best_readings(tree, rules.matches(tree), nbest + 1)
    chosen: dict[int, tuple[RuleReading, bool]] = {}
    for minor, part in ((False, readings.heavy), (True, readings.light)):
        for reading in part:
            if len(chosen) < nbest and reading.key != unchanged.key:
                chosen.setdefault(reading.key, (reading, minor))
    capitals = Capitals(tree)
    return [_rewrite(tree, capitals, reading, minor) for reading, minor in chosen.values()]


def _rewrite(tree: Tree, capitals: Capitals, reading: RuleReading, minor: bool) -> Rewrite:
    """Read the words and the applied rules off a reading of a tree."""
    pieces: list[KeptWords | RuleWords] = []
    applied: list[Match] = []
    remaining: list[RuleReading | None] = [reading]
    while remaining:
        part = remaining.pop()
        if part is None:
            continue
        if isinstance(part.what, Match):
            applied.append(part.what)
        elif part.what is not None:
            pieces.append(part.what)
        remaining += (part.right, part.left)
    words, origins = capitals.words_of(pieces)
    replacements: list[Replacement] = []
    for match in sorted(applied, key=lambda match: match.node):
        start, end = tree.span(match.node)
        replacements.append(Replacement(match.rule.type, match.node, start, end))
    probability = prod(place.rule.p_target or 0.0 for place in replacements)
    return Rewrite(words, probability, tuple(replacements), minor, origins)
