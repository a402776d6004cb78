"""The operations of `image_networks` in each library, and its training steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests_scan_grad.timing.peers.torch_steps import torch_network, trained
from tests_scan_grad.timing.programs.network_programs import Step, jax_step, ours
from tests_scan_grad.timing.programs.networks import Network


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


def jax_image_step(network: Network, ready_for: dict[str, Any] | None = None) -> Step:
    """Compile with JAX, for arrays of these shapes at once."""
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
    return jax_step(network, more, ready_for)


def torch_image_step(network: Network) -> Step:
    """Return a training step in PyTorch, eager."""
    import torch
    from torch.nn import functional

    def correlate(x, filters, pad=0, step=1, groups=1):
        function = functional.conv2d if x.ndim == 4 else functional.conv3d
        return function(x, filters, None, step, pad, 1, groups)

    more = {
        "correlate": correlate,
        "largest": lambda x: functional.max_pool2d(x, 2),
        "relu": torch.relu,
    }
    return trained(network, *torch_network(network, more))
