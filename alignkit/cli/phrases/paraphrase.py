"""Rewrite parsed sentences with learned rules.

The source side of a rule is matched at a node of a tree: labels must be equal, words may differ in
case. The target side then replaces it. Several rules can apply to a sentence, at different nodes.
The best rewrites of each sentence are printed, ordered by the product of p(target | source) of
their rules; rewrites that change only punctuation or determiners come last. Changed words are in
brackets. Each rule is listed below, with its count, its probability and the words it was applied to
(0-based, end exclusive). Use 'alignkit rules' to learn rules.

For example:
  alignkit paraphrase rules.tsv --sentences sentences.trees
  alignkit paraphrase rules.tsv --sentences parsed.xml.gz --nbest 3 --min-count 5 --json
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from alignkit._support.wording import how_many
from alignkit.cli.common.files import refuse_second_reading
from alignkit.cli.common.messages import counted, json_text, say
from alignkit.cli.common.trees import trees_told
from alignkit.cli.parser import Options, Parser, add_options, number, option_values, output_file
from alignkit.errors import OptionError
from alignkit.io.atomic_files import replacing

if TYPE_CHECKING:
    from alignkit.model.trees import Tree
    from alignkit.rules.rewrites import Replacement, Rewrite
    from alignkit.rules.rule_index import RuleIndex


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit paraphrase`."""
    parser.add_argument("rules", metavar="RULES", help="file with rules (.gz too); - is stdin")
    add_options(
        parser.add_argument_group("sentences"),
        """
        --sentences FILE  parsed sentences: one Penn tree a line, .mrg or Stanford XML (.gz too); -
            is stdin
        --tree-format F  format of the trees: penn, mrg or stanford-xml (default: detected by the
            first lines)
        --drop-function-tags  read NP-SBJ=1 as NP (default: keep it)
        --drop-traces  leave traces out (default: they are words)
        --encoding E  encoding of the sentences (default: utf-8)
        """,
        sentences={"required": True},
        tree_format=("penn", "mrg", "stanford-xml"),
        encoding={"default": "utf-8"},
    )
    add_options(
        parser.add_argument_group("rules to apply"),
        """
        --rules-format F  format of the rules: tsv, jsonl or xrs (default: detected by the first
            line)
        --min-count N  minimum count of a rule (default: 2, because most rules are seen only once);
            0 also takes rules with an unknown count
        --min-p P  minimum p(target | source) of a rule (default: 0.1)
        --any-labels  also use rules with labels that differ between the sides, at the root or at a
            variable (default: leave them out)
        """,
        rules_format=("tsv", "jsonl", "xrs"),
        min_count={"type": number(0), "default": 2},
        min_p={"type": float, "default": 0.1},
    )
    add_options(
        parser.add_argument_group("output"),
        """
        --nbest N  maximum number of rewrites of a sentence (default: 10)
        -o, --output FILE  file to write (default: stdout)
        --json  write JSON (default: text)
        """,
        nbest={"type": number(1), "default": 10},
        output={"type": output_file, "default": "-"},
    )


def run(options: Options) -> None:
    """Write the best rewrites of each sentence."""
    refuse_second_reading(options)
    from alignkit.io.tree_files import read_trees
    from alignkit.rules.rewrites import paraphrase

    index = _index(options)
    counts: Counter[str] = Counter()
    number = 0
    unchanged = 0
    with replacing(options.output) as out:
        names = ("tree_format", "drop_function_tags", "drop_traces", "encoding")
        reading = option_values(options, *names)
        trees = read_trees(options.sentences, counts=counts, **reading)
        for number, tree in enumerate(counted(trees, options.sentences, None, "sentences"), 1):
            rewrites = []
            if tree is not None:
                rewrites = paraphrase(tree, index, nbest=options.nbest)
            unchanged += not rewrites
            if options.json:
                record = _record(number, tree, rewrites)
                out.write('{"sentences": [\n' if number == 1 else ",\n")
                out.write(json_text(record, indent=None))
            elif tree is not None and rewrites:
                out.writelines(f"{line}\n" for line in _lines(number, tree, rewrites))
        if not number:
            raise OptionError(f"{options.sentences}: no trees; name a file with trees")
        if options.json:
            rules = {"applicable": index.kept, "left_out": dict(index.left_out)}
            out.write(f'\n], "rules": {json_text(rules, indent=None)}}}\n')
    del counts["trees"]
    if text := trees_told(counts):
        say(f"{options.sentences}: {text}")
    sentences = how_many(number, "sentence", commas=True)
    say(f"{options.sentences}: {number - unchanged:,} of {sentences} rewritten")


def _index(options: Options) -> RuleIndex:
    """Read the rules that can be applied, and report how many they are."""
    from alignkit.rules.files import read_rules
    from alignkit.rules.rule_index import RuleIndex

    if not 0 <= options.min_p <= 1:
        raise OptionError(f"--min-p is {options.min_p}; it must be between 0 and 1")
    try:
        rules = read_rules(options.rules, options.rules_format)
        index = RuleIndex.build(
            counted(rules, options.rules, None, "rules"),
            **option_values(options, "min_count", "min_p", "any_labels"),
        )
    except OptionError as error:
        raise OptionError(f"{options.rules}: {error}") from None
    total = index.kept + sum(index.left_out.values())
    if not total:
        raise OptionError(f"{options.rules}: no rules; learn rules with 'alignkit rules'")
    rest = ""
    if index.left_out:
        reasons = [f"{n:,} {why}" for why, n in index.left_out.items()]
        rest = f"; not applied: {', '.join(reasons)}"
    of_all = how_many(total, "rule", commas=True)
    say(f"{options.rules}: {index.kept:,} of {of_all} can be applied{rest}")
    return index


def _lines(number: int, tree: Tree, rewrites: list[Rewrite]) -> Iterator[str]:
    """Yield the lines of a sentence: its rewrites, each with the rules that were applied."""
    from alignkit.rules.files.notation import rule_text

    yield f"{number}  {' '.join(tree.words)}"
    for rank, rewrite in enumerate(rewrites, 1):
        yield f"  {rank:>2}  {rewrite.probability:<6.3g}  {rewrite.marked(tree.words)}"
        for at in rewrite.replacements:
            rule = at.rule
            count = "?" if rule.count is None else f"{rule.count:g}"
            figures = f"{count} {rule.p_target:.3g}"
            yield f"      {rule_text(rule.rule)} ||| {figures} at {at.start}-{at.end}"
    yield ""


def _record(number: int, tree: Tree | None, rewrites: list[Rewrite]) -> dict[str, object]:
    """Return a sentence and its rewrites for JSON."""
    records = []
    for rank, rewrite in enumerate(rewrites, 1):
        record = {
            "rank": rank,
            "probability": rewrite.probability,
            "words": list(rewrite.words),
            "origins": list(rewrite.origins),
            "minor": rewrite.minor,
            "rules": list(map(_applied, rewrite.replacements)),
        }
        records.append(record)
    words = None if tree is None else list(tree.words)
    return {"sentence": number, "words": words, "rewrites": records}


def _applied(at: Replacement) -> dict[str, object]:
    """Return a rule, and the node and words that it was applied to, for JSON."""
    from alignkit.rules.files.notation import rule_text

    return {
        "rule": rule_text(at.rule.rule),
        "count": at.rule.count,
        "p_target": at.rule.p_target,
        "node": at.node,
        "start": at.start,
        "end": at.end,
    }
