"""What statements are written with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from theano.link.native.ir.ir import Size, View
from theano.link.native.ir.layout import Place, place_of
from theano.link.native.ir.sizes import Sizes


@dataclass(frozen=True)
class Writer:
    """The C function that statements are written for.

    Attributes
    ----------
    looks
        Whether long passes look up for signals themselves; in loops it is done between steps.
    error
        The number that the C function returns for an exception, by its type and text.
    """

    sizes: Sizes
    looks: bool
    error: Callable[[type[Exception], str], int]

    def place(self, view: View) -> Place:
        """Where the elements of a view lie."""
        return place_of(view, self.sizes)

    def fails(self, kind: type[Exception], text: str) -> str:
        """The line that ends the step with an exception."""
        return f"{{ status = {self.error(kind, text)}; goto end; }}"

    def shape(self, view: View) -> tuple[Size, ...]:
        """The shape of a view, in which sizes that are the same have one name."""
        return tuple(map(self.sizes.find, view.shape))
