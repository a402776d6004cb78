"""compute_test_value: while the flag is on, every new variable gets a value to check shapes by.

PyTensor has no such thing, so the flag wraps `Op.__call__` while it is on, and only then; and what
writes the graph inside an operator, whose inputs have no values.
"""

import contextlib
import functools
import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.op import Op
from pytensor.graph.traversal import io_toposort
from pytensor.scalar.basic import ScalarOp

from theano.configdefaults import config
from theano.pytensor_internals.functions.compiling import WRITERS_OF_GRAPHS_INSIDE
from theano.pytensor_internals.graphs.graph import copy_of_node

__all__ = [
    "compute_missing_test_values",
    "compute_possible_test_values",
    "compute_test_value",
    "get_test_value",
    "no_test_values",
    "test_values_of_user_code",
    "tests_only_results",
    "use_runner",
]

_original_call = Op.__call__
_original_writers = {(owner, name): vars(owner)[name] for owner, name in WRITERS_OF_GRAPHS_INSIDE}
_paused = 0


def get_test_value(variable: object) -> Any:
    """Return the value that stands for a variable while its graph is built.

    Parameters
    ----------
    variable : Variable or anything
        A constant and a shared variable stand for themselves; another variable for its
        ``tag.test_value``; what is not a variable for itself.

    Raises
    ------
    AttributeError
        When the variable has no test value.
    TypeError
        When the test value does not fit the variable's type.
    """
    if not isinstance(variable, Variable):
        return variable
    if isinstance(variable, Constant):
        return variable.data
    if isinstance(variable, SharedVariable):
        return variable.get_value(borrow=True, return_internal_type=True)
    if not hasattr(variable.tag, "test_value"):
        raise AttributeError(f"{variable} of type {variable.type} has no test value")
    try:
        return variable.type.filter(variable.tag.test_value)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"The test value of {variable} does not fit its type {variable.type}: {error}"
        ) from error


def compute_test_value(node: Apply) -> None:
    """Compute ``tag.test_value`` of a node's outputs from those of its inputs.

    Raises
    ------
    AttributeError
        When an input has no test value.
    Exception
        What the computation raises, a wrong shape for instance.
    """
    values = [get_test_value(variable) for variable in node.inputs]
    if getattr(node.op, "destroy_map", None):
        values = [value.copy() if hasattr(value, "copy") else value for value in values]
    # a loop that is compiled rewrites its step, of which no gradient could be taken then
    copied = copy_of_node(node)
    storage: dict[Variable, list] = {}
    computed: dict[Variable, list] = {}
    for variable, value in zip(copied.inputs, values, strict=True):
        storage[variable], computed[variable] = [value], [True]
    for variable in copied.outputs:
        storage[variable], computed[variable] = [None], [False]
    [run] = _runners
    run(copied, storage, computed)
    for variable, computed_variable in zip(node.outputs, copied.outputs, strict=True):
        variable.tag.test_value = storage[computed_variable][0]


Runner = Callable[[Apply, dict[Variable, list], dict[Variable, list]], None]
_runners: list[Runner] = []


def use_runner(run: Runner) -> None:
    """Set what computes a node, from the values in its storage: whoever defines modes does."""
    _runners[:] = [run]


@contextlib.contextmanager
def no_test_values() -> Iterator[None]:
    """Compute no test values in this block: rewrites make variables that nobody asked about."""
    global _paused
    _paused += 1
    try:
        yield
    finally:
        _paused -= 1


@contextlib.contextmanager
def test_values_of_user_code() -> Iterator[None]:
    """Compute test values in this block again, within a block that computes none."""
    global _paused
    paused, _paused = _paused, 0
    try:
        yield
    finally:
        _paused = paused


def compute_missing_test_values(variables: Iterable[Variable]) -> None:
    """Compute the test values of what a block that computes none has made, if the flag is on.

    Raises
    ------
    ValueError
        When an input has no test value and the flag is 'raise'.
    """
    if config.compute_test_value == "off" or _paused:
        return
    for node in io_toposort([], [v for v in variables if v.owner is not None]):
        if not all(_has_test_value(output) for output in node.outputs):
            _test(node)


def compute_possible_test_values(variables: Iterable[Variable]) -> None:
    """Compute those of the missing test values whose inputs have them, if the flag is on."""
    if config.compute_test_value != "off":
        with config.change_flags(compute_test_value="ignore"):
            compute_missing_test_values(variables)


def tests_only_results(build: Callable) -> Callable:
    """A function that builds variables, of which only what leads to its results is tested.

    Parameters
    ----------
    build : callable
        Returns a variable, or a list or tuple of them. On the way it may make variables that have
        no value yet.
    """

    @functools.wraps(build)
    def tested(*args, **kwargs):
        with no_test_values():
            results = build(*args, **kwargs)
        compute_missing_test_values(results if isinstance(results, list | tuple) else [results])
        return results

    # `inspect.getfullargspec` looks at no `__wrapped__`
    tested.__signature__ = inspect.signature(build)  # type: ignore[attr-defined]
    return tested


@functools.wraps(_original_call)
def _call_and_test(op, *inputs, **kwargs):
    result = _original_call(op, *inputs, **kwargs)
    variables = result if isinstance(result, list | tuple) else [result]
    if not _paused and variables and getattr(variables[0], "owner", None) is not None:
        _test(variables[0].owner)
    return result


def _untested(write: Callable) -> Callable:
    """Return what writes a graph inside an operator, whose inputs have no values."""

    @functools.wraps(write)
    def written(*args, **kwargs):
        with no_test_values():
            return write(*args, **kwargs)

    return written


def _test(node: Apply) -> None:
    """Compute a node's test values, or do what the flag says where an input has none."""
    missing = [v for v in node.inputs if not (_has_test_value(v) or _made_without_a_call(v))]
    if not missing:
        with no_test_values():
            compute_test_value(node)
        return
    if isinstance(node.op, ScalarOp):
        # an elementwise operation's gradient comes from a graph of scalars that have no values
        return
    action = config.compute_test_value
    message = f"Cannot compute a test value for {node.op}: input {missing[0]} has no test value"
    if action == "raise":
        raise ValueError(message)
    if action == "warn":
        warnings.warn(message, stacklevel=4)
    elif action == "pdb":
        import pdb

        pdb.set_trace()


# operators on top of each other that a PyTensor gradient makes without calling them
_DEEPEST_WITHOUT_A_CALL = 4


def _made_without_a_call(variable: Variable, depth: int = 0) -> bool:
    """Compute the test value of what `make_node` has made from inputs that have one; say whether."""
    node = variable.owner
    if node is None or isinstance(node.op, ScalarOp) or depth == _DEEPEST_WITHOUT_A_CALL:
        return False
    if not all(_has_test_value(v) or _made_without_a_call(v, depth + 1) for v in node.inputs):
        return False
    with no_test_values():
        compute_test_value(node)
    return True


def _has_test_value(variable: Variable) -> bool:
    return isinstance(variable, Constant | SharedVariable) or hasattr(variable.tag, "test_value")


def _hook(action: str) -> None:
    wanted = _original_call if action == "off" else _call_and_test
    if Op.__call__ is not wanted:
        setattr(Op, "__call__", wanted)  # noqa: B010 -- mypy forbids the plain assignment
        for (owner, name), original in _original_writers.items():
            setattr(owner, name, original if action == "off" else _untested(original))


config.watch("compute_test_value", _hook)
