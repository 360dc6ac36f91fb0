"""Build, check and use gold-standard word and phrase alignments.

The names below are loaded when they are first used, so that importing alignkit costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from alignkit.lazy import lazy_names
from alignkit.version import __version__

if TYPE_CHECKING:
    from alignkit.agreement import agree
    from alignkit.aligner import AlignedLinks, Aligner, Bitext
    from alignkit.alignment import NULL, Alignment, Link
    from alignkit.annotation import Annotation
    from alignkit.arrays import LinkArrays, TokenArrays, Vocabulary
    from alignkit.corpus import Corpus
    from alignkit.corpus_counts import count_corpus, count_groups
    from alignkit.errors import AlignkitError, FormatError
    from alignkit.formats import FORMATS, iterate_pairs, read_corpus, write_corpus
    from alignkit.formats.trees import attach_trees, read_trees
    from alignkit.join import join_pairs, merge
    from alignkit.nltk_bridge import from_nltk, to_nltk
    from alignkit.pairings import pair_translations
    from alignkit.phrase_pair import PhrasePair
    from alignkit.phrases import PhraseArrays, extract_phrases
    from alignkit.scoring import aer, compare, score, score_phrase_list
    from alignkit.selection import concat, sample, select_ids, split_corpus
    from alignkit.sentence_pair import SentencePair
    from alignkit.symmetrization import symmetrize
    from alignkit.trees import Tree

__all__ = [
    "FORMATS",
    "NULL",
    "AlignedLinks",
    "Aligner",
    "AlignkitError",
    "Alignment",
    "Annotation",
    "Bitext",
    "Corpus",
    "FormatError",
    "Link",
    "LinkArrays",
    "PhraseArrays",
    "PhrasePair",
    "SentencePair",
    "TokenArrays",
    "Tree",
    "Vocabulary",
    "__version__",
    "aer",
    "agree",
    "attach_trees",
    "compare",
    "concat",
    "count_corpus",
    "count_groups",
    "extract_phrases",
    "from_nltk",
    "iterate_pairs",
    "join_pairs",
    "merge",
    "pair_translations",
    "read_corpus",
    "read_trees",
    "sample",
    "score",
    "score_phrase_list",
    "select_ids",
    "split_corpus",
    "symmetrize",
    "to_nltk",
    "write_corpus",
]

__getattr__, __dir__ = lazy_names(__name__)
