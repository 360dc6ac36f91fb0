"""Trained models are the same to the bit in whatever process and on whatever processor."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from console import ROOT, run
from test_pages import EXAMPLES

TRAINING = {
    command: (command, output)
    for _, command, output in EXAMPLES
    if re.match("alignkit (align|learn) ", command) and output
}
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def plainer(tmp_path_factory):
    """A processor without the instructions of this one, and no kernels for it yet."""
    kept = str(tmp_path_factory.mktemp("kernels"))
    return {"NUMBA_CPU_NAME": "generic", "XDG_CACHE_HOME": kept, "NUMBA_CACHE_DIR": ""}


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
def test_other_processors_and_processes_compute_the_same_bits(plainer):
    """What other tests say of figures holds there too; with ALIGNKIT_FULL, of all models."""
    features = np.show_config("dicts")["SIMD Extensions"].get("found", [])
    older = plainer | {"OPENBLAS_CORETYPE": "Prescott"}
    older["NPY_DISABLE_CPU_FEATURES"] = " ".join(features)
    compiling = digests(**older)
    assert any(Path(plainer["XDG_CACHE_HOME"]).rglob("*kernel.hmm_step*"))
    assert digests() == compiling
    later = digests(**older)  # by the code that was kept
    assert later.items() <= compiling.items()
    for name, digest in later.items():
        same = next(key for key in later if key.split(":")[0] == name.split(":")[0])
        assert digest == later[same], f"{name} differs from {same}"


@pytest.mark.parametrize(("command", "output"), TRAINING.values())
def test_what_is_trained_on_a_plainer_processor_prints_the_same(command, output, folder, plainer):
    assert run(command, folder, **plainer) == output


@pytest.mark.parametrize(
    "page", ["docs/align/aligner.md", "docs/align/aligner_models.md", "docs/align/vectors.md"]
)
def test_what_is_trained_in_python_on_a_plainer_processor_is_the_same(page, plainer):
    command, environment = [sys.executable, "-m", "doctest", page], os.environ | plainer
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
