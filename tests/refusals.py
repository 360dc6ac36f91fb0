"""Calls that are refused."""

import pytest


def refuses(error, told, call, *args, **options):
    """Check that a call is refused by an error of a kind that says something (a pattern)."""
    with pytest.raises(error, match=told):
        call(*args, **options)
