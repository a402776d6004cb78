"""Operators that users write: Theano 1.0's method names on PyTensor's classes."""
# ruff: noqa: F401 -- this file re-exports

import functools
import inspect
import re
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.graph.basic import Variable
from pytensor.graph.op import Op as _PyTensorOp

from theano.gof import utils
from theano.gof.debug_values import (
    debug_assert,
    debug_error_message,
    get_debug_values,
    get_test_value,
    missing_test_message,
)
from theano.gof.instances import including_instances_of
from theano.gof.user_operations.code import is_of_users, thunk_of_folding
from theano.gof.user_operations.results import with_results_checked
from theano.pytensor_internals.functions.c_code import COp as _PyTensorCOp
from theano.pytensor_internals.functions.c_code import ExternalCOp as _PyTensorExternalCOp
from theano.pytensor_internals.functions.c_code import OpenMPOp as _PyTensorOpenMPOp
from theano.pytensor_internals.graphs.graph import MethodNotDefined
from theano.pytensor_internals.graphs.shapes import METHODS_OF_GRAPH

# Methods to which PyTensor passes keywords that Theano did not.
_METHODS_WITHOUT_KEYWORDS = (
    "c_headers",
    "c_header_dirs",
    "c_libraries",
    "c_lib_dirs",
    "c_support_code",
    "c_compile_args",
    "c_no_compile_args",
    "c_init_code",
)


def _without_keywords(method: Callable) -> Callable:
    @functools.wraps(method)
    def adapted(self, **kwargs):
        return method(self)

    return adapted


# Methods to which some release of PyTensor passes the graph: how many parameters Theano's had
_METHODS_WITHOUT_GRAPH = {"infer_shape": 3, "do_constant_folding": 2}


def _without_function_graph(method: Callable) -> Callable:
    @functools.wraps(method)
    def adapted(self, fgraph, *args):
        return method(self, *args)

    return adapted


def _with_no_function_graph(method: Callable) -> Callable:
    @functools.wraps(method)
    def adapted(self, *args):
        return method(self, None, *args)

    # as it is called, whatever it wraps
    del adapted.__wrapped__  # type: ignore[attr-defined]
    return adapted


def _with_parameters(perform: Callable) -> Callable:
    """Return a method that PyTensor calls without the parameters, which the operator knows."""

    @functools.wraps(perform)
    def adapted(self, node, inputs, output_storage):
        if self.params_type is None:
            return perform(self, node, inputs, output_storage)
        parameters = self.params_type.filter(self.get_params(node))
        return perform(self, node, inputs, output_storage, parameters)

    return adapted


def _not_kept(self) -> tuple:
    """Return the version of C code that is compiled again in each process."""
    return ()


def _methods_of_users(cls: type) -> dict[str, Any]:
    """Return what `cls` defines, or takes from a class that is no operator, such as a mixin."""
    defined: dict[str, Any] = {}
    for base in cls.__mro__:
        if base is not cls and issubclass(base, _PyTensorOp):
            # It was adapted itself, and the classes that it took its methods from.
            break
        defined = {**vars(base), **defined}
    return defined


def _adapt(cls: type) -> None:
    """Give the methods that `cls` itself defines the signature that PyTensor calls."""
    defined = _methods_of_users(cls)
    for name in _METHODS_WITHOUT_KEYWORDS:
        if name in defined and len(inspect.signature(defined[name]).parameters) == 1:
            setattr(cls, name, _without_keywords(defined[name]))
    if "perform" in defined and len(inspect.signature(defined["perform"]).parameters) == 5:
        cls.perform = _with_parameters(defined["perform"])  # type: ignore[attr-defined]
    if "<locals>" in cls.__qualname__:
        # PyTensor pickles the operation for its cache, which pickle cannot for such a class
        cls.c_code_cache_version = _not_kept  # type: ignore[attr-defined]
    for name, count in _METHODS_WITHOUT_GRAPH.items():
        given = len(inspect.signature(defined[name]).parameters) if name in defined else 0
        if name in METHODS_OF_GRAPH and given == count:
            setattr(cls, name, _without_function_graph(defined[name]))
        elif name not in METHODS_OF_GRAPH and given == count + 1:
            setattr(cls, name, _with_no_function_graph(defined[name]))


