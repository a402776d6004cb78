"""Room for graphs of thousands of operations, one upon the other.

What looks at a graph calls itself for what lies below, here and in PyTensor. Where that goes deeper
than Python allows, it is done again in a thread that has a stack for it.
"""

from __future__ import annotations

import contextvars
import ctypes
import functools
import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

# calls inside one another: for about as many operations; and bytes, which are taken as they are used
DEEPEST = 100_000
STACK_BYTES = 2**29

Call = TypeVar("Call", bound=Callable[..., Any])


def with_room_for_deep_graphs(call: Call) -> Call:
    """Have a function that looks at graphs do so however deep they are.

    The function is called again where it fails for want of room, so that it must have changed nothing.
    """

    @functools.wraps(call)
    def called(*args: object, **kwargs: object) -> Any:
        try:
            return call(*args, **kwargs)
        except RecursionError:
            if sys.getrecursionlimit() >= DEEPEST:
                # in such a thread already
                raise
        try:
            return _in_a_thread(functools.partial(call, *args, **kwargs))
        except (RecursionError, MemoryError) as error:
            raise RecursionError(
                f"{call.__name__}: the graph is too deep, or an operation calls itself without end. "
                "Write what repeats as a loop (theano.scan), or compile the graph in parts, each of "
                "which reads the results of the one before as its inputs."
            ) from error

    # `inspect.getfullargspec` looks at no `__wrapped__`
    called.__signature__ = inspect.signature(call)  # type: ignore[attr-defined]
    return called  # type: ignore[return-value]


def _in_a_thread(call: Callable[[], Any]) -> Any:
    results: dict[str, Any] = {}
    context = contextvars.copy_context()

    def run() -> None:
        try:
            results["result"] = context.run(call)
        except BaseException as error:
            results["error"] = error

    thread = threading.Thread(target=run, daemon=True)
    with _deep_stacks():
        try:
            thread.start()
        except RuntimeError as error:
            raise MemoryError("no memory for a deep stack") from error
        try:
            thread.join()
        except BaseException:
            # Ctrl-C: the thread ends at the next line that it comes to
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread.ident or 0), ctypes.py_object(KeyboardInterrupt)
            )
            thread.join()
            raise
    if "error" in results:
        raise results["error"]
    return results["result"]


@contextmanager
def _deep_stacks() -> Iterator[None]:
    size, limit = threading.stack_size(STACK_BYTES), sys.getrecursionlimit()
    sys.setrecursionlimit(DEEPEST)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(size)
