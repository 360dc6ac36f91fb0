"""The word aligner: train, align, save, load."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from logging import getLogger
from math import isnan
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, NoReturn, overload

import numpy as np

from alignkit._support import arguments
from alignkit._support.array_types import F4, F8
from alignkit._support.keywords import takes_options
from alignkit.align import training
from alignkit.align.bitext import Bitext, PairLike, Pieces
from alignkit.align.cooccurrence import BLOCK, Room
from alignkit.align.decoders import AlignedLinks, Decoding
from alignkit.align.decoding import Adapter, decode, likelihoods_by
from alignkit.align.expectation import Workers
from alignkit.align.parameters import Parameters, Round
from alignkit.align.priors import check_dictionary
from alignkit.align.settings import (
    LONGEST_PIECE,
    SYMMETRIZATIONS,
    Settings,
    SettingsKeywords,
    Symmetrization,
)
from alignkit.errors import AlignerError, ArgumentError, OptionError
from alignkit.model.texts import split_unicode

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from alignkit.align.encoder.encoding import PairEncoder
    from alignkit.align.encoder.encoding_counts import EncodingCounts
    from alignkit.align.encoder.functions import EncoderLike
    from alignkit.align.encoder.word_encoder import WordEncoder
    from alignkit.align.evidence import EvidenceLike
    from alignkit.align.known_words import KnownWords, Vocabularies
    from alignkit.align.supervised.learned import Learned
    from alignkit.align.vectors.word_vectors import TwoVectors, Vectors
    from alignkit.model.alignment import Alignment
    from alignkit.model.sentence_pair import SentencePair

_LOGGER = getLogger("alignkit")


class Aligner:
    """A word aligner: it aligns sentence pairs with a model trained on a bitext.

    Make one with `Aligner.train` or `Aligner.load`.

    Attributes
    ----------
    parameters : The trained tables.
    entries_met : How many entries of the dictionary occurred together in the bitext; the others had
        no effect.

    Examples
    --------
    >>> bitext = [("das haus", "the house"), ("das buch", "the book"), ("ein buch", "a book")]
    >>> aligner = Aligner.train(bitext)
    >>> aligner.align("ein haus", "a house")
    Alignment('0-0 1-1')
    """

    def __init__(
        self,
        parameters: Parameters,
        *,
        vectors: Vectors | None = None,
        target_vectors: Vectors | None = None,
        encoder: EncoderLike | Literal[False] | None = None,
    ) -> None:
        arguments.check_arguments(Aligner.__init__, locals(), apart=["encoder"])
        self.parameters = parameters
        self._vectors = _two_vectors(vectors, target_vectors)
        learned = parameters.learned
        vectors_of_training = self._vectors
        if learned is not None and learned.lessons.vectors and parameters.vectors is None:
            vectors_of_training = None  # vectors are what was learned looks at, and no more
        self._encoder = _pair_encoder(encoder, vectors_of_training, parameters)
        self._adapter = Adapter(parameters)
        self.entries_met = 0
        self._trained: tuple[Bitext, Decoding] | None = None

    @classmethod
    @takes_options(Settings)
    def train(
        cls,
        bitext: Bitext | Iterable[PairLike],
        *others: NoReturn,
        settings: Settings | None = None,
        dictionary: Mapping[tuple[str, str], float] | None = None,
        vectors: Vectors | None = None,
        target_vectors: Vectors | None = None,
        encoder: EncoderLike | None = None,
        threads: int | None = None,
        progress: Callable[[int, int, str], None] | None = None,
        folder: str | PathLike[str] | None = None,
        **options: Unpack[SettingsKeywords],
    ) -> Aligner:
        """Train an aligner on a bitext.

        Parameters
        ----------
        bitext : A `Bitext`, or input for `Bitext.pack`: a `Corpus`, or (source, target) tuples of
            texts or sequences of words.
        settings : The settings of training.
        dictionary : Word pairs that are known translations, with pseudo-counts.
        vectors : `WordVectors`, or any function that returns an array (n, d) for a list of n words
            as they are written. Words that occur together get pseudo-counts if their vectors fit
            each other better than those of the other words do.
        target_vectors : The same for the target side, in the same space; None: use `vectors` for
            both sides.
        encoder : What reads words in their sentences, such as a multilingual `Encoder`, its folder
            or name, or any function like `vectors`; not with `vectors`. An aligner that is saved
            needs it again. See https://alignkit.github.io/alignkit/latest/align/encoder.html
        threads : Number of threads; None: all cores. It does not affect the result.
        progress : Called with the number of rounds done, the total, and the current step.
        folder : Folder for temporary files: 5 bytes per cell; a pair has N x M cells. None: use
            memory if there is enough, else the system's folder for temporary files.
        **options : Single settings, for example ``model="ibm1"``.

        Raises
        ------
        AlignerError : If no pair has words on both sides.
        ArgumentError, AlignmentError : If `vectors` or `encoder` does not return one vector per
            word.
        EncoderError : If the encoder cannot be loaded.
        OptionError, UnknownNameError : If a setting is invalid.

        Examples
        --------
        >>> aligner = Aligner.train([("das haus", "the house")], model="ibm1", ibm1=3)
        >>> [(each.model, each.number) for each in aligner.history]
        [('ibm1', 1), ('ibm1', 2), ('ibm1', 3)]
        """
        if others:
            raise ArgumentError(
                "train takes one list of pairs, not two lists; use "
                "Aligner.train(list(zip(source, target)))"
            )
        arguments.check_arguments(Aligner.train, locals(), apart=["bitext", "others", "encoder"])
        arguments.check_keywords(Aligner.train, options, arguments.keywords_of(Settings))
        check_dictionary(dictionary or {})
        given: dict[str, Any] = {**options}
        settings = replace(settings or Settings(), **given)
        pair_encoder = _pair_encoder(encoder, _two_vectors(vectors, target_vectors))
        if not isinstance(bitext, Bitext):
            bitext = Bitext.pack(bitext, written=pair_encoder is not None)
        original = bitext
        if pair_encoder is not None:
            bitext = pair_encoder.encoded(bitext)
        pieces = Pieces.of(bitext)
        if pieces is None:
            cut = bitext
        else:
            cut = pieces.bitext
        room = Room.of(cut, settings, folder)
        with Workers.opened(threads) as workers:
            trained = training.train(
                cut,
                settings,
                workers,
                dictionary=dictionary or {},
                room=room,
                progress=progress,
            )
        parameters = trained.parameters
        if pair_encoder is not None:
            parameters = _with_used(parameters, pair_encoder)
        aligner = cls(parameters, vectors=vectors, target_vectors=target_vectors)
        aligner._encoder = pair_encoder
        aligner.entries_met = trained.entries_met
        if not room.on_disk:
            aligner._trained = original, trained.decoder
        return aligner

    def __repr__(self) -> str:
        source = len(self.parameters.source)
        target = len(self.parameters.target)
        return f"Aligner({self.settings.model}; {source} source and {target} target words)"

    def save(self, path: str | PathLike[str]) -> None:
        """Save the aligner to a file.

        The format: https://alignkit.github.io/alignkit/latest/align/model_files.html

        Parameters
        ----------
        path : The file to write.

        Raises
        ------
        WriteError : If the file cannot be written.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> aligner = Aligner.train([("das haus", "the house"), ("das buch", "the book")])
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "model")
        ...     aligner.save(path)
        ...     Aligner.load(path).align("das buch", "the book")
        Alignment('0-0 1-1')
        """
        from alignkit.align.model_contents import save_parameters

        arguments.check_arguments(Aligner.save, locals())
        save_parameters(os.fspath(path), self.parameters)

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        vectors: Vectors | None = None,
        target_vectors: Vectors | None = None,
        encoder: EncoderLike | Literal[False] | None = None,
    ) -> Aligner:
        """Load an aligner that `save` wrote.

        Parameters
        ----------
        path : The file.
        vectors, target_vectors : As in `train`, for word pairs that training learned nothing about.
            The file does not contain the vectors of training; `parameters.vectors` is set if there
            were any.
        encoder : As in `train`; an aligner that was trained with an encoder needs it again, for it
            knows little of new words without. False: go on without it. An aligner that was trained
            without one can be given one.

        Raises
        ------
        OptionError : If the aligner was trained with an encoder, and none is given.
        FormatError, AlignerError : If the file is not a model, is damaged, or was written by a
            later version. A `FileError` (also an `OSError`) if it cannot be read.
        """
        from alignkit.align.model_contents import load_parameters  # training alone starts sooner

        arguments.check_arguments(Aligner.load, locals(), apart=["encoder"])
        parameters = load_parameters(os.fspath(path))
        used = parameters.encoder
        if used is not None and encoder is None:
            without = "; or go on without (--no-encoder; in Python, encoder=False)"
            raise used.missing(os.fspath(path), without)
        return cls(parameters, vectors=vectors, target_vectors=target_vectors, encoder=encoder)

    def with_learned(
        self,
        learned: Learned | None,
        vectors: Vectors | None = None,
        target_vectors: Vectors | None = None,
    ) -> Aligner:
        """Return this aligner with the given refinement from gold links, or without one.

        If vectors are given, they replace those of the aligner.
        """
        aligner = copy(self)
        aligner.parameters = replace(self.parameters, learned=learned)
        aligner._vectors = _two_vectors(vectors, target_vectors) or self._vectors
        return aligner

    def gold_record(self, pair: SentencePair) -> str:
        """Return what the aligner learned from, for `Annotation.learned` of this pair's links.

        It names the annotators, the number and a digest of the gold pairs, and says whether this
        pair is among them. Empty if no gold links are used, or if they are not known.
        """
        from alignkit.model.sentence_pair import SentencePair

        arguments.check_kind("pair", pair, SentencePair)
        learned = self.parameters.learned
        if learned is None or not learned.used or learned.lessons.taught_by is None:
            return ""
        return learned.lessons.taught_by.record(pair)

    @property
    def vectors(self) -> TwoVectors | None:
        """The functions that return the vectors of source and target words, if any."""
        return self._vectors

    @property
    def encoder(self) -> WordEncoder | None:
        """What reads the words in their sentences, if anything; word vectors do not."""
        if self._encoder is None or self._encoder.has_vectors:
            return None
        return self._encoder.encoder

    @property
    def encoding(self) -> EncodingCounts | None:
        """What the encoder, or the word vectors, have done so far, if there are any."""
        return None if self._encoder is None else self._encoder.counts

    @property
    def settings(self) -> Settings:
        """The settings of training."""
        return self.parameters.settings

    @property
    def calibrated(self) -> bool:
        """Whether the probabilities of links say how often such links are right.

        They do after training the HMM with collapsed inference on at least ten pairs, and if what
        was learned from gold links has a weight of at least 0.9; with less, if those that have the
        rest of the weight do. Links of other systems do not.
        """
        text = self.parameters.text
        alone = text is not None and not text.few
        learned = self.parameters.learned
        if learned is None or not learned.used:
            return alone
        return learned.is_calibrated(alone=alone)

    @property
    def history(self) -> tuple[Round, ...]:
        """The rounds of training, with their log-likelihoods."""
        return self.parameters.history

    @overload
    def align(
        self,
        source: str | Sequence[str],
        target: str | Sequence[str],
        *,
        probs: Literal[False] = ...,
        symmetrize: Symmetrization = ...,
        threshold: float | None = ...,
        sure: float | None = ...,
        evidence: EvidenceLike | None = ...,
        threads: int | None = ...,
    ) -> Alignment: ...
    @overload
    def align(
        self,
        source: str | Sequence[str],
        target: str | Sequence[str],
        *,
        probs: Literal[True],
        symmetrize: Symmetrization = ...,
        threshold: float | None = ...,
        sure: float | None = ...,
        evidence: EvidenceLike | None = ...,
        threads: int | None = ...,
    ) -> dict[tuple[int, int], float]: ...
    @arguments.naming_keywords
    def align(
        self,
        source: str | Sequence[str],
        target: str | Sequence[str],
        *,
        probs: bool = False,
        symmetrize: Symmetrization = "posterior",
        threshold: float | None = None,
        sure: float | None = None,
        evidence: EvidenceLike | None = None,
        threads: int | None = 1,
    ) -> Alignment | dict[tuple[int, int], float]:
        """Align one sentence pair.

        Parameters
        ----------
        source, target : The words; a text is split at whitespace.
        probs : Return a dict of links and probabilities instead of an alignment with `weights`.
        symmetrize, threshold, sure, evidence, threads : See `align_bitext`.

        Returns
        -------
        Alignment or dict
            An alignment with probabilities as weights, or with `probs` a dict of them: the means
            of the posteriors of both directions, calibrated after training of the HMM.

        Examples
        --------
        >>> aligner = Aligner.train([("das haus", "the house"), ("das buch", "the book")])
        >>> aligner.align("das buch", "the book").possible == {(0, 0), (1, 1)}
        True
        """
        pair = _words("source", source), _words("target", target)
        links = self.align_bitext(
            [pair],
            symmetrize=symmetrize,
            threshold=threshold,
            sure=sure,
            evidence=evidence,
            threads=threads,
        )
        alignment = links.alignment(0)
        if probs:
            return dict(alignment.weights.items())
        return alignment

    @arguments.naming_keywords
    def align_bitext(
        self,
        bitext: Bitext | Iterable[PairLike],
        *,
        symmetrize: Symmetrization = "posterior",
        threshold: float | None = None,
        sure: float | None = None,
        evidence: EvidenceLike | None = None,
        threads: int | None = None,
    ) -> AlignedLinks:
        """Align all pairs of a bitext, with the refinement from gold links if there is one.

        Parameters
        ----------
        bitext : A `Bitext`, or input for `Bitext.pack`. Pairs of the training bitext get the links
            that training gave them.
        symmetrize : ``posterior`` (links with a probability above `threshold`), a method of
            `alignkit.symmetrize` applied to both Viterbi alignments, or ``forward`` or ``reverse``
            for only one of them.
        threshold : From 0 to 1, for ``posterior``. None: the value learned from gold links, else
            that of `settings`.
        sure : Links with a higher probability are sure, the others possible; None: all are sure.
        evidence : The links of the systems that the refinement was learned with: for each system,
            the annotators of the pairs. Pairs that a system did not align are aligned by what was
            learned without evidence. A refinement that was learned without evidence does not use
            it; the `cautions` of the result say so.
        threads : Number of threads; None: all cores. It does not affect the result.

        Returns
        -------
        AlignedLinks
            A sequence with the alignment of each pair.

        Raises
        ------
        AlignerError : If the refinement from gold links needs vectors, and there are none.
        OptionError : If Viterbi alignments are requested with a refinement from gold links, or the
            evidence is not of the systems that the refinement needs.

        Examples
        --------
        >>> aligner = Aligner.train([("das haus", "the house"), ("das buch", "the book")])
        >>> [str(links) for links in aligner.align_bitext([("das buch", "the book")])]
        ['0-0 1-1']
        """
        arguments.check_arguments(Aligner.align_bitext, locals(), apart=["bitext"])
        arguments.check_known("symmetrization", symmetrize, SYMMETRIZATIONS)
        least = self.settings.threshold if threshold is None else threshold
        cautions = self._cautions_about(evidence)
        if cautions:
            evidence = None
        learned = self._used_refinement
        if learned is not None and symmetrize != "posterior":
            raise OptionError(
                "this aligner was refined on gold links and has no Viterbi alignments: "
                "leave out symmetrize, or align without the refinement"
            )
        alone = None if learned is not None else self._decoder_of_one(bitext)
        if alone is not None:
            links = decode(alone, Workers(1), symmetrize, least, sure)
            return replace(links, cautions=cautions)
        if not isinstance(bitext, Bitext) and evidence is not None:
            bitext = list(bitext)
        if learned is not None:
            evidence = learned.seen(evidence, bitext)
        elif evidence is not None:
            raise OptionError("this aligner did not learn to use evidence: leave it out")
        bitext = self._encoded(self.packed(bitext))
        pieces = Pieces.of(bitext)
        if evidence is not None:
            evidence = evidence.on(bitext, pieces)
        with Workers.opened(threads) as workers:
            parts = []
            begin = 0
            for part, decoder in self._decoders(bitext, pieces):
                end = begin + len(part)
                if learned is None:
                    parts.append(decode(decoder, workers, symmetrize, least, sure))
                else:
                    own = None if evidence is None else evidence.part(begin, end)
                    options = workers, threshold, sure, self._vectors, own
                    parts.append(learned.align(decoder, part, *options))
                begin = end
        links = AlignedLinks.joined(parts)
        if pieces is not None:
            links = replace(links, arrays=pieces.joined(links.arrays, bitext))
        return replace(links, cautions=cautions)

    @property
    def _used_refinement(self) -> Learned | None:
        """The refinement from gold links, if it gained."""
        learned = self.parameters.learned
        return learned if learned is not None and learned.used else None

    def _cautions_about(self, evidence: EvidenceLike | None) -> tuple[str, ...]:
        """Return, and log, that the refinement was learned without evidence, if there is any."""
        learned = self.parameters.learned
        if not evidence or learned is None or learned.lessons.evidence:
            return ()
        from alignkit.align.evidence import not_used

        caution = not_used(evidence)
        _LOGGER.warning("%s", caution)
        return (caution,)

    def posteriors(self, source: str | Sequence[str], target: str | Sequence[str]) -> tuple[F4, F4]:
        """Return the probabilities of all links of a sentence pair, (N, M), in both directions.

        Forward probabilities add up to at most 1 over the source words (each target word comes from
        one source word or the empty word); reverse probabilities do so over the target words.

        Parameters
        ----------
        source, target : The words; a text is split at whitespace.

        Examples
        --------
        >>> aligner = Aligner.train([("das haus", "the house"), ("das buch", "the book")])
        >>> forward, reverse = aligner.posteriors("das buch", "the book")
        >>> forward.shape, forward.argmax(0).tolist()
        ((2, 2), [0, 1])
        """
        pair = _words("source", source), _words("target", target)
        shape = len(pair[0]), len(pair[1])
        longest = max(shape)
        if longest > LONGEST_PIECE:
            raise AlignerError(
                f"the line is too long for posteriors: {longest} words, the limit is "
                f"{LONGEST_PIECE}; use `align` instead"
            )
        forward, reverse = self.decoder(self.packed([pair])).posteriors(0, 1)
        return forward.reshape(shape), reverse.reshape(shape)

    def scores(self, bitext: Bitext | Iterable[PairLike], *, threads: int | None = None) -> F8:
        """Return the log probabilities of each pair.

        Parameters
        ----------
        bitext : The sentence pairs.
        threads : Number of threads; None: all cores. It does not affect the result.

        Returns
        -------
        (P, 2) float64 array
            Natural logarithms of P(target | source) and P(source | target): the probability of the
            words given their number; with the HMM also of ending after the last. IBM 3 and 4 use
            the HMM, `best` the model of whole words. To compare pairs, divide by their words.

        Examples
        --------
        >>> aligner = Aligner.train([("das haus", "the house"), ("das buch", "the book")])
        >>> scores = aligner.scores([("das buch", "the book"), ("das buch", "the house")])
        >>> scores.shape, bool(scores[0, 0] > scores[1, 0])
        ((2, 2), True)
        """
        arguments.check_arguments(Aligner.scores, locals(), apart=["bitext"])
        bitext = self._encoded(self.packed(bitext))
        pieces = Pieces.of(bitext)
        with Workers.opened(threads) as workers:
            parts = []
            for _, decoder in self._decoders(bitext, pieces):
                parts.append(likelihoods_by(decoder, workers))
        likelihoods = np.concatenate(parts)
        if pieces is None:
            return likelihoods
        return pieces.added(likelihoods, len(bitext))

    def known_words(self, bitext: Bitext | Iterable[PairLike]) -> KnownWords:
        """Count the words that the aligner knows, also with source and target exchanged.

        Use it to see whether texts have the direction of the aligner, or fit it at all.

        Parameters
        ----------
        bitext : The sentence pairs.

        Examples
        --------
        >>> aligner = Aligner.train([("das haus", "the house"), ("das buch", "the book")])
        >>> known = aligner.known_words([("the house", "das haus ist alt")])
        >>> known.shares, known.exchanged_shares
        ((0.0, 0.0), (1.0, 0.5))
        """
        arguments.check_arguments(Aligner.known_words, locals(), apart=["bitext"])
        return self._vocabularies.count(self.packed(bitext))

    @cached_property
    def _vocabularies(self) -> Vocabularies:
        """The words of both sides."""
        from alignkit.align.known_words import Vocabularies

        return Vocabularies(self.parameters.source, self.parameters.target)

    def lexicon(self, least: float = 0.01) -> Iterator[tuple[str, str, float, float]]:
        """Yield word pairs with t(target | source) and t(source | target).

        The most frequent source words come first. A pair is left out if both are below `least` or,
        with collapsed inference, if nothing was learned about it. With `best`, words are whole.

        Parameters
        ----------
        least : The least probability of either direction.

        Examples
        --------
        >>> aligner = Aligner.train([("das haus", "the house"), ("das buch", "the book")])
        >>> [(source, target) for source, target, _, _ in aligner.lexicon(least=0.5)]
        [('das', 'the'), ('haus', 'house'), ('buch', 'book')]
        """
        arguments.check_arguments(Aligner.lexicon, locals())
        if isnan(least):
            raise OptionError("least is nan; expected a probability from 0 to 1")
        return self.parameters.lexicon(least)

    def decoder(self, bitext: Bitext) -> Decoding:
        """Return the decoder of a bitext that has no line longer than `LONGEST_PIECE`."""
        if self._encoder is not None:
            bitext = self._encoder.encoded(bitext).apart()
        return self._adapter.decoder(bitext)

    def packed(self, bitext: Bitext | Iterable[PairLike]) -> Bitext:
        """Return the bitext; pairs get numbers, with case folded as in training."""
        if isinstance(bitext, Bitext):
            return bitext
        written = self._encoder is not None
        return Bitext.pack(bitext, casefold=self.parameters.casefold, written=written)

    def _encoded(self, bitext: Bitext) -> Bitext:
        """Return the bitext with the shares of its cells, if they are computed.

        Each pair has words of its own then: its links do not depend on what is aligned beside it.
        """
        if self._encoder is None or self._was_trained_on(bitext):
            return bitext
        return self._encoder.encoded(bitext).apart()

    def _decoders(self, bitext: Bitext, pieces: Pieces | None) -> Iterator[tuple[Bitext, Decoding]]:
        """Yield parts of a bitext, or of its pieces, each with its decoder, to limit memory."""
        if pieces is None:
            cut = bitext
        else:
            cut = pieces.bitext
        alone = None
        if self._trained is not None and self._was_trained_on(bitext):
            alone = self._trained[1]
        elif self._encoder is None and len(cut) == 1 and cut.casefold == self.parameters.casefold:
            alone = self._adapter.pair_decoder(cut.source.sentence(0), cut.target.sentence(0))
        if alone is not None:
            yield cut, alone
            return
        for begin, end in cut.blocks(BLOCK) or [(0, 0)]:
            part = cut.part(begin, end)
            yield part, self._adapter.decoder(part)

    def _was_trained_on(self, bitext: Bitext) -> bool:
        """Whether this is the bitext of training, whose decoder is there."""
        return self._trained is not None and self._trained[0] is bitext

    def _decoder_of_one(self, bitext: object) -> Decoding | None:
        """Return a decoder of a list of one pair of words, without numbering them; else None.

        Shares need numbered words.
        """
        if self._encoder is not None:
            return None
        if not isinstance(bitext, list) or len(bitext) != 1:
            return None
        pair = bitext[0]
        if not isinstance(pair, tuple) or len(pair) != 2:
            return None
        source, target = pair
        if not isinstance(source, (list, tuple)) or not isinstance(target, (list, tuple)):
            return None
        return self._adapter.pair_decoder(source, target)


# most aligners read plain words: what encoders and word vectors need is loaded if there are any
def _two_vectors(vectors: Vectors | None, target_vectors: Vectors | None) -> TwoVectors | None:
    """Return the vectors for both sides; None if there are none."""
    if vectors is None and target_vectors is None:
        return None
    from alignkit.align.vectors.word_vectors import two_vectors

    return two_vectors(vectors, target_vectors)


def _pair_encoder(
    given: EncoderLike | Literal[False] | None,
    vectors: TwoVectors | None,
    known: Parameters | None = None,
) -> PairEncoder | None:
    """Return what computes shares, by an encoder or by word vectors; None without both.

    An aligner that used the same in its training, as `known` says, keeps the spread of its cosines.
    Warn if it used another encoder.
    """
    if vectors is None and (given is None or given is False):
        return None
    from alignkit.align.encoder.encoding import PairEncoder
    from alignkit.align.encoder.functions import encoder_of

    if given is None or given is False:
        assert vectors is not None
        spread = None
        if known is not None and known.vectors is not None:
            spread = known.vectors.spread
        return PairEncoder.of_vectors(vectors, spread)
    if vectors is not None:
        raise OptionError("vectors and an encoder do the same: give one of them")
    encoder = encoder_of(given)
    if known is None or known.encoder is None:
        return PairEncoder(encoder)
    used = known.encoder
    if used.gives_as(encoder):
        return PairEncoder(encoder, spread=used.spread)
    _LOGGER.warning(
        "the aligner was trained with the encoder %s, layer %s, and not with %s, layer %s",
        used.name,
        used.layer,
        encoder.name,
        encoder.layer,
    )
    return PairEncoder(encoder)


def _with_used(parameters: Parameters, encoder: PairEncoder) -> Parameters:
    """Return the parameters of a training, which name the encoder or the vectors that it used."""
    from alignkit.align.encoder.encoding import VectorsUsed

    used = encoder.used
    if isinstance(used, VectorsUsed):
        return replace(parameters, vectors=used)
    return replace(parameters, encoder=used)


def _words(name: str, sentence: str | Sequence[str]) -> Sequence[str]:
    """Return the words of a sentence; `name` is what an error calls it."""
    if isinstance(sentence, str):
        return split_unicode(sentence)
    return arguments.words(name, sentence)
