"""One program for many lengths: loops and what reads them in arrays of a bucket's greatest length.

With the flag ``xla.bucket_lengths`` the dimensions that loops go over are padded to the bound of
the bucket that their length is in. ``numbers.py`` has what is made from lengths, a number for each
length of the bucket; ``padding.py`` and ``trace.py`` know which rows of an array are padding, and
``rules.py``, ``indexing.py``, ``by_arrays.py`` and ``loops.py`` say of each operation how it works
on padded arrays. An operation without a rule has the function compiled for the exact lengths.
"""

from theano.link.xla.buckets import by_arrays, indexing, loops, rules
from theano.link.xla.buckets.program import BucketedProgram

__all__ = ["BucketedProgram", "by_arrays", "indexing", "loops", "rules"]
