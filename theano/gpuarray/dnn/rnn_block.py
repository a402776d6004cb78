"""Stacks of recurrent layers whose parameters lie in one vector, as cuDNN keeps them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import theano.tensor as T
from theano.compile.sharedvalue import SharedVariable
from theano.gpuarray.contexts import list_contexts
from theano.gpuarray.dnn.cells import CELLS
from theano.gpuarray.dnn.layout import ParameterLayout
from theano.gpuarray.dnn.lstm_layers import Stack, lstm_layers
from theano.gpuarray.dnn.parameter_views import arrays_of_pseudo_layer, writable_vector
from theano.gpuarray.dnn.presence import dnn_available
from theano.scan_module.scan import scan
from theano.tensor.opt import Assert

__all__ = ["RNNBlock"]

_DIRECTIONS = {"unidirectional": 1, "bidirectional": 2}
_INPUT_MODES = {"linear": False, "skip": True}


class RNNBlock:
    """A stack of recurrent layers with its parameters in one vector, in cuDNN's layout.

    The cells, with two biases each, are cuDNN's::

        rnn_relu, rnn_tanh   h' = relu or tanh (W x + b_W + U h + b_U)
        lstm                 i, f, o = sigmoid(W x + b_W + U h + b_U) with their own W, U and b
                             c' = f * c + i * tanh(W_c x + b_Wc + U_c h + b_Uc)
                             h' = o * tanh(c')
        gru                  r, z = sigmoid(W x + b_W + U h + b_U) with their own W, U and b
                             n = tanh(W_n x + b_Wn + r * (U_n h + b_Un))
                             h' = (1 - z) * n + z * h

    Parameters
    ----------
    dtype : str
        Type of the parameters, the input and the states.
    hidden_size : int
        Width of the states.
    num_layers : int
        How many layers lie on each other.
    rnn_mode : {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'}
        The cell.
    input_mode : {'linear', 'skip'}
        Whether the first layer multiplies its input by matrices, or adds it to each gate as it
        is, for which it must be as wide as the state.
    direction_mode : {'unidirectional', 'bidirectional'}
        Whether each layer also runs from the last step to the first; the next layer then gets
        both outputs side by side.
    context_name : str, optional
        The context to compute on; by default where the arguments of `apply` are.

    Raises
    ------
    ValueError
        When a mode is not known, or a size is not positive.

    Examples
    --------
    >>> import numpy as np, theano, theano.tensor as T
    >>> from theano.gpuarray.dnn import RNNBlock
    >>> block = RNNBlock("float64", hidden_size=4, num_layers=2, rnn_mode="gru")
    >>> w = theano.shared(0.1 * np.ones(block.get_param_size([3, 5])))
    >>> x, h0 = T.tensor3("x"), T.tensor3("h0")
    >>> y, h = block.apply(w, x, h0)
    >>> f = theano.function([x, h0], [y, h])
    >>> [value.shape for value in f(np.ones((7, 3, 5)), np.zeros((2, 3, 4)))]
    [(7, 3, 4), (2, 3, 4)]
    """

    def __init__(
        self,
        dtype: str,
        hidden_size: int,
        num_layers: int,
        rnn_mode: str,
        input_mode: str = "linear",
        direction_mode: str = "unidirectional",
        context_name: str | None = None,
    ):
        self.cell = _known("rnn_mode", rnn_mode, CELLS)
        self.layout = ParameterLayout(
            gates=len(self.cell.gates),
            hidden_size=_positive("hidden_size", hidden_size),
            num_layers=_positive("num_layers", num_layers),
            num_directions=_known("direction_mode", direction_mode, _DIRECTIONS),
            skips_input=_known("input_mode", input_mode, _INPUT_MODES),
        )
        self.dtype = str(np.dtype(dtype))
        self.rnn_mode = rnn_mode
        self.input_mode = input_mode
        self.direction_mode = direction_mode
        self.context_name = context_name

    def get_param_size(self, input_size: Sequence[int]) -> int:
        """Return the length of the vector that holds all parameters.

        Parameters
        ----------
        input_size : (int, int)
            Number of rows in a batch, which does not matter here, and width of the input.

        Returns
        -------
        int
        """
        return int(self.layout.size(self.input_width(input_size)))

    def split_params(self, w: SharedVariable, layer: int, input_size: Sequence[int]) -> list:
        """Return the arrays of a layer; writing into them writes into the value of `w`.

        Parameters
        ----------
        w : SharedVariable
            The parameters.
        layer : int
            Which pseudo-layer: a layer, or where the network is bidirectional twice the layer,
            plus one for the backward direction.
        input_size : (int, int)
            Number of rows in a batch and width of the input.

        Returns
        -------
        list of arrays
            Matrix (inputs, outputs) and bias in turn: for each gate those that multiply the input,
            then for each gate those that multiply the state. The gates are, in this order: for an
            lstm i, f, c, o; for a gru r, z, n.

        Raises
        ------
        TypeError
            When `w` is not a shared variable.
        ValueError
            When there is no such layer, or `w` has another length.
        """
        if not isinstance(w, SharedVariable):
            raise TypeError(f"RNNBlock.split_params: w should be a shared variable; got {w!r}")
        width = self.input_width(input_size)
        vector = writable_vector(w)
        self.check_length("split_params", vector.shape, width)
        return arrays_of_pseudo_layer(vector, self.layout, self._pseudo_layer(layer), width)

    def apply(self, w: object, x: Any, hx: object, cx: Any = None) -> list:
        """Return what the network computes from an input.

        Parameters
        ----------
        w : vector
            The parameters, `get_param_size` of them.
        x : tensor of 3 dimensions
            The input: (steps, batch, width).
        hx : tensor of 3 dimensions
            The first states: (layers, batch, hidden size); where the network is bidirectional,
            forward and backward of each layer in turn.
        cx : tensor of 3 dimensions, optional
            The first memories of an lstm.

        Returns
        -------
        list of Variable
            The outputs of the last layer, (steps, batch, hidden size times directions), and the
            last states; of an lstm also the last memories.

        Raises
        ------
        TypeError
            When an argument has another dtype or number of dimensions.
        ValueError
            When `cx` is missing for an lstm, or given for another cell.
        """
        if (cx is not None) != (self.cell.states == 2):
            needed = "needs" if cx is None else "has no"
            raise ValueError(f"RNNBlock.apply: {self.rnn_mode} {needed} initial memory cx")
        w = self._checked("w", w, 1)
        x = self._checked("x", x, 3)
        starts = [self._checked("hx", hx, 3)]
        if cx is not None:
            starts.append(self._checked("cx", cx, 3))
        w = self._with_length_checked(w, x.type.shape[2] or x.shape[2])
        if self._has_kernel():
            sizes = (self.layout.hidden_size, self.layout.num_layers)
            stack = Stack(*sizes, self.layout.num_directions == 2)
            return lstm_layers(self._as_loops, stack, [w, x, *starts])
        return self._as_loops(w, x, *starts)

    def _has_kernel(self) -> bool:
        """Return whether the context's device is one where cuDNN runs such layers through JAX."""
        runs = self.rnn_mode == "lstm" and self.dtype == "float32" and not self.layout.skips_input
        return runs and self.context_name in list_contexts() and dnn_available(self.context_name)

    def _as_loops(self, w: object, x: Any, *starts: Any) -> list:
        """Return what `apply` returns, each layer and direction as a loop."""
        width = x.type.shape[2] or x.shape[2]
        last_of_layers: list[list] = [[] for _ in starts]
        directions = self.layout.num_directions
        for layer in range(self.layout.num_layers):
            outputs = []
            for direction in range(directions):
                pseudo_layer = layer * directions + direction
                traces = self._loop(w, x, [s[pseudo_layer] for s in starts], pseudo_layer, width)
                # A loop that runs backwards yields its outputs in the order of its steps.
                outputs.append(traces[0][::-1] if direction else traces[0])
                for last, trace in zip(last_of_layers, traces, strict=True):
                    last.append(trace[-1])
            x = outputs[0] if directions == 1 else T.concatenate(outputs, axis=2)
        return [x, *(T.stack(last) for last in last_of_layers)]

    def input_width(self, input_size: Sequence[int]) -> int:
        """Return the width of the input, checked against the block.

        Parameters
        ----------
        input_size : (int, int)
            Number of rows in a batch and width of the input.

        Returns
        -------
        int
        """
        if len(input_size) != 2:
            raise ValueError(
                "RNNBlock: input_size should be (number of rows in a batch, width of the input); "
                f"got {input_size!r}"
            )
        width = _positive("the width of the input", input_size[1])
        if self.layout.skips_input and width != self.layout.hidden_size:
            raise ValueError(
                "RNNBlock: input_mode 'skip' needs an input as wide as the state, "
                f"{self.layout.hidden_size}; got {width}"
            )
        return width

    def check_length(self, where: str, shape: Sequence[int], width: int) -> None:
        """Raise ValueError unless `shape` is that of a vector of all parameters."""
        expected = (self.layout.size(width),)
        if tuple(shape) != expected:
            raise ValueError(
                f"RNNBlock.{where}: for an input of width {width} the parameters should have the "
                f"shape {expected}; got {tuple(shape)}"
            )

    def _loop(self, w, x, starts, pseudo_layer, width) -> list:
        """Run one layer in one direction; returns the trace of each state, in order of steps."""
        layout = self.layout
        joined = layout.gates * layout.hidden_size
        rows = layout.input_rows(pseudo_layer, width)
        input_biases = layout.input_biases(pseudo_layer, width)
        state_biases = layout.state_biases(pseudo_layer, width)
        state_matrices = layout.state_matrices(pseudo_layer, width)
        if layout.skips_input and pseudo_layer < layout.num_directions:
            sums = T.concatenate([x] * layout.gates, axis=2)
        else:
            start = layout.input_matrices(pseudo_layer, width)
            sums = T.dot(x, w[start : start + joined * rows].reshape((joined, rows)).T)
        sums = sums + w[input_biases : input_biases + joined]
        stored = w[state_matrices : state_matrices + joined * layout.hidden_size]
        traces, _ = scan(
            lambda *arguments: list(self.cell.step(layout.hidden_size, *arguments)),
            sequences=[sums],
            outputs_info=starts,
            non_sequences=[
                stored.reshape((joined, layout.hidden_size)).T,
                w[state_biases : state_biases + joined],
            ],
            go_backwards=bool(pseudo_layer % layout.num_directions),
            strict=True,
            return_list=True,
        )
        return traces

    def _checked(self, name: str, given: Any, ndim: int) -> Any:
        variable = T.as_tensor_variable(given)
        if variable.dtype != self.dtype or variable.ndim != ndim:
            raise TypeError(
                f"RNNBlock.apply: {name} should be {self.dtype} with {ndim} dimensions; got "
                f"{variable.dtype} with {variable.ndim}"
            )
        if self.context_name is not None:
            variable = variable.transfer(self.context_name)
        return variable

    def _with_length_checked(self, w: Any, width: object) -> Any:
        """Check the length of `w` now where all sizes are known, else in each call."""
        if isinstance(width, int) and w.type.shape[0] is not None:
            self.check_length("apply", w.type.shape, width)
            return w
        message = (
            f"RNNBlock.apply: the length of w is not get_param_size of the input's width "
            f"({self.rnn_mode}, {self.direction_mode}, hidden_size {self.layout.hidden_size}, "
            f"num_layers {self.layout.num_layers})"
        )
        return Assert(message)(w, T.eq(w.shape[0], self.layout.size(width)))

    def _pseudo_layer(self, layer: int) -> int:
        if not 0 <= layer < self.layout.pseudo_layers:
            raise ValueError(
                f"RNNBlock.split_params: layer should be from 0 to "
                f"{self.layout.pseudo_layers - 1}; got {layer}"
            )
        return int(layer)


def _known(name: str, given: str, table: dict) -> Any:
    if given not in table:
        raise ValueError(f"RNNBlock: {name} should be one of {', '.join(table)}; got {given!r}")
    return table[given]


def _positive(name: str, given: int) -> int:
    if int(given) != given or given < 1:
        raise ValueError(f"RNNBlock: {name} should be a positive integer; got {given!r}")
    return int(given)
