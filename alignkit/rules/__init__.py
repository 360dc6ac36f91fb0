"""Learn, keep and apply synchronous rules: pairs of tree fragments, hiero and SAMT rules.

The names below are loaded when they are first used: to read rules takes no compiled kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from alignkit.lazy import lazy_names

if TYPE_CHECKING:
    from alignkit.rules.derivation.derivation import Derivation, RuleToken
    from alignkit.rules.derivation.extraction import extract_rules
    from alignkit.rules.files import RULE_FORMATS, parse_rule, read_rules, rule_text, write_rules
    from alignkit.rules.grammar import Example, Grammar, RuleType
    from alignkit.rules.hiero.extraction import HieroOptions, extract_hiero
    from alignkit.rules.hiero.grammar import learn_hiero, write_hiero
    from alignkit.rules.kinds import KINDS, kind_of
    from alignkit.rules.learning import learn_grammar
    from alignkit.rules.rewriting.rewrites import Replacement, Rewrite, paraphrase
    from alignkit.rules.rewriting.rule_index import RuleIndex
    from alignkit.rules.rule import Node, Rule, Variable
    from alignkit.rules.rule_score import RuleScore
    from alignkit.rules.scores import score_rules

__all__ = [
    "KINDS",
    "RULE_FORMATS",
    "Derivation",
    "Example",
    "Grammar",
    "HieroOptions",
    "Node",
    "Replacement",
    "Rewrite",
    "Rule",
    "RuleIndex",
    "RuleScore",
    "RuleToken",
    "RuleType",
    "Variable",
    "extract_hiero",
    "extract_rules",
    "kind_of",
    "learn_grammar",
    "learn_hiero",
    "paraphrase",
    "parse_rule",
    "read_rules",
    "rule_text",
    "score_rules",
    "write_hiero",
    "write_rules",
]

__getattr__, __dir__ = lazy_names(__name__)
