"""Compiled functions: PyTensor's, with Theano's errors, default values and named outputs."""

import copy
import copyreg
import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from pytensor.compile.aliasing import (
    Supervisor,
    alias_root,
    infer_reuse_pattern,
    insert_deepcopy,
    view_tree_set,
)
from pytensor.compile.executor import AliasedMemoryError, _constructor_Function, _pickle_Function
from pytensor.compile.executor import Function as PyTensorFunction
from pytensor.compile.maker import FunctionMaker, UnusedInputError

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

    def __getitem__(self, key):
        return self._container(key).value

    def __setitem__(self, key, value):
        self._container(key).value = value

    def __contains__(self, key):
        return hasattr(self._finder.get(key), "storage")

    def _container(self, key):
        if key not in self:
            raise KeyError(f"{_title(self)} has no single input {key!r}: it has {_signature(self)}")
        return self._finder[key]

    def _validate_inputs(self, args, kwargs):
        try:
            super()._validate_inputs(args, kwargs)
        except Exception as error:
            explained = explain_bad_call(self, args, kwargs)
            if explained is None:
                raise
            raise explained from error


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
    copyreg.pickle(_class, _pickle_Function, _constructor_Function)


def explain_bad_call(
    function: PyTensorFunction, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Exception | None:
    """Return the error that says what is wrong with a call, or None if nothing is found.

    Parameters
    ----------
    function : Function
        The function that was called.
    args, kwargs : sequence, mapping
        What it was called with.

    Returns
    -------
    TypeError or the kind of error that the input's type raised, or None
    """
    explicit = _explicit_inputs(function)
    title = _title(function)
    if len(args) > len(explicit):
        return TypeError(
            f"Too many parameters passed to {title}: it takes {len(explicit)} "
            f"({_signature(function)}), and {len(args)} were given"
        )
    names = [spec.name for _, spec, _ in explicit if spec.name]
    for name in kwargs:
        if name not in function._finder:
            close = difflib.get_close_matches(str(name), names, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            return TypeError(
                f"Unknown input {name!r} to {title}: it has {_signature(function)}{hint}"
            )
    for index, spec, container in explicit:
        if index < len(args):
            value = args[index]
        elif spec.name in kwargs:
            value = kwargs[spec.name]
        elif container.required:
            return TypeError(
                f"Missing required input {_named(spec)}to {title} at index {index} (0-based): "
                f"expected {spec.variable.type}"
            )
        else:
            continue
        try:
            spec.variable.type.filter(
                value, strict=container.strict, allow_downcast=container.allow_downcast
            )
        except Exception as error:
            kind = type(error) if type(error) in (TypeError, ValueError) else TypeError
            return kind(
                f"Bad input argument {_named(spec)}to {title} at index {index} (0-based): "
                f"expected {spec.variable.type}, got {_described(value)}. {error}"
            )
    return None


def _explicit_inputs(function):
    pairs = zip(function.maker.inputs, function.input_storage, strict=True)
    return [(i, spec, box) for i, (spec, box) in enumerate(pairs) if not spec.implicit]


def _title(function) -> str:
    return f'theano function with name "{function.name}"' if function.name else "theano function"


def _signature(function) -> str:
    inputs = [
        f"{spec.name or 'unnamed'}: {spec.variable.type}"
        for _, spec, _ in _explicit_inputs(function)
    ]
    return ", ".join(inputs) or "no inputs"


def _named(spec) -> str:
    return f'with name "{spec.name}" ' if spec.name else ""


def _described(value) -> str:
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return f"{type(value).__name__} of dtype {value.dtype} and shape {tuple(value.shape)}"
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:57] + '...'}"
