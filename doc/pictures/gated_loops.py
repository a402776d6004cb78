"""Draws the loops of a gated network's gradient: PyTensor's, and those of this package.

python doc/pictures/gated_loops.py [FOLDER]
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import pytensor
from products_drawing import Product, draw_loops, products_of_step, products_outside
from pytensor.compile.mode import Mode as PyTensorMode
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.link.vm import VMLinker
from pytensor.scan.op import Scan as PyTensorScan

import theano
import theano.tensor as T
from theano.compile.mode import get_default_mode
from theano.link.step_graph import prepared
from theano.scan_module.loop.arguments import Loop, unpack
from theano.scan_module.scan_op import Scan

# Patterns in labels, and what is written in their place.
SHORTER = {
    r"gated\.0\[-2-t\]": "h",
    r"gated\.0\[-2::-1\](\[:minimum\(.*?\)\])?": "H",
    r"gated\.\d\[-1-t\]": "saved",
    r"gated\.\d\[::-1\]": "Saved",
    r"state\(h0\)\[t-1\]": "h",
    r"state\(0\)(\[t-1\])?": "d",
    r"grad_of_gated\.\d": "D",
    r"sigmoid": "σ",
    r"\.dot\(": "·(",
    r"\.dimshuffle\([12], 0, [12]\)": ".T",
    r"\[… …\]": "[d… d…]",
}
# Python implementations: what is drawn is the rewritten graph, before anything is compiled.
LINKER = VMLinker(use_cloop=False, c_thunks=False)
PYTENSORS_MODE = PyTensorMode(
    LINKER, RewriteDatabaseQuery(include=["fast_run"], exclude=["fusion", "inplace", "BlasOpt"])
)
THEANOS_MODE = theano.Mode(LINKER, get_default_mode().provided_optimizer.excluding("fusion"))


def gradient_of_gated_network(scan, grad):
    """The inputs of a gated network, and the gradients of its last state's sum by its weights."""
    x, x_r, x_z = T.tensor3("x"), T.tensor3("x_r"), T.tensor3("x_z")
    h0, U, V, W = T.matrix("h0"), T.matrix("U"), T.matrix("V"), T.matrix("W")

    def step(x, x_r, x_z, h, U, V, W):
        r = T.nnet.sigmoid(x_r + h.dot(U))
        z = T.nnet.sigmoid(x_z + h.dot(V))
        n = T.tanh(x + (r * h).dot(W))
        return z * n + (1 - z) * h

    h = scan(step, sequences=[x, x_r, x_z], outputs_info=h0, non_sequences=[U, V, W], name="gated")
    return [x, x_r, x_z, h0, U, V, W], grad(h[-1].sum(), [U, V, W])


def loop_of(node) -> Loop:
    """A loop with the step that runs, which engines rewrite."""
    loop = unpack(node)
    if not isinstance(node.op, Scan):
        return loop
    step = prepared(node.op)
    return loop.with_step(step.inputs, step.outputs)


def drawing_of(function) -> str:
    """A picture of the products of a compiled gradient."""
    nodes = function.maker.fgraph.toposort()
    loops = [loop_of(node) for node in nodes if isinstance(node.op, PyTensorScan)]
    groups: dict[str, list[Product]] = {
        "each step of the forward loop": products_of_step(loops[0], False, SHORTER),
        "each step of the backward loop": products_of_step(loops[1], True, SHORTER),
        "after the loops": products_outside(nodes, SHORTER),
    }
    return draw_loops(groups)


def main(folder: Path) -> None:
    """Write both pictures."""
    inputs, gradients = gradient_of_gated_network(
        partial(pytensor.scan, return_updates=False, mode=PYTENSORS_MODE), pytensor.grad
    )
    before = pytensor.function(inputs, gradients, mode=PYTENSORS_MODE)
    inputs, gradients = gradient_of_gated_network(
        lambda *given, **options: theano.scan(*given, mode=THEANOS_MODE, **options)[0], theano.grad
    )
    after = theano.function(inputs, gradients, mode=THEANOS_MODE)
    for name, function in {"before": before, "after": after}.items():
        (folder / f"gated_loops_{name}.svg").write_text(drawing_of(function))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent))
