"""A disturbance of memory, between two runs that must give the same wherever it lies."""

import datetime
import gc

_kept: list[bytearray] = []


def disturb_mem() -> None:
    """Make and drop objects, as many as the clock says, so that others lie at other addresses."""
    moment = datetime.datetime.now().microsecond
    _kept[:] = [bytearray(64 + k % 7) for k in range(1 + moment % 1009)]
    gc.collect()
