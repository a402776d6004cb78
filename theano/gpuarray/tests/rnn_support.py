"""Recurrent layers as a model, which programs for `theano.gpuarray.dnn` compare with.

Each layer has its weights as attributes, and in ``params``, the parts for the input first.
"""

from typing import Any

import numpy as np
from pytensor.tensor import TensorLike

from theano.compile import shared
from theano.configdefaults import config
from theano.scan_module import scan
from theano.tensor import nnet
from theano.tensor.basic import dot, tanh

__all__ = [
    "FC",
    "GRU",
    "LSTM",
    "Layer",
    "Model",
    "WrapperLayer",
    "bias_weights",
    "linear_transform_weights",
    "uniform",
]


class Model:
    """Layers, their parameters, and what they update next to these."""

    def __init__(self, name: str = ""):
        self.name = name
        self.layers: list = []
        self.params: list = []
        self.other_updates: dict = {}

    def add_layer(self, layer: Any) -> None:
        """Add a layer, with its parameters and updates."""
        self.layers.append(layer)
        self.params += layer.params
        self.other_updates.update(getattr(layer, "other_updates", ()))

    def get_params(self) -> list:
        return self.params


def uniform(stdev: float, size: Any) -> np.ndarray:
    """Draw numbers of this standard deviation, all alike likely."""
    farthest = stdev * np.sqrt(3)
    return np.random.uniform(-farthest, farthest, size).astype(config.floatX)


def linear_transform_weights(
    input_dim: int, output_dim: int, param_list: list | None = None, name: str = ""
) -> Any:
    """Make a matrix, and append it to a list, which must be given."""
    if param_list is None:
        raise ValueError("linear_transform_weights: expected param_list")
    W = shared(uniform(np.sqrt(2.0 / input_dim), (input_dim, output_dim)), name=name)
    param_list.append(W)
    return W


def bias_weights(length: Any, param_list: list | None = None, name: str = "") -> Any:
    """Make a bias of zeros, and append it to a list if one is given."""
    bias = shared(np.zeros(length, dtype=config.floatX), name=name)
    if param_list is not None:
        param_list.append(bias)
    return bias


class Layer:
    """The base of all layers: a name and parameters."""

    def __init__(self, name: str = ""):
        self.name = name
        self.params: list = []

    def get_params(self) -> list:
        return self.params

    def _add_weights(self, rows: int, columns: int, matrix: str, bias: str) -> None:
        made = linear_transform_weights(rows, columns, self.params, f"{self.name}.{matrix}")
        setattr(self, matrix, made)
        setattr(self, bias, bias_weights((columns,), self.params, f"{self.name}.{bias}"))


class _Recurrent(Layer):
    """A layer that is a loop over the first axis of its input.

    Attributes
    ----------
    of_input, of_state
        For each gate, the names of a matrix and of its bias.
    """

    of_input: tuple[tuple[str, str], ...]
    of_state: tuple[tuple[str, str], ...]
    Y: Any

    def __init__(self, input_dim: int, output_dim: int, input_layer: Any, name: str):
        super().__init__(name)
        self.input_dim, self.input_layer = input_dim, input_layer
        self.hidden_dim = self.output_dim = output_dim
        self.X = input_layer.output()
        for names in self.of_input:
            self._add_weights(input_dim, output_dim, *names)
        for names in self.of_state:
            self._add_weights(output_dim, output_dim, *names)

    def _from_input(self, x: TensorLike, gate: str) -> Any:
        return self._applied(self.of_input, x, f"W_{gate}")

    def _from_state(self, h: TensorLike, gate: str) -> Any:
        return self._applied(self.of_state, h, f"R_{gate}")

    def _applied(self, names: tuple[tuple[str, str], ...], value: object, matrix: str) -> Any:
        return dot(value, getattr(self, matrix)) + getattr(self, dict(names)[matrix])

    def output(self) -> Any:
        """Return the states of all steps."""
        return self.Y


class GRU(_Recurrent):
    """Gated recurrent units, with the reset gate after the product, as cuDNN has them."""

    of_input = (("W_r", "b_wr"), ("W_i", "b_wi"), ("W_h", "b_wh"))
    of_state = (("R_r", "b_rr"), ("R_i", "b_ru"), ("R_h", "b_rh"))

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        input_layer: object,
        s0: object = None,
        name: str = "",
    ):
        super().__init__(input_dim, output_dim, input_layer, name)
        self.s0 = s0
        self.Y, _ = scan(self._step, sequences=[self.X], outputs_info=s0)

    def _step(self, x: TensorLike, h: TensorLike) -> Any:
        keep = nnet.sigmoid(self._from_input(x, "i") + self._from_state(h, "i"))
        reset = nnet.sigmoid(self._from_input(x, "r") + self._from_state(h, "r"))
        new = tanh(self._from_input(x, "h") + reset * self._from_state(h, "h"))
        return (1.0 - keep) * new + keep * h


class LSTM(_Recurrent):
    """Units with a cell and three gates."""

    of_input = (("W_i", "b_wi"), ("W_f", "b_wf"), ("W_c", "b_wc"), ("W_o", "b_wo"))
    of_state = (("R_i", "b_ri"), ("R_f", "b_rf"), ("R_c", "b_rc"), ("R_o", "b_ro"))

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        input_layer: object,
        s0: object = None,
        c0: object = None,
        name: str = "",
    ):
        super().__init__(input_dim, output_dim, input_layer, name)
        self.s0, self.c0 = s0, c0
        (self.Y, self.C), _ = scan(self._step, sequences=[self.X], outputs_info=[s0, c0])

    def _step(self, x: TensorLike, h: TensorLike, c: TensorLike) -> tuple[Any, Any]:
        gates = [nnet.sigmoid(self._from_input(x, g) + self._from_state(h, g)) for g in "ifo"]
        new = tanh(self._from_input(x, "c") + self._from_state(h, "c"))
        cell = gates[1] * c + gates[0] * new
        return gates[2] * tanh(cell), cell


class FC(Layer):
    """A matrix and a bias."""

    def __init__(self, input_dim: int, output_dim: int, input_layer: Any, name: str = ""):
        super().__init__(name)
        self.input_dim, self.output_dim, self.input_layer = input_dim, output_dim, input_layer
        self.X = input_layer.output()
        self._add_weights(input_dim, output_dim, "W", "b")

    def output(self) -> Any:
        return dot(self.X, self.W) + self.b  # type: ignore[attr-defined]


class WrapperLayer(Layer):
    """A variable as a layer."""

    def __init__(self, X: object, name: str = ""):
        super().__init__(name)
        self.X = X

    def output(self) -> Any:
        return self.X
