"""Read what formats of judged pairs share: a label of a scheme, checked or counted."""

from __future__ import annotations

from alignkit.errors import FormatError
from alignkit.formats.intake import Reading
from alignkit.formats.record import RawAnnotation
from alignkit.labels.scheme import Scheme


def judged(reading: Reading, scheme: Scheme, label: str, line: int) -> RawAnnotation | None:
    """Return the annotation of a pair that was judged, not aligned; None where nothing is said."""
    try:
        scheme.parse(label)
    except FormatError as problem:
        if not reading.options.lenient_labels:
            raise FormatError(
                f"{problem.message}; keep such labels as they are by `lenient_labels=True`"
            ) from None
        reading.note("label of no scheme", problem.message, line)
    return RawAnnotation(judgment=label, aligned=False) if label else None
