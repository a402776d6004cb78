"""Train a recurrent network on several devices, of one computer or of several.

On one computer, with two virtual devices of the CPU:

    XLA_FLAGS=--xla_force_host_platform_device_count=2 python examples/data_parallel.py

In two processes, here or on two computers, each with its own half of every batch:

    python examples/data_parallel.py --coordinator localhost:9911 --processes 2 --process 0 &
    python examples/data_parallel.py --coordinator localhost:9911 --processes 2 --process 1

Both print the same costs.
"""

import argparse

import jax
import numpy as np

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--coordinator", default="localhost:9911", help="address of process 0")
parser.add_argument("--processes", type=int, default=1)
parser.add_argument("--process", type=int, default=0)
arguments = parser.parse_args()
if arguments.processes > 1:
    # before anything asks JAX for its devices
    jax.distributed.initialize(arguments.coordinator, arguments.processes, arguments.process)

import theano  # noqa: E402
import theano.tensor as T  # noqa: E402
from theano.gpuarray.dnn import RNNBlock  # noqa: E402

STEPS, BATCH, WIDTH, HIDDEN = 10, 8, 3, 16
rng = np.random.default_rng(0)

# the same first weights everywhere
block = RNNBlock("float64", HIDDEN, 1, "gru")
w = theano.shared(0.3 * rng.standard_normal(block.get_param_size([BATCH, WIDTH])), name="w")
out = theano.shared(0.3 * rng.standard_normal((HIDDEN, 1)), name="out")

x, y = T.tensor3("x"), T.matrix("y")
start = T.zeros((1, x.shape[1], HIDDEN))
_, last = block.apply(w, x, start)
cost = T.sqr(last[0].dot(out) - y).mean()
updates = [(p, p - 0.1 * theano.grad(cost, p)) for p in (w, out)]

# the batch is dimension 1 of x and dimension 0 of y
train = theano.function([x, y], cost, updates=updates, data_parallel=[(x, 1), (y, 0)])

rows = BATCH // arguments.processes
mine = slice(arguments.process * rows, (arguments.process + 1) * rows)
for batch in range(5):
    sequences = rng.standard_normal((STEPS, BATCH, WIDTH))
    targets = sequences.mean(axis=0).sum(axis=1, keepdims=True)
    print(f"batch {batch}: cost {train(sequences[:, mine], targets[mine]):.6f}", flush=True)
