"""Encoders of the transformers library: their folder, their layers, and vectors of words."""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from hashlib import sha256
from importlib.util import find_spec
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from alignkit._support.addresses import page
from alignkit._support.arguments import check_arguments
from alignkit._support.array_types import F4
from alignkit._support.extras import missing_libraries
from alignkit.align.encoder.joined_words import JoinedWords
from alignkit.align.encoder.kept_shares import KeptShares
from alignkit.align.encoder.word_encoder import Progress
from alignkit.errors import EncoderError

WINDOW = 254  # pieces that are encoded at once
OVERLAP = 64  # pieces that two windows share
BATCH = 32  # windows at a time
_PATTERNS = [
    "config.json",
    "*.safetensors",
    "*.safetensors.index.json",
    "tokenizer*",
    "vocab*",
    "sentencepiece*",
    "special_tokens_map.json",
    "added_tokens.json",
    "merges.txt",
]
"""The files of a model that are downloaded; no code is among them."""


def find_encoder(name: str | PathLike[str], *, download: bool = False) -> Path:
    """Return the folder of an encoder: the folder itself, or that of a name on this computer.

    A name is looked up among the models that were downloaded before; the network is used only
    with `download`.
    """
    folder = Path(name)
    if folder.is_dir():
        return folder
    text = os.fspath(name)
    if folder.is_absolute() or text.startswith(".") or text.count("/") > 1 or folder.exists():
        raise EncoderError(f"{text} is not a folder with an encoder")
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise EncoderError(_needed()) from None
    try:
        return Path(
            snapshot_download(text, local_files_only=not download, allow_patterns=_PATTERNS)
        )
    except Exception as problem:  # of the hub, of HTTP and of the network: there are many
        if download:
            raise EncoderError(f"{text} could not be downloaded: {_first_line(problem)}") from None
        raise EncoderError(
            f"{text} is neither a folder nor a model on this computer; to get it from the network, "
            f'use --download (in Python, download=True). On a computer without network: run "hf '
            f'download {text} --local-dir FOLDER" where there is one, copy FOLDER, and give FOLDER '
            "instead"
        ) from None


def _needed() -> str:
    """Return the message about missing libraries."""
    needed = missing_libraries("an encoder", ["PyTorch", "transformers"], "encoder")
    build = f"how to get the small build: {page('start/install')}"
    return f"{needed}; they take 0.9 GB, for GPUs several GB; {build}"


def require_libraries() -> None:
    """Raise an error if PyTorch or transformers are not installed; they are not imported."""
    if None in map(find_spec, ("transformers", "torch")):
        raise EncoderError(_needed())


def _transformers() -> Any:
    """Return the library, or raise an error that says how to install it and PyTorch."""
    try:
        import transformers

        if not transformers.utils.is_torch_available():
            raise EncoderError(_needed())
    except ImportError:
        raise EncoderError(_needed()) from None
    return transformers


def _first_line(problem: Exception) -> str:
    """Return what an exception says, in one line."""
    lines = str(problem).strip().splitlines()
    return (lines[0] if lines else type(problem).__name__)[:300]


def _digest_of(files: Sequence[Path]) -> str:
    """Return the SHA-256 of files and their names."""
    total = sha256()
    for path in files:
        total.update(f"{path.name}\n".encode())
        with open(path, "rb") as file:
            while block := file.read(1 << 22):
                total.update(block)
    return total.hexdigest()


