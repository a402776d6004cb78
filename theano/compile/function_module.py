"""Compiled functions: PyTensor's, with Theano's errors, default values and named outputs."""

import copy
import copyreg
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from pytensor.compile.io import In
from pytensor.compile.ops import deep_copy_op
from pytensor.tensor.basic import Eye
from pytensor.tensor.type import TensorType

from theano.compile.calls.input_values import Values
from theano.compile.calls.locks import Claim, give_back, take
from theano.compile.errors.call_errors import (
    explain_bad_call,
    explain_failure,
    mark_explained,
    title,
)
from theano.compile.profiling import profile_for
from theano.link.device_cells import bring_home, wait_for
from theano.pytensor_internals.functions.compiling import (
    AliasedMemoryError,
    CheckedFunction,
    FunctionMaker,
    Supervisor,
    UnusedInputError,
    alias_root,
    containers_by_key,
    copies_aliased_inputs,
    infer_reuse_pattern,
    inputs_by_container,
    insert_deepcopy,
    pickled_values,
    unpickled_function,
    view_tree_set,
)
from theano.pytensor_internals.functions.linking import Container
from theano.pytensor_internals.graphs.graph import without_history

__all__ = [
    "AliasedMemoryError",
    "Function",
    "FunctionMaker",
    "FunctionWithExtras",
    "Supervisor",
    "UnusedInputError",
    "alias_root",
    "deep_copy_op",
    "infer_reuse_pattern",
    "insert_deepcopy",
    "view_tree_set",
]


# The input of Eye that may be None: it has as many columns as rows then.
_COLUMNS = (1,)


# The cell of an input, and of its type: dtype, dimensions, and the shape if a length is static.
_Expected = tuple[list[Any], np.dtype, int, tuple[int | None, ...] | None]


def _is_plain(kind: object) -> bool:
    """Return whether values of a type are arrays, any of its dtype, dimensions and static lengths."""
    return type(kind) is TensorType and not kind.filter_checks_isfinite


def _any_length(kind: TensorType) -> bool:
    return all(length is None for length in kind.shape)


def _has_shape(array: np.ndarray, static: tuple[int | None, ...]) -> bool:
    return all(n in (None, length) for n, length in zip(static, array.shape, strict=True))


