"""PyTensor's warnings about BLAS, kept from users whom they would mislead.

PyTensor says that products will be slow when it finds no BLAS to link to. Its products then go
through NumPy, whose wheels carry their own fast BLAS.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from theano.pytensor_internals.names_in_messages import BLAS_LOGGER

_WARNING = "Using NumPy C-API based implementation for BLAS functions"
_WARNING = r"(\n)*PyTensor could not link to a BLAS installation"


def _is_no_warning(record: logging.LogRecord) -> bool:
    return _WARNING not in record.getMessage()


@contextmanager
def no_blas_warnings() -> Iterator[None]:
    """Compile without these warnings; all other warnings and messages pass."""
    logger = logging.getLogger(BLAS_LOGGER)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _WARNING, UserWarning)
        logger.addFilter(_is_no_warning)
        try:
            yield
        finally:
            logger.removeFilter(_is_no_warning)
