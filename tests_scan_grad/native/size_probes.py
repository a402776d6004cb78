"""Calls with sizes that overflow or that no memory is large enough for; run as a program.

Each probe runs in its own process, first by the operations' own ``perform``, then by the native
engine, and what came of it is printed as a line of JSON.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import theano
import theano.tensor as T
from theano.sandbox.rng_mrg import MRG_RandomStreams

# so that no array of more than so many bytes can be made, whatever the machine has
MEMORY = 3 * 2**30
SECONDS = 60

MODES = {"python": theano.Mode("py", None), "native": theano.Mode("native", "fast_run")}


@dataclass(frozen=True)
class Probe:
    """A computation on some inputs, and the values with which it is called, one call each.

    Attributes
    ----------
    answer
        What the engine may return from a call for which there is too little memory for ``perform``.
    wraps
        Whether ``perform`` takes unsigned numbers of 2**63 and more for negative ones.
    """

    inputs: Sequence[Any]
    make: Callable[..., Any]
    calls: Sequence[tuple]
    answer: Callable[..., Any] | None = None
    wraps: bool = False


HUGE = (2**31, 2**32, 2**61, 2**62, 2**63 - 1, -1, -(2**63))
TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")


def _each(*values: int) -> list[tuple]:
    return [(value,) for value in values]


def _pairs(*values: int) -> list[tuple]:
    return [(a, b) for a in values for b in (0, 3, 4, *values)]


def _fitting(dtype: str) -> list[int]:
    """The largest and the smallest number of a type, and some between."""
    limits = np.iinfo(dtype)
    return [int(limits.max), int(limits.min), 3, int(limits.max) // 2 + 1]


def _number(dtype: str = "int64") -> Any:
    return T.scalar("n", dtype=dtype)


def _two() -> list[Any]:
    return [T.lscalar("n"), T.lscalar("m")]


V = T.dvector("v")
ROWS = np.arange(12.0)


def _loop_of(n: Any) -> Any:
    total, _ = theano.scan(lambda s: s * 0.5 + 1, outputs_info=T.constant(0.0), n_steps=n)
    return total


def _outer_in_loop(n: Any, m: Any) -> Any:
    states, _ = theano.scan(
        lambda s: T.alloc(s.sum(), n, m) * 0.5 + s, outputs_info=T.alloc(0.0, n, m), n_steps=2
    )
    return states[-1]


def _windows(n: Any) -> Any:
    x = T.as_tensor(np.ones((1, 1, 5, 5))) + 0 * n
    return x[:, :, n : n + 2, n : n + 2].sum(), x[:, :, n::2].shape


def _random(n: Any, m: Any) -> Any:
    return MRG_RandomStreams(3).uniform(size=(n, m), ndim=2, nstreams=3)


def _alloc_of_rows(n: Any, m: Any) -> Any:
    return T.argmax(T.alloc(T.as_tensor(ROWS[:3]) + 0 * n, n, m, 3), axis=2)


def _picked(index: Any) -> Any:
    return T.as_tensor(ROWS)[index]


def _rows_of(dtype: str) -> Any:
    return T.vector("indices", dtype=dtype)


PROBES: dict[str, Probe] = {
    "reshape": Probe([*_two()], lambda n, m: (T.arange(12) + 0 * n).reshape((n, m)), _pairs(*HUGE)),
    "reshape with an unknown size": Probe(
        [*_two()], lambda n, m: (T.arange(12) + 0 * n).reshape((n, m, -1)), _pairs(*HUGE)
    ),
    "reshape of three": Probe(
        [*_two()],
        lambda n, m: T.as_tensor(ROWS).reshape((n, m, 3)).sum(),
        [(2**62, 4), (2**32, 2**32), (2, 2), (2**63 - 1, 2), (-(2**62), -4), (-2, -2)],
    ),
    "repeat": Probe(
        [_number()], lambda n: T.extra_ops.repeat(T.as_tensor(ROWS), n).sum(), _each(*HUGE, 3)
    ),
    "repeat of rows": Probe(
        [*_two()],
        lambda n, m: T.extra_ops.repeat(T.as_tensor(ROWS[:2]), T.stack([n, m])).sum(),
        _pairs(*HUGE),
    ),
    "repeat of a matrix": Probe(
        [_number()],
        lambda n: T.extra_ops.repeat(T.as_tensor(ROWS.reshape(3, 4)), n, axis=0) + 1,
        _each(*HUGE, 3),
    ),
    "tile": Probe(
        [*_two()], lambda n, m: T.tile(T.as_tensor(ROWS.reshape(3, 4)), (n, m)), _pairs(*HUGE)
    ),
    "eye": Probe([*_two()], lambda n, m: T.eye(n, m, 0) * 2, _pairs(*HUGE)),
    "eye with an offset": Probe(
        [_number()], lambda k: T.eye(3, 4, k) + 1, _each(*HUGE, 1, 2**63 - 2)
    ),
    "eye with an unsigned offset": Probe(
        [_number("uint64")], lambda k: T.eye(3, 4, k) + 1, _each(1, 2**63, 2**64 - 1)
    ),
    "cumsum": Probe([*_two()], lambda n, m: T.cumsum(T.alloc(1.0, n, m), 0), _pairs(*HUGE)),
    "alloc": Probe([*_two()], lambda n, m: T.alloc(1.5, n, m) + 1, _pairs(*HUGE)),
    "alloc of rows": Probe([*_two()], _alloc_of_rows, _pairs(*HUGE)),
    "alloc of three": Probe(
        [*_two()],
        lambda n, m: T.alloc(1.5, n, m, 4) + n,
        [(2**31, 2**31), (2**62, 1), (0, 2**62), (2**62, 0), (3, 2)],
    ),
    "join": Probe(
        [*_two()],
        lambda n, m: T.concatenate([T.alloc(1.0, n), T.alloc(2.0, m)]).sum(),
        _pairs(*HUGE),
    ),
    "join of matrices": Probe(
        [*_two()],
        lambda n, m: T.concatenate([T.alloc(1.0, 4, n), T.alloc(2.0, 4, m)], axis=1),
        _pairs(*HUGE),
    ),
    "loop": Probe(
        [_number()],
        lambda n: _loop_of(n)[:2],
        _each(2**62, 2**63 - 1, -1, -(2**63), 3),
        lambda n: [1, 1.5],
    ),
    "loop of which rows are read": Probe([_number()], lambda n: _loop_of(n).sum(), _each(2**61, 4)),
    "loop over rows": Probe(
        [*_two()], _outer_in_loop, [(2**31, 2**31), (2**62, 4), (4, 2**62), (2, 3), (-1, 2), (0, 2)]
    ),
    "loop longer than its sequence": Probe(
        [_number()],
        lambda n: theano.scan(lambda x, s: s + x, [T.as_tensor(ROWS)], T.zeros(()), n_steps=n)[0],
        _each(2**63 - 1, 2**62, 13, 12),
    ),
    "arange": Probe(
        [*_two(), T.lscalar("by")],
        lambda a, b, by: T.arange(a, b, by).sum(),
        [
            (a, b, by)
            for a in (0, -(2**63), 2**63 - 1, 5)
            for b in (0, -(2**63), 2**63 - 1, 7)
            for by in (0, 1, -1, 2**61)
            # NumPy refuses some of those that go the other way
            if not by or (b - a) * by >= 0
        ],
    ),
    "arange of floats": Probe(
        [T.dscalar("a"), T.dscalar("b"), T.dscalar("by")],
        lambda a, b, by: T.arange(a, b, by) * 2,
        [
            (0, 1e300, 1),
            (0, np.nan, 1),
            (0, 3, 1e-300),
            (0, np.inf, 1),
            (0, 2.0**63, 1),
            (0, 2.5, 0.5),
        ],
    ),
    "slice with a large step": Probe(
        [_number()], lambda n: (T.as_tensor(ROWS) + 0 * n)[:: 2**63 - 1], _each(1)
    ),
    "slices with large steps": Probe(
        [T.dmatrix("x")],
        lambda x: (
            x[:: 2**62, :: -(2**40)][:: 2**40],
            x[:: -(2**63 - 1)],
            x[::40000, ::30000][::40000] + 1,
        ),
        [(np.arange(6.0).reshape(2, 3),), (np.ones((0, 3)),)],
    ),
    "slice with bounds": Probe(
        [*_two()], lambda n, m: (T.as_tensor(ROWS) + 0 * n)[n:m:3], _pairs(*HUGE)
    ),
    "slice with constant bounds": Probe(
        [V],
        lambda v: (v[: 2**63 - 1] + 1, v[-(2**63) :] + 1, v[2**63 - 1 :: -2] + 1),
        [(ROWS,), (ROWS[:0],)],
    ),
    "slice with unsigned bounds": Probe(
        [T.scalar("n", dtype="uint64")], lambda n: T.as_tensor(ROWS)[n:], _each(2, 2**63, 2**64 - 1)
    ),
    "unsigned index": Probe(
        [T.scalar("n", dtype="uint64")], _picked, _each(2, 12, 2**63, 2**64 - 1, 2**64 - 12)
    ),
    "unsigned indices": Probe(
        [_rows_of("uint64")],
        _picked,
        _each(*([k] for k in (2, 12, 2**63, 2**64 - 1))),
        wraps=True,
    ),
    "unsigned indices of an update": Probe(
        [_rows_of("uint64")],
        lambda i: T.inc_subtensor(T.as_tensor(ROWS)[i], 1),
        _each(*([k] for k in (2, 12, 2**63, 2**64 - 1))),
        wraps=True,
    ),
    "unsigned index of a step": Probe(
        [_rows_of("uint64")],
        lambda i: theano.map(lambda k, rows: rows[k] * 2, i, T.as_tensor(ROWS))[0],
        _each(*([k] for k in (2, 12, 2**63, 2**64 - 1))),
    ),
    "unsigned pairs of indices": Probe(
        [_rows_of("uint64")],
        lambda i: T.as_tensor(ROWS.reshape(3, 4))[i, i],
        _each(*([k] for k in (2, 3, 2**63, 2**64 - 1))),
        wraps=True,
    ),
    "part that is set": Probe(
        [*_two()],
        lambda n, m: T.set_subtensor((T.as_tensor(ROWS) + 0 * n)[n:m], 1),
        _pairs(*HUGE),
    ),
    "part that is increased": Probe(
        [_number()],
        lambda n: T.inc_subtensor(T.alloc(0.0, n, n)[0], T.alloc(1.0, n)),
        _each(*HUGE, 3),
    ),
    "rows that are increased": Probe(
        [_number()],
        lambda n: T.inc_subtensor(T.alloc(0.0, n, 4)[T.as_tensor([0, 1])], 1.0),
        _each(*HUGE, 3),
    ),
    "windows": Probe([_number()], _windows, _each(*HUGE, 1)),
    "random samples": Probe([*_two()], _random, _pairs(*HUGE)),
    "outer product": Probe(
        [*_two()],
        lambda n, m: T.outer(T.alloc(1.0, n), T.alloc(2.0, m)).sum(),
        _pairs(*HUGE),
        lambda n, m: None if n and m else 0.0,
    ),
    "matrix product": Probe(
        [*_two()],
        lambda n, m: T.dot(T.alloc(1.0, n, 2), T.alloc(2.0, 2, m)).sum(),
        _pairs(2**62, 2**31, 3),
    ),
    "broadcast input": Probe(
        [V],
        lambda v: T.concatenate([v, v])[5:7],
        [(np.broadcast_to(1.0, (2**59,)),)],
    ),
    "joined broadcast inputs": Probe(
        [T.bvector("v")],
        lambda v: T.concatenate([v, v, v])[5:7],
        [(np.broadcast_to(np.int8(1), (2**62,)),), (np.broadcast_to(np.int8(1), (2**63 - 1,)),)],
    ),
    "diagonal": Probe([_number()], lambda n: T.diag(T.alloc(1.0, n, n)), _each(*HUGE, 3)),
    "diagonal far away": Probe(
        [T.dmatrix("x")],
        lambda x: (T.diagonal(x, 2**30), T.diagonal(x, -(2**30))),
        [(np.ones((2, 3)),)],
    ),
    "split": Probe(
        [*_two()],
        lambda n, m: T.split(T.as_tensor(ROWS), [n, m], 2)[0] * 2,
        [*_pairs(*HUGE), (2**63 - 1, -(2**63) + 13), (-4, 16), (5, 7)],
    ),
    **{
        f"sizes of type {dtype}": Probe(
            [_number(dtype)],
            lambda n: (T.alloc(1.0, n, 3) * 2, T.extra_ops.repeat(T.as_tensor(ROWS[:2]), n)),
            _each(*_fitting(dtype)),
        )
        for dtype in TYPES
    },
    **{
        f"steps of type {dtype}": Probe(
            [_number(dtype)],
            lambda n: theano.scan(lambda s: s + 1, None, T.constant(0.0), n_steps=n)[0][:2],
            _each(*[n for n in _fitting(dtype) if not 2**29 < n < 2**60]),
            lambda n: [1, 2],
        )
        for dtype in TYPES
    },
}


def outcomes(name: str, mode: str) -> list[Any]:
    """Return the result of each call of a probe: the bytes of its values, or the error."""
    probe = PROBES[name]
    result = probe.make(*probe.inputs)
    outputs = list(result) if isinstance(result, tuple) else [result]
    f = theano.function(probe.inputs, outputs, mode=MODES[mode], on_unused_input="ignore")
    found: list[Any] = []
    for values in probe.calls:
        dtypes = [getattr(x.type, "dtype", None) for x in probe.inputs]
        given = [np.asarray(v, d) for v, d in zip(values, dtypes, strict=True)]
        try:
            found.append([described(value) for value in f(*given)])
        except Exception as error:
            notes = "\n".join(getattr(error, "__notes__", ()))
            found.append({"kind": type(error).__name__, "text": f"{error}\n{notes}"})
    return found


def described(value: Any) -> list[Any]:
    value = np.asarray(value)
    small = value.ravel()[:1000].tolist() if value.size else []
    return [str(value.dtype), list(value.shape), small]


def in_own_process(name: str, mode: str) -> Any:
    """The outcomes of a probe, or how its process ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        signal.alarm(SECONDS)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            text = json.dumps(outcomes(name, mode))
        except BaseException as error:
            text = json.dumps({"failed": f"{type(error).__name__}: {error}"})
        with open(writing, "w") as out:
            out.write(text)
        os._exit(0)
    os.close(writing)
    with open(reading) as answer:
        text = answer.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return json.loads(text) if status == 0 else {"failed": f"exit status {status}"}


def main(names: Sequence[str]) -> None:
    for name in names or PROBES:
        for mode in MODES:
            print(json.dumps([name, mode, in_own_process(name, mode)]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
