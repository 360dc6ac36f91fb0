"""Commands on the samples, which together call all kernels that commands need.

Each list of commands runs in a process of its own: a command may read what those before it in the
list wrote. Kernels are compiled for the types of their arguments, so the files must have what real
ones have: sure, possible and missing links, words that both sides share, trees, judgments, phrases
that several pairs share.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from shutil import copyfile

from alignkit._support import kernel_cache
from alignkit._support.shipped import samples

_SAMPLES = {
    "pairs.jsonl": "paraphrases.jsonl",
    "source.trees": "paraphrases.source.trees",
    "target.trees": "paraphrases.target.trees",
    "source.txt": "french-english/fr.txt",
    "target.txt": "french-english/en.txt",
    "gold.align": "french-english/gold.align",
    "forward.align": "french-english/eflomal.align",
    "reverse.align": "french-english/fast_align.align",
}
"""The samples, by the names that the commands have for them."""
_TRAIN = "align source.txt target.txt -o out.align"
_TEXTS = "--source source.txt --target target.txt"
_TREES = "--source-trees source.trees --target-trees target.trees"
_RULES = f"rules pairs.jsonl --annotator gold {_TREES}"
_SYSTEMS = "score pairs.jsonl --hyp-annotator eflomal anna --ref-annotator gold --resamples 50"
_JUDGED = "agree-judgments judged.tsv --scheme binary --permutations 50 --resamples 50"

REHEARSALS: dict[str, list[str]] = {
    "align": [
        f"{_TRAIN} --save plain.model --probs",
        f"{_TRAIN} --load plain.model --sure 0.9 --to naacl",
        "align source.txt target.txt --load plain.model --to alignkit-jsonl -o out.jsonl",
        f"{_TRAIN} --folder . --symmetrize grow-diag-final-and",
        f"{_TRAIN} --best --vectors words.vec --dictionary words.tsv --prune --identity 1",
        f"{_TRAIN} --scores scores.tsv --lexicon lexicon.tsv --inference vb --no-agree",
        "align 'part*.source' 'part*.target' -o 'part*.align' --save parts.model --work work",
    ],
    "models": [
        f"{_TRAIN} --model ibm1 --no-agree --inference em",
        f"{_TRAIN} --model ibm2 --diagonal",
        f"{_TRAIN} --model ibm2 --symmetrize intersection",
        f"{_TRAIN} --model ibm3",
        f"{_TRAIN} --model ibm4 --save four.model",
    ],
    "learn": [
        f"learn gold.align {_TEXTS} --save better.model --vectors words.vec",
        "learn part0.gold --source part0.source --target part0.target --objective aer --prior none"
        " --evidence fast_align=part0.reverse",
        "align source.txt target.txt --load better.model --vectors words.vec -o out.align",
    ],
    "score": [
        f"{_SYSTEMS} --level both",
        f"score forward.align gold.align {_TEXTS} --level both --compare reverse.align",
        f"score forward.align gold.align {_TEXTS} --level phrases --loose",
        "score forward.align gold.align",
        "symmetrize forward.align reverse.align -o union.align --method union",
        "symmetrize forward.align reverse.align -o grown.align",
        "profile pairs.jsonl --hyp-annotator eflomal anna --ref-annotator gold --trials 20"
        " --resamples 50 --by genre",
        "errors pairs.jsonl --hyp-annotator eflomal --ref-annotator gold --by-link kind,word",
    ],
    "phrases": [
        "phrases pairs.jsonl --annotator gold --kind atomic --ignore-identical",
        "phrases pairs.jsonl --annotator gold --loose --jsonl",
        f"phrases gold.align {_TEXTS} --table -o table.tsv --memory 1",
        "phrases 'part*.gold' --source 'part*.source' --target 'part*.target' --table -o parts.tsv",
        "pivot table.tsv -o paraphrases.tsv",
        f"score-phrases table.tsv gold.align {_TEXTS}",
    ],
    "rules": [
        f"{_RULES} --json",
        f"{_RULES} --all --deletions",
        f"{_RULES} --size 3",
        f"{_RULES} --grammar s2t",
        f"score-rules pairs.jsonl --hyp-annotator eflomal --ref-annotator gold {_TREES}",
    ],
    "agree": [
        "agree pairs.jsonl --annotators anna ben --initial eflomal --resamples 50 --samples 50",
        "agree pairs.jsonl --annotators anna ben --initial eflomal --resamples 50 --samples 50"
        " --bootstrap refit --chance edit-strata",
        _JUDGED,
        f"{_JUDGED} --null one --consensus gold",
    ],
}


def _align_one_pair(model: str) -> None:
    """Align a single pair, as the annotation page does."""
    from alignkit.align import Aligner

    Aligner.load(model).align("The dog saw the cat .", "The cat was seen by the dog .")


def _sort_on_disk() -> None:
    """Sort more records than memory holds, and divide them among workers."""
    import numpy as np

    from alignkit.cluster.phrase_buckets import BucketExchange, write_turned
    from alignkit.rules.tables.runs import Runs

    room = 1 << 16
    records = 4000
    symbols = np.arange(1, records + 1, dtype=np.int32)
    offsets = np.arange(records + 1)
    with Runs(".", room=room) as runs:
        runs.add(symbols, offsets, np.ones((records, 1)))
        assert runs.written
        blocks = list(runs.merge())
    os.mkdir("turned")
    write_turned(BucketExchange(".", 2, room), 0, blocks, [[5]])


_CALLS: dict[str, Callable[[], None]] = {
    "align": partial(_align_one_pair, "plain.model"),
    "models": partial(_align_one_pair, "four.model"),
    "phrases": _sort_on_disk,
}
"""What a rehearsal does at its end, for kernels that small data and these commands do not call."""


def write_files() -> None:
    """Write what the commands read into the current folder: samples, halves of them, word lists."""
    for name, sample in _SAMPLES.items():
        copyfile(samples() / sample, name)
    words: set[str] = set()
    for name in ("source.txt", "target.txt", "gold.align", "reverse.align"):
        lines = Path(name).read_text("utf-8").splitlines(keepends=True)
        words.update(" ".join(lines).split())
        half = len(lines) // 2
        for number, part in enumerate((lines[:half], lines[half:])):
            Path(f"part{number}.{Path(name).stem}").write_text("".join(part), "utf-8")
    vectors = [f"{word} {len(word)} {ord(word[0]) % 7} 1.5\n" for word in sorted(words)]
    Path("words.vec").write_text("".join(vectors), "utf-8")
    Path("words.tsv").write_text("pont\tbridge\n", "utf-8")
    judged = [f"{k}\t{k % 2}\t{k % 3 % 2}\t{k % 5 % 2}\t{k % 2}\n" for k in range(40)]
    Path("judged.tsv").write_text("id\tanna\tben\tcleo\tgold\n" + "".join(judged), "utf-8")


def rehearse(name: str, main: Callable[[Sequence[str]], int]) -> int:
    """Run the commands of a rehearsal in the current folder; return 0 if all kernels are kept."""
    write_files()
    for words in REHEARSALS[name]:
        code = main([*shlex.split(words), "--quiet"])
        if code:
            print(f"alignkit {words} ended with exit code {code}", file=sys.stderr)
            return code
    if name in _CALLS:
        _CALLS[name]()
    return len(kernel_cache.WARNED)
