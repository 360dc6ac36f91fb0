"""Compiled kernels compute the same in every process, and are kept where pip finds nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numba
import pytest

import alignkit
from alignkit import phrase_kernel
from alignkit.formats import pharaoh_kernel
from alignkit.jit import jit

PACKAGE = Path(alignkit.__file__).parent
KERNELS = [
    ".".join(("alignkit", *path.relative_to(PACKAGE).with_suffix("").parts))
    for path in sorted(PACKAGE.rglob("*kernel.py"))
]


def test_compiled_kernels_are_not_kept_beside_the_modules():
    package = Path(alignkit.__file__).parent
    for kernel in (phrase_kernel.match_phrases, pharaoh_kernel.scan):
        assert package not in Path(kernel.stats.cache_path).parents


def test_the_cache_of_other_packages_is_left_alone():
    assert os.environ.get("NUMBA_CACHE_DIR", "") == numba.config.CACHE_DIR


@pytest.mark.parametrize("module", KERNELS)
def test_a_fast_kernel_is_called_from_python_only(module):
    kernels = {
        name: value
        for name, value in vars(import_module(module)).items()
        if isinstance(value, numba.core.dispatcher.Dispatcher)
    }
    assert kernels
    for kernel in kernels.values():
        for name in set(kernel.py_func.__code__.co_names) & set(kernels):
            options = kernels[name].targetoptions
            if options.get("fastmath"):
                assert options.get("forceinline"), f"{kernel.__name__} calls the fast {name}"


def test_a_plain_kernel_rounds_each_operation():
    @jit
    def multiply_and_add(a, b, c):
        return a * b + c

    a = 1 + 2.0**-30
    assert multiply_and_add(a, a, -1.0) == a * a - 1  # fused, the smallest bit would be left


@pytest.mark.slow
def test_the_process_that_compiles_computes_what_later_ones_do(tmp_path):
    environment = os.environ | {
        "PYTHONPATH": str(PACKAGE.parent),
        "XDG_CACHE_HOME": str(tmp_path),
        "NUMBA_CACHE_DIR": "",
    }
    command = [sys.executable, str(Path(__file__).with_name("digests.py"))]

    first, later = (
        json.loads(
            subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout
        )
        for _ in range(2)
    )
    assert any(tmp_path.rglob("*kernel.hmm_step*"))
    assert later == first
    for name, digest in first.items():
        same = next(key for key in first if key.split(":")[0] == name.split(":")[0])
        assert digest == first[same], f"{name} differs from {same}"
