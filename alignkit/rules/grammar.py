"""Grammars: rule types with counts, probabilities and examples."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from alignkit.arguments import check_arguments
from alignkit.errors import UnknownNameError
from alignkit.rules.kinds import KINDS, kind_of
from alignkit.rules.rule import Rule


@dataclass(frozen=True, slots=True)
class Example:
    """Where a rule was seen: the pair, and the half-open spans of words of its root."""

    id: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    source_span: tuple[int, int]
    target_span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class RuleType:
    """A rule type of a grammar; a weight that was not computed is None.

    Parameters
    ----------
    rule
        The rule.
    count
        How often it was seen; of `all` rules a sum of fractions.
    pairs
        In how many sentence pairs.
    p_target, p_source
        p(target side | source side), p(source side | target side).
    p_rule
        p(rule | both root labels).
    lexical_target, lexical_source
        The lexical weights of Koehn et al. (2003), p(target words | source words) and back.
    alignment
        The links between words, as positions of symbols in the yield of each side (variables
        counted): of the most frequent alignment of the rule; None where not known.
    examples
        Some places where it was seen.
    extra
        What else a file tells of it, as (name, text): other features, and the text of known ones
        where it is not how alignkit writes them. A feature without a name has the name "".
    """

    rule: Rule
    count: float | None = None
    pairs: int | None = None
    p_target: float | None = None
    p_source: float | None = None
    p_rule: float | None = None
    lexical_target: float | None = None
    lexical_source: float | None = None
    alignment: tuple[tuple[int, int], ...] | None = None
    examples: tuple[Example, ...] = ()
    extra: tuple[tuple[str, str], ...] = ()

    @property
    def kind(self) -> str:
        """The kind of the rule; see `alignkit.rules.kind_of`."""
        return kind_of(self.rule)


@dataclass(frozen=True)
class Grammar:
    """The rule types of a corpus, most frequent first.

    Parameters
    ----------
    types
        The rule types, by count, then by their text.
    kind
        ``"stsg"``, ``"s2t"``, ``"hiero"`` or ``"samt"``.
    dropped
        What was left out, and why: reason to count of rules.
    pairs
        How many sentence pairs it was learned from.
    passed_over
        Why other sentence pairs gave no rules: reason to count of pairs.
    sizes
        Rules by size: of how many minimal rules each was made, to their counts.
    """

    types: tuple[RuleType, ...]
    kind: str = "stsg"
    dropped: Mapping[str, int] = field(default_factory=dict)
    pairs: int = 0
    passed_over: Mapping[str, int] = field(default_factory=dict)
    sizes: Mapping[int, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.types)

    def __iter__(self) -> Iterator[RuleType]:
        return iter(self.types)

    def __repr__(self) -> str:
        return f"Grammar({len(self):,} types of {self.tokens:,.10g} rules, {self.kind})"

    @property
    def tokens(self) -> float:
        """How many rules were seen: the sum of all counts."""
        return _whole(sum(entry.count or 0 for entry in self.types))

    def kinds(self) -> dict[str, tuple[float, int]]:
        """Return the rules and the types of each kind, in the order of `alignkit.rules.KINDS`."""
        counts: dict[str, tuple[float, int]] = dict.fromkeys(KINDS, (0, 0))
        for entry in self.types:
            kind = entry.kind
            tokens, types = counts[kind]
            counts[kind] = tokens + (entry.count or 0), types + 1
        return {kind: (_whole(tokens), types) for kind, (tokens, types) in counts.items()}

    def select(
        self, *, kinds: Collection[str] | None = None, min_count: float = 0, identity: bool = True
    ) -> Grammar:
        """Return the grammar of some of its types; their weights stay as they are.

        Keeps types of `kinds` (None: all) with a count of at least `min_count`; if `kinds` is None,
        rules with two equal sides only if `identity`.

        Raises
        ------
        UnknownNameError
            If a kind is none of `alignkit.rules.KINDS`.
        """
        check_arguments(Grammar.select, locals())
        for name in kinds or ():
            if name not in KINDS:
                raise UnknownNameError("kind of rule", name, KINDS)
        wanted = set(KINDS if kinds is None else kinds)
        if not identity and kinds is None:
            wanted.remove("identity")
        kept = (entry for entry in self.types if (entry.count or 0) >= min_count)
        if len(wanted) < len(KINDS):
            kept = (entry for entry in kept if entry.kind in wanted)
        return replace(self, types=tuple(kept))


def _whole(total: float) -> float:
    return round(total) if abs(total - round(total)) < 1e-6 else total
