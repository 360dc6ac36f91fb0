"""Learn synchronous paraphrase rules from aligned, parsed sentence pairs.

A rule comes from aligned constituents of two trees, such as NP(x0:NP PP(IN("of") x1:NP)) |||
NP(x1:NP x0:NP). The rules are printed by kind and count, each with a sentence pair in which it
occurs. Rules with two equal sides are not printed, but they count for the probabilities. --to
writes rules for 'alignkit paraphrase' and for other tools.

--grammar s2t (string to tree) needs trees on one side only. Grammars, kinds and files are defined
in https://alignkit.github.io/alignkit/latest/rules/rules_definitions.html

For example:
  alignkit rules corpus.jsonl --annotator gold --source-trees a.trees --target-trees b.trees
  alignkit rules gold.json --both-trees parsed.xml.gz --kind reordering --html r.html
  alignkit rules gold.json --both-trees parsed.xml.gz --size 2 --to tsv -o rules.tsv
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from alignkit._support.wording import how_many
from alignkit.cli.common.inputs import (
    Input,
    add_input,
    add_reading_arguments,
    tell,
)
from alignkit.cli.common.media import add_media
from alignkit.cli.common.messages import json_text
from alignkit.cli.common.trees import add_tree_options, one_tree_a_side, tree_name, with_trees
from alignkit.cli.parser import Options, Parser, add_options, number, option_values, output_file
from alignkit.cli.phrases import FORMATS
from alignkit.cli.phrases.written_rules import add_labels, check_labels, tell_written
from alignkit.errors import OptionError
from alignkit.io.atomic_files import refuse_same, replacing, together
from alignkit.io.inputs import Choice
from alignkit.model.sentence_pair import SentencePair

if TYPE_CHECKING:
    from alignkit.rules.grammar import Grammar


_GRAMMARS = ("stsg", "s2t")
_LIMITS = ("max_variables", "max_nodes", "max_depth")
_LISTED = 20


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit rules`."""
    add_input(parser)
    add_options(
        parser.add_argument_group("learning"),
        """
        --annotator A  annotator to use, if there are several
        --links  sure: use sure links, possible: use sure and possible links (default: sure)
        --grammar  type of rules (default: stsg); stsg: trees on both sides; s2t: string to tree
        --string  with s2t, the side without trees (default: the source, if both have trees)
        --size N  combine up to N minimal rules into one (default: 1)
        --all  learn a rule for every pair of corresponding constituents; several that match
            the same share a count (default: the minimal rules of one derivation)
        --deletions  learn rules that delete or insert a whole constituent whose words have no link;
            written d0 and i0 (default: keep the words)
        --max-variables N  maximum number of variables (default: no limit)
        --max-nodes N  maximum number of nodes on each side, with variables (default: no limit)
        --max-depth N  maximum depth of each side in nodes, with variables (default: no limit)
        """,
        links={"choices": ("sure", "possible"), "default": "sure"},
        grammar={"choices": _GRAMMARS, "default": "stsg"},
        string=("source", "target"),
        size={"type": number(1), "default": 1},
        max_variables=number(0),
        max_nodes=number(1),
        max_depth=number(1),
    )
    add_options(
        parser.add_argument_group("rules to print or write (all count)"),
        """
        --kind K,...  only print these kinds: identity, same-words, relabelling, lexical, phrasal,
            monotone+words, reordering, reordering+words (default: all except identity)
        --identity  also print rules with two equal sides
        --min-count N  only print rules with at least this count (default: all; with --all, many
            are below 1)
        """,
        kind={"metavar": "K,...", "nargs": None},
        min_count=number(1),
    )
    group = parser.add_argument_group("output")
    add_options(
        group,
        f"""
        --to F  write the rules in this format: {", ".join(FORMATS)}
        -o, --output FILE  file to which --to writes the rules (default: stdout)
        """,
        to=FORMATS,
        output=output_file,
    )
    add_labels(group)
    add_options(
        group,
        f"""
        --html FILE  write a page with drawings of the trees
        --examples N  number of example sentence pairs for each rule (default: 1; with --to: 0)
        --limit N  print at most N rules of each kind; 0: all (default: {_LISTED}; JSON: all)
        """,
        html=output_file,
        examples=number(0),
        limit=number(0),
    )
    add_media(group, csv=None)
    add_tree_options(parser)
    add_reading_arguments(parser)


