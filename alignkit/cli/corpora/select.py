"""Select sentence pairs by id, by annotator or at random, or split a corpus into parts.

The options apply in this order: --ids and --ids-from, then --annotated-by, then --share or --split.
Pairs keep their order. Shares are drawn with --seed; they are as close to the requested size as
whole pairs allow, or whole groups with --keep-together.

--split writes one file for each part, with the name of the part before the ending of OUT: with
'-o corpus.jsonl', part 'dev' goes to corpus-dev.jsonl. If the shares add up to less than 1, the
rest is left out.

For example:
  alignkit select corpus.jsonl --ids p05 p17 -o two.jsonl
  alignkit select corpus.xml --share .1 --annotated-by anna ben --stratify genre -o trial.xml
  alignkit select corpus.xml --split train=.8,dev=.1,test=.1 --keep-together document -o parts.xml
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from alignkit._support.wording import how_many
from alignkit.cli.common.files import refuse_replacing
from alignkit.cli.common.inputs import Input, add_input, add_reading_arguments
from alignkit.cli.common.media import add_separator
from alignkit.cli.common.messages import in_words_of, json_text, say, warn
from alignkit.cli.corpora import convert
from alignkit.cli.parser import Options, Parser, add_options, number
from alignkit.corpora.split import Parts, connected_groups, select_ids, split_corpus
from alignkit.errors import OptionError
from alignkit.io.atomic_files import refuse_same
from alignkit.io.compression import plain_name
from alignkit.io.options import ReadOptions
from alignkit.io.records import Reading
from alignkit.model.corpus import TEXTS, Corpus
from alignkit.stats.defaults import SEED

_ONE = "selected"  # what the only part is called
_DRAWN = ("stratify", "keep_together", "keep_texts", "separator", "seed")


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit select`."""
    add_input(parser)
    convert.add_corpus_output(
        parser, "file to write (with --split: OUT-train, OUT-dev, ...); - is stdout"
    )
    add_options(
        parser,
        """
        --ids ID...  select the pairs with these ids
        --ids-from FILE  select the pairs with the ids in this file, one per line
        --annotated-by A...  select the pairs that all these annotators aligned
        """,
    )
    group = parser.add_argument_group("at random")
    add_options(
        group,
        f"""
        --share S  select a share of the pairs, such as .1 or 10%
        --split PART=S...  split into parts with these shares, such as train=.8,dev=.1,test=.1 (or
            train=.8,dev=.1,test=.1)
        --seed N  seed of the random draw; the same seed selects the same pairs (default: {SEED})
        --stratify ATTRIBUTE  keep the proportions of the values of this attribute in all parts;
            judgment: each label
        --keep-together ATTRIBUTE  put all pairs with the same value of this attribute, such as the
            pairs of one document, into the same part; repeatable
        """,
        seed=number(0),
        keep_together={"action": "append"},
    )
    add_separator(group)
    add_options(
        group,
        """
        --keep-texts  put pairs that share a text into the same part; on either side, ignoring case
        """,
        keep_texts={"default": None},
    )
    add_options(parser, "--json  print a report as JSON (default: on stderr)")
    add_reading_arguments(parser)


def run(options: Options) -> None:
    """Write the chosen pairs, or divide the corpus into several files."""
    convert.refuse_json_beside(options)
    shares = _shares(options)
    places = _places(options, shares)
    read = Input.of(options)
    format = convert.corpus_format(options, [read.format])
    whole = read.corpus(needed=True)
    corpus = _chosen(whole, options)
    parts = Parts({_ONE: corpus})
    if shares is not None:
        parts = split_corpus(
            corpus,
            shares,
            seed=SEED if options.seed is None else options.seed,
            stratify=options.stratify,
            keep_together=options.keep_together or (),
            separator=options.separator,
            keep_texts=bool(options.keep_texts),
        )
    for name, part in parts.items():
        convert.write_whole(part, places[name], format)
    cautions = [in_words_of(options, text) for text in parts.cautions]
    for text in cautions:
        warn(f"{options.input}: caution: {text}")
    written = {places[name]: part for name, part in parts.items()}
    _tell(options, whole, corpus, shares, written, cautions)


def _shares(options: Options) -> dict[str, float] | None:
    """Return the shares of the parts; None if nothing is drawn."""
    if options.share is not None and options.split is not None:
        raise OptionError("--share writes one part, --split several: leave one of them out")
    if options.share is not None:
        return {_ONE: _number(options.share, "--share")}
    if options.split is not None:
        return _parts(",".join(options.split))
    given = [f"--{name.replace('_', '-')}" for name in _DRAWN if getattr(options, name) is not None]
    if given:
        raise OptionError(f"{given[0]} is for pairs drawn at random: add --share or --split")
    if not (options.ids or options.ids_from or options.annotated_by):
        raise OptionError("nothing to select: add --ids, --annotated-by, --share or --split")
    return None


