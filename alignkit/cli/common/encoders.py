"""The options of an encoder, which several commands share."""

from __future__ import annotations

import argparse

from alignkit.cli.parser import add_options, number
from alignkit.errors import OptionError


def add_encoder(group: argparse._ArgumentGroup) -> None:
    """Add the options of an encoder."""
    add_options(
        group,
        """
        --encoder NAME  model that knows what words mean: a folder, or its name on huggingface.co.
            On little text it makes far fewer errors; needs alignkit[encoder]
        --encoder-layer K  layer of the encoder whose states are used (default: 7/12 of all layers)
        --download  download the encoder if it is not on this computer (default: never)
        """,
        encoder_layer={"type": number(1)},
    )


def check_encoder(options: argparse.Namespace) -> None:
    """Refuse options of an encoder without one."""
    if options.encoder is not None:
        return
    for name, flag in (("encoder_layer", "--encoder-layer"), ("download", "--download")):
        if getattr(options, name):
            raise OptionError(f"{flag} needs --encoder NAME: add it, or leave it out")
