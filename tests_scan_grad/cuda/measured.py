"""Rows of measured kernels: how far their results are from float64, and how long all steps take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import theano
import theano.tensor as T
from tests_scan_grad.cuda.driver import Driver, Launch
from tests_scan_grad.cuda.functions import arrays_of_node, results_of
from theano.link.cuda import Kernel
from theano.link.cuda.calls import kernel_of_node, performed, values_of_graph
from theano.pytensor_internals.graphs.scan import Scan

# batch, width, steps
SIZES = ((1, 64, 200), (16, 256, 200), (32, 512, 200), (80, 1000, 50))
REPEATS = 20

Compiler = Callable[[Kernel, str], bytes]


def gated_gradient(dtype: str, mode: Any = None, held: Sequence[np.ndarray] = ()) -> Any:
    """Return a function of the gradient of a gated network by its weights, of shared values if some are held."""
    x, h0 = T.tensor3("x", dtype), T.matrix("h0", dtype)
    weights = [T.matrix(name, dtype) for name in "UVW"]

    def step(x, h, U, V, W):
        r, z = T.nnet.sigmoid(x + h.dot(U)), T.nnet.sigmoid(x + h.dot(V))
        return z * T.tanh(x + (r * h).dot(W)) + (1 - z) * h

    h, _ = theano.scan(step, x, h0, non_sequences=weights, name="gated")
    inputs, gradients = [x, h0, *weights], theano.grad(h[-1].sum(), weights)
    if not held:
        return theano.function(inputs, gradients, mode=mode)
    shared = [theano.shared(value.astype(dtype)) for value in held]
    return theano.function([], gradients, givens=dict(zip(inputs, shared, strict=True)), mode=mode)


def values_of(batch: int, width: int, steps: int) -> list[np.ndarray]:
    """Return inputs for it, in float64."""
    rng = np.random.default_rng(0)
    x, h0 = 0.3 * rng.normal(size=(steps, batch, width)), np.zeros((batch, width))
    return [x, h0, *(rng.normal(size=(width, width)) / width**0.5 for _ in range(3))]


def rows_of(
    library: str, compiled: Compiler, sizes: Sequence[tuple[int, int, int]]
) -> Iterator[str]:
    """Yield a heading, a row for each loop and size, and one for the error of the gradients."""
    function, exact = gated_gradient("float32"), gated_gradient("float64")
    with Driver(library) as driver:
        yield f"{driver.name}, {driver.architecture}; ms of all steps, least of {REPEATS}"
    for size in sizes:
        values = values_of(*size)
        with Driver(library) as driver:
            runner = _Runner(driver, compiled)
            results = runner.run(function, [value.astype("float32") for value in values])
        yield from (f"{size[0]} x {size[1]}, {size[2]} steps: {row}" for row in runner.rows)
        pairs = zip(results, exact(*values), strict=True)
        error = max(np.linalg.norm(a - b) / np.linalg.norm(b) for a, b in pairs)
        yield f"{size[0]} x {size[1]}, {size[2]} steps: relative error of the gradients {error:.1e}"


def rows_in_xla(sizes: Sequence[tuple[int, int, int]]) -> Iterator[str]:
    """Yield rows of whole gradients in programs of XLA, whose loops are kernels or XLA's."""
    exact = gated_gradient("float64")
    for size in sizes:
        values = values_of(*size)
        expected = exact(*values)
        for flag in ("always", "never"):
            with theano.config.change_flags(scan__gpu_kernels=flag):
                function = gated_gradient("float32", "XLA", held=values)
                results = [np.asarray(result) for result in function()]
            times = []
            for _ in range(REPEATS):
                begin = time.perf_counter()
                _ = [np.asarray(result) for result in function()]
                times.append(time.perf_counter() - begin)
            pairs = zip(results, expected, strict=True)
            error = max(np.linalg.norm(a - b) / np.linalg.norm(b) for a, b in pairs)
            yield (
                f"{size[0]} x {size[1]}, {size[2]} steps, scan.gpu_kernels={flag}: forward and gradient "
                f"{1000 * min(times):.3f} ms, relative error {error:.1e}"
            )


class _Runner:
    """A function whose loops run as kernels on a device.

    Attributes
    ----------
    rows
        What was measured of each loop.
    """

    def __init__(self, driver: Driver, compiled: Compiler):
        self.driver, self.compiled = driver, compiled
        self.rows: list[str] = []

    def run(self, function: Any, values: Sequence[np.ndarray]) -> list[np.ndarray]:
        def run(node: Any, inputs: list[Any]) -> list[Any]:
            return (self._loop if isinstance(node.op, Scan) else performed)(node, inputs)

        return values_of_graph(function.maker.fgraph, values, run)

    def _loop(self, node: Any, inputs: Sequence[Any]) -> list[np.ndarray]:
        kernel = kernel_of_node(node, inputs, self.driver.device)
        arrays = arrays_of_node(node, kernel, inputs)
        rows, steps = [a.shape[0] if a.ndim else 1 for a in arrays], int(inputs[0])
        launch = Launch(self.driver, kernel, arrays, rows, steps, self.compiled)
        launch.run()
        results = results_of(node, kernel, launch.results(), steps)
        times = []
        for _ in range(REPEATS):
            launch.prepare()
            times.append(launch.run())
        predicted = kernel.microseconds * steps / 1000
        self.rows.append(
            f"{node.op.name}, {kernel.blocks} blocks, {1000 * min(times):.3f}, "
            f"by the model {predicted:.2f}"
        )
        return results