class Windows(NamedTuple):
    """How a sentence is divided into windows that overlap, because an encoder reads only so much.

    A piece near a cut has lost its context, so each is taken from the window in which it is
    farthest from one. With windows of 6 pieces that share 3, the pieces 0 to 8 are in the windows
    0-5 and 3-8, and 3 is taken from the first: two more pieces follow it there before the cut,
    while the second is cut right before it.
    """

    starts: list[int]  # where the windows begin
    window: list[int]  # (n,) the window that each piece is taken from

    @classmethod
    def of(cls, pieces: int, size: int) -> Windows:
        """Divide a number of pieces into windows that overlap; the last is as long as others."""
        if pieces <= size:
            return cls([0], [0] * pieces)
        step = size - min(OVERLAP, size // 2)
        starts = list(range(0, pieces - size, step))
        starts.append(pieces - size)
        window = []
        for piece in range(pieces):
            distances = []  # to the nearest cut, in each window; the ends of a sentence are none
            for start in starts:
                end = start + size
                from_left = piece - start if start > 0 else pieces
                from_right = end - 1 - piece if end < pieces else pieces
                if start <= piece < end:
                    distances.append(min(from_left, from_right))
                else:
                    distances.append(-1)
            window.append(int(np.argmax(distances)))
        return cls(starts, window)

    def joined(self, states: Sequence[F4]) -> F4:
        """Return the states (n, d) of all pieces, from those of each window."""
        rows = states[0][:0]
        if self.window:
            taken = []
            for piece, window in enumerate(self.window):
                taken.append(states[window][piece - self.starts[window]])
            rows = np.stack(taken)
        return rows


class Encoder:
    """An encoder of the transformers library, cut after one of its layers.

    The vector of a word is the mean of the states of its pieces in the sentence, by the characters
    that they share.

    Parameters
    ----------
    name : A folder with ``config.json``, ``tokenizer.json`` and weights in ``.safetensors`` files,
        or the name of a model on huggingface.co. A folder never uses the network.
    layer : The layer whose states are used, from 1. None: 7/12 of all layers.
    download : Whether a name that is not on this computer is downloaded.
    threads : The threads of PyTorch. One is best for short sentences.
    progress : Called with the number of sentences that are done, and of all.

    Raises
    ------
    EncoderError : If PyTorch or transformers are missing, or the model cannot be used.

    Examples
    --------
    >>> encoder = Encoder("models/multilingual-e5-small")  # doctest: +SKIP
    >>> encoder(["the", "house"]).shape  # doctest: +SKIP
    (2, 384)
    """

    def __init__(
        self,
        name: str | PathLike[str],
        *,
        layer: int | None = None,
        download: bool = False,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> None:
        check_arguments(Encoder.__init__, locals())
        self.name = os.fspath(name)
        self.folder = find_encoder(name, download=download)
        for file, what in (("config.json", "a model"), ("tokenizer.json", "its tokenizer")):
            if not (self.folder / file).is_file():
                raise EncoderError(
                    f"{self.name} has no {file}: expected the folder of {what} as transformers "
                    "saves it (save_pretrained, of a fast tokenizer)"
                )
        if not self._weights:
            raise EncoderError(
                f"{self.name} has no weights in a .safetensors file; others are not loaded, as "
                "they can hold code: load the model in transformers and save it again"
            )
        self.layers = self._number_of_layers()
        # by default the layer nearest to 7/12 of them, the higher of two
        self.layer = int(7 * self.layers / 12 + 0.5) if layer is None else layer
        if not 1 <= self.layer <= self.layers:
            raise EncoderError(f"{self.name} has layers 1 to {self.layers}, not {self.layer}")
        self._threads = threads
        self.progress = progress

    def __repr__(self) -> str:
        return f"Encoder({self.name!r}, layer={self.layer})"

    def __str__(self) -> str:
        return f"{self.name}, layer {self.layer} of {self.layers}"

    def __call__(self, words: Sequence[str]) -> F4:
        """Return the vectors (n, d) of the n words of a sentence."""
        return self.vectors([words])[0]

    @property
    def _weights(self) -> list[Path]:
        """The files of weights."""
        return sorted(self.folder.glob("*.safetensors"))

    @property
    def size(self) -> int:
        """The bytes of its weights."""
        return sum(path.stat().st_size for path in self._weights)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the weights, the tokenizer and the configuration; kept for its files."""
        files = [self.folder / "config.json", self.folder / "tokenizer.json", *self._weights]
        with KeptShares() as kept:
            key, known = kept.digest(files)
            if known is None:
                known = _digest_of(files)
                kept.keep_digest(key, known)
        return known

    def _number_of_layers(self) -> int:
        """Return the number of layers that the configuration declares."""
        try:
            config = json.loads((self.folder / "config.json").read_text("utf-8"))
        except (OSError, ValueError) as problem:
            raise EncoderError(f"{self.name}: config.json cannot be read: {problem}") from None
        names = ("num_hidden_layers", "n_layers", "num_layers")
        known = [config.get(name) for name in names] if isinstance(config, dict) else []
        layers = [layer for layer in known if type(layer) is int and layer > 0]
        if not layers:
            raise EncoderError(
                f"{self.name}: config.json says no number of layers (num_hidden_layers)"
            )
        if config.get("is_encoder_decoder"):
            raise EncoderError(f"{self.name} is no encoder, but translates or generates text")
        return int(layers[0])

    def _unusable(self, problem: Exception) -> EncoderError:
        """Return the error for a folder that transformers cannot load."""
        return EncoderError(f"{self.name} cannot be loaded by transformers: {_first_line(problem)}")

    @cached_property
    def _tokenizer(self) -> Any:
        """The fast tokenizer."""
        transformers = _transformers()
        try:
            with _silent():
                tokenizer = transformers.AutoTokenizer.from_pretrained(
                    self.folder, use_fast=True, local_files_only=True
                )
        except Exception as problem:
            raise self._unusable(problem) from None
        if not tokenizer.is_fast:
            raise EncoderError(f"{self.name} has no fast tokenizer, which tells words from pieces")
        return tokenizer

    @cached_property
    def _model(self) -> Any:
        """The model, up to the layer."""
        transformers = _transformers()
        try:
            with _silent():
                config = transformers.AutoConfig.from_pretrained(self.folder, local_files_only=True)
                config.num_hidden_layers = self.layer
                model = transformers.AutoModel.from_pretrained(
                    self.folder,
                    config=config,
                    local_files_only=True,
                    use_safetensors=True,
                )
        except Exception as problem:
            raise self._unusable(problem) from None
        return model.float().eval()

    @cached_property
    def _marks(self) -> tuple[list[int], list[int]]:
        """The marks of the model before and after a sentence."""
        probe = self._tokenizer("a", return_special_tokens_mask=True)
        inside = [place for place, mark in enumerate(probe["special_tokens_mask"]) if not mark]
        ids = probe["input_ids"]
        return ids[: inside[0]], ids[inside[-1] + 1 :]

    @cached_property
    def _bare(self) -> frozenset[int]:
        """The numbers of the pieces that are a space alone, and no character of a word."""
        known = self._tokenizer.get_vocab()
        return frozenset(known[piece] for piece in _SPACES if piece in known)

    @cached_property
    def _window(self) -> int:
        """The pieces of a window: fewer than usual in models that have fewer places."""
        before, after = self._marks
        config = self._model.config
        places = getattr(config, "max_position_embeddings", None)
        if not isinstance(places, int) or places <= 0:
            return WINDOW
        if config.model_type in _AFTER_PADDING:
            places -= config.pad_token_id + 1
        return min(WINDOW, places - len(before) - len(after))

    def vectors(self, sentences: Sequence[Sequence[str]]) -> list[F4]:
        """Return the vectors (n, d) of the words of each sentence, of length 1 or zeros."""
        joined = [JoinedWords.of(words) for words in sentences]
        tokenizer = self._tokenizer
        with _silent():
            tokens = tokenizer(
                [sentence.text for sentence in joined],
                add_special_tokens=False,
                return_offsets_mapping=True,
                return_attention_mask=False,
                return_token_type_ids=False,
            )
        ids = tokens["input_ids"]
        windows = [Windows.of(len(pieces), self._window) for pieces in ids]
        texts = []
        for pieces, division in zip(ids, windows, strict=True):
            texts += [pieces[start : start + self._window] for start in division.starts]
        states = chain.from_iterable(self._states(texts))
        made = []
        for number, sentence in enumerate(joined):
            rows = windows[number].joined(list(islice(states, len(windows[number].starts))))
            offsets = tokens["offset_mapping"][number]
            places = []
            for piece, place in zip(ids[number], offsets, strict=True):
                places.append((0, 0) if piece in self._bare else place)
            made.append(sentence.vectors(places, rows))
        return made

    def _states(self, texts: Sequence[list[int]]) -> Iterator[list[F4]]:
        """Yield the states (n, d) of the pieces of windows, without marks, a batch at a time."""
        import torch

        before, after = self._marks
        padding = self._tokenizer.pad_token_id or 0
        for begin in range(0, len(texts), BATCH):
            rows = [[*before, *text, *after] for text in texts[begin : begin + BATCH]]
            width = max(map(len, rows))
            ids = torch.full((len(rows), width), padding)
            mask = torch.zeros((len(rows), width), dtype=torch.long)
            for number, row in enumerate(rows):
                ids[number, : len(row)] = torch.tensor(row)
                mask[number, : len(row)] = 1
            with _threads(self._threads), torch.inference_mode():
                last = self._model(input_ids=ids, attention_mask=mask).last_hidden_state.numpy()
            yield [
                last[number, len(before) : len(row) - len(after)] for number, row in enumerate(rows)
            ]


# as SentencePiece and byte-level tokenizers write a space
_SPACES = ("\u2581", "\u0120")
# kinds of models whose places begin after that of the padding
_AFTER_PADDING = ("roberta", "xlm-roberta", "camembert", "xlm-roberta-xl", "data2vec-text", "mpnet")


@contextlib.contextmanager
def _threads(number: int) -> Iterator[None]:
    """Have PyTorch use so many threads."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Silence transformers: its bars, and its reports on layers that are left out."""
    from transformers.utils import logging as theirs

    verbosity = theirs.get_verbosity()
    bars = theirs.is_progress_bar_enabled()
    theirs.set_verbosity(logging.CRITICAL)
    theirs.disable_progress_bar()
    try:
        yield
    finally:
        theirs.set_verbosity(verbosity)
        if bars:
            theirs.enable_progress_bar()
