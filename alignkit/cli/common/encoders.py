"""The options of an encoder, which several commands share."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from alignkit._support.signals import before_stop
from alignkit.cli.common.messages import ProgressBar
from alignkit.cli.parser import Group, Options, add_options, given_flag, number
from alignkit.errors import OptionError

if TYPE_CHECKING:
    from alignkit.align.encoder.transformer import Encoder


_FEWER_ERRORS = "On little text it makes far fewer errors"


def add_encoder(group: Group, why: str = _FEWER_ERRORS) -> None:
    """Add the options of an encoder; `why` says what it is good for."""
    add_options(
        group,
        f"""
        --encoder NAME  model that knows what words mean: a folder, or its name on huggingface.co.
            {why}; needs alignkit[encoder]
        --encoder-layer K  layer of the encoder whose states are used (default: 7/12 of all layers)
        --download  download the encoder if it is not on this computer (default: never)
        """,
        encoder_layer=number(1),
    )


def check_encoder(options: Options) -> None:
    """Refuse options of an encoder without one."""
    flag = given_flag(options, "encoder_layer", "download")
    if flag and options.encoder is None:
        raise OptionError(f"{flag} needs --encoder NAME: add it, or leave it out")


def encoder_of(options: Options, **more: Any) -> Encoder | None:
    """Return the encoder of --encoder, if it is given; `more` are arguments of `Encoder`."""
    if options.encoder is None:
        return None
    from alignkit.align.encoder.transformer import Encoder

    return Encoder(options.encoder, layer=options.encoder_layer, download=options.download, **more)


def encoder_with_progress(options: Options, threads: int = 1) -> Encoder | None:
    """Return the encoder of --encoder, if it is given; it shows its progress."""
    return encoder_of(options, threads=threads, progress=EncodingProgress())


class EncodingProgress:
    """Shows how many sentences are encoded, and how fast."""

    def __init__(self) -> None:
        self._bar: ProgressBar | None = None
        self._start = 0.0
        self._done = 0
        self._stack = ExitStack()

    def __call__(self, done: int, total: int) -> None:
        """Show that so many sentences are done, of all."""
        if self._bar is None:
            self._bar = ProgressBar("encoding")
            self._start = time.monotonic()
            self._stack.enter_context(before_stop(self._kept))
        self._done = done
        seconds = max(time.monotonic() - self._start, 1e-3)
        detail = f"{done:,} of {total:,} sentences, {done / seconds:.0f} a second"
        self._bar.reach(done / total, detail)
        if done == total:
            self._bar.__exit__()
            self._bar = None
            self._stack.close()

    def _kept(self) -> str:
        """Say what a stop does not lose."""
        return f"{self._done:,} sentences are encoded and kept: the next run goes on from there"
