"""Write vectors in each format that is read."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

FORMATS = ["word2vec", "glove", "binary", "binary-lines", "npz", "npz-packed", "gz"]


def write_vectors(path: Path, format: str, words: list[str], array: np.ndarray) -> Path:
    """Write words with their vectors (n, d) into a file; return its path."""
    if format.startswith("npz"):
        save = np.savez if format == "npz" else np.savez_compressed
        with path.open("wb") as stream:
            save(stream, words=np.array(words, dtype=str), vectors=array)
        return path
    header = f"{len(words)} {array.shape[1]}\n".encode()
    if format.startswith("binary"):
        end = b"\n" * (format == "binary-lines")
        rows = [
            word.encode() + b" " + row.astype("<f4").tobytes() + end
            for word, row in zip(words, array, strict=True)
        ]
        path.write_bytes(header + b"".join(rows))
        return path
    lines = [
        f"{word} {' '.join(map(str, row.tolist()))}\n"
        for word, row in zip(words, array.astype(np.float32), strict=True)
    ]
    text = (b"" if format == "glove" else header) + "".join(lines).encode()
    path.write_bytes(gzip.compress(text) if format == "gz" else text)
    return path
