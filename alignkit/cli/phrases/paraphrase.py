"""Rewrite parsed sentences by rules that were learned.

The source side of a rule is matched at a node of a tree, labels as they are and words but for case,
and replaced by the target side; several rules may be applied to a sentence, at different nodes.
The best rewrites of each sentence are printed by the product of p(target | source) of their rules,
those that change punctuation or determiners alone last, with what was changed in brackets and,
below, each rule with its count, its probability and the words it was applied to (0-based,
half-open). Rules are learned by 'alignkit rules'.

For example:
  alignkit paraphrase rules.tsv --trees sentences.trees
  alignkit paraphrase rules.tsv --trees parsed.xml.gz --nbest 3 --min-count 5 --json
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from alignkit._support.wording import how_many
from alignkit.cli.common.files import refuse_second_reading
from alignkit.cli.common.messages import counted, json_text, say
from alignkit.cli.common.trees import trees_told
from alignkit.cli.parser import add_options, number, output_file
from alignkit.errors import OptionError
from alignkit.io.atomic_files import replacing

if TYPE_CHECKING:
    from alignkit.model.trees import Tree
    from alignkit.rules.rewrites import Rewrite
    from alignkit.rules.rule_index import RuleIndex


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("rules", metavar="RULES", help="file of rules (.gz too); - is stdin")
    add_options(parser.add_argument_group("what is rewritten"), """
        --trees FILE  the parsed sentences: a Penn tree a line, .mrg or Stanford XML (.gz too); - is
            stdin
        --tree-format F  penn, mrg or stanford-xml (default: seen from the first lines)
        --drop-function-tags  read NP-SBJ=1 as NP (default: as it is)
        --drop-traces  leave traces out (default: they are words)
        --encoding E  of it (default: utf-8)
        """, trees={"required": True}, tree_format={"choices": ("penn", "mrg", "stanford-xml")},
        encoding={"default": "utf-8"})  # fmt: skip
    add_options(parser.add_argument_group("which rules are applied"), """
        --rules-format F  tsv, jsonl or xrs (default: seen from the first line)
        --min-count N  the least count, for nearly all rules are seen once only (default: 2); 0
            takes those whose count is not known, too
        --min-p P  the least p(target | source) (default: 0.1)
        --any-labels  rules too of which the labels of the roots, or of a variable, differ between
            the sides (default: not those)
        """, rules_format={"choices": ("tsv", "jsonl", "xrs")},
        min_count={"type": number(0), "default": 2},
        min_p={"type": float, "default": 0.1})  # fmt: skip
    add_options(parser.add_argument_group("what the output is"), """
        --nbest N  most rewrites of a sentence (default: 10)
        -o, --output FILE  default: stdout
        --json  write JSON (default: text)
        """, nbest={"type": number(1), "default": 10},
        output={"type": output_file, "default": "-"})  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    refuse_second_reading(options)
    from alignkit.io.tree_files import read_trees
    from alignkit.rules.rewrites import paraphrase

    index = _index(options)
    counts: Counter[str] = Counter()
    number = unchanged = 0
    with replacing(options.output) as out:
        trees = read_trees(
            options.trees, tree_format=options.tree_format,
            drop_function_tags=options.drop_function_tags, drop_traces=options.drop_traces,
            encoding=options.encoding, counts=counts,
        )  # fmt: skip
        for number, tree in enumerate(counted(trees, options.trees, None, "sentences"), 1):
            rewrites = paraphrase(tree, index, nbest=options.nbest) if tree is not None else []
            unchanged += not rewrites
            if options.json:
                record = _record(number, tree, rewrites)
                out.write('{"sentences": [\n' if number == 1 else ",\n")
                out.write(json_text(record, indent=None))
            elif tree is not None and rewrites:
                out.writelines(f"{line}\n" for line in _lines(number, tree, rewrites))
        if not number:
            raise OptionError(f"{options.trees}: holds no trees; name a file that does")
        if options.json:
            rules = {"applicable": index.kept, "left_out": dict(index.left_out)}
            out.write(f'\n], "rules": {json_text(rules, indent=None)}}}\n')
    del counts["trees"]
    if text := trees_told(counts):
        say(f"{options.trees}: {text}")
    sentences = how_many(number, "sentence", commas=True)
    say(f"{options.trees}: {number - unchanged:,} of {sentences} rewritten")
    return 0


def _index(options: argparse.Namespace) -> RuleIndex:
    from alignkit.rules.files import read_rules
    from alignkit.rules.rule_index import RuleIndex

    if not 0 <= options.min_p <= 1:
        raise OptionError(f"--min-p is {options.min_p}; it must be between 0 and 1")

    try:
        index = RuleIndex.build(
            counted(read_rules(options.rules, options.rules_format), options.rules, None, "rules"),
            min_count=options.min_count,
            min_p=options.min_p,
            any_labels=options.any_labels,
        )
    except OptionError as error:
        raise OptionError(f"{options.rules}: {error}") from None
    reasons = [f"{n:,} {why}" for why, n in index.left_out.items()]
    total = index.kept + sum(index.left_out.values())
    if not total:
        raise OptionError(f"{options.rules}: holds no rules; learn some by 'alignkit rules'")
    rest = f"; not applied: {', '.join(reasons)}" if reasons else ""
    of_all = how_many(total, "rule", commas=True)
    say(f"{options.rules}: {index.kept:,} of {of_all} can be applied{rest}")
    return index


def _lines(number: int, tree: Tree, rewrites: list[Rewrite]) -> Iterator[str]:
    from alignkit.rules.files.notation import rule_text

    yield f"{number}  {' '.join(tree.words)}"
    for rank, rewrite in enumerate(rewrites, 1):
        yield f"  {rank:>2}  {rewrite.probability:<6.3g}  {rewrite.marked(tree.words)}"
        for at in rewrite.replacements:
            rule = at.rule
            figures = f"{'?' if rule.count is None else f'{rule.count:g}'} {rule.p_target:.3g}"
            yield f"      {rule_text(rule.rule)} ||| {figures} at {at.start}-{at.end}"
    yield ""


def _record(number: int, tree: Tree | None, rewrites: list[Rewrite]) -> dict[str, object]:
    from alignkit.rules.files.notation import rule_text

    return {
        "sentence": number,
        "words": None if tree is None else list(tree.words),
        "rewrites": [
            {
                "rank": rank,
                "probability": rewrite.probability,
                "words": list(rewrite.words),
                "origins": list(rewrite.origins),
                "minor": rewrite.minor,
                "rules": [
                    {
                        **{"rule": rule_text(at.rule.rule), "count": at.rule.count},
                        **{"p_target": at.rule.p_target, "node": at.node},
                        **{"start": at.start, "end": at.end},
                    }
                    for at in rewrite.replacements
                ],
            }
            for rank, rewrite in enumerate(rewrites, 1)
        ],
    }
