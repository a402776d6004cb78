"""Values and gradients of graphs that are small and run once."""

import functools

import numpy as np

import theano
import theano.tensor as T

# Graphs are small and each is run once, so compiling is what takes the time.
compiled = functools.partial(theano.function, mode="FAST_COMPILE")


def evaluate(output, **values):
    """Compute `output` for variables that the keywords name."""
    variables = [v for v in theano.gof.graph.inputs([output]) if v.name in values]
    return compiled(variables, output)(*(values[v.name] for v in variables))


def value_of(output):
    """Compute an output that depends on no variable."""
    return compiled([], output)()


def check_gradient(function, *values):
    rng = np.random.default_rng(3)
    T.verify_grad(function, list(values), 1, rng, abs_tol=1e-5, rel_tol=1e-5, mode="FAST_COMPILE")
