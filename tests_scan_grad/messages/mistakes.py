"""A mistake, the class that Theano 1.0.5 raised for it, and what the message must say."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import theano


def shared(dtype: str = "float64"):
    """Return a shared variable of three zeros."""
    return theano.shared(np.zeros(3, dtype), name="w")


@dataclass(frozen=True)
class Mistake:
    """A function that makes a mistake.

    Attributes
    ----------
    make
        Raises the error.
    error
        The class of Theano 1.0.5's error, or of what Theano called only an Exception.
    parts
        What the message holds, as it is.
    line
        How the line begins that the message must name; None where the traceback ends with it.
    """

    make: Callable[[], object]
    error: type[BaseException]
    parts: tuple[str, ...]
    line: str | None = None

    def check(self) -> None:
        """Make the mistake, and look at the error."""
        with pytest.raises(self.error) as caught:
            self.make()
        message = str(caught.value)
        absent = [part for part in self.parts if part not in message]
        assert not absent, f"{absent} not in\n{message}"
        if self.line is not None:
            assert self.named_line() in message, f"{self.named_line()} not in\n{message}"

    def named_line(self) -> str:
        """The file and the number of the line, as messages have them."""
        lines, first = inspect.getsourcelines(self.make)
        [place] = [k for k, line in enumerate(lines) if line.strip().startswith(self.line)]
        return f"{inspect.getsourcefile(self.make)}:{first + place}"


class Mistakes(dict[str, Mistake]):
    """Mistakes by name; a decorator adds one."""

    def add(
        self, error: type[BaseException], *parts: str, line: str | None = None
    ) -> Callable[[Callable], Callable]:
        """Note that a function makes a mistake.

        Parameters
        ----------
        error, parts, line
            As of `Mistake`.
        """

        def note(make: Callable) -> Callable:
            assert make.__name__ not in self
            self[make.__name__] = Mistake(make, error, parts, line)
            return make

        return note
