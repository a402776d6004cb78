"""A small program over the public API, for the type check; test_package runs it too."""

import numpy as np

import theano
import theano.tensor as T


def powers(base: list[float], exponent: int) -> list[float]:
    """Raise each number to a power with a loop."""
    x = T.vector("x", dtype="float64")
    outputs, updates = theano.scan(
        lambda previous, factor: previous * factor,
        outputs_info=T.ones_like(x),
        non_sequences=x,
        n_steps=exponent,
    )
    compiled = theano.function([x], outputs[-1], updates=updates)
    return [float(value) for value in compiled(np.array(base))]


def slope(at: float) -> float:
    """Differentiate x ** 3."""
    x = T.scalar("x", dtype="float64")
    compiled: theano.compile.Function = theano.function(
        [theano.In(x, value=at)], theano.grad(x**3, x), mode="FAST_COMPILE"
    )
    return float(compiled())


def counted(times: int) -> int:
    """Call a function that updates a shared variable."""
    count = theano.shared(0, name="count")
    step = theano.function([], updates=[(count, count + 1)])
    for _ in range(times):
        step()
    return int(count.get_value())


def main() -> None:
    """Print what the three give."""
    with theano.change_flags({"scan.save": "all"}):
        print(powers([1.0, 2.0, 3.0], 2), slope(2.0), counted(3), theano.config.floatX)


if __name__ == "__main__":
    main()
