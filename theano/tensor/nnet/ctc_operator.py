"""Connectionist temporal classification: the cost of sequences of labels, as an operator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.tensor.type import TensorType

from theano.pytensor_internals.graphs.shapes import shape_rule

__all__ = ["LABELS_IN_RANGE", "STEPS_IN_RANGE", "ConnectionistTemporalClassification"]

# what is wrong where a call's numbers do not fit
LABELS_IN_RANGE = "ctc: expected labels below the number of classes"
STEPS_IN_RANGE = "ctc: expected input_lengths between 0 and the number of steps"


class ConnectionistTemporalClassification(Op):
    """The costs of sequences of activations with sequences of labels.

    Parameters
    ----------
    compute_grad : bool
        Whether the gradients are computed in the same pass, as a second result.

    References
    ----------
    A. Graves, S. Fernandez, F. Gomez, J. Schmidhuber, "Connectionist temporal classification:
    labelling unsegmented sequence data with recurrent neural networks", ICML 2006, section 4.1.
    """

    __props__ = ("compute_grad",)
    default_output = 0

    def __init__(self, compute_grad: bool = True, openmp: bool | None = None):
        self.compute_grad = compute_grad

    def make_node(self, activations, labels, input_lengths):
        activations, labels, lengths = (
            pt.as_tensor_variable(value) for value in (activations, labels, input_lengths)
        )
        if activations.dtype not in ("float32", "float64"):
            raise TypeError(f"ctc: activations must be float32 or float64, got {activations.type}")
        for name, variable in (("labels", labels), ("input_lengths", lengths)):
            if variable.dtype != "int32":
                raise TypeError(f"ctc: {name} must be int32, got {variable.type}")
        for name, variable, ndim in (
            ("activations", activations, 3),
            ("labels", labels, 2),
            ("input_lengths", lengths, 1),
        ):
            if variable.ndim != ndim:
                raise ValueError(f"ctc: {name} must have {ndim} dimensions, got {variable.type}")
        shape = activations.type.shape
        outputs = [TensorType(activations.dtype, shape=shape[1:2])(name="ctc_cost")]
        if self.compute_grad:
            outputs.append(TensorType(activations.dtype, shape=shape)(name="ctc_grad"))
        return Apply(self, [activations, labels, lengths], outputs)

    def perform(self, node, inputs, output_storage):
        activations, labels, lengths = inputs
        self.check_shapes(activations, labels, lengths)
        classes, steps = activations.shape[2], activations.shape[0]
        if labels.size and labels.max() >= classes:
            raise ValueError(f"{LABELS_IN_RANGE}, {classes}, got {labels.max()}")
        if lengths.size and (lengths.max() > steps or lengths.min() < 0):
            raise ValueError(f"{STEPS_IN_RANGE}, {steps}, got {lengths}")
        costs = np.zeros(activations.shape[1], dtype=activations.dtype)
        gradients = np.zeros(activations.shape, dtype=activations.dtype)
        for k, (row, length) in enumerate(zip(labels, lengths, strict=True)):
            found = _cost_and_gradient(activations[:length, k], row[row >= 0], self.compute_grad)
            costs[k] = found[0]
            if self.compute_grad:
                gradients[:length, k] = found[1]
        output_storage[0][0] = costs
        if self.compute_grad:
            output_storage[1][0] = gradients

    @staticmethod
    def check_shapes(activations: Any, labels: Any, lengths: Any) -> None:
        """Raise ValueError unless there are as many sequences of each."""
        counts = (activations.shape[1], labels.shape[0], lengths.shape[0])
        if len(set(counts)) > 1:
            raise ValueError(
                "ctc: expected as many sequences of activations, of labels, and of their lengths, "
                f"got {counts}"
            )

    @shape_rule
    def infer_shape(self, node, shapes):
        return [shapes[0][1:2], shapes[0]][: len(node.outputs)]

    def connection_pattern(self, node):
        """Return that only the costs depend smoothly on the activations."""
        return [[True, False][: len(node.outputs)], *[[False] * len(node.outputs)] * 2]

    def pullback(self, inputs, outputs, cotangents):
        others = [disconnected_type(), disconnected_type()]
        if isinstance(cotangents[0].type, DisconnectedType):
            return [pt.zeros_like(inputs[0]), *others]
        if self.compute_grad:
            slopes = outputs[1]
        else:
            slopes = ConnectionistTemporalClassification().make_node(*inputs).outputs[1]
        return [cotangents[0].dimshuffle("x", 0, "x") * slopes, *others]


def _cost_and_gradient(
    activations: np.ndarray, labels: np.ndarray, with_gradient: bool
) -> tuple[float, Any]:
    """Return the cost of one sequence, in logarithms, and its gradient; zeros where labels do not fit."""
    steps = len(activations)
    repeated = labels[1:] == labels[:-1]
    if not steps or len(labels) + repeated.sum() > steps:
        # as Theano's library has it
        return 0.0, 0.0
    scores = activations.astype("float64")
    most = scores.max(axis=1, keepdims=True)
    normalizers = most + np.log(np.exp(scores - most).sum(axis=1, keepdims=True))
    # labels with blanks between them and around
    states = np.zeros(2 * len(labels) + 1, dtype="int64")
    states[1::2] = labels
    leaves_out = np.zeros(len(states), dtype=bool)
    leaves_out[3::2] = ~repeated
    of_states = scores[:, states] - normalizers
    begins = np.full(of_states.shape, -np.inf)
    begins[0, :2] = of_states[0, :2]
    for t in range(1, steps):
        begins[t] = of_states[t] + _reached(begins[t - 1], leaves_out)
    total = np.logaddexp.reduce(begins[-1, -2:])
    if not with_gradient:
        return -total, None
    ends = np.full(of_states.shape, -np.inf)
    ends[-1, -2:] = 0
    # a path backward leaves out the blank before a label where one forward would come to it
    leaves_out_backward = np.zeros(len(states), dtype=bool)
    leaves_out_backward[2:] = leaves_out[2:][::-1]
    for t in range(steps - 2, -1, -1):
        after = (ends[t + 1] + of_states[t + 1])[::-1]
        ends[t] = _reached(after, leaves_out_backward)[::-1]
    gradient = np.exp(scores - normalizers)
    with np.errstate(invalid="ignore"):
        in_states = np.exp(begins + ends - total)
    for state, label in enumerate(states):
        gradient[:, label] -= in_states[:, state]
    return -total, gradient


def _reached(before: np.ndarray, leaves_out: np.ndarray) -> np.ndarray:
    """Return the logarithms of sums over the states from which a path comes to each."""
    result = before.copy()
    result[1:] = np.logaddexp(result[1:], before[:-1])
    two = np.where(leaves_out[2:], before[:-2], -np.inf)
    result[2:] = np.logaddexp(result[2:], two)
    return result
