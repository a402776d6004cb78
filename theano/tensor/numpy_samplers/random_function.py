"""The type of variables that hold NumPy's `RandomState`, and the operation that draws from them."""

from collections.abc import Callable

import numpy as np
import pytensor.tensor as pt
from numpy.random.bit_generator import ISeedSequence
from pytensor.gradient import disconnected_type, grad_undefined
from pytensor.graph.basic import Apply, Constant
from pytensor.graph.op import Op
from pytensor.tensor.exceptions import ShapeError
from pytensor.tensor.type import TensorType

from theano.gof.type import PureType
from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, dfs_rewriter, node_rewriter
from theano.pytensor_internals.graphs.shapes import shape_rule
from theano.rewriting.database import FAST_RUN_TAG, register_for_tags

__all__ = [
    "RandomFunction",
    "RandomStateType",
    "copied_state",
    "random_state_type",
    "state_from",
]


class RandomStateType(PureType):
    """The type of variables that hold a `numpy.random.RandomState`."""

    def __str__(self):
        return "RandomStateType"

    def __eq__(self, other):
        return type(self) is type(other)

    def __hash__(self):
        return hash(type(self))

    def filter(self, data, strict=False, allow_downcast=None):
        if not self.is_valid_value(data):
            raise TypeError(f"expected a numpy.random.RandomState, got {type(data)}")
        return data

    def is_valid_value(self, data, strict=True):
        return type(data) is np.random.RandomState

    @staticmethod
    def values_eq(a, b):
        """Return whether the two generators draw the same from now on."""
        *first, has_first, cached_first = a.get_state()
        *second, has_second, cached_second = b.get_state()
        return (
            all(np.array_equal(x, y) for x, y in zip(first, second, strict=True))
            and has_first == has_second
            # without a cached draw, that number means nothing
            and (not has_first or cached_first == cached_second)
        )

    @staticmethod
    def may_share_memory(a, b):
        return a is b


random_state_type = RandomStateType()


class _NoSeed(ISeedSequence):
    """The seed of a generator whose state is set afterwards: one from entropy takes long."""

    def generate_state(self, n_words, dtype=np.uint32):
        return np.zeros(n_words, dtype)


def state_from(values: dict) -> np.random.RandomState:
    """Make a generator of what `RandomState.get_state` gave."""
    # NumPy takes any `ISeedSequence`, which its annotation leaves out
    state = np.random.RandomState(np.random.MT19937(_NoSeed()))  # type: ignore[arg-type]
    state.set_state(values)
    return state


def copied_state(state: np.random.RandomState) -> np.random.RandomState:
    """Make another generator in the same state."""
    # copy.copy gives another object with the same bits, which would both advance.
    return state_from(state.get_state(legacy=False))


class RandomFunction(Op):
    """Draw a tensor with a method of `numpy.random.RandomState`.

    Parameters
    ----------
    fn : str or callable
        Name of a method of `RandomState`, or a function that takes the generator, the
        parameters, and the shape as the last.
    outtype : TensorType
        The type of the sample.
    inplace : bool
        Whether the generator itself advances, instead of a copy.
    ndim_added : int
        How many dimensions the sample has besides those of the shape.
    """

    __props__ = ("fn", "outtype", "inplace", "ndim_added")

    def __init__(
        self,
        fn: str | Callable,
        outtype: TensorType,
        inplace: bool = False,
        ndim_added: int = 0,
    ):
        self.fn = fn
        self.outtype = outtype
        self.inplace = inplace
        self.ndim_added = ndim_added
        if inplace:
            self.destroy_map = {0: [0]}

    @property
    def exec_fn(self) -> Callable:
        """The function that draws."""
        return getattr(np.random.RandomState, self.fn) if isinstance(self.fn, str) else self.fn

    def __str__(self):
        return f"RandomFunction{{{self.exec_fn.__name__}}}"

    def make_node(self, r, shape, *args):
        """Draw with the generator `r`.

        Parameters
        ----------
        r : variable of RandomStateType
        shape : integer vector
            The shape, but for the last `ndim_added` dimensions; empty for that of the
            parameters together.
        *args : tensors
            The parameters.

        Returns
        -------
        Apply
            Its outputs are the advanced generator and the sample.
        """
        if not isinstance(r.type, RandomStateType):
            raise TypeError(f"{self}: expected a variable of RandomStateType, got {r.type}")
        shape = pt.as_tensor_variable(shape, ndim=1)
        if shape.type.shape == (0,):
            # Without elements, NumPy makes a vector of floats.
            shape = shape.astype("int64")
        if shape.dtype not in pt.type.integer_dtypes:
            raise TypeError(f"{self}: expected a shape of integers, got {shape.type}")
        args = [pt.as_tensor_variable(argument) for argument in args]
        return Apply(self, [r, shape, *args], [r.type(), self.outtype()])

    @shape_rule
    def infer_shape(self, node, input_shapes):
        shape = node.inputs[1]
        empty = isinstance(shape, Constant) and not len(shape.data)
        if self.ndim_added or (empty and self.outtype.ndim):
            raise ShapeError(f"the shape of {self} depends on its parameters' values")
        return [None, [shape[axis] for axis in range(self.outtype.ndim)]]

    def perform(self, node, inputs, output_storage):
        r, lengths, *parameters = inputs
        ndim, added = self.outtype.ndim, self.ndim_added
        shape = tuple(int(length) for length in lengths) if len(lengths) else None
        if shape is not None and ndim != len(shape) + added:
            raise ValueError(
                f"{self}: expected a shape of {ndim - added} lengths, got {shape}, "
                f"for {ndim} dimensions of which {added} are added"
            )
        if not self.inplace:
            r = copied_state(r)
        sampled = np.asarray(self.exec_fn(r, *parameters, shape))
        sampled = sampled.astype(node.outputs[1].type.dtype, copy=False)
        if shape is None and sampled.ndim == 0:
            # NumPy gives one number where all parameters are numbers.
            sampled = sampled.reshape((1,) * ndim)
        known = () if shape is None else shape
        if sampled.ndim != ndim or sampled.shape[: len(known)] != known:
            raise ValueError(
                f"{self}: expected a sample of {ndim} dimensions that starts with shape {known}, "
                f"got shape {sampled.shape}"
            )
        output_storage[0][0] = r
        output_storage[1][0] = sampled

    def connection_pattern(self, node):
        """Connect a sample with its parameters, though not smoothly, and the generator with nothing."""
        return [[False, False], [False, False], *([False, True] for _ in node.inputs[2:])]

    def pullback(self, inputs, outputs, cotangents):
        refused = [
            grad_undefined(self, k, value, "samples have no gradient")
            for k, value in enumerate(inputs[2:], 2)
        ]
        return [disconnected_type(), disconnected_type(), *refused]

    def pushforward(self, inputs, outputs, tangents):
        return [disconnected_type() for _ in outputs]


@node_rewriter([RandomFunction], inplace=True)
def _sample_in_place(fgraph, node):
    op = node.op
    if op.inplace:
        return False
    advancing = RandomFunction(op.fn, op.outtype, inplace=True, ndim_added=op.ndim_added)
    sampled = advancing.make_node(*node.inputs).outputs
    copy_stack_trace(node.outputs, sampled)
    return sampled


register_for_tags(
    "random_make_inplace_random_state",
    dfs_rewriter(_sample_in_place, ignore_newtrees=True),
    FAST_RUN_TAG,
    "inplace",
    position=99,
)
