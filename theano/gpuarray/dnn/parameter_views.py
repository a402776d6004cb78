"""The arrays of a recurrent network as views of its vector of parameters."""

from typing import Any

import numpy as np

from theano.compile.sharedvalue import SharedVariable
from theano.gpuarray.dnn.layout import ParameterLayout

__all__ = ["WrittenThrough", "arrays_of_pseudo_layer", "writable_vector"]


def writable_vector(w: SharedVariable) -> "np.ndarray | WrittenThrough":
    """Return the value of a shared vector such that parts of it can be written."""
    value = w.get_value(borrow=True, return_internal_type=True)
    return value if isinstance(value, np.ndarray) else WrittenThrough(w)


class WrittenThrough:
    """A part of a shared vector whose value a device holds; assigning changes the value.

    Parameters
    ----------
    variable : SharedVariable
        The vector.
    positions : array of int, optional
        Which of its elements this is; by default all.
    """

    def __init__(self, variable: SharedVariable, positions: np.ndarray | None = None):
        self.variable = variable
        self.positions = np.arange(len(variable.get_value())) if positions is None else positions

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the dimensions."""
        return self.positions.shape

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self.positions.ndim

    @property
    def dtype(self) -> np.dtype:
        """Type of the elements."""
        return np.dtype(self.variable.type.dtype)

    def __len__(self) -> int:
        return len(self.positions)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.variable.get_value()[self.positions], dtype=dtype)

    def __getitem__(self, index: Any) -> "WrittenThrough":
        return WrittenThrough(self.variable, self.positions[index])

    def __setitem__(self, index: Any, value: object) -> None:
        changed = self.variable.get_value()
        changed[self.positions[index]] = np.asarray(value)
        self.variable.set_value(changed, borrow=True)

    def reshape(self, *shape: int) -> "WrittenThrough":
        """Return the same elements in another shape."""
        return WrittenThrough(self.variable, self.positions.reshape(*shape))

    @property
    def T(self) -> "WrittenThrough":
        """The same elements with the dimensions in reverse order."""
        return WrittenThrough(self.variable, self.positions.T)


def arrays_of_pseudo_layer(
    vector: Any, layout: ParameterLayout, pseudo_layer: int, width: int
) -> list:
    """Return the arrays of a pseudo-layer as views of the vector of parameters.

    Parameters
    ----------
    vector : array
        All parameters.
    layout : ParameterLayout
        Where they lie.
    pseudo_layer : int
        Which one.
    width : int
        Width of the input.

    Returns
    -------
    list of arrays
        Matrix and bias in turn, for each gate those of the input, then those of the state.
    """
    parts = (
        (
            layout.input_matrices(pseudo_layer, width),
            layout.input_rows(pseudo_layer, width),
            layout.input_biases(pseudo_layer, width),
        ),
        (
            layout.state_matrices(pseudo_layer, width),
            layout.hidden_size,
            layout.state_biases(pseudo_layer, width),
        ),
    )
    arrays = []
    for matrices, rows, biases in parts:
        for gate in range(layout.gates):
            start = matrices + gate * layout.hidden_size * rows
            stored = vector[start : start + layout.hidden_size * rows]
            arrays.append(stored.reshape(layout.hidden_size, rows).T)
            start = biases + gate * layout.hidden_size
            arrays.append(vector[start : start + layout.hidden_size])
    return arrays
