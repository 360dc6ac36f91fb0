"""The page on agreement on judgments: it explains every caution."""

import re

from console import ROOT

from alignkit.agreement.judgments.cautions import CAUTIONS

PAGE = ROOT / "docs" / "judgments.md"


def test_every_caution_is_explained() -> None:
    codes = re.findall(r"^\| `([a-z-]+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert codes == [one.code for one in CAUTIONS]
