"""A FrozenMap behaves as a dict that never changes; results cannot be changed."""

import copy
import pickle
from dataclasses import is_dataclass
from importlib import import_module
from pkgutil import walk_packages

import pytest
from hypothesis import given
from hypothesis import strategies as st

import alignkit.agreement
import alignkit.model
import alignkit.scoring
from alignkit._support.values import FrozenMap

DICTS = st.dictionaries(st.text(max_size=3), st.integers(), max_size=6)


@given(DICTS, DICTS)
def test_it_holds_what_the_dict_holds(one, two):
    frozen = FrozenMap(one)
    assert (frozen, len(frozen), list(frozen.items())) == (one, len(one), list(one.items()))
    assert (list(frozen), list(frozen.values())) == (list(one), list(one.values()))
    assert (frozen.items(), frozen | two) == (one.items(), {**one, **two})
    assert (frozen == FrozenMap(two)) == (one == two)
    assert FrozenMap(one.items()) == FrozenMap(frozen) == frozen
    for key in two:
        assert (key in frozen, frozen.get(key)) == (key in one, one.get(key))


@given(DICTS)
def test_order_does_not_matter_to_equality_and_hash(entries):
    backwards = FrozenMap(reversed(entries.items()))
    assert (backwards, hash(backwards)) == (FrozenMap(entries), hash(FrozenMap(entries)))


@given(DICTS)
def test_it_survives_copies(entries):
    frozen = FrozenMap(entries)
    for again in (pickle.loads(pickle.dumps(frozen)), copy.copy(frozen), copy.deepcopy(frozen)):
        assert (again, list(again)) == (frozen, list(frozen))


def test_it_cannot_be_changed_and_a_repeated_key_takes_its_last_value():
    assert FrozenMap([("a", 1), ("b", 2), ("a", 3)]) == {"a": 3, "b": 2}
    frozen = FrozenMap({"a": 1})
    with pytest.raises(TypeError):
        frozen["a"] = 2
    with pytest.raises(AttributeError):
        frozen.update({"a": 2})
    with pytest.raises(KeyError):
        frozen["b"]
    assert frozen != [("a", 1)]
    assert repr(frozen) == "FrozenMap({'a': 1})"


def dataclasses_of(package):
    """Yield the dataclasses that the modules of a package define."""
    for module in walk_packages(package.__path__, f"{package.__name__}."):
        for value in vars(import_module(module.name)).values():
            if isinstance(value, type) and is_dataclass(value) and value.__module__ == module.name:
                yield value


@pytest.mark.parametrize("package", [alignkit.agreement, alignkit.model, alignkit.scoring])
def test_results_cannot_be_changed(package):
    kinds = list(dataclasses_of(package))
    changing = {kind.__name__ for kind in kinds if not kind.__dataclass_params__.frozen}
    assert len(kinds) > len(changing)
    # those are filled while a file is read, and while systems are compared
    assert changing <= {"Brackets", "TwoFiles", "_PairOfRecords", "_Tests"}
