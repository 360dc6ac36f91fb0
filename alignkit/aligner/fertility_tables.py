"""The tables of IBM 3 and IBM 4 from expected counts, smoothed where counts are few."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
Logs = NDArray[np.float32]
Offsets = NDArray[np.int64]

MOST = 9  # fertilities from here on share one probability, halved for each further word
REACH = 40  # steps from here on share one probability, spread evenly over `TAIL` of them
TAIL = 20
BASE = 0.01  # added to each count of the tables that all others are smoothed with


def tail_weights(size: int) -> Reals:
    """Return how many steps each column stands for: 1, at the far end TAIL."""
    weights = np.ones(size)
    weights[-1] = TAIL
    if size == 2 * REACH + 1:
        weights[0] = TAIL
    return weights


def frequency_bands(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Group words by the whole part of log2(count + 1); words never seen are in band 0."""
    return np.asarray(np.frexp(counts + 1.0)[1].astype(np.int64) - 1)


def estimate_fertilities(counts: Reals, bands: NDArray[np.int64], weight: float) -> Logs:
    """Return n(s | word), each word's counts smoothed with those of words about as frequent."""
    grouped = np.zeros((int(bands.max()) + 1, counts.shape[1]))
    np.add.at(grouped, bands, counts)
    common = _normalized(counts.sum(0) + BASE)
    groups = _normalized(grouped + weight * common)
    return _normalized(counts + weight * groups[bands]).astype(np.float32)


def estimate_first(counts: Reals, weight: float) -> Logs:
    """Return d1(step | class of the cept before, of the word), shape (A + 1, B, 2 REACH + 1)."""
    tails = tail_weights(counts.shape[-1])
    common = _normalized(counts.sum((0, 1)) + BASE * tails)
    by_word = _normalized(counts.sum(0) + weight * common)
    return (_normalized(counts + weight * by_word) / tails).astype(np.float32)


def estimate_rest(counts: Reals, weight: float) -> Logs:
    """Return d>1(step | class of the word), smoothed with the steps of all, shape (B, REACH)."""
    tails = tail_weights(counts.shape[-1])
    common = _normalized(counts.sum(0) + BASE * tails)
    return (_normalized(counts + weight * common) / tails).astype(np.float32)


def blocks_of(sizes: Offsets) -> tuple[Offsets, Offsets, Offsets]:
    """Return the different sizes (N, M), where the block of each starts, and that of each pair."""
    different, which = np.unique(sizes, axis=0, return_inverse=True)
    starts = np.zeros(len(different) + 1, np.int64)
    np.cumsum(different.prod(1), out=starts[1:])
    return different, starts, starts[which.reshape(-1)]


def _diagonal_steps(n: int, m: int) -> Offsets:
    # the column of `diagonal` of each cell: how far j is from where i lies
    expected = ((2 * np.arange(n) + 1) * m) // (2 * n)
    steps = np.arange(m)[None, :] - expected[:, None]
    return np.asarray(np.clip(steps, -REACH, REACH) + REACH)


def estimate_diagonal(counts: Reals, sizes: Offsets, starts: Offsets) -> Logs:
    """Return the weight of each distance from the diagonal over all sizes, (2 REACH + 1,)."""
    found, even = np.full(2 * REACH + 1, BASE), np.full(2 * REACH + 1, BASE)
    for (n, m), start in zip(sizes.tolist(), starts.tolist(), strict=False):
        if n and m:
            block = counts[start : start + n * m].reshape(n, m)
            steps = _diagonal_steps(n, m).ravel()
            found += np.bincount(steps, block.ravel(), 2 * REACH + 1)
            evenly = np.broadcast_to(block.sum(1, keepdims=True) / m, (n, m)).ravel()
            even += np.bincount(steps, evenly, 2 * REACH + 1)
    return np.asarray(found / even, np.float32)


def distortion_block(n: int, m: int, diagonal: Logs) -> Reals:
    """Return d(j | i, n, m) by the distance from the diagonal alone, shape (n, m)."""
    return _normalized(diagonal.astype(np.float64)[_diagonal_steps(n, m)])


def estimate_distortion(
    counts: Reals, sizes: Offsets, starts: Offsets, diagonal: Logs, weight: float
) -> Logs:
    """Return d(j | i, N, M) of all blocks, the counts smoothed with `distortion_block`."""
    out = np.empty(counts.size, np.float32)
    for (n, m), start in zip(sizes.tolist(), starts.tolist(), strict=False):
        if n and m:
            block = counts[start : start + n * m].reshape(n, m)
            block = _normalized(block + weight * distortion_block(n, m, diagonal))
            out[start : start + n * m] = block.ravel()
    return out


def _normalized(counts: Reals) -> Reals:
    return np.asarray(counts / counts.sum(-1, keepdims=True))
