"""Compiled kernels are kept where pip does not leave them behind."""

from __future__ import annotations

import os
from pathlib import Path

import numba

import alignkit
from alignkit import phrase_kernel
from alignkit.formats import pharaoh_kernel


def test_compiled_kernels_are_not_kept_beside_the_modules():
    package = Path(alignkit.__file__).parent
    for kernel in (phrase_kernel.match_phrases, pharaoh_kernel.scan):
        assert package not in Path(kernel.stats.cache_path).parents


def test_the_cache_of_other_packages_is_left_alone():
    assert os.environ.get("NUMBA_CACHE_DIR", "") == numba.config.CACHE_DIR
