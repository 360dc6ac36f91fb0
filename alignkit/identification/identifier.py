"""Systems that judge pairs: trained, saved and loaded, with what they need besides a model."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import compress
from logging import getLogger
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from alignkit._support.arguments import check_arguments
from alignkit._support.array_types import F8, I8
from alignkit._support.keywords import takes_options
from alignkit._support.wording import how_many
from alignkit.align.aligner import Aligner
from alignkit.align.encoder.functions import EncoderLike
from alignkit.align.encoder.word_encoder import NamedEncoder
from alignkit.align.settings import LONGEST_PIECE
from alignkit.errors import FileError, FormatError, MissingTextError, OptionError
from alignkit.identification.alignment_features import train_aligner
from alignkit.identification.encoded_texts import TextEncoder
from alignkit.identification.features import PairTexts, TextFrequencies
from alignkit.identification.labelled_pairs import (
    LabelledPairs,
    check_ids,
    digest_of,
    leak_notes,
    pairs_to_learn_from,
    text_of,
)
from alignkit.identification.options import (
    IdentifierKeywords,
    IdentifierOptions,
    Texts,
    text_encoder_of,
)
from alignkit.identification.overlap_features import tokens
from alignkit.identification.pair_model import PairModel, fit_model
from alignkit.io.atomic_files import apart, replacing
from alignkit.model.corpus import Corpus
from alignkit.model.labels import View, get_view
from alignkit.model.sentence_pair import SentencePair
from alignkit.version import __version__

if TYPE_CHECKING:
    from typing_extensions import Unpack

_LOGGER = getLogger("alignkit")
FEW = 1000
"""With fewer training pairs, features of the aligner can do harm."""
_FORMAT = "alignkit identifier 3"
_ARRAYS = ("center", "scale", "coefficients", "intercepts")  # of a model


@dataclass(frozen=True, eq=False)
class Identifier:
    """A trained system that judges pairs.

    Make one with `Identifier.train`, or read a saved one with `Identifier.load`. A guide:
    https://alignkit.github.io/alignkit/latest/paraphrases/paraphrase_corpora.html

    Parameters
    ----------
    aligned : The texts that trained the aligner of `align`: ``"transductive"`` (with those of the
        test part), ``"inductive"`` (of the training part alone), or ``"none"``.
    trained : Digests of the training pairs, which tell them again.
    notes : What to know before the numbers are believed.

    Examples
    --------
    >>> from alignkit.model.labels import get_view
    >>> texts = [f"the {k} cats sat down" for k in range(40)]
    >>> others = [f"the {k} cats sat" if k % 2 else f"rain in {k} towns" for k in range(40)]
    >>> corpus = Corpus.from_texts(texts, others, judgments={"ann": ["0", "1"] * 20})
    >>> identifier = Identifier.train(corpus, get_view("binary"), features=["cosine"])
    >>> identifier.predict(Corpus.from_texts(["9 cats sat"], ["the 9 cats sat"]))
    {'1': '1'}
    """

    view: View
    model: PairModel
    options: IdentifierOptions
    aligner: Aligner | None
    aligned: str
    trained: frozenset[str]
    notes: tuple[str, ...] = ()

    @classmethod
    @takes_options(IdentifierOptions)
    def train(
        cls,
        corpus: Corpus,
        view: View,
        *,
        annotator: str | None = None,
        test: Corpus | None = None,
        inductive: bool = False,
        leaks: str = "refuse",
        rewrites: bool = False,
        **options: Unpack[IdentifierKeywords],
    ) -> Identifier:
        """Train a system on the judged pairs of a corpus.

        Parameters
        ----------
        view : The labels; they must not have a direction.
        annotator : The judge; needed if several judged pairs.
        test : The corpus to judge later. Its texts, never its labels, also train the aligner of the
            feature set `align`, unless `inductive` is set.
        leaks : ``refuse`` or ``report`` pairs and groups that `test` shares with the training
            pairs.
        rewrites : Include rewrites, with the labels that their writers intended.
        **options : See `IdentifierOptions`.

        Raises
        ------
        OptionError : If a label has fewer than 20 pairs, there are fewer groups than folds, labels
            have a direction, or pairs of `test` are in the training part.

        Examples
        --------
        >>> from alignkit import Corpus
        >>> from alignkit.identification import Identifier
        >>> from alignkit.model.labels import get_view
        >>> texts = [f"the {k} cats sat down" for k in range(40)]
        >>> others = [f"the {k} cats sat" if k % 2 else f"rain in {k} towns" for k in range(40)]
        >>> corpus = Corpus.from_texts(texts, others, judgments={"ann": ["0", "1"] * 20})
        >>> identifier = Identifier.train(corpus, get_view("binary"), features=["cosine"])
        >>> identifier.predict(Corpus.from_texts(["the old cats sat down"], ["the old cats sat"]))
        {'1': '1'}
        """
        check_arguments(Identifier.train, locals(), apart=("view", "options", "test"))
        chosen = IdentifierOptions(**options)
        pairs = pairs_to_learn_from(corpus, view, annotator, chosen.group, rewrites=rewrites)
        notes = list(cautions(pairs, aligns=chosen.aligns))
        if test is not None:
            notes += leak_notes(pairs, corpus, test, leaks)
        test_texts = []
        if test is not None and not inductive:
            test_texts = [text_of(pair) for pair in test]
        aligner = None
        if chosen.aligns:
            aligner = train_aligner([*pairs.texts, *test_texts])
        texts = PairTexts(pairs.texts, aligner, chosen)
        model = fit_model(texts, pairs, np.arange(len(pairs.ids)), chosen)
        without_weight = (model.coefficients == 0).all(0).tolist()
        constant = list(compress(model.names, without_weight))
        if constant:
            notes.append(f"constant features, with weight 0: {', '.join(constant)}")
        if "align" not in model.features:
            aligner = None
        if "encoder" not in model.features:
            chosen = replace(chosen, encoder=None)
        if aligner is None:
            aligned = "none"
        elif test_texts:
            aligned = "transductive"
        else:
            aligned = "inductive"
        trained = frozenset(map(digest_of, pairs.texts))
        return cls(view, model, chosen, aligner, aligned, trained, tuple(notes))

    def judge(self, corpus: Iterable[SentencePair]) -> tuple[tuple[str, ...], I8, F8]:
        """Return the ids, the places of the labels, (P,), and the probabilities, (P, K).

        Parameters
        ----------
        corpus : The pairs, with words.

        Examples
        --------
        >>> from alignkit import Corpus
        >>> from alignkit.identification import Identifier
        >>> from alignkit.model.labels import get_view
        >>> texts = [f"the {k} cats sat down" for k in range(40)]
        >>> others = [f"the {k} cats sat" if k % 2 else f"rain in {k} towns" for k in range(40)]
        >>> corpus = Corpus.from_texts(texts, others, judgments={"ann": ["0", "1"] * 20})
        >>> identifier = Identifier.train(corpus, get_view("binary"), features=["cosine"])
        >>> ids, places, probabilities = identifier.judge(corpus[:3])
        >>> ids, places.tolist(), probabilities.shape
        (('1', '2', '3'), [0, 1, 0], (3, 2))
        """
        pairs = list(corpus)
        ids = tuple(pair.id for pair in pairs)
        check_ids(ids)
        texts = [text_of(pair) for pair in pairs]
        if not any(map(any, texts)):
            raise MissingTextError("no pair has words; add the texts")
        return ids, *self.model.judge(PairTexts(texts, self.aligner, self.options))

    def known(self, corpus: Iterable[SentencePair]) -> int:
        """Return how many pairs of a corpus are training pairs, which are judged too well.

        Parameters
        ----------
        corpus : The pairs, with words.

        Examples
        --------
        >>> from alignkit import Corpus
        >>> from alignkit.identification import Identifier
        >>> from alignkit.model.labels import get_view
        >>> texts = [f"the {k} cats sat down" for k in range(40)]
        >>> others = [f"the {k} cats sat" if k % 2 else f"rain in {k} towns" for k in range(40)]
        >>> corpus = Corpus.from_texts(texts, others, judgments={"ann": ["0", "1"] * 20})
        >>> identifier = Identifier.train(corpus, get_view("binary"), features=["cosine"])
        >>> identifier.known(corpus[:3])
        3
        """
        return sum(digest_of(text_of(pair)) in self.trained for pair in corpus)

    def predict(self, corpus: Iterable[SentencePair]) -> dict[str, str]:
        """Return the label of each pair, by id.

        Parameters
        ----------
        corpus : The pairs, with words.

        Examples
        --------
        >>> from alignkit import Corpus
        >>> from alignkit.identification import Identifier
        >>> from alignkit.model.labels import get_view
        >>> texts = [f"the {k} cats sat down" for k in range(40)]
        >>> others = [f"the {k} cats sat" if k % 2 else f"rain in {k} towns" for k in range(40)]
        >>> corpus = Corpus.from_texts(texts, others, judgments={"ann": ["0", "1"] * 20})
        >>> identifier = Identifier.train(corpus, get_view("binary"), features=["cosine"])
        >>> identifier.predict(corpus[:2])
        {'1': '0', '2': '1'}
        """
        ids, labels, _ = self.judge(corpus)
        return {id: self.view.labels[k] for id, k in zip(ids, labels.tolist(), strict=True)}

    def probabilities(self, corpus: Iterable[SentencePair]) -> dict[str, dict[str, float]]:
        """Return the probability of each label, by id.

        Parameters
        ----------
        corpus : The pairs, with words.

        Examples
        --------
        >>> from alignkit import Corpus
        >>> from alignkit.identification import Identifier
        >>> from alignkit.model.labels import get_view
        >>> texts = [f"the {k} cats sat down" for k in range(40)]
        >>> others = [f"the {k} cats sat" if k % 2 else f"rain in {k} towns" for k in range(40)]
        >>> corpus = Corpus.from_texts(texts, others, judgments={"ann": ["0", "1"] * 20})
        >>> identifier = Identifier.train(corpus, get_view("binary"), features=["cosine"])
        >>> probabilities = identifier.probabilities(corpus[:2])
        >>> probabilities["2"]["1"] > probabilities["1"]["1"]
        True
        """
        ids, _, values = self.judge(corpus)
        rows = [dict(zip(self.view.labels, row, strict=True)) for row in values.tolist()]
        return dict(zip(ids, rows, strict=True))

    @property
    def weights(self) -> list[tuple[str, float]]:
        """The named features and their weights for standardized values, the largest first.

        With more than two labels, those of the last label.
        """
        weights = zip(self.model.names, self.model.coefficients[-1].tolist(), strict=False)
        return sorted(weights, key=lambda named: -abs(named[1]))

    @property
    def signature(self) -> str:
        """The settings, in one line."""
        chosen = {"chosen_features": self.model.features, "chosen_strength": self.model.strength}
        return self.options.of_system(self.view, self.aligned, chosen)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the system as JSON; one with vectors of texts or a forest cannot be written.

        Of an encoder of words, its name and digest are written; `load` needs it again.

        Parameters
        ----------
        path : The file to write.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from alignkit import Corpus
        >>> from alignkit.identification import Identifier
        >>> from alignkit.model.labels import get_view
        >>> texts = [f"the {k} cats sat down" for k in range(40)]
        >>> others = [f"the {k} cats sat" if k % 2 else f"rain in {k} towns" for k in range(40)]
        >>> corpus = Corpus.from_texts(texts, others, judgments={"ann": ["0", "1"] * 20})
        >>> identifier = Identifier.train(corpus, get_view("binary"), features=["cosine"])
        >>> with TemporaryDirectory() as folder:
        ...     identifier.save(Path(folder, "system.json"))
        ...     again = Identifier.load(Path(folder, "system.json"))
        >>> again.predict(corpus) == identifier.predict(corpus)
        True
        """
        model = self.model
        options = self.options
        if options.encode or options.encode_pairs or model.forest is not None:
            raise OptionError("a forest, or a system with given vectors, cannot be saved")
        encoder = None
        if options.text_encoder is not None:
            encoder = asdict(NamedEncoder.of(options.text_encoder.encoder))
        aligner = None
        if self.aligner is not None:
            with TemporaryDirectory() as folder, apart():
                file = Path(folder, "aligner")
                self.aligner.save(file)
                aligner = base64.b64encode(file.read_bytes()).decode("ascii")
        record = {
            "version": __version__,
            "scheme": self.view.scheme.text,
            "view": self.view.name,
            "labels": self.view.labels,
            "names": model.names,
            "model": vars(model),
            "options": _written_options(options),
            "encoder": encoder,
            "aligner": aligner,
            "aligned": self.aligned,
            "trained": sorted(self.trained),
            "notes": self.notes,
        }
        with replacing(str(path)) as stream:
            whole = {"format": _FORMAT, "checksum": _checksum(record)} | record
            json.dump(whole, stream, default=np.ndarray.tolist)

    @classmethod
    def load(
        cls, path: str | PathLike[str], *, encoder: EncoderLike | TextEncoder | None = None
    ) -> Identifier:
        """Read a system that `save` wrote.

        Parameters
        ----------
        encoder : The encoder of the training, which a system that used one needs again.

        Raises
        ------
        FormatError : If the file is no such system, damaged, or of another version of the features.
        OptionError : If the system needs an encoder and none is given, or the other way around.
        """
        try:
            record = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as problem:
            raise FileError.of(problem, str(path)) from None
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict) or record.pop("format", None) != _FORMAT:
            raise FormatError("is not a system saved by `alignkit identify --save`", str(path))
        if record.pop("checksum", None) != _checksum(record):
            raise FormatError("is damaged or was edited: train the system anew", str(path))
        view = get_view(record["scheme"], record["view"])
        fields = record["model"]
        for name in _ARRAYS:
            fields[name] = np.array(fields[name], float)
        fields["frequencies"] = TextFrequencies(*fields["frequencies"])
        model = PairModel(**fields)
        if model.names != record["names"] or list(view.labels) != record["labels"]:
            raise FormatError("has features or labels of another version of alignkit", str(path))
        aligner = None
        if record["aligner"] is not None:
            with TemporaryDirectory() as folder:
                file = Path(folder, "aligner")
                file.write_bytes(base64.b64decode(record["aligner"]))
                aligner = Aligner.load(file)
        trained = frozenset(record["trained"])
        notes = tuple(record["notes"])
        used = None
        if record["encoder"] is not None:
            used = NamedEncoder(**record["encoder"])
        same_encoder = _checked_encoder(encoder, used, str(path))
        options = IdentifierOptions(**record["options"], encoder=same_encoder)
        return cls(view, model, options, aligner, record["aligned"], trained, notes)


