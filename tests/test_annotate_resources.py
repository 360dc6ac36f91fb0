"""The samples and the guidelines are found beside the package and within it."""

from pathlib import Path

import pytest
from console import ROOT

from alignkit._support import shipped
from alignkit.errors import AlignkitError


def test_a_checkout_has_them_beside_the_package():
    if (Path(shipped.__file__).parents[1] / "samples").exists():
        pytest.skip("an installed wheel is tested, not a checkout")
    assert (shipped.samples(), shipped.guidelines()) == (ROOT / "samples", ROOT / "guidelines")


@pytest.mark.parametrize("within", [True, False])
def test_a_folder_of_another_package_is_passed_over(within, tmp_path, monkeypatch):
    package = tmp_path / "alignkit"
    right, other = (package, tmp_path) if within else (tmp_path, package)
    for folder in (right, other):
        (folder / "samples").mkdir(parents=True)
    (right / "samples" / "paraphrases.jsonl").touch()
    monkeypatch.setattr(shipped, "_PACKAGE", package)
    assert shipped.samples() == right / "samples"


def test_what_is_not_there_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "_PACKAGE", tmp_path / "alignkit")
    with pytest.raises(AlignkitError, match="of alignkit are missing"):
        shipped.guidelines()
