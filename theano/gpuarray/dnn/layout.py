"""cuDNN's layout of the arrays of a recurrent network within one vector of parameters.

All matrices come first, then all biases. Both go by pseudo-layer (a bidirectional layer is two:
forward, then backward); of each pseudo-layer first what multiplies the input, then what multiplies the
state; of each of these one array per gate. A matrix is stored one output after the other, so in
Theano's orientation (inputs, outputs) it is a transposed view.
"""

from typing import Any

from theano.support.data_classes import dataclass

__all__ = ["ParameterLayout"]


@dataclass(frozen=True)
class ParameterLayout:
    """The layout for one shape of network.

    The width of the input is an argument of the methods: an integer, or a symbolic one.

    Parameters
    ----------
    gates : int
        How many gates a cell has.
    hidden_size : int
        Width of the state.
    num_layers : int
        How many layers lie on each other.
    num_directions : int
        1, or 2 where the network also runs backwards.
    skips_input : bool
        Whether the first layer adds its input to each gate without a matrix.
    """

    gates: int
    hidden_size: int
    num_layers: int
    num_directions: int = 1
    skips_input: bool = False

    @property
    def pseudo_layers(self) -> int:
        """Return how many sets of weights there are: one for each layer and direction."""
        return self.num_layers * self.num_directions

    def input_rows(self, pseudo_layer: int, input_width: object) -> Any:
        """Return how many rows the matrices have that multiply the input of a pseudo-layer."""
        if pseudo_layer >= self.num_directions:
            return self.num_directions * self.hidden_size
        return 0 if self.skips_input else input_width

    def input_matrices(self, pseudo_layer: int, input_width: object) -> Any:
        """Return where the matrices begin that multiply the input of a pseudo-layer."""
        start = 0
        for earlier in range(pseudo_layer):
            rows = self.input_rows(earlier, input_width) + self.hidden_size
            start = start + self._per_row * rows
        return start

    def state_matrices(self, pseudo_layer: int, input_width: object) -> Any:
        """Return where the matrices begin that multiply the state of a pseudo-layer."""
        rows = self.input_rows(pseudo_layer, input_width)
        return self.input_matrices(pseudo_layer, input_width) + self._per_row * rows

    def input_biases(self, pseudo_layer: int, input_width: object) -> Any:
        """Return where the biases begin that go with the input of a pseudo-layer."""
        matrices = self.input_matrices(self.pseudo_layers, input_width)
        return matrices + 2 * self._per_row * pseudo_layer

    def state_biases(self, pseudo_layer: int, input_width: object) -> Any:
        """Return where the biases begin that go with the state of a pseudo-layer."""
        return self.input_biases(pseudo_layer, input_width) + self._per_row

    def size(self, input_width: object) -> Any:
        """Return how many numbers there are in all."""
        return self.input_biases(self.pseudo_layers, input_width)

    @property
    def _per_row(self) -> int:
        """Return how many numbers the gates have together for one row of their matrices."""
        return self.gates * self.hidden_size
