"""Connectionist temporal classification: the cost of sequences of labels that nobody aligned."""

from __future__ import annotations

from pytensor.tensor import TensorLike
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, node_rewriter
from theano.tensor.nnet.ctc_operator import ConnectionistTemporalClassification
from theano.tensor.rewrite_registration import register_canonicalize

__all__ = [
    "ConnectionistTemporalClassification",
    "ctc",
    "ctc_available",
    "ctc_present",
    "local_ctc_no_grad",
]


def ctc_present() -> bool:
    """Return True: what Theano took from a library of Baidu's is part of the package."""
    return True


def ctc_available() -> bool:
    """Return True: see `ctc_present`."""
    return ctc_present()


def ctc(activations: TensorLike, labels: object, input_lengths: object) -> TensorVariable:
    """Return the cost of each sequence: how unlikely its activations make its labels.

    A softmax of the activations of a step gives the probabilities of the classes, of which class
    0 is the blank. The cost is the negative logarithm of the sum over all paths of classes that
    give the labels once repetitions and then blanks are left out.

    Parameters
    ----------
    activations : float32 or float64 tensor of shape (steps, sequences, classes)
    labels : int32 matrix of shape (sequences, room for labels)
        Negative ones fill up a row; they are left out.
    input_lengths : int32 vector of length sequences
        How many steps of each sequence count.

    Returns
    -------
    vector of length sequences
        Of the dtype of `activations`. 0, with a gradient of 0, where no path of so few steps
        gives the labels, as in Theano.

    Raises
    ------
    TypeError
        Another dtype.
    ValueError
        Another number of dimensions; in a call, numbers of sequences that differ, a label that is
        no class, or a length beyond the steps.

    References
    ----------
    A. Graves, S. Fernandez, F. Gomez, J. Schmidhuber, "Connectionist temporal classification:
    labelling unsegmented sequence data with recurrent neural networks", ICML 2006, section 4.1.

    Examples
    --------
    >>> import numpy, theano.tensor as T
    >>> from theano.tensor.nnet.ctc import ctc
    >>> activations = T.constant(numpy.zeros((2, 1, 3), "float32"))
    >>> labels = T.constant(numpy.array([[1]], "int32"))
    >>> cost = ctc(activations, labels, T.constant(numpy.array([2], "int32")))
    >>> cost.eval().round(4).tolist() == [float(numpy.float32(numpy.log(3)).round(4))]
    True
    """
    return known_tensor(ConnectionistTemporalClassification()(activations, labels, input_lengths))


@register_canonicalize
@node_rewriter([ConnectionistTemporalClassification])
def local_ctc_no_grad(fgraph, node):
    """Gradients that nobody uses are not computed."""
    if not node.op.compute_grad or fgraph.clients[node.outputs[1]]:
        return None
    cost = ConnectionistTemporalClassification(compute_grad=False)(*node.inputs)
    copy_stack_trace(node.outputs[0], cost)
    return {node.outputs[0]: cost}
