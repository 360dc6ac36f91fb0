"""Training and aligning stay within the memory they are given, and say what they cannot have."""

from __future__ import annotations

import os

import aligner_reference as plain
import numpy as np
import pytest

import alignkit.aligner.aligner as home
from alignkit.aligner import Aligner, Bitext, Settings
from alignkit.aligner.resources import bytes_of_training, bytes_on_disk, fits
from alignkit.aligner.room import Room
from alignkit.errors import AlignerError

TEXT = plain.random_text(7, 90)


@pytest.mark.parametrize("model", ["ibm2", "hmm", "ibm4"])
@pytest.mark.parametrize("block", [1, 300, 10**9])
def test_large_bitexts_are_aligned_part_by_part_with_the_same_result(monkeypatch, model, block):
    aligner = Aligner.train(TEXT, model=model)
    bitext = Bitext.pack(TEXT)
    whole, scores = aligner.align_bitext(bitext), aligner.scores(bitext)
    monkeypatch.setattr(home, "BLOCK", block)
    parts = aligner.align_bitext(bitext)
    assert parts.arrays.links.tolist() == whole.arrays.links.tolist()
    assert parts.arrays.offsets.tolist() == whole.arrays.offsets.tolist()
    assert np.array_equal(parts.probabilities, whole.probabilities)
    assert np.array_equal(aligner.scores(bitext), scores)


def test_parts_of_a_bitext_are_its_pairs():
    bitext = Bitext.pack(TEXT)
    part = bitext.part(10, 15)
    assert len(part) == 5
    assert [part.source.sentence(k) for k in range(5)] == [
        bitext.source.sentence(k) for k in range(10, 15)
    ]
    assert (np.diff(part.starts) == np.diff(bitext.starts)[10:15]).all()


def test_a_full_disk_is_told_before_training(monkeypatch, tmp_path):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(AlignerError, match=r"cannot keep .* MB .*No space left.*another folder"):
        Aligner.train(TEXT, folder=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_told():
    with pytest.raises(AlignerError, match="another folder"):
        Aligner.train(TEXT, folder="/no/such/folder")


def test_what_goes_wrong_elsewhere_is_not_blamed_on_the_disk(tmp_path):
    def broken(*_):
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        Aligner.train(TEXT, folder=tmp_path, progress=broken)
    assert not list(tmp_path.iterdir())


def test_memory_goes_with_the_cells():
    bitext = Bitext.pack(TEXT)
    assert bytes_on_disk(bitext, Settings()) == 5 * bitext.starts[-1]
    assert bytes_on_disk(bitext, Settings(inference="em")) == 12 * bitext.starts[-1]
    assert bytes_of_training(bitext, Settings()) > bytes_on_disk(bitext, Settings())
    assert fits(bitext, Settings())


def test_room_is_zeros_wherever_it_is(tmp_path):
    for room in (Room(), Room(str(tmp_path))):
        array = room.zeros(1000, np.int32)
        assert array.dtype == np.int32
        assert not array.any()
        assert array.flags.writeable
        assert not list(tmp_path.iterdir())  # a file without a name: none is left, even by kill -9
