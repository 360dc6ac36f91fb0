"""Rewrite parsed sentences by rules that were learned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from math import prod

from alignkit.arguments import check_arguments
from alignkit.errors import OptionError
from alignkit.rules.grammar import RuleType
from alignkit.rules.rewriting.capitals import Capitals
from alignkit.rules.rewriting.forest import Kept, Reading, Said, best_readings
from alignkit.rules.rewriting.rule_index import Match, RuleIndex
from alignkit.trees import Tree


@dataclass(frozen=True)
class Replacement:
    """Where a rule was applied.

    Parameters
    ----------
    rule
        The rule with its weights.
    node
        The node of the tree at which its source side matched.
    start, end
        The span of words below that node.
    """

    rule: RuleType
    node: int
    start: int
    end: int


@dataclass(frozen=True)
class Rewrite:
    """Another way to say a sentence.

    Parameters
    ----------
    words
        The words.
    probability
        The product of p(target side | source side) of the rules applied.
    replacements
        The rules applied, and where; from the root down, left to right.
    minor
        Punctuation or determiners alone are changed.
    origins
        For each word its position in the sentence that was rewritten; -1 for a new one.
    """

    words: tuple[str, ...]
    probability: float
    replacements: tuple[Replacement, ...]
    minor: bool
    origins: tuple[int, ...]

    def marked(self, words: tuple[str, ...], mark: str = "[{} → {}]") -> str:
        """Return the sentence as text, changes of `words` in it written as `mark` has it.

        Examples
        --------
        >>> Rewrite(("He", "stood", "up"), 0.5, (), False, (0, -1, -1)).marked(("He", "rose"))
        'He [rose → stood up]'
        """
        old = [word.casefold() for word in words]
        new = [word.casefold() for word in self.words]
        parts: list[str] = []
        for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if kind == "equal":
                parts += self.words[k:m]
            else:
                change = mark.format(" ".join(words[i:j]), " ".join(self.words[k:m]))
                parts.append(change.replace("[ ", "[").replace(" ]", "]"))
        return " ".join(parts)


def paraphrase(tree: Tree, rules: RuleIndex, *, nbest: int = 10) -> list[Rewrite]:
    """Rewrite a parsed sentence: match source sides, put target sides, and read off the words.

    Several rules may be applied at once, at nodes that are not within each other's fragments; one
    may be below a variable of another.

    Parameters
    ----------
    tree, rules, nbest
        The parsed sentence, the rules to apply, and the most rewrites to return.

    Returns
    -------
    list
        Different rewrites, none of which is the sentence itself (but for case): the most probable
        ones, and where there is room those in which punctuation or determiners alone change. Of
        equal words the most probable way to come to them is told.

    Raises
    ------
    OptionError
        If `nbest` is less than 1.

    Notes
    -----
    The n best are exact: see `alignkit.rules.rewriting.forest.best_readings`. Words that stay keep
    their case, but for the sentence's first word: what comes first takes its capital, and if it
    moves, it gives it up unless it is a proper noun.

    References
    ----------
    Cohn & Lapata 2007, Large margin synchronous generation and its application to sentence
    compression, EMNLP-CoNLL: 73-82, for the grammar; Huang & Chiang 2005, Better k-best parsing,
    IWPT: 53-64.
    """
    check_arguments(paraphrase, locals())
    if nbest < 1:
        raise OptionError(f"nbest is {nbest}; it must be 1 or more")
    readings, is_itself = best_readings(tree, rules.matches(tree), nbest + 1)
    chosen: dict[int, tuple[Reading, bool]] = {}
    for minor, part in ((False, readings.heavy), (True, readings.light)):
        for reading in part:
            if len(chosen) < nbest and not is_itself(reading):
                chosen.setdefault(reading.key, (reading, minor))
    capitals = Capitals(tree)
    return [_rewrite(tree, capitals, *pair) for pair in chosen.values()]


def _rewrite(tree: Tree, capitals: Capitals, reading: Reading, minor: bool) -> Rewrite:
    pieces = list(_pieces(reading))
    words, origins = capitals.put(x for x in pieces if not isinstance(x, Match))
    replacements = tuple(
        Replacement(x.rule.type, x.node, int(tree.starts[x.node]), int(tree.ends[x.node]))
        for x in sorted((x for x in pieces if isinstance(x, Match)), key=lambda x: x.node)
    )
    probability = prod(x.rule.p_target or 0.0 for x in replacements)
    return Rewrite(words, probability, replacements, minor, origins)


def _pieces(reading: Reading) -> Iterator[Kept | Said | Match]:
    left: list[Reading | None] = [reading]
    while left:
        if (part := left.pop()) is not None:
            if part.what is not None:
                yield part.what
            left += (part.right, part.left)
