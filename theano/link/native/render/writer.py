"""The writer of statements: values as they read in the C function that they stand in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from theano.link.native.ir.ir import Compute, Scalar, View
from theano.link.native.ir.layout import Place, place_of
from theano.link.native.ir.sizes import Sizes
from theano.link.native.ir.symbolic import Size
from theano.link.native.render.numbers_in_c import number_in_c
from theano.support.data_classes import dataclass


@dataclass
class Writer:
    """The C function that statements are written for.

    Attributes
    ----------
    polls
        Whether long passes poll for interrupts themselves; in loops it is done between steps.
    error
        The number that the C function returns for an exception, by its type and text.
    functions
        The names of the C functions of loops, by those that they were lowered under.
    """

    sizes: Sizes
    polls: bool
    error: Callable[[type[Exception], str], int]
    functions: Mapping[str, str] = field(default_factory=dict)

    def function(self, name: str) -> str:
        """Return the C function of a loop that was lowered under a name."""
        return self.functions.get(name, name)

    def rename(self, name: str) -> str:
        """Return what has this name in the step."""
        return name

    def place(self, view: View) -> Place:
        """Return where the elements of a view lie."""
        return place_of(view, self.sizes).renamed(self.rename)

    def size(self, size: Size) -> Size:
        """Return a size, or another number that was computed before."""
        return size if isinstance(size, int) else size.renamed(self.rename)

    def shape(self, view: View) -> tuple[Size, ...]:
        """Return the shape of a view, in which sizes that are the same have one name."""
        return tuple(self.size(self.sizes.find(size)) for size in view.shape)

    def number(self, scalar: Scalar) -> str:
        """Return a number."""
        return number_in_c(scalar) if scalar.literal is not None else self.rename(scalar.expression)

    def result(self, compute: Compute) -> str:
        """Return a result within a pass over elements."""
        return compute.name

    def fails(self, kind: type[Exception], text: str) -> str:
        """Return what ends the step with an exception."""
        return f"{{ status = {self.error(kind, text)}; goto end; }}"


@dataclass
class NotingWriter(Writer):
    """Notes what statements name of the function that they stand in.

    Attributes
    ----------
    names
        The names, in the order of use, and what is computed from numbers in place of a name.
    """

    names: dict[str, None] = field(default_factory=dict)

    def rename(self, name: str) -> str:
        if name.isidentifier():
            self.names[name] = None
        return name

    def number(self, scalar: Scalar) -> str:
        if scalar.literal is None:
            self.names[scalar.expression] = None
        return number_in_c(scalar)


@dataclass
class WriterOfFunction(Writer):
    """For a statement that is a function: all that it names is a parameter, in the order of use.

    Attributes
    ----------
    types
        The C types of what statements may name.
    names
        What the parameters are in the step.
    returned
        The numbers that it computes: the function names them ``returned``, ``returned1`` and so on.
    leaves
        Whether the function returns that the step ends.
    """

    types: Mapping[str, str] = field(default_factory=dict)
    returned: tuple[str, ...] = ()
    names: dict[str, str] = field(default_factory=dict)
    leaves: bool = False
    _results: dict[str, str] = field(default_factory=dict)

    def rename(self, name: str) -> str:
        if name in self.returned:
            return f"returned{self.returned.index(name) or ''}"
        if name not in self.types:
            return name
        return self.names.setdefault(name, f"operand{len(self.names)}")

    def result(self, compute: Compute) -> str:
        return self._results.setdefault(compute.name, f"e{len(self._results)}")

    def fails(self, kind: type[Exception], text: str) -> str:
        self.leaves = True
        return f"return {self.error(kind, text)};"
