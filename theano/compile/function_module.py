"""Compiled functions: PyTensor's, with Theano's errors, default values and named outputs."""

import copy
import copyreg
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager

from pytensor.compile.aliasing import (
    Supervisor,
    alias_root,
    infer_reuse_pattern,
    insert_deepcopy,
    view_tree_set,
)
from pytensor.compile.executor import AliasedMemoryError, _pickle_Function
from pytensor.compile.executor import Function as PyTensorFunction
from pytensor.compile.maker import FunctionMaker, UnusedInputError

from theano.compile.call_errors import (
    explain_bad_call,
    explain_failure,
    mark_explained,
    signature,
    title,
)

__all__ = [
    "AliasedMemoryError",
    "Function",
    "FunctionMaker",
    "FunctionWithExtras",
    "Supervisor",
    "UnusedInputError",
    "alias_root",
    "infer_reuse_pattern",
    "insert_deepcopy",
    "view_tree_set",
]


def _lock_of(maker: FunctionMaker) -> AbstractContextManager:
    """What keeps threads apart that call the same function: they share its storage."""
    try:
        return maker.calls_one_by_one  # type: ignore[attr-defined]
    except AttributeError:
        return maker.__dict__.setdefault("calls_one_by_one", threading.RLock())


class Function(PyTensorFunction):
    """A compiled function; `theano.function` makes it.

    Call it with one value for each input, by position or by name. ``f[x]`` reads and sets the
    stored value of an input, given as a variable, a name or a position.
    """

    __slots__ = ()

    @property
    def fn(self):
        """The program that runs when the function is called."""
        return self.vm

    def __call__(self, *args, **kwargs):
        with _lock_of(self.maker):
            try:
                return super().__call__(*args, **kwargs)
            except Exception as error:
                explain_failure(self, error)
                raise

    def __getitem__(self, key):
        return self._container(key).value

    def __setitem__(self, key, value):
        self._container(key).value = value

    def __contains__(self, key):
        return hasattr(self._finder.get(key), "storage")

    def _container(self, key):
        if key not in self:
            raise KeyError(f"{title(self)} has no single input {key!r}: it has {signature(self)}")
        return self._finder[key]

    def _validate_inputs(self, args, kwargs):
        try:
            # PyTensor would store the value first and complain afterwards.
            for name in kwargs:
                if getattr(self._finder.get(name), "implicit", False):
                    raise TypeError(f"{title(self)} does not take {name!r}: it is shared")
            super()._validate_inputs(args, kwargs)
        except Exception as error:
            explained = explain_bad_call(self, args, kwargs) or error
            mark_explained(explained)
            raise explained from None


class FunctionWithExtras(Function):
    """A compiled function that has default values, or returns a dictionary."""

    __slots__ = ("_defaults", "output_keys")

    def __init__(self, *args, output_keys: Sequence[str] | None = None, **kwargs):
        super().__init__(*args, **kwargs)
        self.output_keys = output_keys
        # An input with an update is a state: its value stays.
        self._defaults = [
            (container, spec, container.storage[0])
            for container, spec in zip(self.input_storage, self.maker.inputs, strict=True)
            if getattr(spec, "has_default", False) and spec.update is None
        ]

    def __call__(self, *args, **kwargs):
        for container, spec, value in self._defaults:
            container.storage[0] = copy.copy(value) if spec.mutable else value
        outputs = super().__call__(*args, **kwargs)
        if self.output_keys is None:
            return outputs
        return dict(zip(self.output_keys, outputs, strict=True))


for _class in (Function, FunctionWithExtras):
    # PyTensor registers its own class only, and copyreg ignores inheritance.
    copyreg.pickle(_class, _pickle_Function)
