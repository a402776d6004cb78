"""The class of an operation, a variable or a rewriter, asked of the bases of its own class.

PyTensor's classes are abstract, of which ``isinstance`` asks whether they have virtual subclasses, and
the first time each of their subclasses, too: a tenth of what it takes to rewrite a small graph. None
has any; for classes that have, such as `DenseTensorType`, ``isinstance`` is right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from builtins import isinstance as is_a
else:

    class _Bases(dict):
        def __missing__(self, kind: type) -> frozenset[type]:
            found = self[kind] = frozenset(kind.__mro__)
            return found

    _bases = _Bases()

    def is_a(value: object, kind: type) -> bool:
        """Return whether a value is of a class, or of one that is derived from it."""
        return kind in _bases[type(value)]