class Function(CheckedFunction):
    """A compiled function; `theano.function` makes it.

    Call it with one value for each input, by position or by name; ``output_subset=[0, 2]`` selects
    outputs, by position or by key. ``f[x]`` reads and sets the stored value of an input, given as
    a variable, a name or a position.
    """

    output_keys: Sequence[str] | None = None

    def __init__(self, *args: object, **kwargs: object):
        super().__init__(*args, **kwargs)
        # Threads that call the same function share its storage.
        self._claim = self._used_cells()
        self._prepared_calls = self._calls_to_prepare()
        self._prepared: Callable[..., Any] | None = None

    def _used_cells(self) -> Claim:
        """Return the claim of a call: the function itself, and the shared variables that it uses."""
        reads: set[int] = set()
        writes = {id(self)}
        for spec, box in zip(self.maker.inputs, self.input_storage, strict=True):
            if getattr(spec, "shared", False) or box.implicit:  # type: ignore[attr-defined]
                updated = spec.update is not None or spec.mutable
                (writes if updated else reads).add(id(box.storage))
        return Claim(frozenset(reads), frozenset(writes))

    @property
    def fn(self):
        """The program that runs when the function is called."""
        return self.vm

    @property
    def finder(self):
        """The container of each input, by variable, name and position."""
        return containers_by_key(self)

    @property
    def inv_finder(self):
        """The input of each container."""
        return inputs_by_container(self)

    @property
    def container(self) -> Mapping[Any, Container]:
        """The containers of the inputs, which other functions may share, as `finder` has them."""
        return MappingProxyType(self._finder)

    @property
    def value(self) -> Values:
        """The stored values of the inputs: ``f.value[x]`` is ``f[x]``."""
        return Values(self)

    @property
    def indices(self) -> list[tuple]:
        """The inputs as Theano lists them: each with None and the list of itself."""
        return [(spec, None, [spec]) for spec in self.maker.inputs]

    @property
    def defaults(self) -> list[tuple[bool, bool, Any]]:
        """For each input, whether it must be passed, whether its value is put back, the value."""
        rows = []
        for spec, box in zip(self.maker.inputs, self.input_storage, strict=True):
            required = box.required  # type: ignore[attr-defined]
            rows.append((required, False, None if required or spec.shared else box.storage[0]))
        return rows

    @cached_property
    def _check_for_aliased_inputs(self) -> bool:
        return any(
            isinstance(spec, In) and not spec.shared and bool(spec.borrow or spec.mutable)
            for spec in self.maker.inputs
        )

    def copy(self, *args: object, **kwargs: object) -> "Function":
        """Copy the function, with its own storage; other shared variables may take part.

        Parameters
        ----------
        share_memory : bool, optional
            Whether the copy uses the same memory for intermediate results.
        swap : dict, optional
            Shared variables, and those that take their place in the copy.
        delete_updates : bool, optional
            Whether the copy updates nothing.
        name : str, optional
            Name of the copy; by default that of the function, and "copy".
        profile : bool or str or ProfileStats, optional
            As for `theano.function`.

        Returns
        -------
        Function
            As in Theano, it returns a list also where the function returns a single value.
        """
        given = inspect.signature(CheckedFunction.copy).bind(self, *args, **kwargs)
        name = given.arguments.get("name") or (f"{self.name} copy" if self.name else None)
        given.arguments["profile"] = (
            # False, or PyTensor would look at its flag
            profile_for(given.arguments.get("profile"), name) or False
        )
        without_history(self.maker.fgraph.apply_nodes)
        copied = super().copy(*given.args[1:], **given.kwargs)
        copied.unpack_single = False
        return copied

    def sync_shared(self) -> None:
        """Wait until the shared variables hold their new values; on a device they may not yet."""
        wait_for(self._shared_cells)

    @cached_property
    def _shared_cells(self) -> list[list[Any]]:
        return [box.storage for box in self.input_storage if box.implicit]  # type: ignore[attr-defined]

    def _calls_to_prepare(self) -> Any:
        """Return what prepares calls, of an engine that does; None where a call does more than compute."""
        prepare = getattr(self.vm, "prepare_for", None)
        boxes: list[Any] = self.input_storage
        # what has a default value is read where that lies
        arguments = {k: not box.strict for k, box in enumerate(boxes) if box.required}
        in_front = list(arguments) == list(range(len(arguments)))
        if prepare is None or not in_front or copies_aliased_inputs(self):
            return None
        return prepare(arguments)

    def _next_prepared(self) -> Callable[..., Any] | None:
        """Return what makes the next calls whose arguments need no more than a look."""
        is_plain = self.vm.allow_gc and not self.profile  # type: ignore[attr-defined]
        prepared = self._prepared_calls.next_call() if is_plain else None
        if prepared is None or self._reads_arguments_only:
            # no two calls share memory
            return prepared
        claim = self._claim

        def call(*args: object) -> Any:
            turn = [claim]
            try:
                # within a call of the function there are other values in its cells
                return NotImplemented if take(turn) else self._call_prepared(prepared, args)
            finally:
                give_back(turn)

        return call

    @property
    def _reads_arguments_only(self) -> bool:
        return all(box.required for box in self.input_storage)  # type: ignore[attr-defined]

    def _call_prepared(self, prepared: Callable[..., Any], args: Sequence[Any]) -> Any:
        return prepared(*args)

    def __call__(self, *args, **kwargs):
        if self._prepared is not None and not kwargs:
            outputs = self._prepared(*args)
            if outputs is not NotImplemented:
                return outputs[0] if self.unpack_single else outputs
        if kwargs and "output_subset" in kwargs:
            return self._subset(kwargs.pop("output_subset"), args, kwargs)
        turn = [self._claim]
        try:
            depth = take(turn)
            if depth:
                return self._call_within(depth, args, kwargs)
            return self._call(args, kwargs)
        finally:
            give_back(turn)

    def _call_within(self, depth: int, args, kwargs):
        """Return a call in the midst of one: its values lie elsewhere than those of the calls around it."""
        while len(self._twins) < depth:
            twin = self.copy(name=self.name)
            twin.unpack_single = self.unpack_single
            self._twins.append(twin)
        twin = self._twins[depth - 1]
        states = [
            (own.storage, other.storage)
            for spec, own, other in zip(
                self.maker.inputs, self.input_storage, twin.input_storage, strict=True
            )
            if spec.update is not None and own.storage is not other.storage
        ]
        for own, other in states:
            other[0] = own[0]
        try:
            return twin._call(args, kwargs)
        finally:
            for own, other in states:
                own[0] = other[0]

    @cached_property
    def _twins(self) -> list["Function"]:
        return []

    def _call(self, args, kwargs):
        if self._shared_cells and not getattr(self.vm, "reads_device_values", False):
            bring_home(self._shared_cells)
        try:
            outputs = super().__call__(*args, **kwargs)
        except Exception as error:
            explained = explain_failure(self, error)
            if explained is error:
                raise
            raise explained from error.__cause__
        if self._prepared_calls is not None:
            self._prepared = self._next_prepared()
        return outputs

    def _subset(self, subset, args, kwargs):
        outputs = self(*args, **kwargs)
        if subset is None:
            return outputs
        if self.output_keys is not None:
            return {key: outputs[key] for key in subset}
        outputs = [outputs] if self.unpack_single else outputs
        return [outputs[position] for position in subset]

    def __getitem__(self, key):
        return self.value[key]

    def __setitem__(self, key, value):
        self.value[key] = value

    def __contains__(self, key):
        return key in self.value

    def check_arguments(self, args, kwargs):
        if not kwargs and self._stored_as_they_are(args):
            return
        try:
            # PyTensor would store the value first and complain afterwards.
            for name in kwargs:
                if getattr(self.finder.get(name), "implicit", False):
                    raise TypeError(f"{title(self)} does not take {name!r}: it is shared")
            super().check_arguments(args, kwargs)
        except Exception as error:
            if any(value is None for value in args) and self._validate_without_none(args, kwargs):
                return
            explained = explain_bad_call(self, args, kwargs) or error
            mark_explained(explained)
            raise explained from None

    @cached_property
    def _expected(self) -> tuple[_Expected, ...] | None:
        """Return what each argument must be to be stored as it is; None where more is to be looked at."""
        boxes = [box for box in self.input_storage if not box.implicit]  # type: ignore[attr-defined]
        types = [box.type for box in boxes]
        if copies_aliased_inputs(self) or not all(map(_is_plain, types)):
            return None
        return tuple(
            (box.storage, kind.numpy_dtype, kind.ndim, None if _any_length(kind) else kind.shape)
            for box, kind in zip(boxes, types, strict=True)
        )

    def _stored_as_they_are(self, args) -> bool:
        """Store arguments that are arrays of the expected types, as most are; return whether all are."""
        expected = self._expected
        if expected is None or len(args) != len(expected):
            return False
        # as many; this is done in every call
        for value, (cell, dtype, ndim, shape) in zip(args, expected):  # noqa: B905
            if (
                type(value) is not np.ndarray
                or value.dtype is not dtype
                or value.ndim != ndim
                or not value.flags.aligned
                or (shape is not None and not _has_shape(value, shape))
            ):
                return False
            cell[0] = value
        return True

    def _validate_without_none(self, args, kwargs) -> bool:
        """Store the values where each None is for an input that nothing needs to be an array."""
        positions = [position for position, value in enumerate(args) if value is None]
        if any(position >= len(self.maker.fgraph.inputs) for position in positions):
            return False
        variables = [self.maker.fgraph.inputs[position] for position in positions]
        if not all(self._may_be_none(variable) for variable in variables):
            return False
        passed = list(args)
        for position, variable in zip(positions, variables, strict=True):
            passed[position] = np.zeros((1,) * variable.type.ndim, variable.type.dtype)
        super().check_arguments(passed, kwargs)
        for position in positions:
            self.input_storage[position].storage[0] = None
        return True

    def _may_be_none(self, variable) -> bool:
        return isinstance(variable.type, TensorType) and all(
            position
            in (_COLUMNS if isinstance(node.op, Eye) else getattr(node.op, "may_be_none", ()))
            for node, position in self.maker.fgraph.clients[variable]
        )


