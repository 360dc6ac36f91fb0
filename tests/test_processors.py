"""Trained models are the same to the bit in whatever process and on whatever processor."""

import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from console import ROOT, run
from test_pages import EXAMPLES

TRAINING = [example for example in EXAMPLES if re.match("alignkit (align|learn) ", example[1])]
PLAINER = {"NUMBA_CPU_NAME": "generic"}  # a processor without the instructions of this one
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the samples, in which commands may write."""
    place = tmp_path_factory.mktemp("processors")
    shutil.copytree(ROOT / "samples", place / "samples")
    return place


def digests(**environment):
    """Return what `digests.py` prints in a process of another environment."""
    environment = os.environ | environment | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(ROOT / "tests" / "digests.py")]
    ran = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(ran.stdout)


@pytest.mark.timeout(1800)
def test_another_processor_computes_the_same_bits():
    """All models: what the other tests say of their figures holds there too."""
    features = np.show_config("dicts")["SIMD Extensions"].get("found", [])
    older = PLAINER | {"OPENBLAS_CORETYPE": "Prescott"}
    older["NPY_DISABLE_CPU_FEATURES"] = " ".join(features)
    assert digests(**older, ALIGNKIT_FULL="1") == digests(ALIGNKIT_FULL="1")


@pytest.mark.parametrize(("page", "command", "output"), TRAINING)
def test_what_is_trained_on_a_plainer_processor_prints_the_same(page, command, output, folder):
    assert run(command, folder, **PLAINER) == output


@pytest.mark.parametrize("page", ["docs/aligner.md", "docs/aligner_models.md", "docs/vectors.md"])
def test_what_is_trained_in_python_on_a_plainer_processor_is_the_same(page):
    command, environment = [sys.executable, "-m", "doctest", page], os.environ | PLAINER
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


def test_the_process_that_compiles_computes_what_later_ones_do(tmp_path):
    kept = {"XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": ""}
    first, later = digests(**kept), digests(**kept)
    assert any(tmp_path.rglob("*kernel.hmm_step*"))
    assert later == first
    for name, digest in first.items():
        same = next(key for key in first if key.split(":")[0] == name.split(":")[0])
        assert digest == first[same], f"{name} differs from {same}"
