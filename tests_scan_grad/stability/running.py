"""Programs as data, and what a Theano makes of them: this package, or Theano 1.0.5 on Python 3.8.

As a script, `running.py PROGRAMS RESULTS` reads programs as JSON, runs each by the Theano that is
there, and writes what each gives. It runs on Python 3.8, and needs nothing of this project.
"""

import json
import sys

import numpy as np


def arrays_of(program):
    """Return the leaves of a program, by name, as arrays."""
    return {leaf["name"]: np.array(leaf["value"], leaf["dtype"]) for leaf in program["leaves"]}


def graph_of(program, theano):
    """Return the inputs and outputs of a program: its value, its cost's gradient, or both."""
    T = theano.tensor
    arrays = arrays_of(program)
    leaves = {
        name: T.TensorType(str(array.dtype), (False,) * array.ndim)(name)
        for name, array in arrays.items()
    }
    value = _in_loop(program, leaves, theano) if program["loop"] else None
    if value is None:
        value = eval(program["expression"], {"T": T, **leaves})
    if program["gives"] == "value":
        return list(leaves.values()), [value]
    cost = eval(program["cost"], {"T": T, "e": value, **leaves})
    gradient = T.grad(cost, leaves[program["wrt"]])
    return list(leaves.values()), [gradient] if program["gives"] == "gradient" else [cost, gradient]


def _in_loop(program, leaves, theano):
    """Return the expression computed by a loop: over rows or batches, or over the elements of vectors."""
    if program["loop"] in ("rows", "batches"):
        return _of_steps(program, leaves, theano)
    vectors = [name for name, leaf in leaves.items() if leaf.ndim == 1]
    others = [name for name in leaves if name not in vectors]

    def step(*values):
        named = dict(zip(vectors + others, values))  # noqa: B905 -- Python 3.8
        return eval(program["expression"], {"T": theano.tensor, **named})

    sequences, constants = [leaves[n] for n in vectors], [leaves[n] for n in others]
    return theano.scan(step, sequences=sequences, non_sequences=constants)[0]


def _of_steps(program, leaves, theano):
    """Return the expression computed by a loop: each step for a row, or for the whole batch twice."""
    T, batches = theano.tensor, program["loop"] == "batches"
    sequences = [name for name in "xym" if name in leaves]

    def step(*values):
        named = dict(zip([*leaves, *sequences], values[len(sequences) :] + values))  # noqa: B905 -- Python 3.8
        return eval(program["expression"], {"T": T, **named})

    rows = [T.stack([leaves[n]] * 2) if batches else leaves[n] for n in sequences]
    result = theano.scan(step, sequences=rows, non_sequences=list(leaves.values()))[0]
    return result.mean(axis=0) if batches else result


def results_of(program, theano, compiled):
    """Return what a program gives, each result as a list of floats; or the error, as a string.

    Parameters
    ----------
    compiled
        A function of inputs and outputs that returns a function of arrays.
    """
    try:
        inputs, outputs = graph_of(program, theano)
        f = compiled(inputs, outputs)
        with np.errstate(all="ignore"):
            results = f(*arrays_of(program).values())
        return [np.asarray(r).astype("float64").ravel().tolist() for r in results]
    except Exception as error:  # what a program raises is its result
        return f"{type(error).__name__}: {str(error)[:200]}"


def main():
    import theano

    with open(sys.argv[1]) as source:
        programs = json.load(source)
    results = []
    for program in programs:
        theano.config.floatX = program["floatX"]
        results.append(
            results_of(
                program,
                theano,
                lambda i, o: theano.function(i, o, mode="FAST_RUN", on_unused_input="ignore"),
            )
        )
    with open(sys.argv[2], "w") as sink:
        json.dump(results, sink)


if __name__ == "__main__":
    main()