class FunctionWithExtras(Function):
    """A compiled function that has default values, or returns a dictionary."""

    def __init__(self, *args: object, output_keys: Sequence[str] | None = None, **kwargs: object):
        super().__init__(*args, **kwargs)
        self.output_keys = output_keys
        self._put_back: dict[int, Any] = {}
        for position, spec in enumerate(self.maker.inputs):
            if getattr(spec, "has_default", False):
                storage = self.input_storage[position].storage
                # The value may be overwritten, and other functions may start with it.
                storage[0] = copy.copy(storage[0]) if spec.mutable else storage[0]
                # An input with an update is a state: its value stays.
                if spec.update is None:
                    self._put_back[position] = storage[0]
        self._restore()

    # it gives values back, and keys to results
    _reads_arguments_only = False

    def _call_prepared(self, prepared: Callable[..., Any], args: Sequence[Any]) -> Any:
        outputs = prepared(*args)
        if outputs is NotImplemented:
            return outputs
        self._restore()
        if self.output_keys is None:
            return outputs
        return dict(zip(self.output_keys, outputs, strict=True))

    def _restore(self) -> None:
        for position, value in self._put_back.items():
            mutable = self.maker.inputs[position].mutable
            self.input_storage[position].storage[0] = copy.copy(value) if mutable else value

    @property
    def defaults(self) -> list[tuple[bool, bool, Any]]:
        """For each input, whether it must be passed, whether its value is put back, the value."""
        return [
            (required, True, self._put_back[i]) if i in self._put_back else (required, False, value)
            for i, (required, _, value) in enumerate(super().defaults)
        ]

    def copy(self, *args: object, **kwargs: object) -> "FunctionWithExtras":
        copied = super().copy(*args, **kwargs)
        assert isinstance(copied, FunctionWithExtras)
        # PyTensor has just given the copy the present values.
        copied._restore()
        return copied

    def _call(self, args, kwargs):
        try:
            outputs = super()._call(args, kwargs)
        finally:
            self._restore()
        if self.output_keys is None or isinstance(outputs, dict):
            return outputs
        return dict(zip(self.output_keys, outputs, strict=True))


def _pickled(function: Function) -> Any:
    bring_home(function._shared_cells)
    return _unpickled, pickled_values(function)


def _unpickled(*values: object) -> Any:
    """Return a function that was pickled.

    It is of this package, and not PyTensor's, so that a process that unpickles a function imports
    this package first, whose flags PyTensor is to have.
    """
    return unpickled_function(*values)


# Theano's name of it, by which programs measure what they store
_pickle_Function = _pickled


for _class in (Function, FunctionWithExtras):
    # PyTensor registers its own class only, and copyreg ignores inheritance.
    copyreg.pickle(_class, _pickled)
