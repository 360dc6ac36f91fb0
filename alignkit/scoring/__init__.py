"""Score hypotheses against a reference: links, phrase pairs and lists of phrase pairs.

Everything rests on rows of counts, one for each sentence pair (`counts`). Sums of rows give a
corpus score (`scores`, `result`), sums of the ratios of rows its averages (`macro`), resampled sums
its intervals (`bootstrap`) and the comparison of systems (`comparisons`), sums by group its tables
(`score_records`).
"""

from alignkit.scoring.bootstrap import Interval, confidence_interval
from alignkit.scoring.comparison import Comparison
from alignkit.scoring.comparisons import Comparisons, compare
from alignkit.scoring.counts import LINK_COLUMNS, PHRASE_COLUMNS, count_links, count_phrases
from alignkit.scoring.holm import holm
from alignkit.scoring.macro import AGGREGATES, MACRO_MEASURES, MacroScore, macro_ratios, macro_terms
from alignkit.scoring.measures import (
    LEVELS,
    LOWER_IS_BETTER,
    LinkScore,
    PhraseScore,
    link_ratios,
    phrase_ratios,
)
from alignkit.scoring.newcombe import newcombe_interval
from alignkit.scoring.phrase_list import PhraseListScore, score_phrase_list
from alignkit.scoring.phrase_table import PHRASE_TABLE_FORMATS, read_phrase_table
from alignkit.scoring.result import Score
from alignkit.scoring.score_records import group_records, pair_records, score_records
from alignkit.scoring.scores import aer, score, score_blocks
from alignkit.scoring.settings import LEVEL_CHOICES, LINK_POLICIES
from alignkit.scoring.signature import Signature
from alignkit.scoring.wilson import wilson_interval

__all__ = [
    "AGGREGATES",
    "LEVELS",
    "LEVEL_CHOICES",
    "LINK_COLUMNS",
    "LINK_POLICIES",
    "LOWER_IS_BETTER",
    "MACRO_MEASURES",
    "PHRASE_COLUMNS",
    "PHRASE_TABLE_FORMATS",
    "Comparison",
    "Comparisons",
    "Interval",
    "LinkScore",
    "MacroScore",
    "PhraseListScore",
    "PhraseScore",
    "Score",
    "Signature",
    "aer",
    "compare",
    "confidence_interval",
    "count_links",
    "count_phrases",
    "group_records",
    "holm",
    "link_ratios",
    "macro_ratios",
    "macro_terms",
    "newcombe_interval",
    "pair_records",
    "phrase_ratios",
    "read_phrase_table",
    "score",
    "score_blocks",
    "score_phrase_list",
    "score_records",
    "wilson_interval",
]
