"""From the parameters of an `RNNBlock` to those of a network written with `scan`, and back.

A network written with `scan` has for each gate a matrix that multiplies the input, one that multiplies the
state, and usually one bias. cuDNN has two biases per gate. Only their sum matters, but for the
gate of a gru whose state product another gate scales: it keeps its own bias.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from theano.gpuarray.dnn.parameter_views import arrays_of_pseudo_layer
from theano.gpuarray.dnn.rnn_block import RNNBlock

__all__ = ["params_from_scan", "params_to_scan"]


def params_to_scan(
    block: RNNBlock, params: np.ndarray, input_size: Sequence[int]
) -> list[dict[str, np.ndarray]]:
    """Return the weights that a network written with `scan` needs to compute as `block` does.

    Parameters
    ----------
    block : RNNBlock
        The network that the parameters are for.
    params : array
        Value of its vector of parameters.
    input_size : (int, int)
        Number of rows in a batch and width of the input.

    Returns
    -------
    list of dict
        For each pseudo-layer (each layer; of a bidirectional block each layer's forward, then
        its backward direction) and each gate ``g``: ``W_g``, of shape (inputs, hidden size);
        ``U_g``, of shape (hidden size, hidden size); and ``b_g``. The gates are ``h`` of a plain
        network; ``i``, ``f``, ``c``, ``o`` of an lstm; ``r``, ``z``, ``n`` of a gru, which has
        ``bU_n`` too: the bias inside ``r * (h.dot(U_n) + bU_n)``. Where the first layer skips
        its matrices, its ``W_g`` is left out. All are copies.

    Raises
    ------
    ValueError
        When `params` has another length than the block's.

    Examples
    --------
    >>> import numpy as np
    >>> from theano.gpuarray.dnn import RNNBlock, params_to_scan
    >>> block = RNNBlock("float64", 4, 1, "gru")
    >>> weights = params_to_scan(block, np.ones(block.get_param_size([1, 5])), [1, 5])
    >>> sorted(weights[0])
    ['U_n', 'U_r', 'U_z', 'W_n', 'W_r', 'W_z', 'bU_n', 'b_n', 'b_r', 'b_z']
    >>> weights[0]["W_r"].shape, float(weights[0]["b_r"][0])
    ((5, 4), 2.0)
    """
    width = block.input_width(input_size)
    vector = np.asarray(params)
    block.check_length("params_to_scan", vector.shape, width)
    layers = []
    for pseudo_layer in range(block.layout.pseudo_layers):
        named = {}
        for gate, (W, b_W, U, b_U) in _by_gate(block, vector, pseudo_layer, width):
            if len(W):
                named[f"W_{gate}"] = W.copy()
            named[f"U_{gate}"] = U.copy()
            if gate == block.cell.scaled_gate:
                named[f"b_{gate}"], named[f"bU_{gate}"] = b_W.copy(), b_U.copy()
            else:
                named[f"b_{gate}"] = b_W + b_U
        layers.append(named)
    return layers


def params_from_scan(
    block: RNNBlock, layers: Sequence[Mapping[str, np.ndarray]], input_size: Sequence[int]
) -> np.ndarray:
    """Return the vector with which `block` computes as a network written with `scan` does.

    Parameters
    ----------
    block : RNNBlock
        A network of the same cell, sizes, layers and directions.
    layers : sequence of mappings of arrays
        The weights of each pseudo-layer, by the names that `params_to_scan` gives them; a bias
        that is not there is 0. Of a gate that scales the new value rather than the old state
        (``z * n + (1 - z) * h``), change the signs of ``W_z``, ``U_z`` and ``b_z``.
    input_size : (int, int)
        Number of rows in a batch and width of the input.

    Returns
    -------
    array
        A value for the block's shared vector.

    Raises
    ------
    ValueError
        When the number of layers, a name or a shape does not fit the block.

    Examples
    --------
    >>> import numpy as np
    >>> from theano.gpuarray.dnn import RNNBlock, params_from_scan
    >>> block = RNNBlock("float64", 4, 1, "rnn_tanh")
    >>> weights = {"W_h": np.ones((5, 4)), "U_h": np.eye(4), "b_h": np.zeros(4)}
    >>> params_from_scan(block, [weights], [1, 5]).shape
    (44,)
    """
    width = block.input_width(input_size)
    if len(layers) != block.layout.pseudo_layers:
        raise ValueError(
            f"params_from_scan: the block has {block.layout.pseudo_layers} layers, both directions "
            f"counted; got {len(layers)}"
        )
    vector = np.zeros(block.layout.size(width), block.dtype)
    for pseudo_layer, given in enumerate(layers):
        unused = dict(given)
        for gate, (W, b_W, U, b_U) in _by_gate(block, vector, pseudo_layer, width):
            places = [(f"U_{gate}", U)]
            if len(W):
                places.append((f"W_{gate}", W))
            optional = [(f"b_{gate}", b_W)]
            if gate == block.cell.scaled_gate:
                optional.append((f"bU_{gate}", b_U))
            places += [place for place in optional if place[0] in given]
            for name, place in places:
                _write(place, unused.pop(name, None), name, pseudo_layer)
        if unused:
            raise ValueError(
                f"params_from_scan: layer {pseudo_layer} of the block has no "
                f"{', '.join(sorted(unused))}"
            )
    return vector


def _by_gate(block, vector, pseudo_layer, width):
    """Return each gate with its input matrix and bias, and its state matrix and bias."""
    arrays = arrays_of_pseudo_layer(vector, block.layout, pseudo_layer, width)
    of_state = 2 * block.layout.gates
    for number, gate in enumerate(block.cell.gates):
        first = 2 * number
        yield (
            gate,
            (
                *arrays[first : first + 2],
                *arrays[of_state + first : of_state + first + 2],
            ),
        )


def _write(place: np.ndarray, value: np.ndarray | None, name: str, pseudo_layer: int) -> None:
    if value is None:
        raise ValueError(f"params_from_scan: layer {pseudo_layer} needs {name}")
    if np.shape(value) != place.shape:
        raise ValueError(
            f"params_from_scan: {name} of layer {pseudo_layer} should have the shape "
            f"{place.shape}; got {np.shape(value)}"
        )
    place[...] = value
