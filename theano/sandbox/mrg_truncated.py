"""The operation that samples again from MRG31k3p what lies too far from the mean."""

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import disconnected_type
from pytensor.graph.basic import Apply

from theano.pytensor_internals.graphs.shapes import shape_rule
from theano.sandbox import mrg31k3p
from theano.sandbox.mrg_uniform import mrg_uniform_base

__all__ = ["FARTHEST", "LOWEST_UNIFORM", "mrg_truncated"]

# So many standard deviations from the mean a sample may be. A radius below it belongs to a uniform
# draw above the other number.
FARTHEST = 2.0
LOWEST_UNIFORM = float(np.exp(-(FARTHEST**2) / 2))


class mrg_truncated(mrg_uniform_base):
    """Put samples that are nearer to 0 in place of normal samples beyond 2.

    The normal samples are those of Box and Muller: half of them are radius times cosine, the others
    radius times sine. Of each half those that are near enough come first; then, in their order,
    those that keep their direction and get a new radius.

    `MRG_RandomStreams.truncated_normal` is the way to use it.
    """

    def make_node(self, rstate, samples, directions):
        """Draw again.

        Parameters
        ----------
        rstate : int32 matrix with 6 columns
            The states to draw from, one in each row.
        samples, directions : vectors
            The samples, and the cosines and sines that they were made with.

        Returns
        -------
        Apply
            Its outputs are the next states and the samples.
        """
        rstate, samples, directions = map(pt.as_tensor_variable, (rstate, samples, directions))
        for name, given in (("samples", samples), ("directions", directions)):
            if given.ndim != 1 or given.dtype != self.output_type.dtype:
                expected = f"{name} of type {self.output_type}"
                raise TypeError(f"mrg_truncated: expected {expected}, got {given.type}")
        return Apply(self, [rstate, samples, directions], [rstate.type(), self.output_type()])

    def connection_pattern(self, node):
        """Return the derivatives of samples by samples are of no use."""
        return [[False, False] for _ in node.inputs]

    def pushforward(self, inputs, outputs, tangents):
        return [disconnected_type() for _ in outputs]

    @shape_rule
    def infer_shape(self, node, input_shapes):
        return [input_shapes[0], input_shapes[1]]

    def perform(self, node, inputs, output_storage):
        states, samples, directions = inputs
        if samples.shape != directions.shape or len(samples) % 2:
            raise ValueError(
                "mrg_truncated: expected an even number of samples and as many directions, "
                f"got shapes {samples.shape} and {directions.shape}"
            )
        if not self.inplace:
            states = states.copy()
        halves, aims = samples.reshape(2, -1), directions.reshape(2, -1)
        beyond = (halves < -FARTHEST) | (halves > FARTHEST)
        sampled = mrg31k3p.next_samples(states, int(beyond.sum()))
        radii = _radii(mrg31k3p.random_numbers(sampled, samples.dtype.name))
        first, second = np.split(radii, [int(beyond[0].sum())])
        pieces = []
        for half, aim, far, radius in zip(halves, aims, beyond, (first, second), strict=True):
            pieces += [half[~far], radius * aim[far]]
        output_storage[0][0] = states
        output_storage[1][0] = np.concatenate(pieces)


def _radii(uniforms: np.ndarray) -> np.ndarray:
    """Return the radii, below the farthest, that uniform samples stand for."""
    one, lowest = uniforms.dtype.type(1), uniforms.dtype.type(LOWEST_UNIFORM)
    return np.sqrt(uniforms.dtype.type(-2) * np.log(uniforms * (one - lowest) + lowest))
