"""Learn, keep and apply synchronous rules: pairs of tree fragments, hiero and SAMT rules.

The names below are loaded when they are first used: to read rules takes no compiled kernels.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

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

_HOMES = {
    "derivation.derivation": ("Derivation", "RuleToken"),
    "derivation.extraction": ("extract_rules",),
    "files": ("RULE_FORMATS", "parse_rule", "read_rules", "rule_text", "write_rules"),
    "grammar": ("Example", "Grammar", "RuleType"),
    "hiero.extraction": ("HieroOptions", "extract_hiero"),
    "hiero.grammar": ("learn_hiero", "write_hiero"),
    "kinds": ("KINDS", "kind_of"),
    "learning": ("learn_grammar",),
    "rewriting.rewrites": ("Replacement", "Rewrite", "paraphrase"),
    "rule": ("Node", "Rule", "Variable"),
    "rewriting.rule_index": ("RuleIndex",),
    "rule_score": ("RuleScore",),
    "scores": ("score_rules",),
}

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


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            value: object = getattr(import_module(f"alignkit.rules.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'alignkit.rules' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
