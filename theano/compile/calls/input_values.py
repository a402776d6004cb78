"""The stored values of a function's inputs, which programs read and set between calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from theano.compile.calls.locks import Claim, lock_of, reading, writing
from theano.compile.errors.call_errors import signature, title
from theano.link.device_cells import on_host
from theano.pytensor_internals.functions.linking import Container

if TYPE_CHECKING:
    from theano.compile.function_module import Function


class Values:
    """Values by variable, name or position."""

    def __init__(self, function: Function):
        self._function, self._finder = function, function.finder

    def __getitem__(self, key: object) -> Any:
        container = self._container(key)
        with lock_of(self._claim(container, reading)):
            return on_host(container.value)

    def __setitem__(self, key: object, value: object) -> None:
        container = self._container(key)
        with lock_of(self._claim(container, writing)):
            container.value = value

    def _claim(self, container: Container, of_cell: Callable[[list[Any]], Claim]) -> Claim:
        """Return that of a cell that functions may share, or of the function, whose calls fill the rest."""
        own, cell = self._function._claim, container.storage
        shared = id(cell) in own.reads | own.writes
        return of_cell(cell) if shared else own

    def __contains__(self, key: object) -> bool:
        return hasattr(self._finder.get(key), "storage")

    def _container(self, key: object) -> Container:
        if key not in self:
            raise TypeError(
                f"Unknown or ambiguous input {key!r} of {title(self._function)}: "
                f"it has {signature(self._function)}"
            )
        return self._finder[key]
