"""What a value is, in words for messages of errors."""

from __future__ import annotations

from typing import Any

import numpy as np


def described(value: Any) -> str:
    """What a value is: class, dtype and shape, or the value itself."""
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        text = f"{type(value).__name__} of dtype {value.dtype} and shape {tuple(value.shape)}"
        return f"{text}, {value}" if isinstance(value, np.ndarray) and value.ndim == 0 else text
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:57] + '...'}"
