"""Have errors of a system, or pairs of a corpus, judged by people who do not know their origin.

`phrases` draws phrase pairs that a system has and the gold standard lacks, and the other way round,
and writes a sheet for each judge, and a key that tells which is which; `pairs` does so with pairs
that annotators wrote anew as paraphrases, and plain ones. `read` takes the filled sheets and the
key, and prints the shares of the judgments, how far the judges agree, and what that makes of the
score, or how the shares upheld differ.

For example:
  alignkit audit phrases giza.xml gold.xml --n 100 --seed 1 --judges anna ben -o audit
  alignkit audit pairs corpus.json --n 500 --mix .5 --seed 1 --judges anna ben -o audit
  alignkit audit read audit/sheet-anna.tsv audit/sheet-ben.tsv --key audit/key.json
"""

from __future__ import annotations

COMMANDS = {
    "pairs": "draw rewrites and plain pairs of a judged corpus",
    "phrases": "draw phrase pairs in which a system and the gold standard differ",
    "read": "read the filled sheets: shares, agreement, what follows",
}
"""The commands of this command; a module each."""
