"""Score hypotheses against a reference: links, phrase pairs and lists of phrase pairs.

Everything rests on rows of counts, one for each sentence pair (`counts`): sums of rows give scores
(`measures`), their intervals, comparisons of systems and scores of groups.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
