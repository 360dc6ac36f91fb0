"""Do long tests in a tenth of their length, unless ALIGNKIT_FULL is set."""

import os

FULL = bool(os.environ.get("ALIGNKIT_FULL"))


def repetitions(full):
    return full if FULL else max(1, full // 10)


def some(cases):
    """Return the cases to try: one in six."""
    return cases if FULL else cases[2::6]
