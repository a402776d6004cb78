"""Batch normalisation."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.configdefaults import config as _pytensor_config
from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.tensor.variable import TensorVariable

from theano.compile.rebroadcast import addbroadcast
from theano.pytensor_internals.operations.tensor import TensorSymbolicOp

__all__ = [
    "AbstractBatchNormInference",
    "AbstractBatchNormTrain",
    "AbstractBatchNormTrainGrad",
    "batch_normalization",
    "batch_normalization_test",
    "batch_normalization_train",
]

_NAMED_AXES = {
    "per-activation": lambda ndim: (0,),
    "spatial": lambda ndim: (0, *range(2, ndim)),
}


def batch_normalization(
    inputs: object, gamma: Any, beta: object, mean: Any, std: object, mode: str = "low_mem"
) -> TensorVariable:
    """Return ``(inputs - mean) / std * gamma + beta``.

    Parameters
    ----------
    inputs, gamma, beta, mean, std : tensors
        They broadcast against each other.
    mode : {'low_mem', 'high_mem'}
        Theano's choice of what to keep for the gradient; the values are the same.

    Raises
    ------
    ValueError
        An unknown mode.
    """
    if mode not in ("low_mem", "high_mem"):
        raise ValueError(
            f"batch_normalization: expected mode 'low_mem' or 'high_mem', got {mode!r}"
        )
    if mode == "high_mem":
        return (inputs - mean) * (gamma / std) + beta
    # walks over the graph come to `std` before `gamma`, as they did in Theano
    return (inputs - mean) / std * gamma + beta


def _normalised_axes(axes: str | Sequence[int], ndim: int) -> tuple[int, ...]:
    if isinstance(axes, str):
        if axes not in _NAMED_AXES:
            raise ValueError(f"expected axes {sorted(_NAMED_AXES)} or integers, got {axes!r}")
        return _NAMED_AXES[axes](ndim)
    chosen = tuple(sorted(int(axis) for axis in axes))
    if not chosen or chosen[0] < 0 or chosen[-1] >= ndim:
        raise ValueError(f"expected axes between 0 and {ndim - 1}, at least one, got {axes}")
    return chosen


def _checked_epsilon(epsilon: float) -> float:
    rounded = np.dtype(_pytensor_config.floatX).type(epsilon)
    if rounded < 1e-5:
        raise ValueError(f"epsilon must be at least 1e-5, got {epsilon}")
    return rounded


def _over_inputs(
    parameters: dict[str, Any], ndim: int, axes: tuple[int, ...]
) -> tuple[list[TensorVariable], bool]:
    """Give each parameter the dimensions of the inputs; say whether they were left out."""
    kept = [axis for axis in range(ndim) if axis not in axes]
    tensors = {name: pt.as_tensor_variable(value) for name, value in parameters.items()}
    ranks = {name: tensor.ndim for name, tensor in tensors.items()}
    if all(rank == ndim for rank in ranks.values()):
        return [addbroadcast(tensor, *axes) for tensor in tensors.values()], False
    if all(rank == len(kept) for rank in ranks.values()):
        pattern = [kept.index(axis) if axis in kept else "x" for axis in range(ndim)]
        return [tensor.dimshuffle(pattern) for tensor in tensors.values()], True
    raise ValueError(
        f"expected all of {sorted(tensors)} to have {len(kept)} dimensions, or all {ndim}, "
        f"got {ranks}"
    )


def batch_normalization_train(
    inputs: Any,
    gamma: object,
    beta: Any,
    axes: str | Sequence[int] = "per-activation",
    epsilon: float = 1e-4,
    running_average_factor: float = 0.1,
    running_mean: object = None,
    running_var: Any = None,
) -> tuple[TensorVariable, ...]:
    """Normalise `inputs` by their own mean and variance along `axes`.

    Parameters
    ----------
    inputs : tensor
    gamma, beta : tensors
        The scale and the shift: of the shape of `inputs` without `axes`, or with length 1
        there.
    axes : {'per-activation', 'spatial'} or sequence of int
        ``'per-activation'`` is axis 0; ``'spatial'`` is all but axis 1.
    epsilon : float
        Added to the variance; at least 1e-5.
    running_average_factor : float
        How much of this batch goes into the running averages.
    running_mean, running_var : tensors, optional
        The running averages so far, shaped as `gamma`: both or neither.

    Returns
    -------
    out, mean, invstd : tensors
        The result, the mean, and 1 over the standard deviation.
    running_mean, running_var : tensors
        The new running averages, if they were given.

    Raises
    ------
    ValueError
        Shapes, axes or `epsilon` that do not fit, or one running average without the other.
    """
    if (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must be given together")
    inputs = pt.as_tensor_variable(inputs)
    axes = _normalised_axes(axes, inputs.ndim)
    epsilon = _checked_epsilon(epsilon)
    parameters = {"gamma": gamma, "beta": beta}
    if running_mean is not None:
        parameters |= {"running_mean": running_mean, "running_var": running_var}
    (scale, shift, *running), left_out = _over_inputs(parameters, inputs.ndim, axes)

    normalise = AbstractBatchNormTrain(axes)
    out, *statistics = normalise(
        inputs, scale, shift, epsilon, running_average_factor, *running, return_list=True
    )
    if left_out:
        kept = [axis for axis in range(inputs.ndim) if axis not in axes]
        statistics = [statistic.dimshuffle(kept) for statistic in statistics]
    return out, *statistics


def _new_averages(inputs, axes, mean, variance, factor, running) -> list[TensorVariable]:
    count = pt.cast(pt.prod([inputs.shape[axis] for axis in axes]), inputs.dtype)
    unbiased = variance * count / (count - 1)
    return [
        running[0] * (1 - factor) + mean * factor,
        running[1] * (1 - factor) + unbiased * factor,
    ]


def batch_normalization_test(
    inputs: Any,
    gamma: object,
    beta: Any,
    mean: object,
    var: Any,
    axes: str | Sequence[int] = "per-activation",
    epsilon: float = 1e-4,
) -> TensorVariable:
    """Normalise `inputs` by a given mean and variance: see `batch_normalization_train`.

    Parameters
    ----------
    mean, var : tensors
        Shaped as `gamma` and `beta`.

    Returns
    -------
    TensorVariable
        ``(inputs - mean) * gamma / sqrt(var + epsilon) + beta``.
    """
    inputs = pt.as_tensor_variable(inputs)
    axes = _normalised_axes(axes, inputs.ndim)
    epsilon = _checked_epsilon(epsilon)
    parameters = {"gamma": gamma, "beta": beta, "mean": mean, "var": var}
    (scale, shift, centre, spread), _ = _over_inputs(parameters, inputs.ndim, axes)
    return AbstractBatchNormInference(axes)(inputs, scale, shift, centre, spread, epsilon)


class _OverAxes(TensorSymbolicOp):
    """An operator whose graph takes its place when a function is made.

    Parameters
    ----------
    axes : tuple of int
    """

    __props__ = ("axes",)
    inline = True

    def __init__(self, axes: tuple[int, ...] = (0,), **kwargs: object):
        # not every graph reads epsilon and the factor of averages
        super().__init__(axes=tuple(axes), **{"on_unused_input": "ignore", **kwargs})


class AbstractBatchNormTrain(_OverAxes):
    """`batch_normalization_train` for parameters of as many dimensions as the inputs."""

    __props__ = ("axes",)

    def connection_pattern(self, node):
        """Return what of the results depends smoothly on each operand, as Theano has it."""
        averages = len(node.outputs) - 3
        pattern = [[True] * len(node.outputs)]
        pattern += [[True, False, False, *[False] * averages]] * 2
        pattern += [[False] * len(node.outputs)] * 2
        return pattern + [
            [k == 3 + one for k in range(len(node.outputs))] for one in range(averages)
        ]

    def pullback(self, inputs, outputs, cotangents):
        """Return the gradient as one operator, unless more than the normalised values is used."""
        of_out, *others = cotangents
        used = [not isinstance(one.type, DisconnectedType) for one in others]
        if any(used) or isinstance(of_out.type, DisconnectedType):
            gradients = list(super().pullback(inputs, outputs, cotangents))
        else:
            x, scale, _, epsilon = inputs[:4]
            operands = x, of_out, scale, *outputs[1:3], epsilon
            gradients = [*AbstractBatchNormTrainGrad(self.axes)(*operands, return_list=True)]
            gradients += [disconnected_type() for _ in inputs[3:]]
        gradients[3:5] = [disconnected_type(), disconnected_type()]
        return gradients

    def build_inner_graph(self, x, scale, bias, epsilon, running_average_factor, *running):
        mean = x.mean(self.axes, keepdims=True)
        variance = x.var(self.axes, keepdims=True)
        invstd = 1 / pt.sqrt(variance + epsilon)
        outputs = [(x - mean) * (invstd * scale) + bias, mean, invstd]
        if running:
            outputs += _new_averages(x, self.axes, mean, variance, running_average_factor, running)
        return outputs


class AbstractBatchNormInference(_OverAxes):
    """`batch_normalization_test` for parameters of as many dimensions as the inputs."""

    __props__ = ("axes",)

    def build_inner_graph(self, x, scale, bias, mean, variance, epsilon):
        return [(x - mean) * scale / pt.sqrt(variance + epsilon) + bias]


class AbstractBatchNormTrainGrad(_OverAxes):
    """The gradients of the inputs, the scale and the bias, from that of the result."""

    __props__ = ("axes",)

    def build_inner_graph(self, x, dy, scale, mean, invstd, *epsilon):
        normal = (x - mean) * invstd
        along = {"axis": self.axes, "keepdims": True}
        # the mean of what is normalised is zero, but not its derivative where means are constants
        deviation = normal - normal.mean(**along)
        centred = dy - dy.mean(**along) - deviation * (dy * normal).mean(**along)
        return [scale * invstd * centred, (dy * normal).sum(**along), dy.sum(**along)]
