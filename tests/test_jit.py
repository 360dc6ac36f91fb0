"""Compiled kernels compute the same in every process, and are kept where pip finds nothing."""

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numba
import numpy as np
import pytest

import alignkit
from alignkit._support.jit import fast, jit
from alignkit.io.formats import pharaoh_kernel
from alignkit.model import phrase_kernel

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
def test_no_kernel_leaves_the_order_of_sums_to_the_processor(module):
    values = vars(import_module(module)).values()
    kernels = [value for value in values if isinstance(value, numba.core.dispatcher.Dispatcher)]
    assert kernels
    for kernel in kernels:
        assert not kernel.targetoptions.get("fastmath"), kernel.__name__


@pytest.mark.parametrize("compiled", [jit, fast])
def test_a_kernel_rounds_each_operation(compiled):
    @compiled
    def multiply_and_add(a, b, c):
        return a * b + c

    a = 1 + 2.0**-30
    assert multiply_and_add(a, a, -1.0) == a * a - 1  # fused, the smallest bit would be left


@pytest.mark.parametrize("compiled", [jit, fast])
def test_a_kernel_adds_in_order(compiled):
    @compiled
    def total(values):
        found = np.float32(0)
        for k in range(len(values)):
            found += values[k]
        return found

    values = np.random.default_rng(0).random(1000, np.float32)
    assert total(values) == np.cumsum(values)[-1]  # which has to add in order


def digests(**environment):
    """Return what `digests.py` prints in a process of another environment."""
    environment["PYTHONPATH"] = str(PACKAGE.parent)
    command = [sys.executable, str(Path(__file__).with_name("digests.py"))]
    ran = subprocess.run(command, env=os.environ | environment, stdout=subprocess.PIPE, check=True)
    return json.loads(ran.stdout)


@pytest.mark.slow
def test_the_process_that_compiles_computes_what_later_ones_do(tmp_path):
    kept = {"XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": ""}
    first, later = digests(**kept), digests(**kept)
    assert any(tmp_path.rglob("*kernel.hmm_step*"))
    assert later == first
    for name, digest in first.items():
        same = next(key for key in first if key.split(":")[0] == name.split(":")[0])
        assert digest == first[same], f"{name} differs from {same}"


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_another_processor_computes_the_same_bits():
    """All models: what the other tests say of their figures holds there too."""
    features = np.show_config("dicts")["SIMD Extensions"].get("found", [])
    older = {"NUMBA_CPU_NAME": "generic", "OPENBLAS_CORETYPE": "Prescott"}
    older["NPY_DISABLE_CPU_FEATURES"] = " ".join(features)
    assert digests(**older, ALIGNKIT_FULL="1") == digests(ALIGNKIT_FULL="1")
