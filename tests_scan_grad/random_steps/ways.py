"""Two ways to build the same loops: by scan, and written out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import theano
import theano.tensor as T
from tests_scan_grad.random_steps.values import Applied
from theano.compile.builders import OpFromGraph


class Way(Protocol):
    """A way to build loops, and what contains loops."""

    def loop(
        self,
        step: Callable[..., tuple[list, list]],
        sequences: Sequence[Any],
        initial: Sequence[Any],
        steps: int,
        *,
        go_backwards: bool = False,
        taps: Sequence[int] = (-1,),
        until: Callable[[list], Any] | None = None,
    ) -> list:
        """All values of the states and of what the step returns besides; it returns both.

        A loop that stops early is asked for its last values only.
        """

    def jacobian(self, y: Any, x: Any, length: int) -> Any: ...

    def tangent(
        self, cost: Any, wrt: Sequence[Any], gradients: Sequence[Any], along: Sequence[Any]
    ):
        """The derivative of a cost along directions."""

    def graph(self, body: Callable[..., Any], inline: bool, *operands: Any) -> Any:
        """Apply a body to operands, as an operator or directly."""


class Scanned:
    """By scan, Rop, jacobian and OpFromGraph."""

    def loop(self, step, sequences, initial, steps, *, go_backwards=False, taps=(-1,), until=None):
        rows = tuple(taps) != (-1,)
        begins = [{"initial": h, "taps": list(taps)} if rows else h for h in initial]

        def returned(*arguments):
            following, others = step(*arguments)
            values = [*following, *others]
            return values if until is None else (values, theano.scan_module.until(until(following)))

        def count() -> int:
            first = [s[0] for s in sequences]
            before = [h[k] if rows else h for h in initial for k in range(len(taps))]
            return len(step(*first, *before)[1])

        results, _ = theano.scan(
            returned,
            sequences=list(sequences),
            outputs_info=[*begins, *[None] * count()],
            n_steps=steps,
            go_backwards=go_backwards,
        )
        return results if isinstance(results, list) else [results]

    def jacobian(self, y, x, length):
        return theano.gradient.jacobian(y, x)

    def tangent(self, cost, wrt, gradients, along):
        return theano.Rop(cost, list(wrt), list(along))

    def graph(self, body, inline, *operands):
        inputs = [operand.type() for operand in operands]
        return OpFromGraph(inputs, [body(*inputs)], inline=inline)(*operands)


class Unrolled:
    """Step by step; what follows the end of a loop repeats the last values."""

    def loop(self, step, sequences, initial, steps, *, go_backwards=False, taps=(-1,), until=None):
        rows = tuple(taps) != (-1,)
        states = [[h[k] for k in range(-min(taps))] if rows else [h] for h in initial]
        results: list[list] = []
        stopped = None
        for k in range(steps):
            at = steps - 1 - k if go_backwards else k
            before = [state[len(state) + tap] for state in states for tap in taps]
            following, others = step(*(s[at] for s in sequences), *before)
            if until is not None:
                stops = until(following)
                if stopped is not None:
                    following = [
                        T.switch(stopped, state[-1], value)
                        for state, value in zip(states, following, strict=True)
                    ]
                stopped = stops if stopped is None else T.or_(stopped, stops)
            for state, value in zip(states, following, strict=True):
                state.append(value)
            results = results or [[] for _ in (*following, *others)]
            for result, value in zip(results, (*following, *others), strict=True):
                result.append(value)
        return [T.stack(result) for result in results]

    def jacobian(self, y, x, length):
        return T.stack([theano.grad(y[k], x) for k in range(length)])

    def tangent(self, cost, wrt, gradients, along):
        return sum(T.sum(g * v) for g, v in zip(gradients, along, strict=True))

    def graph(self, body, inline, *operands):
        return body(*operands)


def result_type(applied: Applied) -> Any:
    """The type of what an operation gives."""
    dummies = [
        T.TensorType(value.dtype, shape=tuple(1 if n == 1 else None for n in value.shape))()
        for value in applied.operands
    ]
    ways = (Unrolled(),) if applied.has_loops else ()
    result = T.as_tensor_variable(applied.build(*ways, *dummies))
    assert result.ndim == len(applied.shape), applied
    return result.type
