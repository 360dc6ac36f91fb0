"""Draw phrase pairs in which a system and the gold standard differ, for blind judgment.

With --annotator, draw phrase pairs of that annotator of HYP, right or not, as in the article. Else
half of the items are atomic phrase pairs that only the system has, the other half are those that
only the gold standard has, in random order. Each judge gets a sheet, which does not show where an
item comes from; only the key does. Judges fill the column 'judgment' with correct, uncertain or
incorrect (or c, u, i), for 'alignkit audit read'. Existing files are never overwritten.

For example:
  alignkit audit phrases giza.align gold.align --source fr.txt --target en.txt --n 100 --seed 1
  alignkit audit phrases c.xml c.xml --hyp-annotator giza --ref-annotator gold --n 50 --sheets csv
  alignkit audit phrases gold.jsonl --annotator gold --n 166
  alignkit audit phrases a.xml gold.xml --n 60 --judges anna ben --sheets html --key secret.json
"""

from __future__ import annotations

from alignkit.cli.common import inputs, sides
from alignkit.cli.common.messages import warn
from alignkit.cli.evaluate import audit
from alignkit.cli.parser import Options, Parser, add_options, number, option_values
from alignkit.errors import OptionError
from alignkit.io.inputs import naming
from alignkit.model.corpus import Corpus


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit audit phrases`."""
    add_options(
        parser,
        """
        HYP  alignments of the system; - is stdin
        REF  the gold standard; - is stdin
        --annotator A  draw from all phrase pairs of this annotator of HYP; leave out REF
        """,
        HYP="hypothesis",
        REF={"dest": "reference", "nargs": "?"},
    )
    sides.add_side(parser, sides.HYPOTHESIS, "hypothesis")
    sides.add_side(parser, sides.REFERENCE, "reference")
    group = parser.add_argument_group("items")
    audit.add_draw_arguments(group)
    add_options(
        group,
        """
        --links  sure: use sure links, possible: use sure and possible links (default: sure)
        --kind  draw the smallest phrase pairs, those made of smaller ones, or both (default:
            atomic); in each case, those that the other side does not have as any kind
        --include-identical  also draw phrase pairs of equal words (default: leave them out)
        --exact-case  distinguish upper and lower case in words (default: ignore case)
        --max-length N  maximum number of words on each side (default: no limit)
        --loose  extend phrases over unaligned words at their ends (default: tight)
        --both SHARE  share of items that system and gold standard both have, to check the judges
            (default: 0)
        --by ATTRIBUTE  spread the items over the values of this attribute (genre, document, ...)
        """,
        links={"choices": ("sure", "possible"), "default": "sure"},
        kind={"choices": ("atomic", "composite", "all"), "default": "atomic"},
        max_length=number(1),
        both={"type": float, "default": 0.0},
    )
    inputs.add_order_argument(group)
    audit.add_sheet_arguments(parser)
    inputs.add_reading_arguments(parser)


def run(options: Options) -> None:
    """Draw phrase pairs, and write the sheets."""
    audit.check_sheets(options)
    from alignkit.audit.phrase_errors import draw_phrases
    from alignkit.scoring.files import TwoFiles

    names = ("n", "seed", "kind", "links", "exact_case", "loose", "max_length", "both", "by")
    given = option_values(options, *names)
    given["ignore_identical"] = not options.include_identical
    declared = sides.declared_sides(options, options.hyp_annotator)
    alone = options.annotator is not None
    others = options.reference, options.hyp_annotator, options.ref_annotator
    if any(others) if alone else options.reference is None:
        raise OptionError(
            "name HYP and REF, or HYP and --annotator, without --hyp-annotator and --ref-annotator"
        )
    if alone:
        read = sides.open_sides(options.hypothesis, None, declared)[0]
        with naming(read.path):
            drawn = draw_phrases(read.corpus(needed=True), options.annotator, **given)
        audit.write_sheets(drawn, options, ())
        return
    paths = options.hypothesis, options.reference
    both = TwoFiles(lambda: sides.open_sides(*paths, declared), declared, tell=warn)
    with naming(both.ref.path, both.hyp.path):
        corpus = Corpus(both.annotated())
        if both.skipped:
            warn(f"{both.skipped} sentence pairs left out: only one of the two has annotated them")
        if not len(corpus):
            message = f"{both.hyp.path} and {both.ref.path}"
            raise OptionError(f"{message}: no sentence pair is annotated in both; nothing to judge")
        drawn = draw_phrases(corpus, sides.HYPOTHESIS, sides.REFERENCE, **given)
    audit.write_sheets(drawn, options, ("both",))
