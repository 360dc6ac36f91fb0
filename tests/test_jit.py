"""Compiled kernels compute the same in every process, and are kept where pip finds nothing."""

import os
from importlib import import_module
from pathlib import Path

import numba
import numpy as np
import pytest

import alignkit
from alignkit._support.jit import Kernel, fast, jit
from alignkit.io.formats import pharaoh_kernel
from alignkit.model import phrase_kernel

PACKAGE = Path(alignkit.__file__).parent
KERNELS = [
    ".".join(("alignkit", *path.relative_to(PACKAGE).with_suffix("").parts))
    for path in sorted(PACKAGE.rglob("*kernel.py"))
]


def test_compiled_kernels_are_not_kept_beside_the_modules_nor_where_other_packages_keep_theirs():
    for kernel in (phrase_kernel.match_phrases, pharaoh_kernel.scan):
        assert PACKAGE not in Path(kernel.compiled.stats.cache_path).parents
    assert os.environ.get("NUMBA_CACHE_DIR", "") == numba.config.CACHE_DIR


@pytest.mark.parametrize("module", KERNELS)
def test_no_kernel_leaves_the_order_of_sums_to_the_processor(module):
    values = vars(import_module(module)).values()
    kernels = [value for value in values if isinstance(value, Kernel)]
    assert kernels
    for kernel in kernels:
        assert not kernel.compiled.targetoptions.get("fastmath"), kernel.__name__


@pytest.mark.parametrize("compiled", [jit, fast])
def test_a_kernel_rounds_each_operation_and_adds_in_order(compiled):
    @compiled
    def multiply_and_add(a, b, c):
        return a * b + c

    a = 1 + 2.0**-30
    assert multiply_and_add(a, a, -1.0) == a * a - 1  # fused, the smallest bit would be left

    @compiled
    def total(values):
        found = np.float32(0)
        for k in range(len(values)):
            found += values[k]
        return found

    values = np.random.default_rng(0).random(1000, np.float32)
    assert total(values) == np.cumsum(values)[-1]  # which has to add in order