def run(options: Options) -> None:
    """Learn rules, and print, draw or write those that are chosen."""
    kinds = _check(options)
    from alignkit.rules.learning import learn_grammar

    source = Input.of(options)
    pairs = _chosen(with_trees(options, source.pairs(needed=True)), options)
    grammar = learn_grammar(
        one_tree_a_side(options, pairs),
        source_tree=tree_name(options),
        target_tree=tree_name(options),
        examples=_examples(options),
        **option_values(options, "links", "grammar", "string", "size", "all", "deletions"),
        **option_values(options, *_LIMITS),
    )
    tell(options.input, Counter(grammar.passed_over), "pairs skipped: ")
    tell(options.input, Counter(grammar.dropped), "rules dropped: ")
    if not grammar.pairs:
        why = _where_trees_are(options) if "not parsed" in grammar.passed_over else ""
        raise OptionError(f"{options.input}: no sentence pair gave rules{why}")
    chosen = grammar.select(
        kinds=kinds,
        min_count=options.min_count or 0,
        identity=options.identity or kinds is not None,
    )
    with together():
        if options.html:
            from alignkit.rules.page import write_rules_page

            write_rules_page(chosen, options.html, title=f"Rules of {options.input}", whole=grammar)
        if options.to:
            from alignkit.rules.files import write_rules

            one_label = options.one_label
            written = write_rules(chosen, options.output, options.to, one_label=one_label)
            least = options.min_count or 0
            rare = sum((entry.count or 0) < least for entry in grammar)
            why = "identity" if options.kind is None else "of other kinds"
            others = len(grammar) - len(chosen) - rare
            not_chosen = +Counter({f"seen less than {least} times": rare, why: others})
            tell_written(options.output, written, options.to, not_chosen)
        elif not options.html:
            _print(grammar, chosen, options)


def _chosen(pairs: Iterator[SentencePair], options: Options) -> Iterator[SentencePair]:
    """Yield the pairs with only the chosen annotator."""
    choice = Choice(options.input, options.annotator)
    for pair in pairs:
        chosen = choice.of(pair)
        others = [name for name, alignment in pair.alignments.items() if alignment is not chosen]
        if others:
            yield pair.without_annotations(*others)
        else:
            yield pair
    choice.check()


def _check(options: Options) -> list[str] | None:
    """Refuse options that contradict each other; return the requested kinds."""
    if options.string is not None and options.grammar != "s2t":
        raise OptionError("--string needs --grammar s2t: leave it out")
    check_labels(options, options.to)
    shown = options.json or options.medium != "text" or options.limit is not None
    if shown and (options.to or options.html):
        raise OptionError("--to and --html write files: leave out options for printed output")
    if options.to is None and options.output is not None:
        raise OptionError("-o needs --to FORMAT: add it, or leave -o out")
    if options.to is not None:
        options.output = options.output or "-"
        refuse_same(path for path in (options.html, options.output) if path is not None)
    if options.kind is None:
        return None
    from alignkit.rules.grammar import check_kinds

    kinds = [name.strip() for name in options.kind.split(",")]
    check_kinds(kinds)
    return kinds


def _examples(options: Options) -> int:
    """Return the number of examples of each rule: by default one, in files of rules none."""
    if options.examples is None:
        return 0 if options.to and not options.html else 1
    return int(options.examples)


def _where_trees_are(options: Options) -> str:
    """Return what to do if pairs have no trees for the grammar."""
    if options.grammar == "s2t":
        if options.string is None:
            return "; name trees of one side with --source-trees or --target-trees"
        side = "target" if options.string == "source" else "source"
        return f"; name trees with --{side}-trees"
    has_source = options.source_trees is not None
    has_target = options.target_trees is not None
    if has_source == has_target:
        return "; name trees with --source-trees and --target-trees, or with --both-trees"
    bare = "target" if has_source else "source"
    return f"; name the trees of the other side with --{bare}-trees, or use --grammar s2t"


def _print(grammar: Grammar, chosen: Grammar, options: Options) -> None:
    """Print the chosen rules, with a summary of all."""
    from alignkit.rules.listing import grammar_lines, grammar_summary, grammar_tables

    limit = _LISTED if options.limit is None else options.limit or None
    with replacing("-") as out:
        if options.json:
            out.writelines(_json(grammar, chosen, options))
        elif options.medium == "text":
            pairs = how_many(grammar.pairs, "sentence pair", commas=True)
            out.write(f"{pairs}\n\n{grammar_summary(grammar)}\n\n")
            out.writelines(f"{line}\n" for line in grammar_lines(chosen, limit=limit))
        else:
            tables = [grammar_summary(grammar), *grammar_tables(chosen, limit=limit)]
            out.writelines(f"{table.show(options.medium)}\n\n" for table in tables)


def _json(grammar: Grammar, chosen: Grammar, options: Options) -> Iterator[str]:
    """Yield a JSON object with the counts, and the chosen rules as its list, one a line."""
    from alignkit.rules.files import rule_lines

    kinds = grammar.kinds().items()
    record: dict[str, object] = {
        "grammar": grammar.kind,
        "links": options.links,
        "pairs": grammar.pairs,
        "passed_over": dict(grammar.passed_over),
        "rules": grammar.tokens,
        "types": len(grammar),
        "sizes": {str(size): count for size, count in grammar.sizes.items()},
        "dropped": dict(grammar.dropped),
        "kinds": {kind: {"rules": tokens, "types": types} for kind, (tokens, types) in kinds},
        "chosen": {"rules": chosen.tokens, "types": len(chosen)},
    }
    unfinished = json_text(record).rstrip().removesuffix("}").rstrip()
    yield f'{unfinished},\n  "list": ['
    types = chosen.types[: options.limit or None]
    for place, line in enumerate(rule_lines(types, "jsonl")):
        if place:
            yield ","
        yield f"\n    {line.rstrip()}"
    yield "\n  ]\n}\n"