def _written_options(options: IdentifierOptions) -> dict[str, Any]:
    """Return options as a file has them: without the encoder, which has a member of its own."""
    written = vars(options) | {"function_words": sorted(options.function_words)}
    del written["encoder"]
    return written


def _checked_encoder(
    given: EncoderLike | TextEncoder | None, used: NamedEncoder | None, path: str
) -> TextEncoder | None:
    """Return the encoder of a system that is loaded; warn if it is not that of the training."""
    if used is None:
        if given is not None:
            raise OptionError(f"{path} was trained without an encoder: leave it out")
        return None
    if given is None:
        raise OptionError(
            f"{path} was trained with the encoder {used.name}, and needs it: give the same encoder"
        )
    encoder = text_encoder_of(given)
    now = encoder.encoder
    if not used.gives_as(now):
        _LOGGER.warning(
            "the system was trained with the encoder %s, layer %s, and not with %s, layer %s, or "
            "with other weights: its predictions can be wrong",
            used.name,
            used.layer,
            now.name,
            now.layer,
        )
    return encoder


def _checksum(record: dict[str, Any]) -> int:
    """Return the checksum of what a file holds."""
    return crc32(json.dumps(record, default=np.ndarray.tolist).encode())


def cautions(pairs: LabelledPairs, *, aligns: bool) -> Iterator[str]:
    """Yield what to know before the numbers are believed."""
    yield from pairs.notes
    if pairs.group is None:
        yield "pairs count as independent, apart from equal ones: no group was chosen"
    if len(pairs.ids) < FEW:
        harm = f"; features of the aligner can do harm below {FEW}" if aligns else ""
        yield f"few: {len(pairs.ids)} training pairs{harm}"
    known = set(pairs.labels.tolist())
    never = [repr(label) for k, label in enumerate(pairs.view.labels) if k not in known]
    if never:
        yield f"no training pair has the label {', '.join(never)}: it is never predicted"
    yield from text_notes(pairs.texts, aligns=aligns)


def text_notes(texts: Iterable[Texts], *, aligns: bool) -> Iterator[str]:
    """Yield how many pairs have no words, or more than are aligned."""
    longest = [max(pair, key=len) for pair in texts]
    bare = longest.count("")
    if bare:
        yield f"{how_many(bare, 'pair')} without words: their predictions mean nothing"
    if aligns:
        long = sum(len(tokens(text)) > LONGEST_PIECE for text in longest)
        if long:
            yield f"{how_many(long, 'pair')}: only the first {LONGEST_PIECE} words are aligned"
