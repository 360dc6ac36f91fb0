"""A FrozenMap behaves as a dict that never changes."""

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alignkit._support.values import FrozenMap

DICTS = st.dictionaries(st.text(max_size=3), st.integers(), max_size=6)


@given(DICTS, DICTS)
def test_it_holds_what_the_dict_holds(one, two):
    frozen = FrozenMap(one)
    assert frozen == one
    assert len(frozen) == len(one)
    assert list(frozen.items()) == list(one.items())
    assert (list(frozen), list(frozen.values())) == (list(one), list(one.values()))
    assert frozen.items() == one.items()
    assert frozen | two == {**one, **two}
    assert (frozen == FrozenMap(two)) == (one == two)
    assert FrozenMap(one.items()) == FrozenMap(frozen) == frozen
    for key in two:
        assert (key in frozen) == (key in one)
        assert frozen.get(key) == one.get(key)


@given(DICTS)
def test_order_does_not_matter_to_equality_and_hash(entries):
    backwards = FrozenMap(reversed(entries.items()))
    assert backwards == FrozenMap(entries)
    assert hash(backwards) == hash(FrozenMap(entries))


@given(DICTS)
def test_it_survives_copies(entries):
    frozen = FrozenMap(entries)
    for again in (pickle.loads(pickle.dumps(frozen)), copy.copy(frozen), copy.deepcopy(frozen)):
        assert again == frozen
        assert list(again) == list(frozen)


def test_a_repeated_key_takes_its_last_value():
    assert FrozenMap([("a", 1), ("b", 2), ("a", 3)]) == {"a": 3, "b": 2}


def test_it_cannot_be_changed():
    frozen = FrozenMap({"a": 1})
    with pytest.raises(TypeError):
        frozen["a"] = 2
    with pytest.raises(AttributeError):
        frozen.update({"a": 2})
    with pytest.raises(KeyError):
        frozen["b"]
    assert frozen != [("a", 1)]
    assert repr(frozen) == "FrozenMap({'a': 1})"
