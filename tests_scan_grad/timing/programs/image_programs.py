"""The operations of `image_networks` in each library, and its training steps."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from tests_scan_grad.timing.programs.network_programs import Step, jax_step, ours
from tests_scan_grad.timing.programs.networks import LEARNING_RATE, Network


def native_step(network: Network) -> Step:
    """Compile with Theano as this project gives it, in its default mode."""
    from theano.tensor import nnet
    from theano.tensor.signal.pool import pool_2d

    def correlate(x, filters, pad=0, step=1, groups=1):
        rank = x.ndim - 2
        function = nnet.conv2d if rank == 2 else nnet.conv3d
        return function(
            x,
            filters,
            border_mode=(pad,) * rank,
            subsample=(step,) * rank,
            filter_flip=False,
            num_groups=groups,
        )

    def largest(x):
        return pool_2d(x, ws=(2, 2), ignore_border=True)

    return ours(network, {"correlate": correlate, "largest": largest, "relu": nnet.relu})


def jax_image_step(network: Network) -> Step:
    """Compile with JAX."""
    import jax

    def correlate(x, filters, pad=0, step=1, groups=1):
        rank = x.ndim - 2
        return jax.lax.conv_general_dilated(
            x, filters, (step,) * rank, [(pad, pad)] * rank, feature_group_count=groups
        )

    def largest(x):
        window = (1, 1, 2, 2)
        return jax.lax.reduce_window(x, -np.inf, jax.lax.max, window, window, "VALID")

    more = {"correlate": correlate, "largest": largest, "relu": jax.nn.relu}
    return jax_step(network, more)


def torch_image_step(network: Network) -> Step:
    """A training step in PyTorch, eager."""
    import torch
    from torch.nn import functional

    def correlate(x, filters, pad=0, step=1, groups=1):
        function = functional.conv2d if x.ndim == 4 else functional.conv3d
        return function(x, filters, None, step, pad, 1, groups)

    def loop(step, sequences, states, weights, name):
        found = []
        for slices in zip(*sequences, strict=True):
            states = step(operations, *slices, *states, *weights)
            found.append(states)
        return list(zip(*found, strict=True))

    operations = SimpleNamespace(
        correlate=correlate,
        scan=loop,
        sigmoid=torch.sigmoid,
        largest=lambda x: functional.max_pool2d(x, 2),
        relu=torch.relu,
        tanh=torch.tanh,
        dot=torch.matmul,
        cross_entropy=functional.cross_entropy,
    )
    made = network.initial()
    parameters = {name: torch.nn.Parameter(torch.from_numpy(made[name])) for name in made}
    optimizer = torch.optim.SGD(list(parameters.values()), lr=LEARNING_RATE)

    def step(arrays):
        tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
        # labels must be of 64 bits
        inputs = {key: t.long() if t.dtype == torch.int32 else t for key, t in tensors.items()}
        value = network.cost(operations, parameters, inputs)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        return value.detach().numpy()

    return step
