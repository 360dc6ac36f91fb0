"""Names of NumPy's array types for annotations: the kind of number, and its bytes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

B1 = NDArray[np.bool_]
F4 = NDArray[np.float32]
F8 = NDArray[np.float64]
I2 = NDArray[np.int16]
I4 = NDArray[np.int32]
I8 = NDArray[np.int64]
U1 = NDArray[np.uint8]
U2 = NDArray[np.uint16]
U4 = NDArray[np.uint32]
U8 = NDArray[np.uint64]
