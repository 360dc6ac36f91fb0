"""Align the words of sentence pairs: train, align, save, load."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from math import isnan
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.adaptation import Adapter
from alignkit.aligner.bitext import Bitext, PairLike
from alignkit.aligner.cooccurrence import BLOCK, blocks_of
from alignkit.aligner.decoding import AlignedLinks, Decoding, decode
from alignkit.aligner.expectation import Workers, parts_of
from alignkit.aligner.files import load_parameters, save_parameters
from alignkit.aligner.parameters import Parameters, Round
from alignkit.aligner.pieces import Pieces
from alignkit.aligner.resources import room_for
from alignkit.aligner.settings import LONGEST_PIECE, THRESHOLD, Settings
from alignkit.aligner.training import Training
from alignkit.alignment import Alignment
from alignkit.arguments import check_arguments, words
from alignkit.arrays import LinkArrays
from alignkit.errors import AlignerError, ArgumentError, OptionError, UnknownNameError

__all__ = ["Aligner"]

Progress = Callable[[int, int, str], None]


class Aligner:
    """Align sentence pairs with what was learned from a bitext.

    `Aligner.train` and `Aligner.load` make one.

    Attributes
    ----------
    parameters
        What was learned.
    entries_met
        How many entries of the dictionary occurred together in the training; the others told
        nothing.

    Examples
    --------
    >>> bitext = [("das haus", "the house"), ("das buch", "the book"), ("ein buch", "a book")]
    >>> aligner = Aligner.train(bitext)
    >>> aligner.align("ein haus", "a house")
    Alignment('0-0 1-1')
    """

    def __init__(self, parameters: Parameters) -> None:
        check_arguments(Aligner.__init__, locals())
        self.parameters = parameters
        self._adapter = Adapter(parameters)
        self.entries_met = 0
        self._trained: tuple[Bitext, Decoding] | None = None

    @classmethod
    def train(
        cls,
        bitext: Bitext | Iterable[PairLike],
        *others: object,
        settings: Settings | None = None,
        dictionary: Mapping[tuple[str, str], float] | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
        folder: str | PathLike[str] | None = None,
        **options: Any,
    ) -> Aligner:
        """Learn from a bitext.

        Parameters
        ----------
        bitext
            A `Bitext`, or what `Bitext.pack` takes: a `Corpus`, or tuples of a source and a target
            sentence, texts or sequences of words.
        *others
            Nothing: source and target come as pairs, not as two lists.
        settings
            How; see `Settings`.
        dictionary
            Word pairs that are known to be translations, with pseudo-counts.
        threads
            How many threads; None takes all cores. The result is the same for any number.
        progress
            Called with the rounds done, the rounds in all, and what is done now.
        folder
            Where what grows with the corpus is kept while training (5 bytes a cell, a pair having
            N x M cells), in a folder that is removed afterwards. None keeps it in memory where
            that suffices, else in the folder for temporary files.
        **options
            Single settings, e.g. ``model="ibm1"``.

        Raises
        ------
        AlignerError
            If there is nothing to learn from.
        OptionError, UnknownNameError
            If a setting makes no sense.
        """
        if others:
            raise ArgumentError(
                "train takes one bitext of (source, target) pairs; of two lists make one: "
                "Aligner.train(list(zip(source, target)))"
            )
        check_arguments(Aligner.train, locals(), apart=["bitext", "others"])
        _check_dictionary(dictionary or {})
        if not isinstance(bitext, Bitext):
            bitext = Bitext.pack(bitext)
        settings = _chosen(settings or Settings(), options)
        pieces = Pieces.of(bitext)
        cut = bitext if pieces is None else pieces.bitext
        room = room_for(cut, settings, folder)
        with Workers.opened(threads) as workers:
            training = Training(cut, settings, workers, dictionary, room)
            if not training.bitext.starts[-1]:
                raise AlignerError("nothing to learn from: no pair has words on both sides")
            training.run(progress)
            aligner = cls(training.parameters())
            aligner.entries_met = training.entries_met
        if not room.on_disk:
            aligner._trained = bitext, training.decoder()
        return aligner

    def __repr__(self) -> str:
        known = self.parameters
        return (
            f"Aligner({self.settings.model}; {len(known.source)} source and {len(known.target)} "
            "target words)"
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the aligner into a file; see docs/model_files.md.

        Raises
        ------
        WriteError
            If the file cannot be written.
        """
        check_arguments(Aligner.save, locals())
        save_parameters(os.fspath(path), self.parameters)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Aligner:
        """Read an aligner from a file that `save` wrote.

        Raises
        ------
        FormatError, AlignerError
            If the file is no model, is damaged, or is of a later version; a `FileError`, which is
            an `OSError` too, if it cannot be read.
        """
        check_arguments(Aligner.load, locals())
        return cls(load_parameters(os.fspath(path)))

    @property
    def settings(self) -> Settings:
        """What the aligner was trained with."""
        return self.parameters.settings

    @property
    def history(self) -> tuple[Round, ...]:
        """The rounds of training, with their log-likelihoods."""
        return self.parameters.history

    def align(
        self, source: str | Sequence[str], target: str | Sequence[str], **options: Any
    ) -> Alignment:
        """Align one sentence pair.

        Parameters
        ----------
        source, target
            The words; a text is split at white space.
        **options
            See `align_bitext`.

        Returns
        -------
        Alignment
            With the probability of each link as its weight.
        """
        pair = _words("source", source), _words("target", target)
        return self.align_bitext([pair], **{"threads": 1, **options}).alignment(0)

    def align_bitext(
        self,
        bitext: Bitext | Iterable[PairLike],
        *,
        symmetrize: str = "posterior",
        threshold: float = THRESHOLD,
        sure: float | None = None,
        threads: int | None = None,
    ) -> AlignedLinks:
        """Align all pairs of a bitext.

        Parameters
        ----------
        bitext
            A `Bitext`, or what `Bitext.pack` takes. Pairs of the training get the links that the
            training gave them.
        symmetrize
            ``posterior`` (links of which both directions think more of than `threshold`, in the
            mean), a method of `alignkit.symmetrize` on both Viterbi alignments, or ``forward`` or
            ``reverse`` for one of them.
        threshold
            Between 0 and 1; for ``posterior`` alone.
        sure
            A link with a probability above it is sure, others are only possible; None: all are
            sure.
        threads
            How many threads; None takes all cores.
        """
        check_arguments(Aligner.align_bitext, locals(), apart=["bitext"])
        bitext = self._packed(bitext)
        pieces = Pieces.of(bitext)
        with Workers.opened(threads) as workers:
            found = [
                decode(decoder, workers, symmetrization=symmetrize, threshold=threshold, sure=sure)
                for decoder in self._decoders(bitext, pieces)
            ]
        arrays = LinkArrays.concatenate([links.arrays for links in found])
        if pieces is not None:
            arrays = pieces.joined(arrays, bitext)
        return AlignedLinks(arrays, np.concatenate([links.probabilities for links in found]))

    def posteriors(
        self, source: str | Sequence[str], target: str | Sequence[str]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the probabilities of all links of a sentence pair, (N, M), in both directions.

        The first adds up to at most 1 over the source words (forward: each target word has one
        source word or the empty one), the second over the target words.
        """
        pair = _words("source", source), _words("target", target)
        if max(map(len, pair)) > LONGEST_PIECE:
            raise AlignerError(
                f"a line of {max(map(len, pair))} words: lines of more than {LONGEST_PIECE} are "
                "cut when they are aligned, and have no posteriors as a whole"
            )
        bitext = Bitext.pack([pair], casefold=self.parameters.casefold)
        shape = len(pair[0]), len(pair[1])
        forward, reverse = self._adapter.decoder(bitext).posteriors(0, 1)
        return forward.reshape(shape), reverse.reshape(shape)

    def scores(
        self, bitext: Bitext | Iterable[PairLike], *, threads: int | None = None
    ) -> NDArray[np.float64]:
        """Return how probable each pair is.

        Returns
        -------
        (P, 2) float64 array
            log P(target | source) and log P(source | target), natural logarithms: that of the
            words given their number, and in the HMM of ending after the last. Those of IBM 3 and
            4 are the HMM's. Divide by the number of words to compare pairs.
        """
        check_arguments(Aligner.scores, locals(), apart=["bitext"])
        bitext = self._packed(bitext)
        pieces = Pieces.of(bitext)
        with Workers.opened(threads) as workers:
            found = [_scores(decoder, workers) for decoder in self._decoders(bitext, pieces)]
        likelihoods = np.concatenate(found)
        if pieces is None:
            return likelihoods
        totals = np.zeros((len(bitext), 2))
        np.add.at(totals, pieces.pairs, likelihoods)
        return totals

    def lexicon(self, least: float = 0.01) -> Iterator[tuple[str, str, float, float]]:
        """Give word pairs with t(target | source) and t(source | target).

        Pairs come by source word, the most frequent first. Those of which both are below `least`
        are left out.
        """
        check_arguments(Aligner.lexicon, locals())
        if isnan(least):
            raise OptionError("least is nan; it is a probability, from 0 to 1")
        return self._lexicon(least)

    def _lexicon(self, least: float) -> Iterator[tuple[str, str, float, float]]:
        known = self.parameters
        for row, word in enumerate(known.source):
            begin, end = known.rows[row], known.rows[row + 1]
            columns = known.columns[begin:end]
            forward = known.forward[begin:end] / known.source_totals[row]
            reverse = known.reverse[begin:end] / known.target_totals[columns]
            kept = np.flatnonzero((forward >= least) | (reverse >= least))
            for at in kept[np.argsort(-forward[kept], kind="stable")]:
                yield word, known.target[columns[at]], float(forward[at]), float(reverse[at])

    def _packed(self, bitext: Bitext | Iterable[PairLike]) -> Bitext:
        if isinstance(bitext, Bitext):
            return bitext
        return Bitext.pack(bitext, casefold=self.parameters.casefold)

    def _decoders(self, bitext: Bitext, pieces: Pieces | None) -> Iterator[Decoding]:
        """Give what aligns a bitext, or its pieces; large ones part by part, to bound memory."""
        if self._trained is not None and self._trained[0] is bitext:
            yield self._trained[1]
            return
        cut = bitext if pieces is None else pieces.bitext
        for begin, end in blocks_of(cut, BLOCK) or [(0, 0)]:
            yield self._adapter.decoder(cut.part(begin, end))


def _scores(decoder: Decoding, workers: Workers) -> NDArray[np.float64]:
    """Return the log-likelihoods (P, 2) of all pairs of a decoder."""
    likelihoods = np.zeros((len(decoder.pairs.starts) - 1, 2))

    def score(_: int, begin: int, end: int) -> None:
        decoder.posteriors(begin, end, likelihoods)

    workers.map(score, parts_of(decoder.pairs.starts))
    return likelihoods


def _words(name: str, sentence: str | Sequence[str]) -> Sequence[str]:
    return sentence.split() if isinstance(sentence, str) else words(name, sentence)


def _check_dictionary(dictionary: Mapping[tuple[str, str], float]) -> None:
    for entry, count in dictionary.items():
        if not (isinstance(entry, tuple) and len(entry) == 2):
            raise ArgumentError(f"dictionary has {str(entry)[:40]!r}; its keys are pairs of words")
        words("the words of dictionary", entry)
        if isinstance(count, bool) or not isinstance(count, Real):
            raise ArgumentError(f"dictionary[{entry!r}] is {str(count)[:40]!r}, not a number")
        if isnan(count):
            raise OptionError(f"dictionary[{entry!r}] must be a number, not nan")


def _chosen(settings: Settings, options: Mapping[str, Any]) -> Settings:
    known = [field.name for field in fields(Settings)]
    for name in options:
        if name not in known:
            raise UnknownNameError("setting", name, known)
    return replace(settings, **options)
