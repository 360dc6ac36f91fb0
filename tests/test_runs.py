"""Sequences are counted, sorted and merged as a dictionary does it, in whatever room."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alignkit.errors import AlignmentError, OptionError
from alignkit.io.atomic_files import WriteError
from alignkit.rules.tables import runs as runs_module
from alignkit.rules.tables.runs import Runs

LEAST = 1 << 16

records = st.lists(
    st.tuples(st.lists(st.integers(0, 3), max_size=6).map(tuple), st.integers(0, 9)), max_size=60
)


def packed(found):
    sizes = [len(sequence) for sequence, _ in found]
    flat = [number for sequence, _ in found for number in sequence]
    values = [[value, value] for _, value in found]
    return (
        np.array(flat, np.int32),
        np.array([0, *np.cumsum(sizes)], np.int64),
        np.array(values, np.float64).reshape(-1, 2),
    )


def rows(merged):
    return [
        (tuple(block.symbols[start:end].tolist()), *values)
        for block in merged
        for start, end, values in zip(
            block.offsets, block.offsets[1:], block.values.tolist(), strict=False
        )
    ]


def counted(found):
    table = {}
    for sequence, value in found:
        total, most = table.get(sequence, (0, 0))
        table[sequence] = total + value, max(most, value)
    return [(sequence, *table[sequence]) for sequence in sorted(table)]


@given(st.lists(records, max_size=4))
def test_what_is_merged_is_what_a_dictionary_counts(parts):
    with Runs(".", sums=1, maxima=1, room=LEAST) as runs:
        for part in parts:
            runs.add(*packed(part))
        for _ in "12":
            assert rows(runs.merge()) == counted([one for part in parts for one in part])


@pytest.mark.parametrize("fan", [2, 3, 32])
def test_the_result_is_the_same_from_disk_and_by_several_merges(tmp_path, monkeypatch, fan):
    monkeypatch.setattr(runs_module, "_FAN", fan)
    rng = np.random.default_rng(1)
    found = [
        (tuple(rng.integers(0, 2**31 - 1 if k % 3 else 4, rng.integers(0, 9)).tolist()), k % 7)
        for k in range(6000)
    ]
    found[2500] = (tuple(range(LEAST)), 3)  # longer than all the room
    found[5000] = found[2500]
    with Runs(str(tmp_path), sums=1, maxima=1, room=LEAST) as runs:
        for start in range(0, len(found), 700):
            runs.add(*packed(found[start : start + 700]))
        for _ in "12":
            assert rows(runs.merge()) == counted(found)
        assert runs.added == 6000
        assert runs.written > LEAST
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_counted_is_refused(tmp_path):
    one = packed([((1, 2), 1)])
    with Runs(str(tmp_path), sums=2) as runs:
        for wrong, told in (
            ((one[0].astype(float), *one[1:]), "not int32"),
            ((np.array([1, -2], np.int32), *one[1:]), r"symbols\[1\] is -2"),
            ((one[0], np.array([0, 3]), one[2]), "beyond the 2 symbols"),
            ((one[0], np.array([2, 0]), one[2]), "must rise"),
            ((*one[:2], np.ones((1, 3))), r"expected \(1, 2\)"),
        ):
            with pytest.raises(AlignmentError, match=told):
                runs.add(*wrong)
        assert rows(runs.merge()) == []
        with pytest.raises(OptionError, match="merged already"):
            runs.add(*one)
    with pytest.raises(OptionError, match="closed"):
        next(runs.merge())
    with pytest.raises(OptionError, match="the least is 65536"):
        Runs(".", room=5)
    with pytest.raises(OptionError, match="at least 1 value"):
        Runs(".", sums=0)
    with pytest.raises(WriteError, match="gone: cannot be written"):
        fill(Runs(str(tmp_path / "gone"), sums=1, maxima=1, room=LEAST))


def fill(runs):
    for k in range(2000):
        runs.add(*packed([((k, k), 1)]))


@pytest.mark.skipif("not __import__('os').path.exists('/dev/full')")
def test_a_full_disk_is_told(monkeypatch):
    with open("/dev/full", "wb", buffering=0) as disk:
        monkeypatch.setattr(runs_module, "TemporaryFile", lambda **_: disk)
        with pytest.raises(WriteError, match="No space left on device; nothing was changed"):
            fill(Runs(".", sums=1, maxima=1, room=LEAST))