@including_instances_of(_PyTensorOp)
class PureOp(_PyTensorOp):
    """The base class of an operator without C code; see `Op`."""

    def __init_subclass__(cls, **kwargs: object) -> None:
        _adapt(cls)
        super().__init_subclass__(**kwargs)

    # programs ask an operator for an input's test value
    _get_test_value = staticmethod(get_test_value)

    def make_node(self, *inputs):
        if self.itypes is None or self.otypes is None:
            raise MethodNotDefined("make_node", type(self), type(self).__name__)
        return super().make_node(*inputs)

    def perform(self, node, inputs, output_storage):
        raise MethodNotDefined(
            "perform",
            type(self),
            type(self).__name__,
            "Modes that compile no C, such as FAST_COMPILE, need it",
        )

    def make_py_thunk(self, node, storage_map, compute_map, no_recycling, debug=False):
        """Return what runs a node in Python; what a user's `perform` computes is looked at."""
        thunk = super().make_py_thunk(node, storage_map, compute_map, no_recycling, debug=debug)
        return with_results_checked(thunk, node) if is_of_users(type(self).__module__) else thunk

    def grad(self, inputs: Sequence[Variable], output_grads: Sequence[Variable]):
        raise NotImplementedError(f"{self} has no gradient: it defines neither grad nor L_op")

    def L_op(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_grads: Sequence[Variable],
    ):
        return self.grad(inputs, output_grads)

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Variable | None]):
        raise NotImplementedError(f"{self} has no R_op")

    def pullback(self, inputs, outputs, cotangents):
        """Give PyTensor the gradient that `grad` or `L_op` defines."""
        return _as_list(self.L_op(inputs, outputs, cotangents))

    def pushforward(self, inputs, outputs, tangents):
        """Give PyTensor what `R_op` defines, with None where nothing is connected."""
        points = [None if isinstance(t.type, DisconnectedType) else t for t in tangents]
        results = _as_list(self.R_op(inputs, points))
        return [disconnected_type() if result is None else result for result in results]


@including_instances_of(_PyTensorCOp)
class Op(PureOp, _PyTensorCOp):
    """The base class of an operator that a user writes, with Theano's method names.

    A subclass defines `make_node` (or `itypes` and `otypes`) and `perform`, or `c_code`;
    `grad` (or `L_op`) for its gradient and `R_op` for `theano.Rop`. `infer_shape` takes
    ``(self, node, input_shapes)``. PyTensor's own names, `pullback` and `pushforward`, may
    be defined instead.

    Raises
    ------
    NotImplementedError
        A gradient is asked for and the operator defines none.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> class Double(theano.Op):
    ...     __props__ = ()
    ...     itypes = [T.dvector]
    ...     otypes = [T.dvector]
    ...     def perform(self, node, inputs, output_storage):
    ...         output_storage[0][0] = 2 * inputs[0]
    ...     def grad(self, inputs, output_grads):
    ...         return [2 * output_grads[0]]
    >>> x = T.dvector("x")
    >>> theano.grad(Double()(x).sum(), x).eval({x: [3.0]}).tolist()
    [2.0]
    """

    def make_py_thunk(self, node, storage_map, compute_map, no_recycling, debug=False):
        """Return what runs a node in Python; its C code where the node is folded to a constant."""
        folded = thunk_of_folding(node, storage_map, compute_map, no_recycling)
        return folded or super().make_py_thunk(
            node, storage_map, compute_map, no_recycling, debug=debug
        )

    def c_code(self, node, name, inputs, outputs, sub):
        raise MethodNotDefined("c_code", type(self), type(self).__name__)

    def c_code_cache_version(self):
        """Return the version of the C code; none by default, so that it is not kept."""
        return ()


@including_instances_of(_PyTensorExternalCOp)
class COp(PureOp, _PyTensorExternalCOp):
    """The base class of an operator whose C code is in files.

    Parameters
    ----------
    func_files : str or list of str
        Relative to the folder of the class.
    func_name : str, optional
        The function of them that computes the outputs; by default they define sections.
    """

    # The marks of sections before ``#section``
    backward_re = re.compile(r"^THEANO_(APPLY|SUPPORT)_CODE_SECTION$", re.MULTILINE)

    def __init__(self, func_files: str | list[str], func_name: str | None = None):
        with warnings.catch_warnings():
            # PyTensor is going to have no C in files; Theano has
            warnings.filterwarnings("ignore", "ExternalCOp is deprecated", FutureWarning)
            _PyTensorExternalCOp.__init__(self, func_files, func_name)

    @classmethod
    def get_path(cls, f: str | Path) -> Path:
        """Return where a file is whose name is relative to the folder of the class."""
        return super().get_path(Path(f))

    def make_py_thunk(self, node, storage_map, compute_map, no_recycling, debug=False):
        """Return what runs a node in Python; its C code where the node is folded to a constant."""
        folded = thunk_of_folding(node, storage_map, compute_map, no_recycling)
        return folded or super().make_py_thunk(
            node, storage_map, compute_map, no_recycling, debug=debug
        )

    # PyTensor writes labels behind this code, which may end in a line of the preprocessor.
    def c_code(self, node, name, inp, out, sub):
        return super().c_code(node, name, inp, out, sub) + "\n"

    def c_code_cleanup(self, node, name, inputs, outputs, sub):
        return super().c_code_cleanup(node, name, inputs, outputs, sub) + "\n"

    def c_init_code_struct(self, node, name, sub):
        return super().c_init_code_struct(node, name, sub) + "\n"


@including_instances_of(_PyTensorOpenMPOp)
class OpenMPOp(Op, _PyTensorOpenMPOp):
    """The base class of an operator whose C code may run on several threads.

    Parameters
    ----------
    openmp : bool, optional
        Whether to compile with OpenMP, where the compiler can; by default the flag `openmp`.
        ``self.openmp`` says so to `c_code`.
    """

    def __init__(self, openmp: bool | None = None):
        _PyTensorOpenMPOp.__init__(self, openmp)


def _as_list(results: object) -> list:
    return list(results) if isinstance(results, list | tuple) else [results]
