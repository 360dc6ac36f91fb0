"""The options for the scheme of judgments, and the scheme that the formats of inputs imply."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from alignkit.cli.common.messages import say
from alignkit.cli.parser import Group, Options, add_options
from alignkit.errors import AlignkitError, OptionError
from alignkit.io.formats import FORMATS, get_format

if TYPE_CHECKING:
    from alignkit.cli.common.inputs import Input

OF_FORMAT = "of the judgments (default: that of the format)"
"""What --scheme is, if the formats of the inputs can imply it."""


def add_scheme_argument(group: Group, about: str = OF_FORMAT) -> None:
    """Add the options for a scheme of judgments."""
    from alignkit.model.labels import OWN, SCHEMES

    settings = {"type": scheme_text}
    text = f"""
        --scheme S  scheme {about}: {", ".join(SCHEMES)}; {OWN}
        """
    add_options(group, text, scheme=settings)


def scheme_text(word: str) -> str:
    """Return the text of a scheme that is named, listed or in a file; see `Scheme.text`."""
    from alignkit.model.labels import open_scheme

    try:
        return open_scheme(word).text
    except AlignkitError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_view_argument(group: Group) -> None:
    """Add the option that names a view of a scheme."""
    text = "--view V  view of the scheme: how to merge its labels into fewer labels (default: full)"
    add_options(group, text, view={"default": "full"})


def settle_scheme(options: Options, *inputs: Input) -> None:
    """Set --scheme, unless it was named, to the scheme that the formats of the inputs imply."""
    if getattr(options, "scheme", None) is not None:
        return
    implied = {item.kind.scheme for item in inputs} - {""}
    if len(implied) > 1:
        several = " and ".join(sorted(implied))
        raise OptionError(f"the formats imply different schemes ({several}): choose by --scheme")
    if not implied:
        from alignkit.model.labels import OWN, SCHEMES

        formats = [name for name, format in FORMATS.items() if get_format(name).scheme]
        raise OptionError(
            f"name the scheme of the judgments by --scheme: {', '.join(SCHEMES)}; {OWN}; "
            f"only the formats {', '.join(formats)} imply theirs"
        )
    options.scheme = implied.pop()
    say(f"judgments are read by the scheme {options.scheme}", once=True)


def add_rewrites_argument(group: Group) -> None:
    """Add the option that counts rewrites."""
    add_options(
        group, "--rewrites  count rewrites too, with the label that their annotators gave them"
    )
