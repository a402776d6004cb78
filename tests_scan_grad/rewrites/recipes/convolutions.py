"""Convolutions and their gradients."""

import pytensor.tensor as pt

from tests_scan_grad.rewrites.making import Maker, recipe
from theano.tensor import nnet
from theano.tensor.nnet import abstract_conv

FAMILY = "convolutions"
TYPES = ("float64", "float32")


@recipe(FAMILY, "local_abstractconv_gemm")
def convolutions(m: Maker):
    groups, rank = m.one_of(1, 2), m.one_of(2, 3)
    image = m.array((m.one_of(0, 1, 2), 2 * groups, *m.lengths(rank, (3, 4))), TYPES)
    filters = m.array((groups, 2, *m.lengths(rank, (1, 2, 3))), TYPES)
    options = {
        "border_mode": m.one_of("valid", "full", "half", 1, (1, 0, 2)[:rank]),
        "subsample": m.lengths(rank, (1, 2)),
        "filter_flip": m.chance(),
        "num_groups": groups,
    }
    convolve = {2: abstract_conv.conv2d, 3: abstract_conv.conv3d}[rank]
    result = convolve(image, filters, **options)
    cost = (result * m.one_of(1, result, pt.exp(result))).sum()
    return m.one_of(
        lambda: result,
        lambda: pt.grad(cost, [image, filters]),
        lambda: [cost, pt.grad(cost, filters)],
        lambda: pt.grad((pt.grad(cost, filters) ** 2).sum(), image),
        lambda: [result, result.shape, nnet.relu(result)],
    )()
