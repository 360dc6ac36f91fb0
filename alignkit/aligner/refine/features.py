"""The names of the features of a cell, in the order in which the kernels write them."""

from __future__ import annotations

CELL = (
    "mean", "logit_mean", "logit_forward", "logit_reverse", "logit_geometric", "minimum",
    "logit_minimum", "source_null", "target_null", "row_rival", "column_rival", "row_margin",
    "column_margin", "row_rest", "column_rest", "best_in_row", "best_in_column", "best_in_both",
    "identical", "repeated", "subsequence", "prefix", "punctuation_both", "punctuation_one",
    "digits_both", "digits_one", "source_length", "target_length", "length_difference",
    "neighbours", "square", "before_both", "after_both", "best_diagonal", "best_antidiagonal",
    "above", "below", "left", "right", "from_previous_source", "from_next_source",
    "from_previous_target", "from_next_target", "off_diagonal", "words_off_diagonal",
    "lexical_mean", "logit_lexical_mean", "logit_lexical_forward", "logit_lexical_reverse",
    "lexical_minimum",
)  # fmt: skip
"""Features of posteriors, spelling, neighbours, place; none depends on the size of the corpus."""

VECTORS = (
    "cosine", "cosine_row_margin", "cosine_column_margin", "cosine_row_share",
    "cosine_column_share", "cosine_left", "cosine_right", "cosine_window", "cosine_two_words",
    "vectors_known",
)  # fmt: skip
"""Features of word vectors."""

LEXICON = ("lexicon_pair", "lexicon_source", "lexicon_target", "lexicon_count")
"""Features of what the gold standard links, other pairs' links alone."""

NEIGHBOURS = (
    "first", "logit_first", "first_row_margin", "first_column_margin", "first_row_rest",
    "first_column_rest", "first_before_both", "first_above", "first_before_after", "first_left",
    "first_right", "first_after_before", "first_below", "first_after_both",
    "first_best_in_both",
)  # fmt: skip
"""Features of the second round: what the first says of the cell and of those around it."""

STRONG = (
    "logit_mean", "logit_geometric", "source_null", "target_null", "row_margin",
    "column_margin", "best_in_both", "identical", "subsequence", "neighbours", "off_diagonal",
    "cosine",
)  # fmt: skip
"""Those of the first round that a few pairs suffice to weigh."""

STRONG_SECOND = (
    "first", "first_row_margin", "first_column_margin", "first_row_rest", "first_column_rest",
    "first_before_both", "first_after_both",
)  # fmt: skip
"""Those of the second round, likewise."""


def names_of(*, vectors: bool, second: bool) -> tuple[str, ...]:
    """Return the names of the features of a round, in order."""
    return (*CELL, *(VECTORS if vectors else ()), *LEXICON, *(NEIGHBOURS if second else ()))
