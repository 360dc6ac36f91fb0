"""Score hypotheses against a reference: links, phrase pairs and lists of phrase pairs.

Everything rests on rows of counts, one for each sentence pair (`counts`). Sums of rows give a
corpus score (`scores`, `result`), sums of the ratios of rows its averages (`macro`), resampled sums
its intervals (`bootstrap`) and the comparison of systems (`comparisons`), sums by group its tables
(`score_records`).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