def _parts(text: str) -> dict[str, float]:
    """Return the shares of parts by their names, as in train=0.8,test=0.2."""
    shares: dict[str, float] = {}
    for word in text.split(","):
        name, equals, share = (part.strip() for part in word.partition("="))
        if not (name and equals and share) or "/" in name or "\\" in name:
            raise OptionError(
                f"--split {text[:80]}: expected names and shares, e.g. train=.8,dev=.1,test=.1"
            )
        if name in shares:
            raise OptionError(f"--split: the part {name!r} occurs twice")
        shares[name] = _number(share, f"--split {name}")
    return shares


def _number(text: str, place: str) -> float:
    """Return a share between 0 and 1, or as a percentage."""
    try:
        if text.endswith("%"):
            share = float(text[:-1]) / 100
        else:
            share = float(text)
    except ValueError:
        message = f"{place}: expected a share such as .1 or 10%, not {text[:40]!r}"
        raise OptionError(message) from None
    if 1 < share <= 100 and not text.endswith("%"):
        raise OptionError(f"{place}: a share is at most 1, not {text}; did you mean {text}%?")
    return share


def _places(options: Options, shares: dict[str, float] | None) -> dict[str, str]:
    """Return the file of each part."""
    outputs = {_ONE: options.output}
    if options.split is not None and shares is not None:
        if options.output == "-":
            raise OptionError("--split writes several files: name OUT, e.g. -o corpus.jsonl")
        plain = plain_name(options.output)
        path = PurePath(plain)
        end = path.suffix + options.output.removeprefix(plain)  # such as .jsonl and .gz
        outputs = {name: str(path.with_name(f"{path.stem}-{name}{end}")) for name in shares}
        refuse_same(outputs.values())
    refuse_replacing(outputs.values(), options)
    return outputs


def _chosen(corpus: Corpus, options: Options) -> Corpus:
    """Return the pairs chosen by id and annotator."""
    if options.ids or options.ids_from:
        ids = list(options.ids or ())
        if options.ids_from:
            lines = Reading(options.ids_from, ReadOptions(encoding=options.encoding)).lines()
            ids += [line.strip() for _, line in lines if line.strip()]
        for id in ids:
            if id not in corpus and all(part in corpus for part in id.split(",")):
                raise OptionError(f"--ids {id[:80]}: put spaces between ids, not commas")
        corpus = select_ids(corpus, ids)
    if options.annotated_by:
        corpus = corpus.annotated_by(*options.annotated_by)
    return corpus


def _tell(
    options: Options,
    whole: Corpus,
    corpus: Corpus,
    shares: dict[str, float] | None,
    written: dict[str, Corpus],
    cautions: Sequence[str],
) -> None:
    """Report what was written, on stderr or as JSON."""
    together = options.keep_together or []
    kept = [*together, *([TEXTS] if options.keep_texts else [])]
    parts = []
    for name, (path, part) in zip(shares or [_ONE], written.items(), strict=True):
        record: dict[str, Any] = {"part": name, "path": path, "pairs": len(part)}
        if shares is not None:
            share = len(part) / len(corpus) if len(corpus) else None
            record |= {"share": share, "asked": shares[name]}
        if kept:
            record["groups"] = len(connected_groups(part, kept, options.separator))
        parts.append(record)
    bare = sum(not any(pair.attributes.get(name) for name in together) for pair in corpus)
    if together and bare:
        names = " or ".join(together)
        say(f"{options.input}: {bare} x pair without {names}, each treated as its own group")
    if options.json:
        if shares is None:
            seed = {}
        else:
            seed = {"seed": SEED if options.seed is None else options.seed}
        record = {"input": options.input, "read": len(whole), "chosen": len(corpus), **seed}
        print(json_text({**record, "parts": parts, "cautions": cautions}))
        return
    for record in parts:
        text = f"{record['path']}: {record['pairs']} of {len(whole)} pairs"
        if record.get("share") is not None:
            text += f", a share of {record['share']:.1%} ({record['asked']:.1%} requested)"
        say(f"{text}, {how_many(record['groups'], 'group')}" if kept else text)
        if not record["pairs"]:
            warn(f"{record['path']}: warning: no pairs; the share is too small")
