"""The defaults of random draws and intervals, for all functions and commands that have them."""

RESAMPLES = 1000  # of a bootstrap
CONFIDENCE = 0.95  # of intervals
DRAWS_EACH = 1000  # of resamples or trials, for each of the tests that a correction joins
SEED = 12345  # of all random draws
