"""Bounds of buckets of lengths: the flag ``xla.bucket_lengths``."""

from __future__ import annotations

from theano.configdefaults import OFF, POWERS


def bucket_of(length: int, setting: str) -> range:
    """Return the lengths that share a program with this one, at least 1.

    Parameters
    ----------
    length : int
    setting : str
        "off", "powers" (a bucket ends at each power of two), or a number (at each multiple).

    Examples
    --------
    >>> bucket_of(6, "powers"), bucket_of(6, "4"), bucket_of(6, "off")
    (range(5, 9), range(5, 9), range(6, 7))
    """
    if setting == OFF or length < 1:
        return range(length, length + 1)
    if setting == POWERS:
        bound = 1 << (length - 1).bit_length()
        return range(bound // 2 + 1, bound + 1)
    step = int(setting)
    bound = -(-length // step) * step
    return range(bound - step + 1, bound + 1)
