"""Errors say where, and survive being sent between processes."""

from __future__ import annotations

import pickle

import pytest

from alignkit import errors
from alignkit.errors import AlignkitError, FormatError, NotAlignedError, UnknownNameError


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (FormatError("is odd", "a.txt", 3, 7), "a.txt:3:7: is odd"),
        (FormatError("is odd", "a.txt", 3), "a.txt:3: is odd"),
        (FormatError("is odd", "a.txt"), "a.txt: is odd"),
        (FormatError("is odd"), "is odd"),
        (
            UnknownNameError("format", "pharao", ["pharaoh", "naacl"]),
            "unknown format 'pharao'; did you mean 'pharaoh'? (known: pharaoh, naacl)",
        ),
        (UnknownNameError("annotator", "x", []), "unknown annotator 'x' (known: none)"),
        (
            NotAlignedError("pair 'p1'", "anna", ["ben"]),
            "'anna' judged pair 'p1', but gave no alignment (aligned by: ben)",
        ),
    ],
)
def test_the_message_says_where_and_what(error, text):
    again = pickle.loads(pickle.dumps(error))
    assert str(error) == str(again) == text
    assert type(again) is type(error)
    assert vars(again) == vars(error)


def test_every_error_is_of_the_package():
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), AlignkitError)
        assert getattr(errors, name).__doc__
